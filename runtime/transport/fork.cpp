// Messages over stream sockets: framed, non-blocking, received into pool buffers.
//
//   frame: | u32 magic | u32 channel | u64 body bytes | 64 bytes header | body |
#include "runtime/transport/fork.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/base/check.h"
#include "runtime/transport/inbox.h"
#include "runtime/transport/shared_bootstrap.h"

namespace headrace {

namespace {

constexpr uint32_t kFrameMagic = 0x46524d31;
/// Bootstrap messages of this transport: not a channel that anyone opens.
constexpr ChannelId kBootstrapChannel{kPlanChannelsMax + 1};
/// Messages read from one peer before the next is looked at.
constexpr int kMessagesInARow = 64;

struct Frame {
  uint32_t magic = kFrameMagic;
  uint32_t channel = 0;
  uint64_t bodyBytes = 0;
  HeaderBytes header{};
};
static_assert(sizeof(Frame) == 80);

/// The header of a bootstrap message; a put's body is the key, then the value.
struct BootstrapHeader {
  enum class Kind : uint32_t { kPut = 1, kFence };
  Kind kind;
  uint32_t keyBytes;
  uint64_t fence;
};

struct Outgoing {
  Frame frame;
  BufferRef body;
  std::string text; ///< the body of a bootstrap message
  size_t written = 0;

  const char *bodyData() const {
    return body ? reinterpret_cast<const char *>(body.data()) : text.data();
  }
};

class SocketTransport final : public Transport, private Bootstrap {
public:
  SocketTransport(int rank, std::vector<int> sockets)
      : rank_(rank), peers_(sockets.size()), fences_(sockets.size(), 0) {
    for (size_t peer = 0; peer < sockets.size(); ++peer) {
      peers_[peer].socket = sockets[peer];
      if (sockets[peer] >= 0) {
        int bytes = 1 << 20; // a hint: with less, large bodies only need more calls
        setsockopt(sockets[peer], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
      }
    }
  }

  ~SocketTransport() override {
    setDoorbell(nullptr);
    inbox_.shut();
    for (Peer &peer : peers_) {
      if (peer.socket >= 0) {
        ::close(peer.socket);
      }
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(peers_.size()); }
  Bootstrap &bootstrap() override { return *this; }
  BodyPassage bodyPassage(int peer) const override {
    return peer == rank_ ? BodyPassage::kByHandle : BodyPassage::kCopied;
  }

  void setDoorbell(Doorbell *doorbell) override {
    for (Peer &peer : peers_) {
      std::lock_guard lock(peer.sending);
      if (doorbell_ && peer.socket >= 0) {
        doorbell_.load()->unwatch(peer.socket);
      }
      if (doorbell && peer.socket >= 0 && !peer.isDown()) {
        doorbell->watch(peer.socket, peer.outgoing.empty()
                                         ? Doorbell::Interest::kReadable
                                         : Doorbell::Interest::kReadableAndWritable);
      }
    }
    doorbell_ = doorbell;
    inbox_.setDoorbell(doorbell);
  }

  Status open(ChannelId channel, BufferPool *pool) override { return inbox_.open(channel, pool); }
  void close(ChannelId channel) override { inbox_.close(channel); }
  std::optional<Arrival> receive(ChannelId channel) override { return inbox_.receive(channel); }

  Expected<SendTicket> send(int peer, ChannelId channel, const HeaderBytes &header,
                            BufferRef body) override {
    HR_CHECK(peer >= 0 && peer < size() && (!body || body.sealed()));
    if (body && body.size() == 0) {
      body.reset();
    }
    if (peer == rank_) {
      if (body) {
        HR_RETURN_IF_ERROR(inbox_.admits(channel, body.size()));
      }
      HR_RETURN_IF_ERROR(inbox_.deliver(channel, {rank_, header, std::move(body)}));
      return SendTicket{peer, 0};
    }
    Outgoing message;
    message.frame.channel = channel.value;
    message.frame.bodyBytes = body ? static_cast<uint64_t>(body.size()) : 0;
    message.frame.header = header;
    message.body = std::move(body);
    return enqueue(peer, std::move(message));
  }

  bool sent(SendTicket ticket) override {
    Peer &peer = peers_[static_cast<size_t>(ticket.peer)];
    std::lock_guard lock(peer.sending);
    return ticket.peer == rank_ || peer.sentCount >= ticket.number;
  }

  bool drained() override {
    for (Peer &peer : peers_) {
      std::lock_guard lock(peer.sending);
      if (!peer.outgoing.empty() && !peer.isDown()) {
        return false;
      }
    }
    return true;
  }

  void progress() override {
    // Another thread at it does the same work.
    std::unique_lock lock(receiving_, std::try_to_lock);
    if (!lock.owns_lock()) {
      return;
    }
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank_ || peers_[static_cast<size_t>(peer)].isDown()) {
        continue;
      }
      readFrom(peer);
      std::lock_guard sending(peers_[static_cast<size_t>(peer)].sending);
      writeTo(peer);
    }
  }

  Status peerStatus(int peer) override {
    if (peer == rank_) {
      return {};
    }
    Peer &state = peers_[static_cast<size_t>(peer)];
    std::lock_guard lock(state.failing);
    return state.failure;
  }

  void giveUp(int peer, Status why) override {
    fail(peer, std::move(why));
    Peer &state = peers_[static_cast<size_t>(peer)];
    std::lock_guard lock(state.sending);
    state.outgoing.clear();
  }

private:
  struct Peer {
    int socket = -1;

    std::mutex sending; ///< guards the four below
    std::deque<Outgoing> outgoing;
    uint64_t sendCount = 0;
    uint64_t sentCount = 0;
    bool waitsForRoom = false;

    // Of the thread that holds receiving_.
    Frame frame;
    size_t received = 0; ///< of frame and body
    BufferRef body;
    std::string text;
    enum class Body : uint8_t { kBuffer, kText, kDropped } bodyKind = Body::kBuffer;

    std::mutex failing;
    Status failure;
    std::atomic<bool> down{false};
    bool isDown() const { return down.load(std::memory_order_acquire); }
  };

  void fail(int rank, Status why) {
    Peer &peer = peers_[static_cast<size_t>(rank)];
    {
      std::lock_guard lock(peer.failing);
      if (peer.isDown()) {
        return;
      }
      peer.failure = std::move(why);
      peer.down.store(true, std::memory_order_release);
    }
    // The descriptor stays open until the end: a number in use must not come back as another file.
    if (Doorbell *doorbell = doorbell_) {
      doorbell->unwatch(peer.socket);
    }
    inbox_.ring();
  }

  Status gone(int rank) const {
    return makeError(ErrorKind::kIo, "the link is down, the peer has left: rank ", rank);
  }

  Expected<SendTicket> enqueue(int rank, Outgoing message) {
    HR_RETURN_IF_ERROR(peerStatus(rank));
    Peer &peer = peers_[static_cast<size_t>(rank)];
    std::lock_guard lock(peer.sending);
    peer.outgoing.push_back(std::move(message));
    SendTicket ticket{rank, ++peer.sendCount};
    if (peer.outgoing.size() == 1) {
      writeTo(rank);
    }
    return ticket;
  }

  /// With `sending` held.
  void writeTo(int rank) {
    Peer &peer = peers_[static_cast<size_t>(rank)];
    bool hadMessages = !peer.outgoing.empty();
    while (!peer.outgoing.empty() && !peer.isDown()) {
      Outgoing &message = peer.outgoing.front();
      size_t bodyBytes = message.frame.bodyBytes;
      size_t total = sizeof(Frame) + bodyBytes;
      while (message.written < total) {
        iovec parts[2];
        size_t count = 0;
        size_t bodyWritten = 0;
        if (message.written < sizeof(Frame)) {
          parts[count++] = {reinterpret_cast<char *>(&message.frame) + message.written,
                            sizeof(Frame) - message.written};
        } else {
          bodyWritten = message.written - sizeof(Frame);
        }
        if (bodyWritten < bodyBytes) {
          // The socket only reads it.
          parts[count++] = {const_cast<char *>(message.bodyData()) + bodyWritten,
                            bodyBytes - bodyWritten};
        }
        msghdr call{};
        call.msg_iov = parts;
        call.msg_iovlen = count;
        ssize_t written = sendmsg(peer.socket, &call, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (written < 0) {
          if (errno == EINTR) {
            continue;
          }
          if (errno == EAGAIN || errno == EWOULDBLOCK) {
            watchForRoom(peer);
            return;
          }
          fail(rank, gone(rank));
          peer.outgoing.clear();
          return;
        }
        message.written += static_cast<size_t>(written);
      }
      peer.outgoing.pop_front();
      ++peer.sentCount;
    }
    if (hadMessages && peer.waitsForRoom) {
      peer.waitsForRoom = false;
      if (doorbell_) {
        doorbell_.load()->watch(peer.socket, Doorbell::Interest::kReadable);
        // drained() and sent() have changed.
        doorbell_.load()->ring();
      }
    }
  }

  void watchForRoom(Peer &peer) {
    if (!peer.waitsForRoom && doorbell_) {
      peer.waitsForRoom = true;
      doorbell_.load()->watch(peer.socket, Doorbell::Interest::kReadableAndWritable);
    }
  }

  void readFrom(int rank) {
    Peer &peer = peers_[static_cast<size_t>(rank)];
    for (int count = 0; count < kMessagesInARow;) {
      size_t total = sizeof(Frame);
      if (peer.received >= sizeof(Frame)) {
        total += peer.frame.bodyBytes;
      }
      if (peer.received < total) {
        ssize_t got = readPart(peer, total);
        if (got == 0) {
          fail(rank, gone(rank));
          return;
        }
        if (got < 0) {
          if (errno == EINTR) {
            continue;
          }
          if (errno != EAGAIN && errno != EWOULDBLOCK) {
            fail(rank, gone(rank));
          }
          return;
        }
        peer.received += static_cast<size_t>(got);
        if (peer.received == sizeof(Frame)) {
          if (Status status = startBody(peer); !status.ok()) {
            fail(rank, status);
            return;
          }
        }
        continue;
      }
      if (Status status = finishMessage(rank, peer); !status.ok()) {
        fail(rank, status);
        return;
      }
      ++count;
    }
  }

  ssize_t readPart(Peer &peer, size_t total) {
    if (peer.received < sizeof(Frame)) {
      return recv(peer.socket, reinterpret_cast<char *>(&peer.frame) + peer.received,
                  sizeof(Frame) - peer.received, MSG_DONTWAIT);
    }
    size_t offset = peer.received - sizeof(Frame);
    size_t left = total - peer.received;
    switch (peer.bodyKind) {
    case Peer::Body::kBuffer:
      return recv(peer.socket, peer.body.mutableData() + offset, left, MSG_DONTWAIT);
    case Peer::Body::kText:
      return recv(peer.socket, peer.text.data() + offset, left, MSG_DONTWAIT);
    case Peer::Body::kDropped: {
      char dropped[4096];
      return recv(peer.socket, dropped, std::min(left, sizeof(dropped)), MSG_DONTWAIT);
    }
    }
    return -1;
  }

  Status startBody(Peer &peer) {
    if (peer.frame.magic != kFrameMagic) {
      return makeError(ErrorKind::kCorrupt, "not a frame, it begins with: ", peer.frame.magic);
    }
    peer.body.reset();
    peer.text.clear();
    if (peer.frame.channel == kBootstrapChannel.value) {
      if (peer.frame.bodyBytes > static_cast<uint64_t>(kValueBytesMax)) {
        return makeError(ErrorKind::kCorrupt, "bootstrap value too large: ", peer.frame.bodyBytes);
      }
      peer.bodyKind = Peer::Body::kText;
      peer.text.resize(peer.frame.bodyBytes);
      return {};
    }
    peer.bodyKind = Peer::Body::kBuffer;
    if (peer.frame.bodyBytes > 0) {
      if (peer.frame.bodyBytes > static_cast<uint64_t>(INT64_MAX)) {
        // no test: it would take a frame that claims half of all addresses
        return makeError(ErrorKind::kCorrupt, "body too large: ", peer.frame.bodyBytes);
      }
      HR_ASSIGN_OR_RETURN(peer.body, inbox_.bufferFor(ChannelId(peer.frame.channel),
                                                      static_cast<int64_t>(peer.frame.bodyBytes)));
      if (!peer.body) {
        peer.bodyKind = Peer::Body::kDropped;
      }
    }
    return {};
  }

  Status finishMessage(int rank, Peer &peer) {
    peer.received = 0;
    if (peer.bodyKind == Peer::Body::kText) {
      return takeBootstrap(rank, peer);
    }
    if (peer.bodyKind == Peer::Body::kDropped) {
      return {};
    }
    if (peer.body) {
      peer.body.seal();
    }
    return inbox_.deliver(ChannelId(peer.frame.channel),
                          {rank, peer.frame.header, std::move(peer.body)});
  }

  // Bootstrap: values are sent to all, a fence is passed when all have said that they entered it.
  // Links are first in, first out, so a value put before a fence is here when the fence is passed.

  Status tell(const BootstrapHeader &header, const std::string &text) {
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank_) {
        continue;
      }
      Outgoing message;
      message.frame.channel = kBootstrapChannel.value;
      message.frame.bodyBytes = text.size();
      std::memcpy(message.frame.header.data(), &header, sizeof(header));
      message.text = text;
      HR_RETURN_IF_ERROR(enqueue(peer, std::move(message)).status());
    }
    return {};
  }

  Status takeBootstrap(int rank, Peer &peer) {
    BootstrapHeader header;
    std::memcpy(&header, peer.frame.header.data(), sizeof(header));
    std::lock_guard lock(table_);
    if (header.kind == BootstrapHeader::Kind::kFence) {
      fences_[static_cast<size_t>(rank)] = header.fence + 1;
    } else if (header.kind == BootstrapHeader::Kind::kPut && header.keyBytes <= peer.text.size()) {
      values_[peer.text.substr(0, header.keyBytes)] = {peer.text.substr(header.keyBytes),
                                                       fences_[static_cast<size_t>(rank)]};
    } else {
      return makeError(ErrorKind::kCorrupt, "not a bootstrap message from rank ", rank);
    }
    inbox_.ring();
    return {};
  }

  Status put(std::string_view key, std::string_view value) override {
    HR_RETURN_IF_ERROR(checkBootstrapValue(key, value));
    {
      std::lock_guard lock(table_);
      if (!values_.emplace(std::string(key), Value{std::string(value), 0}).second) {
        return makeError(ErrorKind::kMismatch, "bootstrap key was put before: ", key);
      }
      own_.insert(std::string(key));
    }
    return tell({BootstrapHeader::Kind::kPut, static_cast<uint32_t>(key.size()), 0},
                std::string(key) + std::string(value));
  }

  Expected<std::string> get(std::string_view key) override {
    std::lock_guard lock(table_);
    auto found = values_.find(key);
    uint64_t entered = fences_[static_cast<size_t>(rank_)];
    if (found == values_.end() ||
        (!own_.count(std::string(key)) && found->second.fencesBefore >= entered)) {
      return makeError(ErrorKind::kMismatch,
                       "no bootstrap value under the key (fence first): ", key);
    }
    return found->second.text;
  }

  Expected<uint64_t> enterFence() override {
    uint64_t fence = 0;
    {
      std::lock_guard lock(table_);
      fence = fences_[static_cast<size_t>(rank_)]++;
    }
    HR_RETURN_IF_ERROR(tell({BootstrapHeader::Kind::kFence, 0, fence}, ""));
    return fence;
  }

  Expected<bool> fencePassed(uint64_t fence) override {
    progress();
    for (int peer = 0; peer < size(); ++peer) {
      {
        std::lock_guard lock(table_);
        if (fences_[static_cast<size_t>(peer)] > fence) {
          continue;
        }
      }
      HR_RETURN_IF_ERROR(peerStatus(peer));
      return false;
    }
    return true;
  }

  struct Value {
    std::string text;
    uint64_t fencesBefore;
  };

  int rank_;
  std::vector<Peer> peers_;
  Inbox inbox_;
  std::atomic<Doorbell *> doorbell_{nullptr};
  std::mutex receiving_;
  std::mutex table_; ///< guards the bootstrap's
  std::map<std::string, Value, std::less<>> values_;
  std::set<std::string> own_;
  std::vector<uint64_t> fences_;
};

} // namespace

std::unique_ptr<Transport> makeSocketTransport(int rank, std::vector<int> sockets) {
  return std::make_unique<SocketTransport>(rank, std::move(sockets));
}

} // namespace headrace
