// Poison: how a failure on one rank reaches every waiter on every rank, and all agree on which one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/base/poll.h"
#include "runtime/base/status.h"
#include "runtime/communication/heartbeat.h"
#include "runtime/communication/message.h"
#include "runtime/memory/block_pool.h"
#include "runtime/transport/transport.h"

namespace headrace {

/// A failure with its origin. Of several, the one with the smallest (task, rank, row) counts.
struct Poison {
  ErrorKind kind = ErrorKind::kInternal;
  int rank = -1;
  TaskId task = {}; ///< invalid (the largest) for failures that belong to no task
  int64_t row = -1;
  std::string message;
  std::string place;

  /// As the rank where it happened reports it.
  Status status() const { return Status(kind, message, place); }
  /// As others report it: "stopped because rank 2 failed: …", same kind and place.
  Status statusOn(int otherRank) const;
  static bool earlier(const Poison &left, const Poison &right);
};

/// Purpose: the failure state of one rank's run, shared by its exchanges, collectives and tasks.
/// Ownership: owned by the run; borrows the transport. Thread-safety: full. Ordering: sticky; a
/// smaller (task, rank, row) replaces a greater one. Lifetime: outlives exchanges and communicators
/// that were given it; one per transport.
class PoisonBoard {
public:
  /// Collective in the sense that every rank makes one for the run.
  static Expected<std::unique_ptr<PoisonBoard>> open(Transport &transport, BlockPool &blocks,
                                                     Doorbell *doorbell,
                                                     HeartbeatOptions heartbeat = {});
  ~PoisonBoard();
  /// Of its pools. Many ranks have shorter texts.
  static int64_t memoryBytes(int ranks);

  /// Records a failure of this rank (`poison.rank` is filled in) and tells all peers.
  void raise(Poison poison);
  /// The same, from a Status.
  void raise(const Status &status, TaskId task = {}, int64_t row = -1);
  /// Stops the run on all ranks with kCancelled.
  void cancel(std::string reason);

  /// Cheap: for every morsel.
  bool poisoned() const { return poisoned_.load(std::memory_order_acquire); }
  /// The same as a byte that is not 0, for kernels.
  const uint8_t *flag() const { return reinterpret_cast<const uint8_t *>(&poisoned_); }
  /// The failure as this rank should report it; ok if there is none.
  Status status() const;
  std::optional<Poison> poison() const;

  /// Takes in what peers have told, tells them that this rank lives, and gives up those that have
  /// been silent for too long. Called by poll() of exchanges and collectives too.
  void poll();

  /// The end of a run, failed or not: tells the peers that this rank has stopped and waits until
  /// all living ones have; then all agree on the outcome. kDone: no failure; kFailed: see status().
  PollState settle();

private:
  PoisonBoard(Transport &transport, std::unique_ptr<BufferPool> sendPool,
              std::unique_ptr<BufferPool> receivePool, Doorbell *doorbell,
              HeartbeatOptions heartbeat);
  void mergeLocked(Poison poison);
  /// To all peers; the text to those whose board is open, and to the others when it is.
  void broadcastLocked(MessageKind kind);
  void sendLocked(MessageKind kind, int peer);
  void askLocked(int peer);
  bool knowsWhyLocked();
  void settledLocked(int peer);
  void takeInLocked();
  void beatLocked();

  Transport &transport_;
  std::unique_ptr<BufferPool> sendPool_;
  std::unique_ptr<BufferPool> receivePool_;
  Doorbell *doorbell_;
  std::atomic<bool> poisoned_{false};
  mutable std::mutex mutex_;
  std::optional<Poison> poison_;
  int broadcasts_ = 0;
  std::optional<Poison> told_; ///< of the last broadcast
  BufferRef toldText_;
  std::vector<int> asked_; ///< who has yet to say why the run failed
  std::string lost_;       ///< why the link to one of them is down
  bool announced_ = false;
  std::vector<bool> ready_; ///< peers whose board is open: they receive texts
  std::vector<bool> settled_;
  int awaited_ = 0; ///< ranks of which this one has not seen yet that they settled
  Heartbeat heartbeat_;
};

} // namespace headrace
