// Inbox: what has arrived for one rank, by channel. Every backend delivers into one.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "runtime/base/doorbell.h"
#include "runtime/transport/transport.h"

namespace headrace {

/// Purpose: the receiving half of a Transport.
/// Ownership: owns arrivals until receive(); borrows the doorbell and the channels' pools.
/// Thread-safety: full. Ordering: per channel as delivered. Bounded: without a body by
/// earlyMessagesMax() a channel until it is opened; with one by the senders' credits.
class Inbox {
public:
  static constexpr size_t kEarlyMessagesMax = 4096;

  /// Of how many ranks messages come; each may say a few things early. Called before any does.
  void setRanks(int ranks) { earlyMax_ = kEarlyMessagesMax + 4 * static_cast<size_t>(ranks); }
  size_t earlyMessagesMax() const { return earlyMax_; }

  void setDoorbell(Doorbell *doorbell);
  void ring();

  Status open(ChannelId channel, BufferPool *pool);
  void close(ChannelId channel);

  /// Where a body of `bytes` for the channel is to be received: a buffer with that size set, null
  /// if the channel is closed and the bytes are to be dropped, or why it must not have been sent.
  Expected<BufferRef> bufferFor(ChannelId channel, int64_t bytes);
  /// The same rules for a body that comes by its handle.
  Status admits(ChannelId channel, int64_t bytes);

  /// Keeps the message (drops it on a closed channel) and rings.
  Status deliver(ChannelId channel, Arrival arrival);
  std::optional<Arrival> receive(ChannelId channel);

  /// Drops everything; no channel is open, and each may be opened again.
  void beginAnew();

  /// Drops everything, now and later.
  void shut();

private:
  enum class Phase : uint8_t { kUnopened, kOpen, kClosed };
  struct Channel {
    Phase phase = Phase::kUnopened;
    BufferPool *pool = nullptr;
    std::deque<Arrival> arrived;
  };
  Status admitsLocked(const Channel &channel, ChannelId id, int64_t bytes) const;

  std::mutex mutex_;
  std::unordered_map<ChannelId, Channel> channels_;
  Doorbell *doorbell_ = nullptr;
  bool shut_ = false;
  size_t earlyMax_ = kEarlyMessagesMax;
};

} // namespace headrace
