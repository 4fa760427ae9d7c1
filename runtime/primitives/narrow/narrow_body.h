// Compiled once per instruction set: one pass that converts and keeps minimum and maximum; the
// loops are plain so that the compiler vectorises them for each set.
#pragma once

#include "runtime/primitives/narrow/stored_integer.h"

#include <string.h>

namespace headrace::primitives {
namespace {

template <typename Stored, typename Target>
IntegerRange narrowTo(const void *values, uint64_t count, void *out) {
  // Blocks on the stack, because the stored values need not be aligned.
  constexpr uint64_t kBlock = 256;
  const uint8_t *from = static_cast<const uint8_t *>(values);
  Target *to = static_cast<Target *>(out);
  IntegerRange range;
  while (count != 0) {
    Stored block[kBlock];
    Target narrowed[kBlock];
    uint64_t step = count < kBlock ? count : kBlock;
    memcpy(block, from, step * sizeof(Stored));
    Stored min = block[0], max = block[0];
    for (uint64_t i = 0; i < step; ++i) {
      min = block[i] < min ? block[i] : min;
      max = block[i] > max ? block[i] : max;
      narrowed[i] = static_cast<Target>(block[i]);
    }
    memcpy(to, narrowed, step * sizeof(Target));
    range.min = min < range.min ? min : range.min;
    range.max = max > range.max ? max : range.max;
    from += step * sizeof(Stored);
    to += step;
    count -= step;
  }
  return range;
}

template <typename Stored>
IntegerRange narrowStored(const void *values, uint64_t count, HrType target, void *out) {
  switch (target) {
  case HR_I8:
    return narrowTo<Stored, int8_t>(values, count, out);
  case HR_I16:
    return narrowTo<Stored, int16_t>(values, count, out);
  case HR_I32:
    return narrowTo<Stored, int32_t>(values, count, out);
  default:
    return narrowTo<Stored, int64_t>(values, count, out);
  }
}

IntegerRange narrow(StoredInteger stored, const void *values, uint64_t count, HrType target,
                    void *out) {
  switch (stored) {
  case StoredInteger::kI32:
    return narrowStored<int32_t>(values, count, target, out);
  case StoredInteger::kU32:
    return narrowStored<uint32_t>(values, count, target, out);
  default:
    return narrowStored<int64_t>(values, count, target, out);
  }
}

} // namespace
} // namespace headrace::primitives
