// Decompressed, still encoded column chunks kept between queries. What has not been used for
// longest goes first, and only for what was asked for since.
#pragma once

#include "runtime/memory/memory_tier.h"
#include "runtime/storage/columns/encoded_chunk.h"

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <unordered_map>
#include <vector>

namespace headrace::storage {

/// What of a column chunk an entry holds, if not the part of that number (PageIndex::parts) where
/// parts have `partRows` rows.
inline constexpr uint32_t kWholeChunk = UINT32_MAX;
inline constexpr uint32_t kDictionaryOfChunk = UINT32_MAX - 1;

/// A column chunk of an opened file in one physical type, or a part of it.
struct ChunkKey {
  uint64_t file = 0; ///< ParquetFile::number
  uint32_t rowGroup = 0;
  uint32_t column = 0;
  HrType type = HR_I64;
  uint32_t part = kWholeChunk;
  uint32_t partRows = 0; ///< 0: it is no part

  bool operator==(const ChunkKey &) const = default;
};

/// Thread-safe. Keeps what is read for the second time: what one query reads once does not push out
/// what others read again and again, and memory that is used once is used again while it is warm.
/// Nor does a scan of more than there is room for, again and again, push out its own beginning: a
/// chunk goes for another only if it was not used since that one was offered before. Has what is
/// free of a tier but what runs are expected to need, and gives way; without one its bound alone
/// counts. What is dropped here lives on while a morsel pins it, which is charged with
/// it. Two workers that miss the same chunk at once both load it; the first one stays.
class PageCache final : public Keeper {
public:
  explicit PageCache(uint64_t bytesMax) : bytesMax_(bytesMax) {}
  ~PageCache() override;
  PageCache(const PageCache &) = delete;
  PageCache &operator=(const PageCache &) = delete;

  enum class Keep : uint8_t { kSecond, kFirst };

  /// Null: not here.
  std::shared_ptr<const EncodedChunk> find(const ChunkKey &key);
  /// Whether find() would find it. Changes nothing.
  bool contains(const ChunkKey &key) const;
  /// Keeps the chunk if it fits and was offered before, or is to be kept at first; returns the one
  /// that is kept for this key.
  std::shared_ptr<const EncodedChunk>
  insert(const ChunkKey &key, std::shared_ptr<const EncodedChunk> chunk, Keep keep = Keep::kSecond);
  void clear();
  int64_t giveWay(int64_t bytes) override;

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
    uint64_t used; ///< when; see now_
  };
  struct Offer {
    uint64_t hash = 0; ///< of the key; 0: none
    uint64_t at = 0;
  };
  void moveTo(std::shared_ptr<MemoryTier> tier) override;
  /// When the chunk was offered before, if it was; remembers that it is now.
  std::optional<uint64_t> offeredBefore(const ChunkKey &key);
  bool takeRoom(uint64_t bytes);
  /// Moves the oldest to `dropped`, which is to be freed outside of the lock.
  void dropLast(std::list<Entry> &dropped);

  mutable std::mutex mutex_;
  const uint64_t bytesMax_;
  std::shared_ptr<MemoryTier> tier_;
  uint64_t now_ = 0;           ///< counts what is asked for
  std::vector<Offer> offered_; ///< each at its places; others may overwrite it
  std::minstd_rand random_;    ///< which of them
  std::list<Entry> recent_;    ///< most recently used first
  std::unordered_map<ChunkKey, std::list<Entry>::iterator, Hash> entries_;
  Counters counters_;
};

} // namespace headrace::storage
