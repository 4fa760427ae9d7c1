// Messages over stream sockets: framed, non-blocking, received into pool buffers.
//
//   frame: | u32 magic | u32 channel | u64 body bytes | u64 run | 64 bytes header | body |
#include "runtime/transport/stream_transport.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <linux/sockios.h>
#include <mutex>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>

#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/transport/inbox.h"

namespace headrace {

namespace {

constexpr uint32_t kFrameMagic = 0x46524d31;
/// Messages read from one peer before the next is looked at.
constexpr int kMessagesInARow = 64;
/// Small messages come many at a time; of a large body, less than this is copied.
constexpr size_t kStagedBytes = 4096;
constexpr int64_t kSendNanosecondsMax = 1'000'000'000;

struct Frame {
  uint32_t magic = kFrameMagic;
  uint32_t channel = 0;
  uint64_t bodyBytes = 0;
  uint64_t run = 0;
  HeaderBytes header{};
};
static_assert(sizeof(Frame) == 88);

struct Outgoing {
  Frame frame;
  BufferRef body;
  size_t written = 0;
};

class SocketStreams final : public StreamTransport {
public:
  SocketStreams(int rank, std::vector<int> sockets, std::vector<std::string> hosts)
      : rank_(rank), peers_(sockets.size()), hosts_(std::move(hosts)),
        ready_(epoll_create1(EPOLL_CLOEXEC)) {
    HR_CHECK(ready_ >= 0);
    for (size_t peer = 0; peer < sockets.size(); ++peer) {
      peers_[peer].socket = sockets[peer];
      if (sockets[peer] >= 0) {
        watch(static_cast<int>(peer), EPOLL_CTL_ADD, EPOLLIN);
      }
    }
  }

  ~SocketStreams() override {
    setDoorbell(nullptr);
    inbox_.shut();
    waitUntilSent();
    for (Peer &peer : peers_) {
      if (peer.socket >= 0) {
        ::close(peer.socket);
      }
    }
    ::close(ready_);
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(peers_.size()); }
  std::string peerName(int peer) const override {
    std::string name = Transport::peerName(peer);
    return hosts_.empty() ? name : name + " on host " + hosts_[static_cast<size_t>(peer)];
  }
  BodyPassage bodyPassage(int peer) const override {
    return peer == rank_ ? BodyPassage::kByHandle : BodyPassage::kCopied;
  }

  void setDoorbell(Doorbell *doorbell) override {
    if (doorbell_) {
      doorbell_->unwatch(ready_);
    }
    if (doorbell) {
      doorbell->watch(ready_, Doorbell::Interest::kReadable);
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
    message.frame.run = run_.load(std::memory_order_relaxed);
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
    epoll_event events[64];
    int count = epoll_wait(ready_, events, 64, 0);
    for (int index = 0; index < count; ++index) {
      auto peer = static_cast<int>(events[index].data.u32);
      if ((events[index].events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) {
        readFrom(peer);
      }
      if ((events[index].events & EPOLLOUT) != 0) {
        std::lock_guard sending(peers_[static_cast<size_t>(peer)].sending);
        writeTo(peer);
      }
    }
  }

  void beginRun() override {
    std::lock_guard lock(receiving_);
    run_.fetch_add(1, std::memory_order_relaxed);
    inbox_.beginAnew();
    for (auto &[channel, arrival] : std::exchange(early_, {})) {
      // As many as an unopened channel may keep.
      HR_CHECK(inbox_.deliver(channel, std::move(arrival)).ok());
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
  /// Closing a TCP socket with something unread in it drops what its machine has not yet sent: the
  /// last words of a run. A peer that takes in nothing is not waited for long.
  void waitUntilSent() {
    int64_t end = RealClock::instance().nowNanoseconds() + kSendNanosecondsMax;
    for (Peer &peer : peers_) {
      int unsent = 0; // other sockets than those of TCP do not know the question
      while (peer.socket >= 0 && !peer.isDown() && ioctl(peer.socket, SIOCOUTQNSD, &unsent) == 0 &&
             unsent > 0 && RealClock::instance().nowNanoseconds() < end) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
  }

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
    BufferRef body;      ///< null if there is none, or if its bytes are dropped
    std::array<char, kStagedBytes> staged;
    size_t stagedFrom = 0;
    size_t stagedTo = 0;

    std::mutex failing;
    Status failure;
    std::atomic<bool> down{false};
    bool isDown() const { return down.load(std::memory_order_acquire); }
  };

  void watch(int rank, int operation, uint32_t interest) {
    epoll_event event{};
    event.events = interest;
    event.data.u32 = static_cast<uint32_t>(rank);
    epoll_ctl(ready_, operation, peers_[static_cast<size_t>(rank)].socket, &event);
  }

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
    watch(rank, EPOLL_CTL_DEL, 0);
    inbox_.ring();
  }

  Status gone(int rank) const {
    return makeError(ErrorKind::kIo, "the link is down, the peer has left: ", peerName(rank));
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
          parts[count++] = {const_cast<std::byte *>(message.body.data()) + bodyWritten,
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
            waitForRoom(rank);
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
    if (peer.waitsForRoom && !peer.isDown()) {
      peer.waitsForRoom = false;
      watch(rank, EPOLL_CTL_MOD, EPOLLIN);
      inbox_.ring(); // drained() and sent() have changed
    }
  }

  void waitForRoom(int rank) {
    Peer &peer = peers_[static_cast<size_t>(rank)];
    if (!peer.waitsForRoom) {
      peer.waitsForRoom = true;
      watch(rank, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
    }
  }

  void readFrom(int rank) {
    Peer &peer = peers_[static_cast<size_t>(rank)];
    bool emptied = false; // the socket; it wakes again when there is more
    for (int count = 0; !peer.isDown();) {
      if (peer.received >= sizeof(Frame) && peer.received == sizeof(Frame) + peer.frame.bodyBytes) {
        ++count;
        if (Status status = finishMessage(rank, peer); !status.ok()) {
          fail(rank, status);
        }
        continue;
      }
      if (peer.stagedFrom < peer.stagedTo) {
        if (Status status = takeStaged(peer); !status.ok()) {
          fail(rank, status);
        }
      } else if (emptied || count >= kMessagesInARow) {
        return;
      } else if (ssize_t got = fetch(peer, emptied); got == 0 || (got < 0 && errno != EAGAIN)) {
        fail(rank, gone(rank));
      } else if (got < 0) {
        return;
      }
    }
  }

  /// Reads into the body if much of it is to come, else into what is staged.
  ssize_t fetch(Peer &peer, bool &emptied) {
    char *target = peer.staged.data();
    size_t room = peer.staged.size();
    bool intoBody = false;
    if (peer.received >= sizeof(Frame) && peer.body) {
      size_t left = sizeof(Frame) + peer.frame.bodyBytes - peer.received;
      intoBody = left >= kStagedBytes;
      if (intoBody) {
        room = left;
        target = reinterpret_cast<char *>(peer.body.mutableData()) + peer.received - sizeof(Frame);
      }
    }
    ssize_t got = 0;
    do {
      got = recv(peer.socket, target, room, MSG_DONTWAIT);
    } while (got < 0 && errno == EINTR);
    if (got > 0) {
      emptied = static_cast<size_t>(got) < room;
      if (intoBody) {
        peer.received += static_cast<size_t>(got);
      } else {
        peer.stagedFrom = 0;
        peer.stagedTo = static_cast<size_t>(got);
      }
    }
    return got;
  }

  /// Into the frame, or into the body.
  Status takeStaged(Peer &peer) {
    bool inFrame = peer.received < sizeof(Frame);
    size_t end = inFrame ? sizeof(Frame) : sizeof(Frame) + peer.frame.bodyBytes;
    size_t bytes = std::min(peer.stagedTo - peer.stagedFrom, end - peer.received);
    char *target = inFrame     ? reinterpret_cast<char *>(&peer.frame) + peer.received
                   : peer.body ? reinterpret_cast<char *>(peer.body.mutableData()) + peer.received -
                                     sizeof(Frame)
                               : nullptr;
    if (target) {
      std::memcpy(target, peer.staged.data() + peer.stagedFrom, bytes);
    }
    peer.stagedFrom += bytes;
    peer.received += bytes;
    return inFrame && peer.received == sizeof(Frame) ? startBody(peer) : Status();
  }

  Status startBody(Peer &peer) {
    if (peer.frame.magic != kFrameMagic) {
      return makeError(ErrorKind::kCorrupt, "not a frame, it begins with: ", peer.frame.magic);
    }
    if (peer.frame.bodyBytes == 0) {
      return {};
    }
    if (peer.frame.bodyBytes > static_cast<uint64_t>(INT64_MAX) - sizeof(Frame)) {
      return makeError(ErrorKind::kCorrupt, "a body is too large: ", peer.frame.bodyBytes);
    }
    if (peer.frame.run > run_) {
      return makeError(ErrorKind::kCorrupt, "a body came before its run: ", peer.frame.run);
    }
    if (peer.frame.run < run_) {
      return {}; // dropped
    }
    HR_ASSIGN_OR_RETURN(peer.body, inbox_.bufferFor(ChannelId(peer.frame.channel),
                                                    static_cast<int64_t>(peer.frame.bodyBytes)));
    return {};
  }

  Status finishMessage(int rank, Peer &peer) {
    peer.received = 0;
    if ((peer.frame.bodyBytes > 0 && !peer.body) || peer.frame.run < run_) {
      peer.body.reset(); // dropped
      return {};
    }
    if (peer.frame.run > run_) {
      if (early_.size() == Inbox::kEarlyMessagesMax) {
        return makeError(ErrorKind::kCorrupt,
                         "too many messages before their run: ", peer.frame.run);
      }
      early_.emplace_back(ChannelId(peer.frame.channel), Arrival{rank, peer.frame.header, {}});
      return {};
    }
    if (peer.body) {
      peer.body.seal();
    }
    return inbox_.deliver(ChannelId(peer.frame.channel),
                          {rank, peer.frame.header, std::exchange(peer.body, BufferRef())});
  }

  int rank_;
  std::vector<Peer> peers_;
  std::vector<std::string> hosts_; ///< by rank; empty: all the same
  int ready_;                      ///< epoll set of the peers' sockets
  Inbox inbox_;
  Doorbell *doorbell_ = nullptr;
  std::mutex receiving_;
  std::atomic<uint64_t> run_{0};                     ///< changes with receiving_ held
  std::vector<std::pair<ChannelId, Arrival>> early_; ///< of the next run
};

} // namespace

std::unique_ptr<StreamTransport> makeStreamTransport(int rank, std::vector<int> sockets,
                                                     std::vector<std::string> hosts) {
  return std::make_unique<SocketStreams>(rank, std::move(sockets), std::move(hosts));
}

} // namespace headrace
