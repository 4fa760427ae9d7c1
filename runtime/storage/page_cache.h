// Decompressed, still encoded column chunks kept between queries, least recently used first out.
#pragma once

#include "runtime/storage/encoded_chunk.h"

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace headrace::storage {

/// A column chunk of an opened file in one physical type.
struct ChunkKey {
  uint64_t file = 0; ///< ParquetFile::number
  uint32_t rowGroup = 0;
  uint32_t column = 0;
  HrType type = HR_I64;

  bool operator==(const ChunkKey &) const = default;
};

/// Thread-safe. What is dropped here lives on while a morsel pins it: the bound is on what the
/// cache itself keeps alive. Two workers that miss the same chunk at once both load it; the first
/// one stays.
class PageCache {
public:
  explicit PageCache(uint64_t bytesMax) : bytesMax_(bytesMax) {}

  /// Null: not here.
  std::shared_ptr<const EncodedChunk> find(const ChunkKey &key);
  /// Keeps the chunk if it fits; returns the one that is kept for this key.
  std::shared_ptr<const EncodedChunk> insert(const ChunkKey &key,
                                             std::shared_ptr<const EncodedChunk> chunk);
  void clear();
  /// Changes the bound; drops what is over it.
  void limit(uint64_t bytesMax);

  struct Counters {
    uint64_t bytes = 0;
    uint64_t hits = 0;
    uint64_t misses = 0;
  };
  Counters counters() const;

private:
  struct Hash {
    size_t operator()(const ChunkKey &key) const;
  };
  struct Entry {
    ChunkKey key;
    std::shared_ptr<const EncodedChunk> chunk;
    uint64_t bytes;
  };
  /// Moves what exceeds `bytes` to `dropped`, which is to be freed outside of the lock.
  void shrinkTo(uint64_t bytes, std::list<Entry> &dropped);

  mutable std::mutex mutex_;
  uint64_t bytesMax_;
  std::list<Entry> recent_; ///< most recently used first
  std::unordered_map<ChunkKey, std::list<Entry>::iterator, Hash> entries_;
  Counters counters_;
};

} // namespace headrace::storage
