// Divides entries into ranges of about equal size.
#pragma once

#include "runtime/exec/window/entry_order.h"

#include <cstdint>
#include <vector>

namespace headrace::exec {

/// Purpose: ranges of entries, by samples. Where it can, a range begins with a partition;
/// partitions larger than a range are cut. Thread-safe after construction.
class RangeDivider {
public:
  /// One range of everything.
  RangeDivider() = default;
  /// Ranges of `samplesOfRange` samples each, of which there are some.
  RangeDivider(std::vector<unsigned __int128> samples, size_t samplesOfRange, bool hashed);

  size_t ranges() const { return splitters_.size() + 1; }
  uint32_t rangeOf(const Entry &entry) const;
  /// Whether a partition may go over the beginning of a range, and the hash of that partition.
  bool isCut(size_t range) const { return range > 0 && range < ranges() && cut_[range - 1]; }
  uint64_t cutHash(size_t range) const {
    return static_cast<uint64_t>(splitters_[range - 1] >> 64);
  }

private:
  /// The 64 bits in which entries differ first.
  uint64_t leading(unsigned __int128 key) const {
    return static_cast<uint64_t>(hashed_ ? key >> 64 : key);
  }
  /// Which part of [least_, most_] leading bits are in.
  size_t slotOf(uint64_t leading) const;

  bool hashed_ = false;
  std::vector<unsigned __int128> splitters_; ///< the first key of each range but the first
  std::vector<bool> cut_;                    ///< of each splitter
  uint64_t least_ = 0, most_ = 0;
  unsigned shift_ = 0;
  std::vector<uint32_t> slots_; ///< of each slot, how many splitters are in slots below it
};

} // namespace headrace::exec
