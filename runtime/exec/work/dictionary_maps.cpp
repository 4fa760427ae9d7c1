// Pieces of maps are handed out by a counter; flags tell which of them have ended.
#include "runtime/exec/work/dictionary_maps.h"

#include <algorithm>
#include <utility>

namespace headrace::exec {

namespace {
uint32_t piecesOf(uint32_t entries) {
  return entries / DictionaryMap::kPiece + (entries % DictionaryMap::kPiece != 0);
}
} // namespace

DictionaryMap::DictionaryMap(uint32_t dictionary, uint32_t entries, Block bytes)
    : dictionary_(dictionary), entries_(entries), bytes_(std::move(bytes)),
      ended_(piecesOf(entries)), left_(piecesOf(entries)) {}

Expected<std::shared_ptr<DictionaryMap>>
DictionaryMap::create(MemoryAccount &account, uint32_t dictionary, uint32_t entries) {
  HR_ASSIGN_OR_RETURN(Block bytes, account.allocate(int64_t{entries} + HR_PADDING));
  return std::shared_ptr<DictionaryMap>(new DictionaryMap(dictionary, entries, std::move(bytes)));
}

HrRange DictionaryMap::piece(uint32_t index) const {
  const uint32_t begin = index * kPiece;
  return {begin, begin + std::min(kPiece, entries_ - begin)};
}

HrRange DictionaryMap::next(HrRange made) {
  if (made.begin < made.end && !ended_[made.begin / kPiece].exchange(true)) {
    left_.fetch_sub(1);
  }
  if (left_.load() == 0) {
    return {};
  }
  if (const uint32_t index = begun_.fetch_add(1); index < ended_.size()) {
    return piece(index);
  }
  auto open = std::find(ended_.begin(), ended_.end(), false);
  return open == ended_.end() ? HrRange{} : piece(static_cast<uint32_t>(open - ended_.begin()));
}

Expected<std::shared_ptr<DictionaryMap>>
DictionaryMaps::find(uint32_t number, const HrColumn &column, MemoryAccount &account) {
  if (column.dictionaryId == 0) {
    return DictionaryMap::create(account, 0, column.dictionaryCount);
  }
  std::lock_guard lock(mutex_);
  OfNumber &maps = maps_[number];
  std::erase_if(maps.known, [](const auto &known) { return known.expired(); });
  for (const std::weak_ptr<DictionaryMap> &known : maps.known) {
    std::shared_ptr<DictionaryMap> map = known.lock();
    if (map && map->dictionary() == column.dictionaryId) {
      return map;
    }
  }
  HR_ASSIGN_OR_RETURN(std::shared_ptr<DictionaryMap> map,
                      DictionaryMap::create(account, column.dictionaryId, column.dictionaryCount));
  maps.known.push_back(map);
  maps.before = std::exchange(maps.last, map);
  return map;
}

} // namespace headrace::exec
