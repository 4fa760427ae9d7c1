// What rows of a window are sorted by: the hash of their partition, then the order keys as a
// number.
#pragma once

#include "runtime/exec/rows/row_order.h"

namespace headrace::exec {

/// A row by what it is sorted by.
struct Entry {
  uint64_t hash; ///< of the partition keys
  uint64_t prefix;
  uint8_t *row;

  /// Both as one number.
  unsigned __int128 key() const { return static_cast<unsigned __int128>(hash) << 64 | prefix; }
};

/// Purpose: makes and compares entries of a window state. Thread-safe after construction.
class EntryOrder {
public:
  explicit EntryOrder(const plan::State &state);

  Entry entryOf(uint8_t *row) const;
  /// Whether there are partition keys.
  bool isHashed() const { return hashed_; }
  /// Whether entries of equal keys are peers of one partition.
  bool isDecidedByKey() const { return hashDecides_ && order_.isExact(); }
  bool isBefore(const Entry &a, const Entry &b) const;
  /// The order when partitions of one hash are to be kept apart.
  bool isBeforeByKeys(const Entry &a, const Entry &b) const;
  bool samePartition(const Entry &a, const Entry &b) const {
    return a.hash == b.hash && (hashDecides_ || keys_.compare(a.row, b.row) == 0);
  }
  /// Of one partition.
  bool arePeers(const Entry &a, const Entry &b) const {
    return a.prefix == b.prefix && (order_.isExact() || order_.compare(a.row, b.row) == 0);
  }

private:
  RowOrder order_, keys_;
  bool hashed_;
  bool hashDecides_; ///< no two partitions have one hash
};

} // namespace headrace::exec
