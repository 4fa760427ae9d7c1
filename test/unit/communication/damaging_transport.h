// A transport whose messages arrive other than they were sent.
#pragma once

#include <cstring>
#include <functional>

#include "runtime/communication/message.h"
#include "runtime/transport/transport.h"

namespace headrace::test {

/// Changes a message, whose checksum is then right again; false: this is not the one.
using ChangeMessage = std::function<bool(MessageHeader &header, BufferRef &body)>;

/// All of another transport, but that one bit differs in each body that comes from another process;
/// or that one message from another rank is changed.
class DamagingTransport final : public Transport {
public:
  explicit DamagingTransport(Transport &whole, ChangeMessage change = {})
      : whole_(whole), change_(std::move(change)), changes_(change_ != nullptr) {}
  int rank() const override { return whole_.rank(); }
  int size() const override { return whole_.size(); }
  std::string peerName(int peer) const override { return whole_.peerName(peer); }
  BodyPassage bodyPassage(int peer) const override { return whole_.bodyPassage(peer); }
  std::shared_ptr<BlockPool> bodyBlocks() override { return whole_.bodyBlocks(); }
  void setDoorbell(Doorbell *doorbell) override { whole_.setDoorbell(doorbell); }
  Status open(ChannelId channel, BufferPool *pool) override { return whole_.open(channel, pool); }
  void close(ChannelId channel) override { whole_.close(channel); }
  Expected<SendTicket> send(int peer, ChannelId channel, const HeaderBytes &header,
                            BufferRef body) override {
    return whole_.send(peer, channel, header, std::move(body));
  }
  bool sent(SendTicket ticket) override { return whole_.sent(ticket); }
  bool drained() override { return whole_.drained(); }
  void progress() override { whole_.progress(); }
  Status peerStatus(int peer) override { return whole_.peerStatus(peer); }
  void giveUp(int peer, Status why) override { whole_.giveUp(peer, std::move(why)); }

  std::optional<Arrival> receive(ChannelId channel) override {
    std::optional<Arrival> arrival = whole_.receive(channel);
    if (changes_) {
      if (arrival && change_ && arrival->source != rank()) {
        changeOne(*arrival);
      }
    } else if (arrival && arrival->body && channel.value < kPlanChannelsMax &&
               bodyPassage(arrival->source) == BodyPassage::kCopied) {
      // It is sealed, but nobody else has it yet.
      const_cast<std::byte *>(arrival->body.data())[arrival->body.size() / 2] ^= std::byte{16};
    }
    return arrival;
  }

private:
  void changeOne(Arrival &arrival) {
    MessageHeader header;
    std::memcpy(&header, arrival.header.data(), sizeof header);
    if (change_(header, arrival.body)) {
      arrival.header = encodeHeader(header);
      change_ = nullptr;
    }
  }

  Transport &whole_;
  ChangeMessage change_; ///< until it is done
  const bool changes_;
};

} // namespace headrace::test
