// One collective under way on one rank: its call, its rounds, and how far they are. Internal to the
// Communicator, which holds the lock and moves the messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/poll.h"
#include "runtime/base/status.h"
#include "runtime/communication/collective_rounds.h"
#include "runtime/communication/reduction.h"
#include "runtime/memory/buffer_pool.h"

namespace headrace {

enum class CollectiveKind : uint8_t {
  kAllReduceRing,
  kAllReduceDoubling,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kBarrier
};

/// What all ranks must call alike; packs into 64 bits to travel with announcements.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kBarrier;
  ElementType type = ElementType::kUInt8;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
  int64_t count = 0;   ///< in all; packed modulo 2^40
  uint64_t counts = 0; ///< hash of per-rank counts that must agree; not packed

  uint64_t pack() const;
  static CollectiveCall unpack(uint64_t packed);
  /// "all_reduce sum of 1024 float32 by ring"
  std::string describe() const;
  /// The hash of all calls up to this one.
  uint64_t chain(uint64_t before) const;
};

/// Purpose: the state machine of one collective.
/// Ownership: shared by the communicator and the caller's handle; borrows the caller's buffers.
/// Thread-safety: the communicator's lock; `state` may be read by anyone.
/// Ordering: rounds in order; pieces of a round in order.
///
///   kQueued --a slot is free--> kRunning --all rounds done--> kDone;  any --poison--> kFailed
struct CollectiveRun {
  enum class Phase : uint8_t { kQueued, kRunning, kDone, kFailed };

  CollectiveCall call;
  uint64_t number = 0;
  uint64_t chain = 0;
  CollectiveRounds rounds;
  const std::byte *sendBase = nullptr;
  std::byte *receiveBase = nullptr;
  /// At the end: the rank's part from the work buffer to the output.
  const std::byte *copyFrom = nullptr;
  std::byte *copyTo = nullptr;
  int64_t copyBytes = 0;
  std::byte scratch[2] = {};

  Phase phase = Phase::kQueued;
  std::atomic<PollState> state{PollState::kPending};

  struct Peer {
    int64_t credits = 0; ///< pieces we may send
    uint64_t piecesSent = 0;
    uint64_t piecesReceived = 0;
    std::deque<BufferRef> arrived;
  };
  std::map<int, Peer> peers; ///< of the members those that it talks to
  int slot = -1;
  size_t round = 0;
  int64_t sendStaged = 0; ///< elements of this round copied into pool buffers
  BufferRef staged;       ///< the last of them, until a credit comes
  int64_t received = 0;   ///< elements of this round
  size_t grantRound = 0;  ///< where granting is: ahead of receiving by at most the window
  int64_t grantPiece = 0;
  int64_t outstanding = 0; ///< pieces granted and not yet used up

  /// How the run talks to its peers (positions among the members).
  struct Link {
    int64_t pieceBytes;
    int64_t window;
    BufferPool *sendPool;
    std::function<Status(int peer, uint64_t piece, BufferRef body)> sendPiece;
    std::function<Status(int peer, int64_t credits)> sendCredits;
  };

  /// Elements to that peer, or from it, over all rounds.
  int64_t sendTotal(int peer) const;
  int64_t receiveTotal(int peer) const;
  /// Whether the peer is still needed.
  bool needs(int peer) const;
  /// Goes as far as it can.
  Status advance(const Link &link);
  /// Grants pieces of this and later rounds up to the window.
  Status grant(const Link &link);

private:
  Status send(const CollectiveRound &current, const Link &link, bool &progressed);
  Status receive(const CollectiveRound &current, const Link &link, bool &progressed);
  int64_t pieceElements(const Link &link) const;
};

} // namespace headrace
