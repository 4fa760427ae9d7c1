// Numbers as text and back.
#include "runtime/base/text_numbers.h"

#include "runtime/abi/kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace headrace {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// What a text says as a number: 0.DIGITS * 10^exponent, the digits those of `mantissa` but for
/// points and underscores.
struct Written {
  bool negative = false;
  std::string_view mantissa;
  int64_t exponent = 0;
};

/// An underscore stands between two digits.
bool isSeparator(std::string_view text, size_t at) {
  return text[at] == '_' && at > 0 && at + 1 < text.size() && isDigit(text[at - 1]) &&
         isDigit(text[at + 1]);
}

/// The exponent behind an e, at most `kMost` away from zero.
bool readExponent(std::string_view text, int64_t *out) {
  constexpr int64_t kMost = int64_t{1} << 40;
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative || text.starts_with('+'));
  int64_t value = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (isDigit(text[at])) {
      value = std::min(value * 10 + (text[at] - '0'), kMost);
    } else if (!isSeparator(text, at)) {
      return false;
    }
  }
  *out = negative ? -value : value;
  return !text.empty();
}

bool read(std::string_view text, Written *out) {
  out->negative = text.starts_with('-');
  text.remove_prefix(out->negative || text.starts_with('+'));
  size_t end = 0;
  int64_t digits = 0, whole = -1; // all, and those before the point
  for (; end < text.size() && (text[end] | 0x20) != 'e'; ++end) {
    if (text[end] == '.' && whole < 0) {
      whole = digits;
    } else if (isDigit(text[end])) {
      ++digits;
    } else if (!isSeparator(text, end)) {
      return false;
    }
  }
  out->mantissa = text.substr(0, end);
  int64_t exponent = 0;
  if (digits == 0 || (end < text.size() && !readExponent(text.substr(end + 1), &exponent))) {
    return false;
  }
  out->exponent = exponent + (whole < 0 ? digits : whole);
  return true;
}

/// "00", "01" and so on to "99".
constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> pairs{};
  for (size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

/// Without leading zeros; nothing of 0.
char *printDigits64(uint64_t value, char *end) {
  for (; value >= 10; value /= 100) {
    end -= 2;
    std::memcpy(end, kPairs.data() + 2 * (value % 100), 2);
  }
  if (value != 0) {
    *--end = static_cast<char>('0' + value);
  }
  return end;
}

} // namespace

char *printDigits(U128 value, int32_t width, char *end) {
  constexpr int kDigits = 19; // of 64 bits
  constexpr uint64_t kPower = 10'000'000'000'000'000'000u;
  char *at = end;
  for (; value > UINT64_MAX; value /= kPower) { // divisions of 128 bits are slow
    char *begin = at - kDigits;
    at = printDigits64(static_cast<uint64_t>(value % kPower), at);
    at = static_cast<char *>(std::memset(begin, '0', static_cast<size_t>(at - begin)));
  }
  at = printDigits64(static_cast<uint64_t>(value), at);
  char *wide = std::min(at, end - width);
  std::memset(wide, '0', static_cast<size_t>(at - wide));
  return wide;
}

/// At least `whole` digits stand in front of the point.
static std::string_view printScaled(I128 value, int32_t scale, int32_t whole, char *memory) {
  char *end = memory + HR_TEXT_PRINTED;
  const bool negative = value < 0;
  const U128 magnitude = negative ? U128{0} - static_cast<U128>(value) : static_cast<U128>(value);
  char *at = printDigits(magnitude, scale + whole, end);
  if (scale > 0) {
    std::memmove(at - 1, at, static_cast<size_t>(end - at - scale));
    --at;
    *(end - scale - 1) = '.';
  }
  if (negative) {
    *--at = '-';
  }
  return {at, static_cast<size_t>(end - at)};
}

std::string_view printInteger(I128 value, int32_t scale, char *memory) {
  return printScaled(value, scale, 1, memory);
}

std::string_view printExact(I128 value, const LogicalType &type, char *memory) {
  const bool isFraction = type.kind == LogicalKind::kDecimal && type.precision == type.scale;
  return printScaled(value, type.scale, isFraction ? 0 : 1, memory);
}

/// The last digit of a number that is written with an exponent, and its place: 0 of 5, −2 of 1.25,
/// 3 of 2000.
struct LastDigit {
  char digit;
  int place;
};

static LastDigit lastDigitIn(std::string_view text) {
  const size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(),
                  exponent);
  const auto digits = std::ranges::count_if(text.substr(0, e), isDigit);
  return {text[e - 1], exponent - static_cast<int>(digits) + 1};
}

/// Of the shortest text.
static LastDigit lastDigitOf(double value) {
  char memory[HR_TEXT_PRINTED];
  const char *end =
      std::to_chars(memory, memory + HR_TEXT_PRINTED, value, std::chars_format::scientific).ptr;
  return lastDigitIn({memory, static_cast<size_t>(end - memory)});
}

/// False for nearly all: a fraction's last bit is at the same place behind the point as its last
/// digit, far behind the last one of the shortest text.
static bool mayBeTie(float value, int place) {
  constexpr int kBits = std::numeric_limits<float>::digits;
  constexpr int kLeastUnit = std::numeric_limits<float>::min_exponent - kBits;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(value), &exponent);
  const auto bits = static_cast<uint32_t>(std::ldexp(fraction, kBits));
  const int unit = std::max(exponent - kBits, kLeastUnit);
  return unit > 0 || unit - 1 >= place || exponent - kBits + std::countr_zero(bits) == place - 1;
}

/// Whether what the shortest text of a float is depends on how ties are broken, of two texts that
/// are as near, or halfway to the next float. DuckDB then writes it as a double.
static bool isTie(float value, std::string_view shortest) {
  const int place = lastDigitIn(shortest).place;
  if (!mayBeTie(value, place)) {
    return false;
  }
  double written = 0;
  std::from_chars(shortest.data(), shortest.data() + shortest.size(), written);
  const LastDigit exact = lastDigitOf(value);
  constexpr float kMost = std::numeric_limits<float>::infinity();
  const auto endsHalfway = [&](float side) {
    const double halfway = (double{std::nextafter(value, side)} + double{value}) / 2;
    return std::isfinite(halfway) && (halfway == written || lastDigitOf(halfway).place > place);
  };
  return (exact.place == place - 1 && exact.digit == '5') || endsHalfway(kMost) ||
         endsHalfway(-kMost);
}

template <typename Real> std::string_view printReal(Real value, char *memory) {
  char *end =
      std::to_chars(memory, memory + HR_TEXT_PRINTED, value, std::chars_format::scientific).ptr;
  std::string_view text(memory, static_cast<size_t>(end - memory));
  if constexpr (std::is_same_v<Real, float>) {
    if (std::isfinite(value) && value != 0 && isTie(value, text)) {
      return printReal(double{value}, memory);
    }
  }
  int exponent = 0;
  const size_t e = text.find('e');
  if (e == std::string_view::npos) { // inf, nan
    return text;
  }
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), end, exponent);
  constexpr int kLeast = -4, kMost = 15; // beyond, the exponent is written
  if (exponent < kLeast || exponent > kMost) {
    return text;
  }
  char digits[HR_TEXT_PRINTED];
  char *last = std::copy_if(memory, memory + e, digits, isDigit);
  char *at = memory + text.starts_with('-');
  if (exponent < 0) {
    at = std::copy_n("0.000", 1 - exponent, at);
    at = std::copy(digits, last, at);
  } else {
    const auto whole = exponent + 1, count = static_cast<int>(last - digits);
    at = std::copy_n(digits, std::min(whole, count), at);
    at = std::fill_n(at, std::max(whole - count, 0), '0');
    *at++ = '.';
    at = count > whole ? std::copy(digits + whole, last, at) : std::fill_n(at, 1, '0');
  }
  return {memory, static_cast<size_t>(at - memory)};
}

bool parseMagnitude(std::string_view text, int32_t scale, bool *isNegative, U128 *out) {
  Written written;
  if (!read(text, &written)) {
    return false;
  }
  const int64_t wanted = written.exponent + scale; // so many digits; the next one rounds
  U128 value = 0;
  int64_t place = 0;
  auto append = [&](int digit) {
    ++place;
    return !__builtin_mul_overflow(value, U128{10}, &value) &&
           !__builtin_add_overflow(value, static_cast<U128>(digit), &value);
  };
  bool up = false;
  for (char c : written.mantissa) {
    if (!isDigit(c)) {
      continue;
    }
    if (place >= wanted) {
      up = place == wanted && c >= '5';
      break;
    }
    if (!append(c - '0')) {
      return false;
    }
  }
  while (value != 0 && place < wanted) {
    if (!append(0)) {
      return false;
    }
  }
  *isNegative = written.negative;
  return !__builtin_add_overflow(value, U128{up}, out);
}

bool parseScaled(std::string_view text, int32_t scale, I128 *out) {
  constexpr U128 kLowest = U128{1} << 127; // the magnitude of the lowest number
  bool isNegative = false;
  U128 value = 0;
  if (!parseMagnitude(text, scale, &isNegative, &value) || value > kLowest - !isNegative) {
    return false;
  }
  *out = static_cast<I128>(isNegative ? U128{0} - value : value);
  return true;
}

template <typename Real> bool parseReal(std::string_view text, Real *out) {
  Written written;
  const bool isNumber = read(text, &written);
  text.remove_prefix(text.starts_with('+'));
  std::string plain;
  if (text.find('_') != std::string_view::npos) {
    std::copy_if(text.begin(), text.end(), std::back_inserter(plain),
                 [](char c) { return c != '_'; });
    text = plain;
  }
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  if (error == std::errc::result_out_of_range) {
    int64_t exponent = written.exponent;
    for (char c : written.mantissa.substr(0, written.mantissa.find_first_of("123456789"))) {
      exponent -= isDigit(c);
    }
    const Real limit = exponent > 0 ? std::numeric_limits<Real>::infinity() : Real{0};
    *out = written.negative ? -limit : limit;
  }
  // Beside numbers it knows "inf", "infinity" and "nan".
  return end == text.data() + text.size() && error != std::errc::invalid_argument &&
         (isNumber || !std::isfinite(*out));
}

template std::string_view printReal(float value, char *memory);
template std::string_view printReal(double value, char *memory);
template bool parseReal(std::string_view text, float *out);
template bool parseReal(std::string_view text, double *out);

} // namespace headrace
