// Queues, failures, and what waits for what, over one link a peer.
#include "runtime/transport/stream_transport.h"

#include <atomic>
#include <cerrno>
#include <deque>
#include <mutex>
#include <sys/epoll.h>
#include <unistd.h>

#include "runtime/base/check.h"
#include "runtime/base/clock.h"
#include "runtime/transport/landing.h"
#include "runtime/transport/stream_link.h"

namespace headrace {

namespace {

constexpr int64_t kFinishNanosecondsMax = 1'000'000'000;
/// Of the memory of a run, freed blocks for bodies keep at most this part for the next.
constexpr int64_t kKeptPart = 8;

class LinkTransport final : public StreamTransport {
public:
  explicit LinkTransport(TransportLinks links)
      : rank_(links.rank), peers_(links.sockets.size()), hosts_(std::move(links.hosts)),
        segment_(std::move(links.neighbourhood.segment)), bell_(links.neighbourhood.bell),
        engine_(std::move(links.engine)), ready_(epoll_create1(EPOLL_CLOEXEC)) {
    landing_.inbox().setRanks(static_cast<int>(peers_.size()));
    HR_CHECK(ready_ >= 0);
    for (int peer = 0; peer < size(); ++peer) {
      int socket = links.sockets[static_cast<size_t>(peer)];
      auto neighbour = links.neighbourhood.neighbours.find(peer);
      Peer &state = at(peer);
      if (auto made = links.links.find(peer); made != links.links.end()) {
        state.link = std::move(made->second);
      } else if (neighbour != links.neighbourhood.neighbours.end()) {
        state.link = makeSharedLink(rank_, peer, peerName(peer), socket, segment_,
                                    std::move(neighbour->second));
      } else if (socket >= 0) {
        state.link = makeStreamLink(peer, peerName(peer), socket);
      } else {
        continue;
      }
      if (state.link->polled()) {
        polled_.push_back(peer);
      }
      watch(peer, EPOLL_CTL_ADD, EPOLLIN);
    }
    if (bell_ >= 0) {
      watchOwn(bell_, EPOLLIN | EPOLLET); // each time that it is written; nobody reads it
    }
    if (engine_) {
      watchOwn(engine_->descriptor(), EPOLLIN);
    }
    useTier(nullptr);
  }

  ~LinkTransport() override {
    setDoorbell(nullptr);
    landing_.inbox().shut();
    int64_t end = RealClock::instance().nowNanoseconds() + kFinishNanosecondsMax;
    for (Peer &peer : peers_) {
      if (peer.link && !peer.isDown()) {
        peer.link->finish(end);
      }
    }
    for (Peer &peer : peers_) {
      peer.link.reset(); // before the engine
    }
    if (bell_ >= 0) {
      ::close(bell_);
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
  const char *passageName(int peer) const override {
    const Peer &state = peers_[static_cast<size_t>(peer)];
    return state.link ? state.link->passageName() : "itself";
  }
  std::shared_ptr<BlockPool> bodyBlocks() override { return blocks_; }

  void setDoorbell(Doorbell *doorbell) override {
    if (doorbell_) {
      doorbell_->unwatch(ready_);
    }
    if (doorbell) {
      doorbell->watch(ready_, Doorbell::Interest::kReadable);
    }
    doorbell_ = doorbell;
    landing_.inbox().setDoorbell(doorbell);
  }

  Status open(ChannelId channel, BufferPool *pool) override {
    return landing_.inbox().open(channel, pool);
  }
  void close(ChannelId channel) override { landing_.inbox().close(channel); }
  std::optional<Arrival> receive(ChannelId channel) override {
    return landing_.inbox().receive(channel);
  }

  Expected<SendTicket> send(int peer, ChannelId channel, const HeaderBytes &header,
                            BufferRef body) override {
    HR_CHECK(peer >= 0 && peer < size() && (!body || body.sealed()));
    if (body && body.size() == 0) {
      body.reset();
    }
    if (peer == rank_) {
      if (body) {
        HR_RETURN_IF_ERROR(landing_.inbox().admits(channel, body.size()));
      }
      HR_RETURN_IF_ERROR(landing_.inbox().deliver(channel, {rank_, header, std::move(body)}));
      return SendTicket{peer, 0};
    }
    Outgoing message;
    message.frame.channel = channel.value;
    message.frame.run = landing_.run();
    message.frame.bodyBytes = body ? static_cast<uint64_t>(body.size()) : 0;
    message.frame.header = header;
    message.body = std::move(body);
    HR_RETURN_IF_ERROR(peerStatus(peer));
    Peer &state = at(peer);
    std::lock_guard lock(state.sending);
    state.outgoing.push_back(std::move(message));
    SendTicket ticket{peer, ++state.sendCount};
    if (state.outgoing.size() == 1) {
      write(peer);
      if (state.waitsForRoom && state.link->polled()) {
        landing_.inbox().ring(); // so that poll() is called, though nothing may wake for it
      }
    }
    return ticket;
  }

  bool sent(SendTicket ticket) override {
    if (ticket.peer == rank_) {
      return true;
    }
    Peer &peer = at(ticket.peer);
    std::lock_guard lock(peer.sending);
    return peer.link->leftCount() >= ticket.number;
  }

  bool drained() override {
    for (Peer &peer : peers_) {
      std::lock_guard lock(peer.sending);
      if (peer.link && !peer.isDown() && !(peer.outgoing.empty() && peer.link->drained())) {
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
      if (events[index].data.u32 == kOwn) {
        continue; // all that it may tell of is polled
      }
      auto peer = static_cast<int>(events[index].data.u32);
      if ((events[index].events & ~static_cast<uint32_t>(EPOLLOUT)) != 0) {
        settle(peer, at(peer).link->take(landing_));
      }
      if ((events[index].events & EPOLLOUT) != 0) {
        std::lock_guard sending(at(peer).sending);
        write(peer);
      }
    }
    if (engine_) {
      engine_->poll(landing_);
    }
    for (int peer : polled_) {
      poll(peer);
    }
  }

  void beginRun(const std::shared_ptr<MemoryTier> &tier) override {
    std::lock_guard lock(receiving_);
    landing_.beginRun();
    if (tier != tier_) {
      useTier(tier);
    }
  }

  Status peerStatus(int peer) override {
    if (peer == rank_) {
      return {};
    }
    Peer &state = at(peer);
    std::lock_guard lock(state.failing);
    return state.failure;
  }

  void giveUp(int peer, Status why) override {
    fail(peer, std::move(why));
    drop(peer);
  }

private:
  /// A descriptor of this rank, among the numbers of peers.
  static constexpr uint32_t kOwn = UINT32_MAX;

  struct Peer {
    std::unique_ptr<Link> link; ///< null for this rank

    std::mutex sending; ///< guards the three below, and the link's sending end
    std::deque<Outgoing> outgoing;
    uint64_t sendCount = 0;
    bool waitsForRoom = false;

    std::mutex failing;
    Status failure;
    std::atomic<bool> down{false};
    bool isDown() const { return down.load(std::memory_order_acquire); }
  };
  Peer &at(int peer) { return peers_[static_cast<size_t>(peer)]; }

  void useTier(const std::shared_ptr<MemoryTier> &tier) {
    tier_ = tier;
    if (segment_) {
      blocks_ = std::make_shared<BlockPool>(
          BlockPool::Options{.capacityBytes = segment_->size(),
                             .retainedBytesMax = tier ? tier->limitBytes() / kKeptPart : 0,
                             .tier = tier,
                             .segment = segment_});
    }
  }

  void watch(int peer, int operation, uint32_t interest) {
    epoll_event event{};
    event.events = interest;
    event.data.u32 = static_cast<uint32_t>(peer);
    epoll_ctl(ready_, operation, at(peer).link->descriptor(), &event);
  }

  void watchOwn(int descriptor, uint32_t interest) {
    epoll_event event{};
    event.events = interest;
    event.data.u32 = kOwn;
    epoll_ctl(ready_, EPOLL_CTL_ADD, descriptor, &event);
  }

  /// Without `sending` held.
  void settle(int peer, const Status &status) {
    if (!status.ok()) {
      fail(peer, status);
      drop(peer);
    }
  }

  /// What waits to be sent to a peer whose link is down.
  void drop(int peer) {
    Peer &state = at(peer);
    std::lock_guard lock(state.sending);
    if (state.link) {
      state.link->giveUp();
    }
    state.outgoing.clear();
  }

  void fail(int peer, Status why) {
    Peer &state = at(peer);
    if (!state.link) {
      return;
    }
    {
      std::lock_guard lock(state.failing);
      if (state.isDown()) {
        return;
      }
      state.failure = std::move(why);
      state.down.store(true, std::memory_order_release);
    }
    // The descriptor stays open until the end: a number in use must not come back as another file.
    watch(peer, EPOLL_CTL_DEL, 0);
    landing_.inbox().ring();
  }

  /// With `sending` held.
  void write(int peer) {
    Peer &state = at(peer);
    if (state.isDown()) {
      return;
    }
    Expected<Link::Room> room = state.link->write(state.outgoing);
    if (!room.ok()) {
      fail(peer, room.status());
      state.link->giveUp();
      state.outgoing.clear();
      return;
    }
    bool waits = *room == Link::Room::kNone;
    if (waits == state.waitsForRoom) {
      return;
    }
    state.waitsForRoom = waits;
    if (!state.link->polled()) {
      watch(peer, EPOLL_CTL_MOD, waits ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }
    if (!waits) {
      landing_.inbox().ring(); // drained() and sent() have changed
    }
  }

  void poll(int peer) {
    Peer &state = at(peer);
    if (!state.isDown()) {
      settle(peer, state.link->poll(landing_));
    }
    std::lock_guard lock(state.sending);
    if (!state.isDown() && !(state.outgoing.empty() && state.link->drained())) {
      write(peer);
      if (state.outgoing.empty() && state.link->drained()) {
        landing_.inbox().ring(); // drained() and sent() have changed
      }
    }
  }

  int rank_;
  std::vector<Peer> peers_;
  std::vector<std::string> hosts_;         ///< by rank; empty: all the same
  std::shared_ptr<SharedSegment> segment_; ///< null: no memory is shared
  int bell_;                               ///< -1: likewise
  std::unique_ptr<Engine> engine_;         ///< null: no link needs one
  int ready_;                              ///< epoll set of the links' descriptors, and of the bell
  std::vector<int> polled_;
  Landing landing_; ///< changes, but for what says so, with receiving_ held
  Doorbell *doorbell_ = nullptr;
  std::mutex receiving_;
  std::shared_ptr<MemoryTier> tier_;
  std::shared_ptr<BlockPool> blocks_; ///< of segment_; null without
};

} // namespace

std::unique_ptr<StreamTransport> makeStreamTransport(TransportLinks links) {
  return std::make_unique<LinkTransport>(std::move(links));
}

} // namespace headrace
