// Which elements of a dimension a slice takes.
#pragma once

#include <cstdint>

namespace headrace {

/// Elements offset, offset + stride, …: `size` of them. A stride may be negative, or zero.
struct StridedRange {
  int64_t offset = 0;
  int64_t size = 0;
  int64_t stride = 1;

  bool isAllOf(int64_t extent) const { return offset == 0 && stride == 1 && size == extent; }

  /// Whether a dimension of `extent` has them all.
  bool isWithin(int64_t extent) const {
    int64_t last = 0;
    if (size <= 0) {
      return size == 0 && 0 <= offset && offset <= extent;
    }
    return 0 <= offset && offset < extent && !__builtin_mul_overflow(size - 1, stride, &last) &&
           !__builtin_add_overflow(last, offset, &last) && 0 <= last && last < extent;
  }
};

} // namespace headrace
