// A table of Arrow's C data interface, as it is.
#pragma once

#include "runtime/storage/columns/source.h"

#include <memory>
#include <nlohmann/json.hpp>

struct ArrowArrayStream;

namespace headrace::storage {

/// An Arrow table in memory. Immutable, thread-safe.
class ArrowTable {
public:
  virtual ~ArrowTable() = default;

  /// Takes over the stream (C data interface) and reads it to its end; the stream is released.
  /// Record batches are kept as they are (no copy). One pass computes the statistics.
  static Expected<std::shared_ptr<const ArrowTable>> import(ArrowArrayStream *stream);

  /// As Storage::statistics, without "identity"; "row_groups" counts record batches.
  virtual const nlohmann::json &statistics() const = 0;
  /// Morsels of at most 128 k rows, copied and converted to the promised physical types when
  /// loaded. Slot.bounds are not looked at (kernels filter anyway). The table must not be dropped
  /// before the source; morsels own their data.
  virtual Expected<std::unique_ptr<MorselSource>> scan(const plan::Slot &slot,
                                                       Share share) const = 0;
};

} // namespace headrace::storage
