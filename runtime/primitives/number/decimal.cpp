// Exact 128-bit products and quotients. The intermediate product has 256 bits, in two halves.
#include "runtime/abi/kernel.h"
#include "runtime/primitives/number/number.h"

#include <cstring>

namespace headrace::primitives {
namespace {

using U128 = unsigned __int128;

__int128 load(const void *pointer) {
  __int128 value;
  std::memcpy(&value, pointer, sizeof value);
  return value;
}

void store(void *pointer, __int128 value) { std::memcpy(pointer, &value, sizeof value); }

U128 magnitude(__int128 value) {
  return value < 0 ? U128{0} - static_cast<U128>(value) : static_cast<U128>(value);
}

struct U256 {
  U128 high, low;
};

U256 multiply(U128 a, U128 b) {
  const uint64_t a0 = static_cast<uint64_t>(a), a1 = static_cast<uint64_t>(a >> 64);
  const uint64_t b0 = static_cast<uint64_t>(b), b1 = static_cast<uint64_t>(b >> 64);
  const U128 p00 = static_cast<U128>(a0) * b0;
  const U128 p01 = static_cast<U128>(a0) * b1;
  const U128 p10 = static_cast<U128>(a1) * b0;
  const U128 p11 = static_cast<U128>(a1) * b1;
  const U128 middle = (p00 >> 64) + static_cast<uint64_t>(p01) + static_cast<uint64_t>(p10);
  return {p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64),
          (middle << 64) | static_cast<uint64_t>(p00)};
}

/// dividend / divisor with dividend.high < divisor: the quotient fits. Bit by bit: only huge
/// products come here.
U128 divide(U256 dividend, U128 divisor, U128 *remainder) {
  U128 rest = dividend.high;
  U128 quotient = 0;
  for (int bit = 127; bit >= 0; --bit) {
    const bool carry = rest >> 127;
    rest = (rest << 1) | ((dividend.low >> bit) & 1);
    if (carry || rest >= divisor) {
      rest -= divisor;
      quotient |= static_cast<U128>(1) << bit;
    }
  }
  *remainder = rest;
  return quotient;
}

U128 quotientOf(U128 dividend, U128 divisor) {
  if ((dividend | divisor) >> 64 == 0) {
    return static_cast<uint64_t>(dividend) / static_cast<uint64_t>(divisor);
  }
#if defined(HR_ISA_LEVEL) && HR_ISA_LEVEL == 0 // device code has no division of 128 bits to call
  U128 remainder;
  return divide({0, dividend}, divisor, &remainder);
#else
  return dividend / divisor;
#endif
}

/// The signed value of a magnitude, unless it does not fit.
bool applySign(U128 value, bool negative, __int128 *out) {
  const U128 limit = (static_cast<U128>(1) << 127) - (negative ? 0 : 1);
  if (value > limit) {
    return false;
  }
  *out = static_cast<__int128>(negative ? U128{0} - value : value);
  return true;
}

} // namespace

int32_t multiplyI128(const void *a, const void *b, void *out) {
  const __int128 left = load(a), right = load(b);
  const U256 product = multiply(magnitude(left), magnitude(right));
  __int128 value;
  if (product.high != 0 || !applySign(product.low, (left < 0) != (right < 0), &value)) {
    return 1;
  }
  store(out, value);
  return 0;
}

int32_t divideI128(const void *a, const void *scale, const void *b, void *out) {
  const __int128 left = load(a), factor = load(scale), right = load(b);
  if (right == 0) {
    return HR_ERROR_DIVISION_BY_ZERO;
  }
  const U256 product = multiply(magnitude(left), magnitude(factor));
  const U128 divisor = magnitude(right);
  U128 quotient, remainder; // SQL's division of decimals truncates: the remainder is dropped
  if (product.high == 0) {
    quotient = quotientOf(product.low, divisor);
  } else if (product.high < divisor) {
    quotient = divide(product, divisor, &remainder);
  } else {
    return HR_ERROR_OVERFLOW;
  }
  __int128 value;
  if (!applySign(quotient, ((left < 0) != (factor < 0)) != (right < 0), &value)) {
    return HR_ERROR_OVERFLOW;
  }
  store(out, value);
  return HR_OK;
}

double i128ToDouble(const void *pointer) {
  const __int128 value = load(pointer);
  const U128 absolute = magnitude(value);
  const auto high = static_cast<uint64_t>(absolute >> 64);
  double result = static_cast<double>(static_cast<uint64_t>(absolute));
  if (high != 0) {
    // The leading 64 bits, the last one set if any bit below is: rounding them once is rounding the
    // whole.
    const int shift = 64 - __builtin_clzll(high);
    const bool below = (absolute & ((U128{1} << shift) - 1)) != 0;
    const uint64_t leading = static_cast<uint64_t>(absolute >> shift) | (below ? 1 : 0);
    result = static_cast<double>(leading) * 2 * static_cast<double>(uint64_t{1} << (shift - 1));
  }
  return value < 0 ? -result : result;
}

} // namespace headrace::primitives
