// The entry point of the storage layer: open files and the cache of their pages, shared by all
// queries of a process. Statistics for the compiler, morsel sources for exec.
#pragma once

#include "runtime/memory/memory_tier.h"
#include "runtime/storage/columns/source.h"
#include "runtime/storage/files/identity.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace headrace::storage {

struct StorageOptions {
  /// Bound on decompressed pages kept between queries beside that of the tier. 0: keep none.
  uint64_t cacheBytesMax = std::numeric_limits<uint64_t>::max();
};

/// Counters since the start, for telemetry.
struct StorageCounters {
  uint64_t cacheBytes = 0;
  uint64_t cacheHits = 0;   ///< column chunks found
  uint64_t cacheMisses = 0; ///< column chunks loaded
  uint64_t fileBytesRead = 0;
};

/// Thread-safe. Sources and morsels may outlive it.
class Storage {
public:
  explicit Storage(StorageOptions options = {});
  ~Storage();
  Storage(const Storage &) = delete;
  Storage &operator=(const Storage &) = delete;

  /// The statistics document of a table made of these Parquet files (all with one schema):
  /// {"rows", "row_groups", "identity": manifest,
  ///  "columns": {name: {"index", "type", "nullable", "min", "max", "nulls", "distinct",
  ///                     "dictionary_entries", "all_dictionary", "average_bytes",
  ///                     "ordered", "json"}},
  ///  "unsupported": {name: reason}}
  /// "type" as in the frame dialect. min and max: scaled integers for decimals, days for dates, 0
  /// or 1 for bools, text for strings (a lower and an upper bound; a long text may be cut); null if
  /// not known. "distinct" and "dictionary_entries" (sum over row groups) are estimates, null if
  /// not known. "all_dictionary": every row group has a dictionary (pages may still fall back to
  /// plain). "ordered": rows come in the order of an integer column, by and large. "json": true of
  /// a text that is JSON, else not there. Reads footers and a few page headers only.
  Expected<nlohmann::json> statistics(const std::vector<std::string> &paths);

  /// The rows of `slot` in these files: row groups that can satisfy Slot.bounds, this rank's share.
  /// `manifest`: what the plan was compiled against, in the order of `paths`; a file that differs
  /// is refused with kMismatch ("recompile"). Empty: not checked.
  Expected<std::unique_ptr<MorselSource>> scan(const plan::Slot &slot,
                                               const std::vector<std::string> &paths,
                                               const std::vector<FileIdentity> &manifest,
                                               Share share);

  StorageCounters counters() const;
  /// Kept pages are counted in this tier from now on: they have what is free of it, and give way.
  void keepWithin(std::shared_ptr<MemoryTier> tier);
  /// Forgets kept pages that no morsel pins.
  void dropCache();

private:
  struct State;
  std::shared_ptr<State> state_;
};

} // namespace headrace::storage
