// A table of Arrow's C data interface, as it is.
#pragma once

#include "runtime/storage/columns/source.h"

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

struct ArrowArrayStream;

namespace headrace::storage {

/// A record batch of one of several tables, by its number among those of the table that have rows.
struct ChosenBatch {
  size_t table = 0;
  size_t batch = 0;
};

/// An Arrow table in memory. Immutable, thread-safe.
class ArrowTable {
public:
  virtual ~ArrowTable() = default;

  /// Takes over the stream (C data interface) and reads it to its end; the stream is released.
  /// Record batches are kept as they are (no copy). One pass computes the statistics.
  static Expected<std::shared_ptr<const ArrowTable>> import(ArrowArrayStream *stream);

  /// The table of these batches of imported tables, of one at least, which have the same columns.
  /// No batch is looked at: the statistics are those of the tables together, so that bounds may be
  /// wider than the rows, and numbers of NULLs and of distinct values are estimates.
  static std::shared_ptr<const ArrowTable>
  joined(std::span<const std::shared_ptr<const ArrowTable>> tables,
         std::span<const ChosenBatch> batches);

  /// As Storage::statistics, without "identity"; "row_groups" counts record batches.
  virtual const nlohmann::json &statistics() const = 0;
  /// Morsels of at most 128 k rows, copied and converted to the promised physical types when
  /// loaded. Slot.bounds are not looked at (kernels filter anyway). The table must not be dropped
  /// before the source; morsels own their data.
  virtual Expected<std::unique_ptr<MorselSource>> scan(const plan::Slot &slot,
                                                       Share share) const = 0;
};

} // namespace headrace::storage
