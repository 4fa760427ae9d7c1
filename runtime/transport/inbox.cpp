// Arrivals by channel.
#include "runtime/transport/inbox.h"

namespace headrace {

void Inbox::setDoorbell(Doorbell *doorbell) {
  std::lock_guard lock(mutex_);
  doorbell_ = doorbell;
}

void Inbox::ring() {
  std::lock_guard lock(mutex_);
  if (doorbell_) {
    doorbell_->ring();
  }
}

Status Inbox::open(ChannelId id, BufferPool *pool) {
  std::lock_guard lock(mutex_);
  Channel &channel = channels_[id];
  if (channel.phase != Phase::kUnopened) {
    return makeError(ErrorKind::kInternal, "a channel is opened once, twice opened: ", id);
  }
  channel.phase = Phase::kOpen;
  channel.pool = pool;
  if (doorbell_ && !channel.arrived.empty()) {
    doorbell_->ring();
  }
  return {};
}

void Inbox::close(ChannelId id) {
  std::deque<Arrival> dropped;
  std::lock_guard lock(mutex_);
  Channel &channel = channels_[id];
  channel.phase = Phase::kClosed;
  channel.pool = nullptr;
  channel.arrived.swap(dropped);
}

Status Inbox::admitsLocked(const Channel &channel, ChannelId id, int64_t bytes) const {
  if (channel.phase == Phase::kUnopened || !channel.pool) {
    return makeError(ErrorKind::kCorrupt, "a body came for a channel that receives none: ", id);
  }
  if (bytes > channel.pool->bufferBytes()) {
    return makeError(ErrorKind::kCorrupt, "a body for channel ", id,
                     " is larger than its buffers of ", channel.pool->bufferBytes(),
                     " bytes, got: ", bytes);
  }
  return {};
}

Status Inbox::admits(ChannelId id, int64_t bytes) {
  std::lock_guard lock(mutex_);
  const Channel &channel = channels_[id];
  return shut_ || channel.phase == Phase::kClosed ? Status() : admitsLocked(channel, id, bytes);
}

Expected<BufferRef> Inbox::bufferFor(ChannelId id, int64_t bytes) {
  std::lock_guard lock(mutex_);
  const Channel &channel = channels_[id];
  if (shut_ || channel.phase == Phase::kClosed) {
    return BufferRef();
  }
  HR_RETURN_IF_ERROR(admitsLocked(channel, id, bytes));
  BufferRef buffer = channel.pool->tryTake();
  if (!buffer) {
    return makeError(ErrorKind::kCorrupt, "a body came beyond the credits of channel ", id);
  }
  buffer.resize(bytes);
  return buffer;
}

Status Inbox::deliver(ChannelId id, Arrival arrival) {
  std::lock_guard lock(mutex_);
  Channel &channel = channels_[id];
  if (shut_ || channel.phase == Phase::kClosed) {
    return {};
  }
  if (channel.phase == Phase::kUnopened && channel.arrived.size() >= earlyMax_) {
    return makeError(ErrorKind::kCorrupt, "too many messages before the opening of channel ", id);
  }
  channel.arrived.push_back(std::move(arrival));
  if (doorbell_) {
    doorbell_->ring();
  }
  return {};
}

std::optional<Arrival> Inbox::receive(ChannelId id) {
  std::lock_guard lock(mutex_);
  Channel &channel = channels_[id];
  if (channel.phase != Phase::kOpen || channel.arrived.empty()) {
    return std::nullopt;
  }
  Arrival arrival = std::move(channel.arrived.front());
  channel.arrived.pop_front();
  return arrival;
}

void Inbox::beginAnew() {
  std::unordered_map<ChannelId, Channel> dropped;
  std::lock_guard lock(mutex_);
  channels_.swap(dropped);
}

void Inbox::shut() {
  std::unordered_map<ChannelId, Channel> dropped;
  std::lock_guard lock(mutex_);
  shut_ = true;
  doorbell_ = nullptr;
  channels_.swap(dropped);
}

} // namespace headrace
