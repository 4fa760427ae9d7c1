// What conditions make of the entries of dictionaries, by the lanes of a task together.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/exec/memory/memory_account.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace::exec {

/// Purpose: a byte for each entry of a dictionary, made in pieces by the lanes that need it.
/// Thread-safe. Nobody waits: what another lane has begun and not ended is made again, which gives
/// the same bytes.
class DictionaryMap {
public:
  static constexpr uint32_t kPiece = 512; ///< entries

  /// Errors: kMemory, charged to `account`.
  static Expected<std::shared_ptr<DictionaryMap>> create(MemoryAccount &account,
                                                         uint32_t dictionary, uint32_t entries);

  /// HrColumn.dictionaryId.
  uint32_t dictionary() const { return dictionary_; }
  uint8_t *bytes() { return reinterpret_cast<uint8_t *>(bytes_.data()); }
  /// The entries to make next, now that those of `made` are; none: all are there.
  HrRange next(HrRange made);

private:
  DictionaryMap(uint32_t dictionary, uint32_t entries, Block bytes);
  HrRange piece(uint32_t index) const;

  const uint32_t dictionary_, entries_;
  Block bytes_;
  std::vector<std::atomic<bool>> ended_; ///< by piece
  std::atomic<uint32_t> left_;           ///< pieces that have not ended
  std::atomic<uint32_t> begun_{0};
};

/// Purpose: the maps of one task. Thread-safe. Lifetime: a map lives as long as a lane has it; of
/// each number the last two are kept, as lanes come to the same dictionaries about the same time.
/// The account that they are charged to outlives them.
class DictionaryMaps {
public:
  /// The map of this number, of the kernel's, for the column's dictionary; a new one where nobody
  /// knows whether it is the same (HrColumn.dictionaryId is 0).
  Expected<std::shared_ptr<DictionaryMap>> find(uint32_t number, const HrColumn &column,
                                                MemoryAccount &account);
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
