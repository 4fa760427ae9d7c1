// Where a run task's morsels come from: rows of a slot, chunks of a stream, rows of a state.
#pragma once

#include "runtime/exec/chunk/chunk_stream.h"
#include "runtime/exec/share/morsel_rights.h"
#include "runtime/exec/state/rank_state.h"
#include "runtime/storage/columns/source.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>

namespace headrace::exec {

/// A morsel and what keeps it alive. Movable; the pointers in `morsel` stay valid.
struct TakenMorsel {
  HrMorsel morsel{};
  std::shared_ptr<const void> pin;
  std::span<const storage::ColumnOrigin> origins; ///< by column; empty: nobody keeps any
  ChunkOrder order; ///< where its output stands, if the source is ordered
  uint64_t bytes = 0;
};

/// The rows of a chunk, the first of which has this number in its source.
TakenMorsel morselOf(ChunkHandle chunk, uint64_t firstRow);

/// Thread-safe: lanes take from it at once.
class MorselQueue {
public:
  virtual ~MorselQueue() = default;
  /// Nothing: none at the moment, or ended. May block on file I/O.
  virtual Expected<std::optional<TakenMorsel>> take() = 0;
  /// How many a take() would find now.
  virtual size_t available() const = 0;
  /// No more will come.
  virtual bool ended() const = 0;
  /// Nobody needs those that are not taken yet: a source that can leaves them out.
  virtual void stop() {}
  /// Whether the output of every morsel must be told apart to keep the rows' order.
  virtual bool ordered() const { return false; }
  /// All that was taken can be taken once more, when nobody is at work on it. Of tables and states
  /// on a GPU alone: rows of streams are gone.
  virtual void again();
};

/// The morsels of `rights`. Each take() loads one on the calling thread, charged to `account`.
/// Where memory is short, fewer morsels are in flight at a time, and `doorbell` is rung when one
/// may be asked for again: an error only if no morsel under way will give memory back. `rank`: what
/// the order of the rows begins with; empty: they come in any.
std::unique_ptr<MorselQueue> makeLoadQueue(std::shared_ptr<storage::MorselSource> source,
                                           std::shared_ptr<MorselRights> rights,
                                           std::shared_ptr<MemoryAccount> account,
                                           Doorbell *doorbell, ChunkOrder rank = {});
/// With an order, chunks carry it and the output continues it.
std::unique_ptr<MorselQueue> makeStreamQueue(std::shared_ptr<ChunkStream> stream,
                                             StreamOrder order);
/// Rows of a finished state, cut so that `lanes` have work; in order if it is sorted, which begins
/// with `rank`.
std::unique_ptr<MorselQueue> makeStateQueue(std::shared_ptr<const RankState> state,
                                            const plan::State &described, size_t lanes,
                                            ChunkOrder rank = {});

} // namespace headrace::exec
