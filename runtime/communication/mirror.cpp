// Answers are what was sent, from the peer that sends it.
#include "runtime/communication/mirror.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/communication/collective_run.h"
#include "runtime/communication/message.h"
#include "runtime/transport/inbox.h"

namespace headrace {

struct MirrorTransport::State {
  Inbox inbox;
  mutable std::mutex mutex;
  std::map<uint32_t, MirrorNumbers> numbers;
  /// Collectives whose peers answer themselves, by channel and number.
  std::set<std::pair<uint32_t, uint64_t>> byDoubling;
};

MirrorTransport::MirrorTransport(MirrorOptions options)
    : options_(std::move(options)), state_(std::make_unique<State>()) {
  HR_CHECK(options_.rank >= 0 && options_.rank < options_.size);
  if (options_.mesh.empty()) {
    options_.mesh = {options_.size};
  }
  state_->inbox.setRanks(options_.size);
}

MirrorTransport::~MirrorTransport() { state_->inbox.shut(); }

void MirrorTransport::setDoorbell(Doorbell *doorbell) { state_->inbox.setDoorbell(doorbell); }

Status MirrorTransport::open(ChannelId channel, BufferPool *pool) {
  HR_RETURN_IF_ERROR(state_->inbox.open(channel, pool));
  auto gather = options_.gathers.find(channel.value);
  const int receiver = gather == options_.gathers.end() ? rank() : firstAlong(gather->second);
  if (receiver == rank()) {
    return {};
  }
  MessageHeader room;
  room.kind = MessageKind::kCredits;
  room.channel = channel.value;
  room.source = static_cast<uint32_t>(receiver);
  room.rows = static_cast<uint64_t>(options_.window);
  return state_->inbox.deliver(channel, {receiver, encodeHeader(room), {}});
}

int MirrorTransport::behind(int peer) const {
  int found = 0, stride = 1;
  for (size_t axis = options_.mesh.size(); axis-- > 0;) {
    const int extent = options_.mesh[axis];
    const int own = rank() / stride % extent, its = peer / stride % extent;
    found += (2 * own - its + extent) % extent * stride;
    stride *= extent;
  }
  return found;
}

int MirrorTransport::firstAlong(const std::set<size_t> &axes) const {
  int found = 0, stride = 1;
  for (size_t axis = options_.mesh.size(); axis-- > 0;) {
    const int extent = options_.mesh[axis];
    found += axes.contains(axis) ? 0 : rank() / stride % extent * stride;
    stride *= extent;
  }
  return found;
}

void MirrorTransport::close(ChannelId channel) { state_->inbox.close(channel); }

std::optional<Arrival> MirrorTransport::receive(ChannelId channel) {
  return state_->inbox.receive(channel);
}

std::map<uint32_t, MirrorNumbers> MirrorTransport::numbers() const {
  std::lock_guard lock(state_->mutex);
  return state_->numbers;
}

Expected<SendTicket> MirrorTransport::send(int peer, ChannelId channel, const HeaderBytes &header,
                                           BufferRef body) {
  HR_ASSIGN_OR_RETURN(MessageHeader sent, decodeHeader({rank(), header, body}, channel));
  const bool isOwn = peer == rank();
  const bool isData = sent.kind == MessageKind::kData;
  bool answersItself = false;
  {
    std::lock_guard lock(state_->mutex);
    if (sent.kind == MessageKind::kAnnounce &&
        CollectiveCall::unpack(sent.rows).kind == CollectiveKind::kAllReduceDoubling) {
      state_->byDoubling.emplace(channel.value, sent.sequence);
    }
    answersItself = state_->byDoubling.contains({channel.value, sent.sequence});
    if (!isOwn) {
      MirrorNumbers &numbers = state_->numbers[channel.value];
      (isData ? numbers.data : numbers.control) += 1;
      numbers.bytes += body ? body.size() : 0;
      numbers.peers.insert(peer);
    }
  }
  int source = peer;
  if (auto gather = options_.gathers.find(channel.value);
      !isOwn && gather != options_.gathers.end()) {
    if (sent.kind != MessageKind::kCredits || rank() != firstAlong(gather->second)) {
      return SendTicket{peer, 0}; // to a receiver, who sends nothing
    }
    sent.kind = MessageKind::kEnd; // of one that has no rows
    sent.last = 1;
    sent.sequence = sent.rows = 0;
  } else if (!isOwn && !answersItself) {
    source = behind(peer);
  }
  sent.source = static_cast<uint32_t>(source);
  Arrival answer{source, encodeHeader(sent), {}};
  if (body && body.size() > 0) {
    HR_ASSIGN_OR_RETURN(answer.body, state_->inbox.bufferFor(channel, body.size()));
    if (answer.body) {
      std::memcpy(answer.body.mutableData(), body.data(), static_cast<size_t>(body.size()));
      answer.body.seal();
    }
  }
  HR_RETURN_IF_ERROR(state_->inbox.deliver(channel, std::move(answer)));
  return SendTicket{peer, 0};
}

} // namespace headrace
