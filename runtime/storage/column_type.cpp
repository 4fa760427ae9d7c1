// Names and ranges of types.
#include "runtime/storage/column_type.h"

#include "runtime/abi/type_bytes.h"

#include <algorithm>

namespace headrace::storage {

std::string ColumnType::text() const {
  switch (logical) {
  case Logical::kBool:
    return "i1";
  case Logical::kI32:
    return "i32";
  case Logical::kI64:
    return "i64";
  case Logical::kDecimal:
    return "decimal<" + std::to_string(precision) + ", " + std::to_string(scale) + ">";
  case Logical::kDate:
    return "date";
  case Logical::kF32:
    return "f32";
  case Logical::kF64:
    return "f64";
  case Logical::kString:
    return "string";
  }
  return "i64";
}

bool ColumnType::canBe(HrType type) const {
  switch (logical) {
  case Logical::kBool:
    return type == HR_BOOL;
  case Logical::kF32:
    return type == HR_F32;
  case Logical::kF64:
    return type == HR_F64;
  case Logical::kString:
    return type == HR_STRING;
  default:
    return type == HR_I8 || type == HR_I16 || type == HR_I32 || type == HR_I64 || type == HR_I128;
  }
}

const char *typeName(HrType type) {
  constexpr const char *kNames[] = {"bool", "i8",  "i16", "i32",   "i64",
                                    "i128", "f32", "f64", "string"};
  return type <= HR_STRING ? kNames[type] : "unknown";
}

bool fitsInteger(HrType type, __int128 min, __int128 max) {
  if (type == HR_I128) {
    return true;
  }
  __int128 limit = static_cast<__int128>(1) << (8 * abi::bytesOf(type) - 1);
  return min >= -limit && max < limit;
}

std::string integerText(__int128 value) {
  unsigned __int128 rest = value < 0 ? -static_cast<unsigned __int128>(value) : value;
  std::string text;
  do {
    text.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) {
    text.push_back('-');
  }
  std::reverse(text.begin(), text.end());
  return text;
}

} // namespace headrace::storage
