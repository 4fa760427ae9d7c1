// Ranks in one process: sending is delivering.
#include "runtime/transport/loopback.h"

#include <atomic>
#include <map>
#include <mutex>

#include "runtime/base/check.h"
#include "runtime/transport/inbox.h"

namespace headrace {

namespace {

/// What the group's transports share; lives as long as any of them.
struct Group {
  explicit Group(int size) : inboxes(static_cast<size_t>(size)), gone(static_cast<size_t>(size)) {
    for (Inbox &inbox : inboxes) {
      inbox.setRanks(size);
    }
  }
  std::vector<Inbox> inboxes;
  std::vector<std::atomic<bool>> gone;
  std::atomic<bool> anyGone = false; ///< or given up
};

class LoopbackTransport final : public Transport {
public:
  LoopbackTransport(std::shared_ptr<Group> group, int rank)
      : group_(std::move(group)), rank_(rank) {}

  ~LoopbackTransport() override {
    own().shut();
    group_->gone[static_cast<size_t>(rank_)].store(true, std::memory_order_release);
    group_->anyGone.store(true, std::memory_order_release);
    for (Inbox &inbox : group_->inboxes) {
      inbox.ring();
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(group_->inboxes.size()); }
  BodyPassage bodyPassage(int) const override { return BodyPassage::kByHandle; }
  void setDoorbell(Doorbell *doorbell) override { own().setDoorbell(doorbell); }
  Status open(ChannelId channel, BufferPool *pool) override { return own().open(channel, pool); }
  void close(ChannelId channel) override { own().close(channel); }

  Expected<SendTicket> send(int peer, ChannelId channel, const HeaderBytes &header,
                            BufferRef body) override {
    HR_CHECK(peer >= 0 && peer < size() && (!body || body.sealed()));
    if (body && body.size() == 0) {
      body.reset();
    }
    HR_RETURN_IF_ERROR(peerStatus(peer));
    Inbox &inbox = group_->inboxes[static_cast<size_t>(peer)];
    if (body) {
      HR_RETURN_IF_ERROR(inbox.admits(channel, body.size()));
    }
    HR_RETURN_IF_ERROR(inbox.deliver(channel, {rank_, header, std::move(body)}));
    return SendTicket{peer, 0};
  }

  bool sent(SendTicket) override { return true; }
  bool drained() override { return true; }
  std::optional<Arrival> receive(ChannelId channel) override { return own().receive(channel); }
  void progress() override {}

  bool mayBeDown() override { return group_->anyGone.load(std::memory_order_acquire); }

  Status peerStatus(int peer) override {
    if (group_->gone[static_cast<size_t>(peer)].load(std::memory_order_acquire)) {
      return makeError(ErrorKind::kIo, "the link is down, the peer has left: rank ", peer);
    }
    std::lock_guard lock(givenUp_);
    auto found = why_.find(peer);
    return found == why_.end() ? Status() : found->second;
  }

  void giveUp(int peer, Status why) override {
    std::lock_guard lock(givenUp_);
    why_.emplace(peer, std::move(why));
    group_->anyGone.store(true, std::memory_order_release);
    own().ring();
  }

private:
  Inbox &own() { return group_->inboxes[static_cast<size_t>(rank_)]; }

  std::shared_ptr<Group> group_;
  int rank_;
  std::mutex givenUp_;
  std::map<int, Status> why_; ///< of peers that were given up
};

} // namespace

std::vector<std::unique_ptr<Transport>> makeLoopback(int size) {
  HR_CHECK(size >= 1);
  auto group = std::make_shared<Group>(size);
  std::vector<std::unique_ptr<Transport>> transports;
  for (int rank = 0; rank < size; ++rank) {
    transports.push_back(std::make_unique<LoopbackTransport>(group, rank));
  }
  return transports;
}

} // namespace headrace
