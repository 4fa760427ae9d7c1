// A column chunk as kernels read it: decompressed but still encoded pages, the dictionary in the
// promised type.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/storage/padded_buffer.h"

#include <memory>
#include <utility>
#include <vector>

namespace headrace::storage {

/// Immutable once made; morsels pin it, the cache shares it.
struct EncodedChunk {
  HrType type = HR_I64;
  uint64_t rows = 0;
  std::vector<HrSegment> segments;
  const void *dictionary = nullptr;
  uint32_t dictionaryCount = 0;
  bool hasNulls = false;
  /// Integers: range of all values (and dictionary entries). min > max: none.
  __int128 min = 1;
  __int128 max = 0;
  std::vector<PaddedBuffer> buffers;
  std::shared_ptr<const void> file; ///< the mapping that pages used in place point into
  uint64_t bytes = 0;               ///< of buffers

  void widen(__int128 low, __int128 high) {
    if (low > high) {
      return;
    }
    const bool none = min > max;
    min = none || low < min ? low : min;
    max = none || high > max ? high : max;
  }
  void keep(PaddedBuffer buffer) {
    if (buffer) {
      bytes += buffer.bytes() + HR_PADDING;
      buffers.push_back(std::move(buffer));
    }
  }
  HrColumn column() const {
    return {segments.data(), static_cast<uint32_t>(segments.size()), dictionaryCount, dictionary};
  }
};

} // namespace headrace::storage
