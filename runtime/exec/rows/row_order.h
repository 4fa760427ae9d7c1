// Orders rows of a state by some of its fields: by a number that is compared at once, and where
// that does not decide, field by field.
#pragma once

#include "model/plan/plan.h"

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
  };
  std::vector<Key> keys_;
  size_t prefixKeys_ = 0; ///< how many of the keys a prefix has something of
  bool exact_ = true;
};

} // namespace headrace::exec
