// A column chunk, or a run of its pages, as kernels read it: decompressed but still encoded pages,
// the dictionary in the promised type.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/storage/files/padded_buffer.h"

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace headrace::storage {

/// Bytes that several pages may lie in.
using BufferHandle = std::shared_ptr<const PaddedBuffer>;

/// Of integers; min > max: none.
struct ValueRange {
  __int128 min = 1;
  __int128 max = 0;

  void widen(__int128 low, __int128 high) {
    if (low > high) {
      return;
    }
    const bool none = min > max;
    min = none || low < min ? low : min;
    max = none || high > max ? high : max;
  }
};

/// What the codes of a column chunk stand for; shared by its runs of pages. Immutable once made.
struct EncodedDictionary : ValueRange {
  const uint32_t id = nextId();
  PaddedBuffer values; ///< of the chunk's type
  uint32_t entries = 0;
  BufferHandle texts; ///< what entries of strings point into
  uint64_t bytes() const { return values.capacity() + (texts ? texts->capacity() : 0); }

private:
  /// Never 0; the same only after 2^32 others.
  static uint32_t nextId() {
    static std::atomic<uint32_t> last = 0;
    uint32_t id = 0;
    while (id == 0) {
      id = ++last;
    }
    return id;
  }
};

/// Immutable once made; morsels pin it, the cache shares it. Its range is that of all values (and
/// dictionary entries).
struct EncodedChunk : ValueRange {
  HrType type = HR_I64;
  uint64_t rows = 0;
  std::vector<HrSegment> segments;
  const void *dictionary = nullptr;
  uint32_t dictionaryCount = 0;
  bool hasNulls = false;
  std::vector<BufferHandle> buffers;
  std::shared_ptr<const EncodedDictionary> table; ///< what `dictionary` and strings point into
  uint64_t bytes = 0;                             ///< of buffers, and of a table of its own

  void keep(BufferHandle buffer) {
    if (buffer && *buffer && (buffers.empty() || buffers.back() != buffer)) {
      bytes += buffer->capacity();
      buffers.push_back(std::move(buffer));
    }
  }
  void keep(PaddedBuffer buffer) { keep(std::make_shared<const PaddedBuffer>(std::move(buffer))); }
  HrColumn column() const {
    const bool hasCodes = table && dictionary; // else texts may point into the table
    return {segments.data(), static_cast<uint32_t>(segments.size()),
            dictionaryCount, dictionary,
            /*skip=*/0,      hasCodes ? table->id : 0};
  }
};

} // namespace headrace::storage
