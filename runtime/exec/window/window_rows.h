// The rows of a window state once all are there: sorted by partition and order, then computed.
#pragma once

#include "runtime/exec/phased_job.h"
#include "runtime/exec/state_copy.h"
#include "runtime/exec/window/row_order.h"

#include <atomic>
#include <memory>
#include <vector>

namespace headrace::exec {

/// Purpose: puts rows of the workers' copies in order and computes their window fields, in place.
/// Rows are first divided into ranges of (hash of the partition keys, prefix of the order), so that
/// each range is sorted by a worker and stays in its cache.
/// Ownership: refers to rows of the copies, which outlive it; its own memory is charged to the
/// account. Thread-safety: phases from the pool; the rest once they have ended.
class WindowRows {
public:
  WindowRows(const plan::State &state, std::shared_ptr<MemoryAccount> account);

  /// Adds the work to `job`. `copies` are asked for when it begins.
  void addPhases(PhasedJob &job, std::function<std::vector<StateCopy *>()> copies);

  uint64_t size() const { return count_; }
  const uint8_t *row(uint64_t index) const { return rows()[index]; }

private:
  /// A row by what it is sorted by.
  struct Entry {
    uint64_t hash; ///< of the partition keys
    uint64_t prefix;
    uint8_t *row;
  };
  struct Range {
    uint64_t begin, end;
  };
  enum Flag : uint8_t { kPartition = 1, kPeers = 2 }; ///< what begins with a row

  Expected<JobPhase> collect(const std::vector<StateCopy *> &copies);
  Expected<JobPhase> divide();
  Expected<JobPhase> scatter();
  Expected<JobPhase> sort();
  Expected<JobPhase> mark();
  Expected<JobPhase> repair();
  Expected<JobPhase> compute();

  void sortRange(Range range);
  void markRange(Range range);
  Status computeRange(Range range);
  bool isBefore(const Entry &a, const Entry &b) const;
  bool samePartition(const Entry &a, const Entry &b) const;
  bool arePeers(const Entry &a, const Entry &b) const;
  uint32_t rangeOf(const Entry &entry) const;
  uint32_t *rangeIds() const { return reinterpret_cast<uint32_t *>(rangeIds_.data()); }

  /// An entry's hash and prefix as one number.
  static unsigned __int128 wholeKey(const Entry &entry) {
    return static_cast<unsigned __int128>(entry.hash) << 64 | entry.prefix;
  }

  Entry *entries() const { return reinterpret_cast<Entry *>(entries_.data()); }
  Entry *scratch() const { return reinterpret_cast<Entry *>(scratch_.data()); }
  uint8_t **rows() const { return reinterpret_cast<uint8_t **>(rows_.data()); }
  uint8_t *flags() const { return reinterpret_cast<uint8_t *>(flags_.data()); }

  const plan::State &state_;
  std::shared_ptr<MemoryAccount> account_;
  RowOrder order_, keys_;
  bool hashed_;      ///< whether there are partition keys
  bool hashDecides_; ///< no two partitions have one hash
  uint64_t count_ = 0;
  Block entries_, scratch_, rows_, flags_;
  /// The first key of each range but the first, filled up to a power of two less one by the
  /// largest.
  std::vector<unsigned __int128> splitters_;
  Block rangeIds_; ///< of each entry
  std::vector<Range> ranges_;
  std::vector<std::vector<uint64_t>> counts_; ///< per morsel of entries, how many go to each range
  std::atomic<bool> collided_{false};         ///< two partitions have one hash
};

} // namespace headrace::exec
