// Values as text and back, and dates moved by months.
#include "runtime/primitives/number/number.h"
#include "runtime/primitives/string/string.h"
#include "runtime/primitives/string/text.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>

namespace headrace::primitives {
namespace {

using I128 = __int128;
using U128 = unsigned __int128;

/// Writes digits of at least `width` places that end before `end`; returns where they begin.
char *printDigits(U128 value, int32_t width, char *end) {
  char *at = end;
  for (int32_t place = 0; place < width || value != 0; ++place, value /= 10) {
    *--at = static_cast<char>('0' + static_cast<int>(value % 10));
  }
  return at;
}

std::string_view printInteger(I128 value, int32_t scale, char *memory) {
  char *end = memory + HR_TEXT_PRINTED;
  const bool negative = value < 0;
  const U128 magnitude = negative ? U128{0} - static_cast<U128>(value) : static_cast<U128>(value);
  char *at = printDigits(magnitude, scale + 1, end);
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

std::string_view printDate(int32_t days, char *memory) {
  char *end = memory + HR_TEXT_PRINTED;
  const int64_t year = dateYear(days);
  char *at = printDigits(static_cast<U128>(dateDay(days)), 2, end);
  *--at = '-';
  at = printDigits(static_cast<U128>(dateMonth(days)), 2, at);
  *--at = '-';
  at = printDigits(static_cast<U128>(year < 0 ? -year : year), 4, at);
  if (year < 0) {
    *--at = '-';
  }
  return {at, static_cast<size_t>(end - at)};
}

constexpr int64_t kSecond = 1'000'000;
constexpr int64_t kDay = 86'400 * kSecond;

/// "YYYY-MM-DD HH:MM:SS", and behind a point what is not 0 of a second.
std::string_view printTimestamp(int64_t microseconds, char *memory) {
  char *end = memory + HR_TEXT_PRINTED;
  const int64_t days = microseconds / kDay - (microseconds % kDay < 0 ? 1 : 0);
  const int64_t time = microseconds - days * kDay;
  int64_t fraction = time % kSecond;
  int32_t places = 6;
  for (; places > 0 && fraction % 10 == 0; --places) {
    fraction /= 10;
  }
  char *at = end;
  if (places > 0) {
    at = printDigits(static_cast<U128>(fraction), places, at);
    *--at = '.';
  }
  const int64_t seconds = time / kSecond;
  for (int64_t part : {seconds % 60, seconds / 60 % 60, seconds / 3600}) {
    at = printDigits(static_cast<U128>(part), 2, at);
    *--at = ':';
  }
  *at = ' ';
  char date[HR_TEXT_PRINTED];
  const std::string_view day = printDate(static_cast<int32_t>(days), date);
  at -= day.size();
  std::memcpy(at, day.data(), day.size());
  return {at, static_cast<size_t>(end - at)};
}

bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view trimmed(const HrString &text) {
  std::string_view view(reinterpret_cast<const char *>(text.data), text.length);
  while (!view.empty() && isSpace(view.front())) {
    view.remove_prefix(1);
  }
  while (!view.empty() && isSpace(view.back())) {
    view.remove_suffix(1);
  }
  return view;
}

/// Sign, digits, and perhaps a point and more digits, as an integer scaled by 10^scale.
bool parseScaled(std::string_view text, int32_t scale, I128 *out) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  I128 value = 0;
  int32_t behind = -1; // digits behind the point so far, or no point yet
  bool any = false, up = false;
  for (char c : text) {
    if (c == '.' && behind < 0) {
      behind = 0;
      continue;
    }
    if (c < '0' || c > '9') {
      return false;
    }
    any = true;
    if (behind >= scale) { // only the first digit that is left out rounds
      up |= behind == scale && c >= '5';
      behind = std::min(behind + 1, scale + 1);
      continue;
    }
    behind += behind >= 0;
    if (__builtin_mul_overflow(value, I128{10}, &value) ||
        __builtin_add_overflow(value, I128{c - '0'}, &value)) {
      return false;
    }
  }
  for (int32_t digits = std::max(behind, 0); digits < scale; ++digits) {
    if (__builtin_mul_overflow(value, I128{10}, &value)) {
      return false;
    }
  }
  value += up;
  *out = negative ? -value : value;
  return any;
}

int64_t daysFromCivil(int64_t year, int64_t month, int64_t day) {
  constexpr int64_t kEraDays = 146097;
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t yearOfEra = year - era * 400;
  const int64_t dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const int64_t dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear;
  return era * kEraDays + dayOfEra - 719468;
}

int64_t daysOfMonth(int64_t year, int64_t month) {
  constexpr int64_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

/// "YYYY-MM-DD".
bool parseDate(std::string_view text, I128 *out) {
  auto number = [&](size_t from, size_t digits) -> int64_t {
    int64_t value = 0;
    for (char c : text.substr(from, digits)) {
      if (c < '0' || c > '9') {
        return -1;
      }
      value = value * 10 + (c - '0');
    }
    return value;
  };
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') {
    return false;
  }
  const int64_t year = number(0, 4), month = number(5, 2), day = number(8, 2);
  if (year < 0 || month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) {
    return false;
  }
  *out = daysFromCivil(year, month, day);
  return true;
}

/// "HH:MM", "HH:MM:SS" or "HH:MM:SS.ffffff" as microseconds.
bool parseTimeOfDay(std::string_view text, int64_t *out) {
  auto number = [&](size_t from, size_t digits) -> int64_t {
    int64_t value = 0;
    for (char c : text.substr(from, digits)) {
      value = c < '0' || c > '9' || value < 0 ? -1 : value * 10 + (c - '0');
    }
    return value;
  };
  const bool seconds = text.size() >= 8, fraction = text.size() > 9 && text.size() <= 15;
  if (!(text.size() == 5 || text.size() == 8 || fraction) || text[2] != ':' ||
      (seconds && text[5] != ':') || (fraction && text[8] != '.')) {
    return false;
  }
  const int64_t hour = number(0, 2), minute = number(3, 2);
  const int64_t second = seconds ? number(6, 2) : 0;
  int64_t rest = fraction ? number(9, 6) : 0;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || rest < 0) {
    return false;
  }
  for (size_t digits = text.size(); fraction && digits < 15; ++digits) {
    rest *= 10;
  }
  *out = ((hour * 60 + minute) * 60 + second) * kSecond + rest;
  return true;
}

/// A date, or a date and a time behind a space or a T.
bool parseTimestamp(std::string_view text, I128 *out) {
  I128 days = 0;
  int64_t time = 0;
  if (!parseDate(text.substr(0, 10), &days)) {
    return false;
  }
  if (text.size() > 10 &&
      ((text[10] != ' ' && text[10] != 'T') || !parseTimeOfDay(text.substr(11), &time))) {
    return false;
  }
  *out = days * kDay + time;
  return true;
}

bool equalsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b;
         });
}

bool parseBoolean(std::string_view text, I128 *out) {
  const bool truth = equalsIgnoringCase(text, "true") || text == "1";
  *out = truth;
  return truth || equalsIgnoringCase(text, "false") || text == "0";
}

bool parseFloat(std::string_view text, double *out) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
  }
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

} // namespace

void textPrint(int32_t form, const void *value, int32_t scale, uint8_t *memory, HrString *out) {
  char *chars = reinterpret_cast<char *>(memory);
  std::string_view text;
  if (form == HR_TEXT_FLOAT) {
    double real;
    std::memcpy(&real, value, sizeof real);
    auto [end, error] = std::to_chars(chars, chars + HR_TEXT_PRINTED, real);
    text = {chars, static_cast<size_t>(end - chars)};
  } else {
    I128 integer;
    std::memcpy(&integer, value, sizeof integer);
    text = form == HR_TEXT_DATE        ? printDate(static_cast<int32_t>(integer), chars)
           : form == HR_TEXT_TIMESTAMP ? printTimestamp(static_cast<int64_t>(integer), chars)
           : form == HR_TEXT_BOOLEAN   ? std::string_view(integer ? "true" : "false")
                                       : printInteger(integer, scale, chars);
    std::memmove(chars, text.data(), text.size());
  }
  *out = makeString(memory, static_cast<uint32_t>(text.size()));
}

int32_t textParse(int32_t form, const HrString *text, int32_t scale, void *out) {
  const std::string_view view = trimmed(*text);
  if (form == HR_TEXT_FLOAT) {
    double real = 0;
    const bool valid = parseFloat(view, &real);
    real = valid ? real : 0;
    std::memcpy(out, &real, sizeof real);
    return valid;
  }
  I128 integer = 0;
  const bool valid = form == HR_TEXT_DATE        ? parseDate(view, &integer)
                     : form == HR_TEXT_TIMESTAMP ? parseTimestamp(view, &integer)
                     : form == HR_TEXT_BOOLEAN   ? parseBoolean(view, &integer)
                                                 : parseScaled(view, scale, &integer);
  integer = valid ? integer : 0;
  std::memcpy(out, &integer, sizeof integer);
  return valid;
}

int64_t dateShift(int32_t days, int64_t months, int64_t moreDays) {
  constexpr int64_t kFar = int64_t{1} << 40;
  months = std::clamp(months, -kFar, kFar);
  moreDays = std::clamp(moreDays, -kFar, kFar);
  const int64_t all = dateYear(days) * 12 + dateMonth(days) - 1 + months;
  const int64_t year = (all >= 0 ? all : all - 11) / 12, month = all - year * 12 + 1;
  const int64_t day = std::min(dateDay(days), daysOfMonth(year, month));
  return daysFromCivil(year, month, day) + moreDays;
}

} // namespace headrace::primitives
