// What kernels make of the entries of dictionaries, by the lanes of a task together.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/exec/memory/memory_account.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace headrace::exec {

/// Purpose: so many bytes for each entry of a dictionary, and texts that they point to, made in
/// pieces by the lanes that need them. Thread-safe. Nobody waits: what another lane has begun and
/// not ended is made again, which gives the same values. A map that cannot be made is given up.
class DictionaryMap {
public:
  static constexpr uint32_t kPiece = 512; ///< entries
  /// More bytes of texts than that are not kept.
  static constexpr uint64_t kTextBytesMax = uint64_t{64} << 20;

  /// Errors: kMemory, charged to `account`, which outlives the map; nothing is written out for it.
  static Expected<std::shared_ptr<DictionaryMap>>
  create(MemoryAccount &account, uint32_t dictionary, uint32_t entries, uint32_t bytes);

  /// HrColumn.dictionaryId.
  uint32_t dictionary() const { return dictionary_; }
  /// Null if the map was given up.
  uint8_t *bytes() {
    return givenUp_.load() ? nullptr : reinterpret_cast<uint8_t *>(bytes_.data());
  }
  /// The entries to make next, now that those of `made` are; none: all are there, or given up.
  HrRange next(HrRange made);
  /// Room for texts of one lane, at least `bytes`; none if there is none left.
  std::span<uint8_t> textRoom(uint64_t bytes);
  void giveUp() { givenUp_ = true; }

private:
  DictionaryMap(MemoryAccount &account, uint32_t dictionary, uint32_t entries, Block bytes);
  HrRange piece(uint32_t index) const;

  MemoryAccount &account_;
  const uint32_t dictionary_, entries_;
  Block bytes_;
  std::vector<std::atomic<bool>> ended_; ///< by piece
  std::atomic<uint32_t> left_;           ///< pieces that have not ended
  std::atomic<uint32_t> begun_{0};
  std::atomic<bool> givenUp_{false};
  std::mutex textsMutex_;
  std::vector<Block> texts_;
  uint64_t textBytes_ = 0;
};

/// Purpose: a map as one lane has it, with the room for the texts that the lane makes.
class DictionaryMapOfLane {
public:
  const std::shared_ptr<DictionaryMap> &map() const { return map_; }
  /// Null: it has none from here on.
  void set(std::shared_ptr<DictionaryMap> map) {
    map_ = std::move(map);
    room_ = {};
  }
  /// Copies the bytes of a text to where they stay as long as the map; false if there is no room.
  bool keep(HrString &text);

private:
  std::shared_ptr<DictionaryMap> map_;
  std::span<uint8_t> room_;
};

/// Purpose: the maps of one task. Thread-safe. Lifetime: a map lives as long as a lane has it; of
/// each number the last two are kept, as lanes come to the same dictionaries about the same time.
/// The account that they are charged to outlives them.
class DictionaryMaps {
public:
  /// The map of this number, of the kernel's, for the column's dictionary; a new one where nobody
  /// knows whether it is the same (HrColumn.dictionaryId is 0).
  Expected<std::shared_ptr<DictionaryMap>> find(uint32_t number, const HrColumn &column,
                                                uint32_t bytes, MemoryAccount &account);
  /// No lane is left that has any.
  void clear() { maps_.clear(); }

private:
  struct OfNumber {
    std::vector<std::weak_ptr<DictionaryMap>> known;
    std::shared_ptr<DictionaryMap> last, before;
  };
  std::mutex mutex_;
  std::map<uint32_t, OfNumber> maps_;
};

} // namespace headrace::exec
