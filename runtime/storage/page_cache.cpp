// A list in the order of use and an index into it, under one lock: it is taken once per column
// chunk.
#include "runtime/storage/page_cache.h"

#include "runtime/primitives/hash/hash.h"

namespace headrace::storage {
namespace {

/// Of an entry itself, its segments and pages used in place: so that empty chunks cannot pile up.
constexpr uint64_t kEntryBytes = 512;

} // namespace

size_t PageCache::Hash::operator()(const ChunkKey &key) const {
  uint64_t hash = primitives::hashInteger(static_cast<int64_t>(key.file));
  hash = primitives::hashCombine(hash, uint64_t{key.rowGroup} << 32 | key.column);
  return primitives::hashCombine(hash, key.type);
}

std::shared_ptr<const EncodedChunk> PageCache::find(const ChunkKey &key) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    ++counters_.misses;
    return nullptr;
  }
  ++counters_.hits;
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->chunk;
}

std::shared_ptr<const EncodedChunk> PageCache::insert(const ChunkKey &key,
                                                      std::shared_ptr<const EncodedChunk> chunk) {
  const uint64_t bytes = chunk->bytes + chunk->segments.size() * sizeof(HrSegment) + kEntryBytes;
  std::list<Entry> dropped; // freed outside of the lock
  std::lock_guard lock(mutex_);
  auto found = entries_.find(key);
  if (found != entries_.end()) {
    return found->second->chunk;
  }
  if (bytes > bytesMax_) {
    return chunk;
  }
  shrinkTo(bytesMax_ - bytes, dropped);
  recent_.push_front({key, chunk, bytes});
  entries_.emplace(key, recent_.begin());
  counters_.bytes += bytes;
  return chunk;
}

void PageCache::shrinkTo(uint64_t bytes, std::list<Entry> &dropped) {
  while (counters_.bytes > bytes) {
    counters_.bytes -= recent_.back().bytes;
    entries_.erase(recent_.back().key);
    dropped.splice(dropped.begin(), recent_, std::prev(recent_.end()));
  }
}

void PageCache::limit(uint64_t bytesMax) {
  std::list<Entry> dropped;
  std::lock_guard lock(mutex_);
  bytesMax_ = bytesMax;
  shrinkTo(bytesMax_, dropped);
}

void PageCache::clear() {
  std::list<Entry> dropped;
  std::lock_guard lock(mutex_);
  dropped.swap(recent_);
  entries_.clear();
  counters_.bytes = 0;
}

PageCache::Counters PageCache::counters() const {
  std::lock_guard lock(mutex_);
  return counters_;
}

} // namespace headrace::storage
