// Values as unsigned numbers in SQL's order.
#pragma once

#include "runtime/exec/rows/field_values.h"

#include <bit>

namespace headrace::exec {

/// Bits of a value as an ordered number; of a text: as far as eight bytes go.
inline unsigned orderedBitsOf(HrType type) {
  switch (type) {
  case HR_BOOL:
    return 1;
  case HR_I8:
    return 8;
  case HR_I16:
    return 16;
  case HR_I32:
  case HR_F32:
    return 32;
  case HR_I128:
    return 128;
  default:
    return 64;
  }
}

/// NaN is the largest, −0 is 0.
inline uint64_t orderedBits(double value) {
  if (value != value) {
    return UINT64_MAX;
  }
  auto bits = std::bit_cast<uint64_t>(value + 0.0);
  return bits >> 63 ? ~bits : bits | uint64_t(1) << 63;
}

inline uint32_t orderedBits(float value) {
  if (value != value) {
    return UINT32_MAX;
  }
  auto bits = std::bit_cast<uint32_t>(value + 0.0f);
  return bits >> 31 ? ~bits : bits | uint32_t(1) << 31;
}

/// A number of at most 64 bits.
inline uint64_t orderedNumber(HrType type, const uint8_t *at) {
  switch (type) {
  case HR_BOOL:
    return *at;
  case HR_I8:
    return static_cast<uint8_t>(loadAs<int8_t>(at)) ^ 0x80u;
  case HR_I16:
    return static_cast<uint16_t>(loadAs<int16_t>(at)) ^ 0x8000u;
  case HR_I32:
    return static_cast<uint32_t>(loadAs<int32_t>(at)) ^ 0x80000000u;
  case HR_F32:
    return orderedBits(loadAs<float>(at));
  case HR_F64:
    return orderedBits(loadAs<double>(at));
  default:
    return static_cast<uint64_t>(loadAs<int64_t>(at)) ^ uint64_t(1) << 63;
  }
}

inline unsigned __int128 orderedI128(const uint8_t *at) {
  return loadAs<unsigned __int128>(at) ^ static_cast<unsigned __int128>(1) << 127;
}

} // namespace headrace::exec
