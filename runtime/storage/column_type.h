// The logical type of a column in a file or Arrow table, and which physical types may be promised for it.
#pragma once

#include "runtime/abi/kernel.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <string>

namespace headrace::storage {

enum class Logical : uint8_t { kBool, kI32, kI64, kDecimal, kDate, kF32, kF64, kString };

struct ColumnType {
  Logical logical = Logical::kI64;
  int32_t precision = 0; ///< decimals
  int32_t scale = 0;

  bool operator==(const ColumnType &) const = default;
  /// As in the frame dialect: "decimal<15, 2>".
  std::string text() const;
  /// An integer inside: integers, decimals, dates.
  bool integral() const {
    return logical == Logical::kI32 || logical == Logical::kI64 || logical == Logical::kDecimal ||
           logical == Logical::kDate;
  }
  /// Whether a kernel may read a column of this type as `type`.
  bool canBe(HrType type) const;
};

const char *typeName(HrType type);
/// Whether values in [min, max] fit the integer type.
bool fitsInteger(HrType type, __int128 min, __int128 max);
std::string integerText(__int128 value);

} // namespace headrace::storage
