// Values as text and back (numbers: text_numbers.cpp), and dates moved by months.
#include "runtime/primitives/number/number.h"
#include "runtime/primitives/string/string.h"
#include "runtime/primitives/string/text.h"
#include "runtime/primitives/string/text_numbers.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <string_view>

namespace headrace::primitives {
namespace {

constexpr std::string_view kBeforeChrist = " (BC)"; // behind a year that counts from 1 backwards

std::string_view printDate(int32_t days, char *memory) {
  char *end = memory + HR_TEXT_PRINTED;
  char *at = end;
  int64_t year = dateYear(days);
  if (year <= 0) {
    year = 1 - year;
    at -= kBeforeChrist.size();
    std::memcpy(at, kBeforeChrist.data(), kBeforeChrist.size());
  }
  at = printDigits(static_cast<U128>(dateDay(days)), 2, at);
  *--at = '-';
  at = printDigits(static_cast<U128>(dateMonth(days)), 2, at);
  *--at = '-';
  at = printDigits(static_cast<U128>(year), 4, at);
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

bool equalsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b;
         });
}

/// Takes a number of 1 to `digitsMax` digits from the front, or gives -1.
int64_t takeNumber(std::string_view &text, size_t digitsMax) {
  int64_t value = 0;
  size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    if (digits == digitsMax) {
      return -1;
    }
    value = value * 10 + (text[digits] - '0');
  }
  text.remove_prefix(digits);
  return digits == 0 ? -1 : value;
}

/// Takes a year, month and day from the front, with one of four characters between them, and
/// perhaps " (BC)".
bool takeDate(std::string_view &text, int64_t *days) {
  constexpr size_t kYearDigits = 7;
  const bool negative = text.starts_with('-');
  text.remove_prefix(negative);
  int64_t year = takeNumber(text, kYearDigits);
  const char between = text.empty() ? ' ' : text.front();
  int64_t parts[2]; // month and day
  for (int64_t &part : parts) {
    if (text.empty() || text.front() != between) {
      return false;
    }
    text.remove_prefix(1);
    part = takeNumber(text, 2);
  }
  if (std::string_view("-/ \\").find(between) == std::string_view::npos) {
    return false;
  }
  const auto [month, day] = parts;
  const bool beforeChrist = equalsIgnoringCase(text.substr(0, kBeforeChrist.size()), " (bc)");
  if (year < 0 || month < 1 || month > 12 || (beforeChrist && (year == 0 || negative))) {
    return false;
  }
  if (beforeChrist) {
    text.remove_prefix(kBeforeChrist.size());
    year = 1 - year;
  }
  year = negative ? -year : year;
  *days = daysFromCivil(year, month, day);
  return day >= 1 && day <= daysOfMonth(year, month);
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

/// A date, or a date and a time behind a space or a T; of that, for a date, only the day counts.
bool parseMoment(std::string_view text, bool isDate, I128 *out) {
  int64_t days = 0, time = 0;
  if (!equalsIgnoringCase(text, "epoch")) {
    if (!takeDate(text, &days)) {
      return false;
    }
    if (!text.empty() &&
        ((text[0] != ' ' && text[0] != 'T') || !parseTimeOfDay(text.substr(1), &time))) {
      return false;
    }
  }
  *out = isDate ? I128{days} : I128{days} * kDay + time;
  return true;
}

bool parseBoolean(std::string_view text, I128 *out) {
  auto isAnyOf = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return equalsIgnoringCase(text, word); });
  };
  *out = isAnyOf({"true", "t", "yes", "y", "1"});
  return *out != 0 || isAnyOf({"false", "f", "no", "n", "0"});
}

bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isSpace(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && isSpace(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// A float or double of the text, 0 if it is none.
template <typename Real> int32_t parseInto(std::string_view text, void *out) {
  Real real = 0;
  const bool valid = parseReal(text, &real);
  real = valid ? real : 0;
  std::memcpy(out, &real, sizeof real);
  return valid;
}

template <typename Real> std::string_view printFrom(const void *value, char *memory) {
  Real real;
  std::memcpy(&real, value, sizeof real);
  return printReal(real, memory);
}

} // namespace

void textPrint(int32_t form, const void *value, int32_t scale, uint8_t *memory, HrString *out) {
  char *chars = reinterpret_cast<char *>(memory);
  std::string_view text;
  if (form == HR_TEXT_DOUBLE || form == HR_TEXT_FLOAT) {
    text =
        form == HR_TEXT_DOUBLE ? printFrom<double>(value, chars) : printFrom<float>(value, chars);
  } else {
    I128 integer;
    std::memcpy(&integer, value, sizeof integer);
    text = form == HR_TEXT_DATE        ? printDate(static_cast<int32_t>(integer), chars)
           : form == HR_TEXT_TIMESTAMP ? printTimestamp(static_cast<int64_t>(integer), chars)
           : form == HR_TEXT_BOOLEAN   ? std::string_view(integer ? "true" : "false")
                                       : printInteger(integer, scale, chars);
  }
  std::memmove(chars, text.data(), text.size());
  *out = makeString(memory, static_cast<uint32_t>(text.size()));
}

int32_t textParse(int32_t form, const HrString *text, int32_t scale, void *out) {
  const std::string_view whole(reinterpret_cast<const char *>(text->data), text->length);
  const std::string_view inner = trimmed(whole);
  if (form == HR_TEXT_DOUBLE) {
    return parseInto<double>(inner, out);
  }
  if (form == HR_TEXT_FLOAT) {
    return parseInto<float>(inner, out);
  }
  I128 integer = 0;
  const bool valid = form == HR_TEXT_DATE        ? parseMoment(inner, /*isDate=*/true, &integer)
                     : form == HR_TEXT_TIMESTAMP ? parseMoment(inner, /*isDate=*/false, &integer)
                     : form == HR_TEXT_BOOLEAN   ? parseBoolean(whole, &integer)
                                                 : parseScaled(inner, scale, &integer);
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
