// A list in the order of use and an index into it, under one lock: it is taken once per column
// chunk.
#include "runtime/storage/columns/page_cache.h"

#include "runtime/primitives/hash/hash.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace headrace::storage {
namespace {

/// Of an entry itself, its segments and pages used in place: so that empty chunks cannot pile up.
constexpr uint64_t kEntryBytes = 512;

/// Keys that are remembered: of a table of 16 columns 4,096 row groups.
constexpr size_t kOfferedKeys = 1 << 16;
/// Places that a key may have. With one, two keys of the same place drive each other out for ever:
/// in the scan of PageCache.KeysDoNotDriveEachOtherOutForEver, of 3,668 chunks 204 are then never
/// kept, of 8,000 886.
constexpr size_t kOfferedWays = 4;
/// Of the tier: what is not taken for what is kept, so that those who read can use their buffers
/// again.
constexpr int64_t kFreePart = 16;

} // namespace

size_t PageCache::Hash::operator()(const ChunkKey &key) const {
  uint64_t hash = primitives::hashInteger(static_cast<int64_t>(key.file));
  hash = primitives::hashCombine(hash, uint64_t{key.rowGroup} << 32 | key.column);
  hash = primitives::hashCombine(hash, uint64_t{key.part} << 32 | key.type);
  return key.partRows ? primitives::hashCombine(hash, key.partRows) : hash;
}

std::shared_ptr<const EncodedChunk> PageCache::find(const ChunkKey &key) {
  std::lock_guard lock(mutex_);
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    ++counters_.misses;
    return nullptr;
  }
  ++counters_.hits;
  found->second->used = ++now_;
  recent_.splice(recent_.begin(), recent_, found->second);
  return found->second->chunk;
}

bool PageCache::contains(const ChunkKey &key) const {
  std::lock_guard lock(mutex_);
  return entries_.contains(key);
}

std::shared_ptr<const EncodedChunk>
PageCache::insert(const ChunkKey &key, std::shared_ptr<const EncodedChunk> chunk, Keep keep) {
  const uint64_t bytes = chunk->bytes + chunk->segments.size() * sizeof(HrSegment) + kEntryBytes;
  std::list<Entry> dropped; // freed outside of the lock
  std::lock_guard lock(mutex_);
  auto found = entries_.find(key);
  if (found != entries_.end()) {
    return found->second->chunk;
  }
  const std::optional<uint64_t> before = offeredBefore(key);
  if (bytes > bytesMax_ || (keep == Keep::kSecond && !before)) {
    return chunk;
  }
  while (!takeRoom(bytes)) {
    if (recent_.empty() || (before && recent_.back().used > *before)) {
      return chunk;
    }
    dropLast(dropped);
  }
  recent_.push_front({key, chunk, bytes, now_});
  entries_.emplace(key, recent_.begin());
  counters_.bytes += bytes;
  return chunk;
}

bool PageCache::takeRoom(uint64_t bytes) {
  if (counters_.bytes + bytes > bytesMax_) {
    return false;
  }
  if (!tier_) {
    return true;
  }
  const auto kept = static_cast<int64_t>(counters_.bytes + bytes);
  const int64_t leave = tier_->limitBytes() / kFreePart;
  return kept <= tier_->limitBytes() - tier_->expectedBytes() - leave &&
         tier_->takeIfFree(static_cast<int64_t>(bytes), leave);
}

std::optional<uint64_t> PageCache::offeredBefore(const ChunkKey &key) {
  if (offered_.empty()) {
    offered_.resize(kOfferedKeys);
  }
  const uint64_t hash = Hash()(key) | 1; // 0: none yet
  const auto places = std::span(offered_).subspan(
      (hash >> 1) % (kOfferedKeys / kOfferedWays) * kOfferedWays, kOfferedWays);
  auto known = std::ranges::find(places, hash, &Offer::hash);
  if (known != places.end()) {
    return std::exchange(known->at, ++now_);
  }
  auto free = std::ranges::find(places, uint64_t{0}, &Offer::hash);
  // Any: of more keys than places none is the next to come, as they do in a circle.
  (free != places.end() ? *free : places[random_() % kOfferedWays]) = {hash, ++now_};
  return std::nullopt;
}

void PageCache::dropLast(std::list<Entry> &dropped) {
  const uint64_t bytes = recent_.back().bytes;
  counters_.bytes -= bytes;
  if (tier_) {
    tier_->giveBackKept(static_cast<int64_t>(bytes));
  }
  entries_.erase(recent_.back().key);
  dropped.splice(dropped.begin(), recent_, std::prev(recent_.end()));
}

int64_t PageCache::giveWay(int64_t bytes) {
  std::list<Entry> dropped;
  std::lock_guard lock(mutex_);
  const uint64_t before = counters_.bytes;
  while (!recent_.empty() && static_cast<int64_t>(before - counters_.bytes) < bytes) {
    dropLast(dropped);
  }
  return static_cast<int64_t>(before - counters_.bytes);
}

void PageCache::moveTo(std::shared_ptr<MemoryTier> tier) {
  std::list<Entry> dropped;
  std::lock_guard lock(mutex_);
  if (tier_) {
    tier_->giveBackKept(static_cast<int64_t>(counters_.bytes));
  }
  tier_ = nullptr;
  while (tier && !tier->takeIfFree(static_cast<int64_t>(counters_.bytes))) {
    dropLast(dropped);
  }
  tier_ = std::move(tier);
}

PageCache::~PageCache() { use(nullptr); }

void PageCache::clear() { giveWay(std::numeric_limits<int64_t>::max()); }

PageCache::Counters PageCache::counters() const {
  std::lock_guard lock(mutex_);
  return counters_;
}

} // namespace headrace::storage
