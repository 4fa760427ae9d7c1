// Where the rows of a plan's slot come from: Parquet files or Arrow data, delivered as morsels
// whose columns have exactly the physical types that the slot's columns promise to the kernels.
#pragma once

#include "model/plan/mesh.h"
#include "runtime/abi/kernel.h"
#include "runtime/base/status.h"
#include "runtime/memory/budget.h"
#include "runtime/primitives/hash/hash.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace headrace::storage {

/// What a column of a morsel is a view of: the same owner means the same values.
struct ColumnOrigin {
  std::weak_ptr<const void> kept; ///< that others hold too, a cache; empty: nobody does
  uint64_t firstRow = 0;          ///< in what is kept
};

/// A morsel and everything its pointers reach. Immutable; may outlive its source and be shared by
/// threads.
struct LoadedMorsel {
  HrMorsel morsel{};
  std::vector<HrColumn> columns;                 ///< in the order of Slot.columns
  std::vector<std::shared_ptr<const void>> pins; ///< what `columns` point into
  std::vector<ColumnOrigin> origins;             ///< by column; empty: none is kept
  uint64_t bytes = 0;                            ///< memory pinned
  /// Number of its first row in the whole table, whatever is left out of it and who reads it.
  uint64_t place = 0;
};
using MorselHandle = std::shared_ptr<const LoadedMorsel>;

/// Which morsels of a slot a source has.
enum class Reach : uint8_t {
  kShare, ///< those of the rank's share
  kAll,   ///< all, numbered alike on all ranks
};

/// Which part of a slot's rows this rank reads: contiguous, balanced by rows, the same on every
/// rank.
struct Share {
  uint32_t rank = 0;
  uint32_t size = 1;
  Reach reach = Reach::kShare;
  primitives::KeyInterval places = {}; ///< of the slot's stretches, those that are wanted
};

/// Morsels, by their numbers in a source.
struct MorselRange {
  size_t first = 0;
  size_t end = 0; ///< not included

  size_t count() const { return end - first; }
  bool operator==(const MorselRange &) const = default;
};

/// The morsels of one slot on one rank. Thread-safe: workers take indices from a shared counter and
/// call load() themselves, which reads, decompresses and checks on the calling thread, so the
/// parallelism of a scan is over morsels. Order: morsels are in the order of the rows in the input.
class MorselSource {
public:
  virtual ~MorselSource() = default;

  virtual size_t morselCount() const = 0;
  /// Rows of a morsel, known without loading it.
  virtual uint64_t rows(size_t index) const = 0;
  /// Rows of all morsels.
  virtual uint64_t rows() const = 0;
  /// kShare: other ranks have other morsels by the same numbers, and cannot read those of this one.
  virtual Reach reach() const { return Reach::kAll; }
  /// Those that this rank will load, once each, if nobody says otherwise.
  virtual MorselRange share() const { return {0, morselCount()}; }
  /// Morsels of other ranks that this one will load, too. Not while one of them is being loaded.
  virtual void expect(MorselRange) {}
  /// Morsels that this rank will not load after all. Likewise.
  virtual void leave(MorselRange) {}
  /// HrMorsel.firstRow is the row's index within the source. Blocks on file I/O. What the
  /// morsel pins is charged to `memory` for as long as it lives, and what loading takes besides
  /// while it loads. Errors: kMemory (nothing is changed: the morsel may be asked for again), kIo,
  /// kCorrupt, kData (a NULL or a value that the plan's statistics rule out), kUnsupported
  /// (encoding, codec, encryption), each naming file and column.
  virtual Expected<MorselHandle> load(size_t index, Reservation &memory) const = 0;
};

} // namespace headrace::storage
