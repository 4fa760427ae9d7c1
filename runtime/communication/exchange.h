// Exchange: a stream of sealed messages from every rank to every rank, with credits.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "runtime/base/poll.h"
#include "runtime/base/status.h"
#include "runtime/communication/message.h"
#include "runtime/communication/poison.h"
#include "runtime/memory/buffer_pool.h"
#include "runtime/transport/transport.h"

namespace headrace {

/// One message: a chunk (or part of one) that exec has serialised. Its columns are exec's business.
struct ExchangeMessage {
  int peer = -1; ///< the target when sending, the source when receiving: a position among members
  int64_t rows = 0;
  uint64_t tag = 0; ///< carried along for exec
  BufferRef body;   ///< sealed; at most the receiving pool's bufferBytes; may be null
};

/// Who receives in an exchange.
enum class Receivers : uint8_t {
  kAll,
  kFirst, ///< member 0 alone: the others owe nothing to each other, and say nothing
};

struct ExchangeOptions {
  ChannelId channel = {};
  /// The transport's ranks between which it is, ascending; empty: all. Groups without a common rank
  /// may use the same channel.
  std::vector<int> members = {};
  Receivers receivers = Receivers::kAll;
  /// Messages a peer may have under way to this rank: sent and not yet taken by receive().
  int64_t window = 4;
  /// Bodies are received into it; used by this exchange alone; at least one buffer a member where
  /// this rank receives.
  /// Buffers of received messages count until dropped: with all of them held, peers wait.
  BufferPool *receivePool = nullptr;
  Checksums checksums = Checksums::kOn;
  /// The task that failures are reported for.
  TaskId task = {};
};

enum class SendResult : uint8_t {
  kAccepted, ///< the exchange has the message
  kNoCredit, ///< the peer has no room; the message is still the caller's; the doorbell will ring
  kFailed,   ///< the run is poisoned: see status()
};

/// Purpose: all-to-all streams of rows, bounded at every receiver. Peers are positions among the
/// members.
/// Ownership: borrows transport, board and pool; holds received messages until receive().
/// Thread-safety: full: workers may send while the rank's thread receives.
/// Ordering: messages of one source arrive in the order sent; sources interleave.
/// Lifetime: one stream; every rank opens it, and destroys it when done or failed. It may be
/// destroyed while peers are still at it.
///
///   kOpen --finish()--> kFinishing --all sent ends taken, all peers' ends seen--> kDone
///     any --poison, dead peer, damage--> kFailed (sticky; raised on the board)
class Exchange {
public:
  enum class Phase : uint8_t { kOpen, kFinishing, kDone, kFailed };

  /// Grants the first credits to the peers. Fails (kInternal) if the pool is too small.
  static Expected<std::unique_ptr<Exchange>> open(Transport &transport, PoisonBoard &board,
                                                  Doorbell *doorbell, ExchangeOptions options);
  ~Exchange();
  Exchange(const Exchange &) = delete;
  Exchange &operator=(const Exchange &) = delete;

  /// How many messages the peer would accept now: ask before producing.
  int64_t credits(int peer);
  /// Not after finish(). On kAccepted the message's body has been moved out.
  SendResult trySend(ExchangeMessage &message);
  /// This rank sends no more, to anyone.
  void finish();

  /// The next message, from any source. Taking it gives its source another credit.
  std::optional<ExchangeMessage> receive();
  /// Whether that source has ended and all its messages were taken.
  bool ended(int source);

  /// kDone: finished here, every peer's stream has ended and all is taken. kFailed: see status().
  /// Goes as far as it can; call it when the doorbell rang.
  PollState poll();
  Phase phase() const;
  Status status() const;

  struct Numbers {
    int64_t messagesSent = 0, messagesReceived = 0;
    int64_t rowsSent = 0, rowsReceived = 0;
    int64_t bytesSent = 0, bytesReceived = 0;
    int64_t refusedSends = 0; ///< trySend() without credit
  };
  Numbers numbers() const;

private:
  struct Peer {
    int64_t credits = 0;   ///< that we may still use towards it
    int64_t granted = 0;   ///< that it may still use towards us
    int64_t queued = 0;    ///< its messages that arrived and were not taken
    uint64_t nextSend = 0; ///< sequence numbers
    uint64_t nextReceive = 0;
    bool refused = false; ///< a trySend() found no credit and waits for the doorbell
    bool ended = false;
  };
  Exchange(Transport &transport, PoisonBoard &board, Doorbell *doorbell, bool receives,
           ExchangeOptions options);
  void advance();
  void takeIn();
  Status accept(Arrival arrival);
  void grant();
  void grantToOwed(int64_t available);
  void grantToAll(int64_t available);
  void grantTo(int peer, int64_t credits);
  void fail(const Status &status);
  Status sendControl(int peer, MessageKind kind, uint64_t value);
  int rankOf(size_t peer) const { return options_.members[peer]; }
  int peerCount() const { return static_cast<int>(peers_.size()); }

  Transport &transport_;
  PoisonBoard &board_;
  Doorbell *doorbell_;
  ExchangeOptions options_;
  mutable std::mutex mutex_;
  Phase phase_ = Phase::kOpen;
  const bool receives_; ///< whether messages come to this rank
  std::vector<Peer> peers_;
  size_t endsLeft_;           ///< of peers
  int64_t granted_ = 0;       ///< of all peers
  bool short_ = true;         ///< some peer has less than its window, for want of buffers
  bool mayGrant_ = true;      ///< a message or an end has come, or a message was taken
  int64_t availableSeen_ = 0; ///< were left when all peers were last looked at
  std::vector<int> owed_;     ///< whose messages were taken since
  std::deque<ExchangeMessage> arrived_;
  int nextGrant_ = 0;
  Numbers numbers_;
};

} // namespace headrace
