// The simulated network: an ordered set of events in virtual time.
#include "runtime/transport/sim.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <queue>
#include <unordered_map>

#include "runtime/base/check.h"
#include "runtime/base/random.h"
#include "runtime/transport/inbox.h"

namespace headrace {

namespace {
enum class EventKind : uint8_t { kMessage, kDeath, kLinkDown, kWake };
/// A sequence of messages that stay in order.
struct StreamId {
  int source;
  int target;
  ChannelId channel;
  bool operator==(const StreamId &) const = default;
};
struct StreamIdHash {
  size_t operator()(const StreamId &id) const {
    uint64_t both = static_cast<uint64_t>(id.source) << 32 | static_cast<uint32_t>(id.target);
    return static_cast<size_t>((both * 0x9e3779b97f4a7c15u) ^
                               (id.channel.value * 0xc2b2ae3d27d4eb4fu));
  }
};
constexpr size_t kArrivalsMax = 1 << 16;

struct Event {
  EventKind kind;
  int source;
  int target;
  ChannelId channel;
  HeaderBytes header;
  BufferRef body;
  Status why;
};
} // namespace

struct SimNetwork::State {
  State(SimOptions given, VirtualClock &time)
      : options(std::move(given)), clock(time), random(options.seed),
        inboxes(static_cast<size_t>(options.size)), dead(inboxes.size(), false),
        down(inboxes.size() * inboxes.size()), linksDown(inboxes.size(), 0),
        broken(down.size(), 0) {
    for (Inbox &inbox : inboxes) {
      inbox.setRanks(options.size);
    }
    for (const SimOptions::Death &death : options.deaths) {
      HR_CHECK(death.rank >= 0 && death.rank < options.size);
      schedule(death.atNanoseconds, {EventKind::kDeath, death.rank, -1, {}, {}, {}, {}});
    }
    for (const SimOptions::Pause &pause : options.pauses) {
      // Time goes on to the end of it though nobody sends anything.
      schedule(pause.toNanoseconds, {EventKind::kWake, pause.rank, -1, {}, {}, {}, {}});
    }
  }

  void schedule(int64_t time, Event event) {
    size_t place = events.size();
    if (freePlaces.empty()) {
      events.push_back(std::move(event));
    } else {
      place = freePlaces.back();
      freePlaces.pop_back();
      events[place] = std::move(event);
    }
    queue.push({std::max(time, clock.nowNanoseconds()), ++scheduled, place});
  }
  /// Why `rank` cannot reach `peer`.
  Status &downAt(int rank, int peer) {
    return down[static_cast<size_t>(rank) * inboxes.size() + static_cast<size_t>(peer)];
  }
  void send(int source, int target, ChannelId channel, const HeaderBytes &header, BufferRef body);
  void deliver(Event event);
  void linkDown(int rank, int peer, const Status &why);
  void kill(int rank);

  SimOptions options;
  VirtualClock &clock;
  Random random;
  std::vector<Inbox> inboxes;
  std::vector<bool> dead;
  std::vector<Status> down;
  std::vector<int> linksDown;  ///< by rank: how many of its links
  std::vector<uint8_t> broken; ///< by source and target: a message was lost there
  /// When an event happens, the order among those of the same time, and its place in `events`.
  struct Due {
    int64_t time;
    uint64_t number;
    size_t place;
    bool operator>(const Due &other) const {
      return std::pair(time, number) > std::pair(other.time, other.number);
    }
  };
  std::priority_queue<Due, std::vector<Due>, std::greater<>> queue;
  std::vector<Event> events;
  std::vector<size_t> freePlaces;
  uint64_t scheduled = 0;
  int64_t delivered = 0;
  /// When the last message of a stream arrives: the next may not overtake it. Those that have
  /// arrived are forgotten now and then.
  std::unordered_map<StreamId, int64_t, StreamIdHash> lastArrival;
  size_t arrivalsMax = kArrivalsMax;
  std::map<int, int64_t> linkFree; ///< by node: when its link has sent what it was given
};

void SimNetwork::State::send(int source, int target, ChannelId channel, const HeaderBytes &header,
                             BufferRef body) {
  int64_t now = clock.nowNanoseconds();
  uint8_t &isBroken =
      broken[static_cast<size_t>(source) * inboxes.size() + static_cast<size_t>(target)];
  if (isBroken) {
    return; // nothing overtakes what was lost
  }
  if (source != target && random.chance(options.loseProbability)) {
    isBroken = true;
    Status why = makeError(ErrorKind::kIo, "the link is down, a message was lost from rank ",
                           source, " to rank ", target);
    int64_t when = now + options.detectNanoseconds;
    schedule(when, {EventKind::kLinkDown, source, target, {}, {}, {}, why});
    schedule(when, {EventKind::kLinkDown, target, source, {}, {}, {}, why});
    return;
  }
  if (source != target && random.chance(options.vanishProbability)) {
    return;
  }
  int64_t bytes = 64 + (body ? body.size() : 0);
  bool crosses = options.nodeRanks > 0 && source / options.nodeRanks != target / options.nodeRanks;
  double bytesPerSecond = crosses ? options.nodeBytesPerSecond : options.bytesPerSecond;
  auto sending = static_cast<int64_t>(static_cast<double>(bytes) / bytesPerSecond * 1e9);
  int64_t sent = now + sending;
  if (crosses) {
    int64_t &free = linkFree[source / options.nodeRanks];
    sent = std::max(now, free) + sending;
    free = sent;
  }
  int64_t time =
      sent + random.between(options.latencyNanosecondsMin, options.latencyNanosecondsMax);
  if (lastArrival.size() > arrivalsMax) {
    std::erase_if(lastArrival, [&](const auto &each) { return each.second <= now; });
    arrivalsMax = kArrivalsMax + 2 * lastArrival.size();
  }
  int64_t &last = lastArrival[{source, target, channel}];
  if (source == target || !random.chance(options.reorderProbability)) {
    last = time = std::max(time, last);
  }
  if (source != target && random.chance(options.duplicateProbability)) {
    schedule(time, {EventKind::kMessage, source, target, channel, header, body, {}});
  }
  schedule(time, {EventKind::kMessage, source, target, channel, header, std::move(body), {}});
}

void SimNetwork::State::deliver(Event event) {
  auto target = static_cast<size_t>(event.target);
  // What a rank sent before it died is on the wire and still arrives.
  if (dead[target] || !downAt(event.target, event.source).ok()) {
    return;
  }
  Arrival arrival{event.source, event.header, {}};
  if (event.body) {
    // Copied, as a wire would: the receiver's pool is exercised and the sender's buffer freed.
    Expected<BufferRef> buffer = inboxes[target].bufferFor(event.channel, event.body.size());
    if (!buffer.ok()) {
      linkDown(event.target, event.source, buffer.status());
      return;
    }
    if (*buffer && event.body.size() > 0) {
      std::memcpy(buffer->mutableData(), event.body.data(), static_cast<size_t>(event.body.size()));
    }
    arrival.body = std::move(*buffer);
  }
  if (event.source != event.target && random.chance(options.corruptProbability)) {
    if (arrival.body && arrival.body.size() > 0) {
      uint64_t bit = random.below(static_cast<uint64_t>(arrival.body.size()) * 8);
      arrival.body.mutableData()[bit / 8] ^= std::byte{static_cast<unsigned char>(1u << bit % 8)};
    } else {
      uint64_t bit = random.below(arrival.header.size() * 8);
      arrival.header[bit / 8] ^= std::byte{static_cast<unsigned char>(1u << bit % 8)};
    }
  }
  if (arrival.body) {
    arrival.body.seal();
  }
  ++delivered;
  if (Status status = inboxes[target].deliver(event.channel, std::move(arrival)); !status.ok()) {
    linkDown(event.target, event.source, status);
  }
}

void SimNetwork::State::linkDown(int rank, int peer, const Status &why) {
  Status &status = downAt(rank, peer);
  if (status.ok()) {
    status = why;
    ++linksDown[static_cast<size_t>(rank)];
    inboxes[static_cast<size_t>(rank)].ring();
  }
}

void SimNetwork::State::kill(int rank) {
  if (dead[static_cast<size_t>(rank)]) {
    return;
  }
  dead[static_cast<size_t>(rank)] = true;
  inboxes[static_cast<size_t>(rank)].shut();
  Status why = makeError(ErrorKind::kIo, "the link is down, the peer died: rank ", rank);
  int64_t when = clock.nowNanoseconds() + options.detectNanoseconds;
  for (int peer = 0; peer < options.size; ++peer) {
    if (peer != rank) {
      schedule(when, {EventKind::kLinkDown, peer, rank, {}, {}, {}, why});
      schedule(when, {EventKind::kLinkDown, rank, peer, {}, {}, {}, why}); // it waits for nobody
    }
  }
}

namespace {

class SimTransport final : public Transport {
public:
  SimTransport(std::shared_ptr<SimNetwork::State> state, int rank)
      : state_(std::move(state)), rank_(rank) {}
  ~SimTransport() override { state_->kill(rank_); }

  int rank() const override { return rank_; }
  int size() const override { return state_->options.size; }
  BodyPassage bodyPassage(int) const override { return BodyPassage::kCopied; }
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
    if (!state_->dead[static_cast<size_t>(rank_)]) {
      state_->send(rank_, peer, channel, header, std::move(body));
    }
    return SendTicket{peer, 0};
  }
  bool sent(SendTicket) override { return true; }
  bool drained() override { return true; }
  std::optional<Arrival> receive(ChannelId channel) override { return own().receive(channel); }
  void progress() override {}
  bool mayBeDown() override { return state_->linksDown[static_cast<size_t>(rank_)] > 0; }
  Status peerStatus(int peer) override { return state_->downAt(rank_, peer); }
  void giveUp(int peer, Status why) override { state_->linkDown(rank_, peer, why); }

private:
  Inbox &own() { return state_->inboxes[static_cast<size_t>(rank_)]; }

  std::shared_ptr<SimNetwork::State> state_;
  int rank_;
};

} // namespace

SimNetwork::SimNetwork(SimOptions options, VirtualClock &clock) {
  HR_CHECK(options.size >= 1 && options.latencyNanosecondsMin <= options.latencyNanosecondsMax);
  state_ = std::make_shared<State>(std::move(options), clock);
}

SimNetwork::~SimNetwork() = default;

std::unique_ptr<Transport> SimNetwork::transport(int rank) {
  HR_CHECK(rank >= 0 && rank < state_->options.size);
  return std::make_unique<SimTransport>(state_, rank);
}

bool SimNetwork::advance() {
  if (state_->queue.empty()) {
    return false;
  }
  const State::Due due = state_->queue.top();
  state_->queue.pop();
  state_->clock.advanceTo(due.time);
  Event event = std::move(state_->events[due.place]);
  state_->freePlaces.push_back(due.place);
  switch (event.kind) {
  case EventKind::kMessage:
    state_->deliver(std::move(event));
    break;
  case EventKind::kDeath:
    state_->kill(event.source);
    break;
  case EventKind::kLinkDown:
    state_->linkDown(event.source, event.target, event.why);
    break;
  case EventKind::kWake:
    break;
  }
  return true;
}

bool SimNetwork::alive(int rank) const { return !state_->dead[static_cast<size_t>(rank)]; }
bool SimNetwork::isPaused(int rank) const {
  int64_t now = state_->clock.nowNanoseconds();
  return std::ranges::any_of(state_->options.pauses, [&](const SimOptions::Pause &pause) {
    return pause.rank == rank && pause.fromNanoseconds <= now && now < pause.toNanoseconds;
  });
}
void SimNetwork::kill(int rank) { state_->kill(rank); }
int64_t SimNetwork::messagesDelivered() const { return state_->delivered; }

} // namespace headrace
