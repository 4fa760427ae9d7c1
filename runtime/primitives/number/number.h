// Arithmetic of 128-bit decimals.
#pragma once

#include <cstdint>

namespace headrace::primitives {

/// out = a * b; 1 if it does not fit, and then out is not set. The pointers need no alignment.
int32_t multiplyI128(const void *a, const void *b, void *out);
/// out = a * scale / b, the product exact in 256 bits, truncated towards zero.
/// 0, HR_ERROR_DIVISION_BY_ZERO or HR_ERROR_OVERFLOW.
int32_t divideI128(const void *a, const void *scale, const void *b, void *out);
double i128ToDouble(const void *value);

} // namespace headrace::primitives
