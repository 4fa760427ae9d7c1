// Pieces of maps are handed out by a counter; flags tell which of them have ended.
#include "runtime/exec/work/dictionary_maps.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace headrace::exec {

namespace {
/// What lanes take at a time for texts.
constexpr uint64_t kTextRoom = uint64_t{16} << 10;

uint32_t piecesOf(uint32_t entries) {
  return entries / DictionaryMap::kPiece + (entries % DictionaryMap::kPiece != 0);
}
} // namespace

DictionaryMap::DictionaryMap(MemoryAccount &account, uint32_t dictionary, uint32_t entries,
                             Block bytes)
    : account_(account), dictionary_(dictionary), entries_(entries), bytes_(std::move(bytes)),
      ended_(piecesOf(entries)), left_(piecesOf(entries)) {}

Expected<std::shared_ptr<DictionaryMap>> DictionaryMap::create(MemoryAccount &account,
                                                               uint32_t dictionary,
                                                               uint32_t entries, uint32_t bytes) {
  HR_ASSIGN_OR_RETURN(Block block,
                      account.allocateIfFree(int64_t{entries} * int64_t{bytes} + HR_PADDING));
  return std::shared_ptr<DictionaryMap>(
      new DictionaryMap(account, dictionary, entries, std::move(block)));
}

HrRange DictionaryMap::piece(uint32_t index) const {
  const uint32_t begin = index * kPiece;
  return {begin, begin + std::min(kPiece, entries_ - begin)};
}

HrRange DictionaryMap::next(HrRange made) {
  if (made.begin < made.end && !ended_[made.begin / kPiece].exchange(true)) {
    left_.fetch_sub(1);
  }
  if (left_.load() == 0 || givenUp_.load()) {
    return {};
  }
  if (const uint32_t index = begun_.fetch_add(1); index < ended_.size()) {
    return piece(index);
  }
  auto open = std::find(ended_.begin(), ended_.end(), false);
  return open == ended_.end() ? HrRange{} : piece(static_cast<uint32_t>(open - ended_.begin()));
}

std::span<uint8_t> DictionaryMap::textRoom(uint64_t bytes) {
  std::lock_guard lock(textsMutex_);
  const uint64_t room = std::max(bytes + HR_PADDING, kTextRoom);
  if (givenUp_.load() || room > kTextBytesMax - textBytes_) {
    return {};
  }
  Expected<Block> block = account_.allocateIfFree(static_cast<int64_t>(room));
  if (!block.ok()) {
    return {};
  }
  textBytes_ += room;
  Block &texts = texts_.emplace_back(*std::move(block));
  return {reinterpret_cast<uint8_t *>(texts.data()), room - HR_PADDING};
}

bool DictionaryMapOfLane::keep(HrString &text) {
  if (room_.data() == nullptr || text.length > room_.size()) {
    room_ = map_->textRoom(text.length);
  }
  if (room_.data() == nullptr) {
    return false;
  }
  std::memcpy(room_.data(), text.data, text.length);
  text.data = room_.data();
  room_ = room_.subspan(text.length);
  return true;
}

Expected<std::shared_ptr<DictionaryMap>> DictionaryMaps::find(uint32_t number,
                                                              const HrColumn &column,
                                                              uint32_t bytes,
                                                              MemoryAccount &account) {
  if (column.dictionaryId == 0) {
    return DictionaryMap::create(account, 0, column.dictionaryCount, bytes);
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
  HR_ASSIGN_OR_RETURN(
      std::shared_ptr<DictionaryMap> map,
      DictionaryMap::create(account, column.dictionaryId, column.dictionaryCount, bytes));
  maps.known.push_back(map);
  maps.before = std::exchange(maps.last, map);
  return map;
}

} // namespace headrace::exec
