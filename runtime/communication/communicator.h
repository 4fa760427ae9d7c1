// Communicator: collectives on tensor buffers, started by all its ranks in the same order.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/base/poll.h"
#include "runtime/base/status.h"
#include "runtime/communication/poison.h"
#include "runtime/communication/reduction.h"
#include "runtime/memory/block_pool.h"
#include "runtime/transport/transport.h"

namespace headrace {

class Communicator;
struct CollectiveRun;

/// Purpose: one collective under way.
/// Ownership: move-only handle; dropping it before the end is allowed only once the run is
/// poisoned. Thread-safety: poll() and status() from any thread. Lifetime: within the
/// communicator's.
class Collective {
public:
  Collective() = default;
  bool valid() const { return run_ != nullptr; }
  /// kDone: the output is complete and the input may be reused. Advances the whole communicator.
  PollState poll();
  Status status() const;

private:
  friend class Communicator;
  Communicator *communicator_ = nullptr;
  std::shared_ptr<CollectiveRun> run_;
};

enum class ReduceAlgorithm : uint8_t {
  kAuto,     ///< doubling up to the option's size, ring above
  kRing,     ///< reduce_scatter, then all_gather, round the ring: each byte twice over each link
  kDoubling, ///< recursive doubling: log2(size) rounds with the whole tensor
};

struct CommunicatorOptions {
  /// From kFirstCommunicatorChannel up; the same on all ranks.
  ChannelId channel{kFirstCommunicatorChannel};
  /// The transport's ranks that belong, in the order of their ranks here; empty: all. Groups
  /// without a common rank may use the same channel.
  std::vector<int> members = {};
  /// Size of a piece; a tensor goes in as many as it needs.
  int64_t bufferBytes = 1 << 20;
  /// Pieces under way to a rank, per collective.
  int64_t window = 4;
  /// Collectives under way at once; later ones wait for their turn.
  int64_t concurrentMax = 4;
  /// kAuto doubles up to this size.
  int64_t doublingBytesMax = 64 << 10;
  Checksums checksums = Checksums::kOn;
  TaskId task = {}; ///< that failures are reported for
};

/// Purpose: tensor collectives among all or some ranks of a transport. Counts are in elements,
/// ranks are positions among the members. Ownership: borrows transport, board and the callers'
/// buffers until the collective is done. Thread-safety: full. Starting order must be equal on all
/// ranks; every message carries a hash of the calls so far, and unequal order or arguments fail
/// with kMismatch on all ranks, naming both. Ordering: collectives under way progress
/// independently. Results of floating-point reductions are the same bits on all ranks, and the same
/// for equal size, count and algorithm. Lifetime: within the transport's and the board's.
class Communicator {
public:
  static Expected<std::unique_ptr<Communicator>> open(Transport &transport, PoisonBoard &board,
                                                      BlockPool &blocks, Doorbell *doorbell,
                                                      CommunicatorOptions options);
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  int rank() const;
  int size() const;

  /// In place: every rank's `data` becomes the reduction of all.
  Collective allReduce(void *data, int64_t count, ElementType type, ReduceOp op,
                       ReduceAlgorithm algorithm = ReduceAlgorithm::kAuto);
  /// `output` becomes the ranks' inputs one after another; counts[r] elements come from rank r.
  Collective allGather(const void *input, void *output, std::span<const int64_t> counts,
                       ElementType type);
  /// `data` holds the sum of counts; afterwards this rank's part of the reduction is in `output`
  /// (counts[rank] elements) and `data` holds partial results of no use.
  Collective reduceScatter(void *data, void *output, std::span<const int64_t> counts,
                           ElementType type, ReduceOp op);
  /// `input` is the parts for rank 0, 1, … one after another (sendCounts), `output` those from rank
  /// 0, 1, … (receiveCounts). What r sends to s must be what s expects from r.
  Collective allToAll(const void *input, void *output, std::span<const int64_t> sendCounts,
                      std::span<const int64_t> receiveCounts, ElementType type);
  /// The root's `data` comes to all.
  Collective broadcast(void *data, int64_t count, ElementType type, int root);
  /// Done once all ranks have started it.
  Collective barrier();

  /// Advances all collectives under way.
  void poll();

private:
  friend class Collective;
  struct Impl;
  explicit Communicator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace headrace
