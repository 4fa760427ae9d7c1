// Orders rows of a state by some of its fields: by a number that is compared at once, and where
// that does not decide, field by field.
#pragma once

#include "model/plan/plan.h"
#include "runtime/abi/kernel.h"

#include <cstdint>
#include <span>
#include <vector>

namespace headrace::exec {

/// Purpose: SQL's order of rows: strings bytewise, NaN the largest number, −0 equal to 0, NULLs
/// where the key says. Thread-safe after construction. Copies what it needs of the state.
class RowOrder {
public:
  RowOrder(const plan::State &state, std::span<const plan::OrderKey> keys);

  /// A row whose number is less comes first; equal numbers say nothing unless isExact().
  uint64_t prefix(const uint8_t *row) const;
  /// The same of rows in columns, from row `begin` on: of each key that a prefix has something of,
  /// in their order, its column. Booleans and validity are bits.
  void prefixes(std::span<const HrSegment *const> keys, uint32_t begin,
                std::span<uint64_t> prefixes) const;
  /// Of how many keys, from the first on.
  size_t prefixKeys() const { return prefixKeys_; }
  /// Whether rows of equal prefixes have equal keys.
  bool isExact() const { return exact_; }
  /// Below, equal, above: -1, 0, 1.
  int compare(const uint8_t *a, const uint8_t *b) const;

private:
  struct Key {
    HrType type;
    uint32_t offset;
    bool nullable;
    uint32_t validOffset;
    bool descending;
    bool nullsFirst;
    /// In a prefix: how many bits its values have, and how far to the left the last of them and the
    /// bit for NULL are; less than 0: as many of the last bits have no room.
    unsigned bits;
    int valueShift, nullShift;

    uint64_t nullBit(bool valid) const {
      return static_cast<uint64_t>(nullable && valid == nullsFirst) << nullShift;
    }
    uint64_t valueBits(uint64_t ordered) const {
      const uint64_t value = descending ? ~ordered << (64 - bits) >> (64 - bits) : ordered;
      return valueShift < 0 ? value >> 1 >> (-valueShift - 1) : value << valueShift;
    }
  };
  template <typename Ordered>
  static void addKey(const Key &key, const HrSegment &column, uint32_t begin,
                     std::span<uint64_t> prefixes, Ordered ordered);
  std::vector<Key> keys_;
  size_t prefixKeys_ = 0; ///< how many of the keys a prefix has something of
  bool exact_ = true;
};

} // namespace headrace::exec
