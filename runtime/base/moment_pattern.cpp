// A format is read part by part, beside the text.
#include "runtime/base/moment_pattern.h"

#include "runtime/base/civil.h"

#include <algorithm>
#include <array>

namespace headrace {
namespace {

using Text = std::string_view;

constexpr int64_t kNanoseconds = 1'000'000'000;

constexpr std::array<Text, 12> kMonths = {"january",   "february", "march",    "april",
                                          "may",       "june",     "july",     "august",
                                          "september", "october",  "november", "december"};
constexpr std::array<Text, 7> kDays = {"sunday",   "monday", "tuesday", "wednesday",
                                       "thursday", "friday", "saturday"};

bool isBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

void skipBlanks(Text &text) {
  while (!text.empty() && isBlank(text.front())) {
    text.remove_prefix(1);
  }
}

bool take(Text &text, char wanted) {
  const bool found = !text.empty() && text.front() == wanted;
  text.remove_prefix(found);
  return found;
}

bool takeWord(Text &text, Text lower) {
  const bool found = text.size() >= lower.size() &&
                     std::equal(lower.begin(), lower.end(), text.begin(), [](char a, char b) {
                       return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b | 0x20) : b);
                     });
  text.remove_prefix(found ? lower.size() : 0);
  return found;
}

/// Which of these words is next, from 0 on; of their first `letters` only.
template <size_t size>
std::optional<int64_t> takeOneOf(Text &text, const std::array<Text, size> &words, size_t letters) {
  for (size_t index = 0; index < size; ++index) {
    if (takeWord(text, words[index].substr(0, letters))) {
      return static_cast<int64_t>(index);
    }
  }
  return std::nullopt;
}

/// A number of up to so many digits, in a range.
std::optional<int64_t> takeNumber(Text &text, size_t digitsMax, int64_t least, int64_t most) {
  int64_t value = 0;
  size_t digits = 0;
  for (; digits < std::min(digitsMax, text.size()) && isDigit(text[digits]); ++digits) {
    value = value * 10 + (text[digits] - '0');
  }
  text.remove_prefix(digits);
  return digits > 0 && value >= least && value <= most ? std::optional(value) : std::nullopt;
}

/// Up to so many digits of a second, in nanoseconds.
std::optional<int64_t> takeFraction(Text &text, size_t digitsMax) {
  int64_t value = 0, unit = kNanoseconds;
  for (size_t digits = 0; digits < digitsMax && !text.empty() && isDigit(text.front()); ++digits) {
    unit /= 10;
    value += (text.front() - '0') * unit;
    text.remove_prefix(1);
  }
  return unit == kNanoseconds ? std::nullopt : std::optional(value);
}

/// "+HH", "+HHMM", "+HH:MM" or "+HH:MM:SS" in seconds.
std::optional<int64_t> takeOffset(Text &text) {
  const bool isNegative = !text.empty() && text.front() == '-';
  if (!isNegative && (text.empty() || text.front() != '+')) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  int64_t seconds = 0;
  for (int64_t unit = 3600; unit > 0; unit /= 60) {
    const Text before = text;
    if (unit < 3600 && !take(text, ':') && unit == 1) {
      break;
    }
    const bool isPart = text.size() >= 2 && isDigit(text[0]) && isDigit(text[1]);
    if (!isPart) {
      text = before;
      if (unit == 3600) {
        return std::nullopt;
      }
      break;
    }
    seconds += ((text[0] - '0') * 10 + (text[1] - '0')) * unit;
    text.remove_prefix(2);
  }
  return isNegative ? -seconds : seconds;
}

/// Of what is said by several parts together.
struct Parts {
  int64_t year = 1900, month = 1, day = 1, hour = 0, minute = 0, second = 0, fraction = 0;
  int64_t offset = 0;
  std::optional<int64_t> dayOfYear;
  std::optional<bool> isAfternoon;
  bool hasDate = false; ///< a month or a day of it

  /// Takes the part that a specifier means from the front of the text.
  bool takePart(char specifier, Text &text);
  std::optional<int64_t> moment(TimeUnit unit) const;
};

bool Parts::takePart(char specifier, Text &text) {
  auto set = [](int64_t &part, std::optional<int64_t> value) {
    part = value.value_or(part);
    return value.has_value();
  };
  int64_t ignored = 0;
  switch (specifier) {
  case 'a':
  case 'A':
    return set(ignored, takeOneOf(text, kDays, specifier == 'a' ? 3 : Text::npos));
  case 'b':
  case 'B':
    hasDate = true;
    if (!set(month, takeOneOf(text, kMonths, specifier == 'b' ? 3 : Text::npos))) {
      return false;
    }
    ++month;
    return true;
  case 'm':
    hasDate = true;
    return set(month, takeNumber(text, 2, 1, 12));
  case 'd':
    hasDate = true;
    return set(day, takeNumber(text, 2, 1, 31));
  case 'j':
    dayOfYear = takeNumber(text, 3, 1, 366);
    return dayOfYear.has_value();
  case 'Y':
    return set(year, takeNumber(text, 4, 0, 9999));
  case 'y':
    if (!set(year, takeNumber(text, 2, 0, 99))) {
      return false;
    }
    year += year < 69 ? 2000 : 1900;
    return true;
  case 'w':
    return set(ignored, takeNumber(text, 1, 0, 6));
  case 'u':
    return set(ignored, takeNumber(text, 1, 1, 7));
  case 'H':
    return set(hour, takeNumber(text, 2, 0, 23));
  case 'I':
    return set(hour, takeNumber(text, 2, 1, 12));
  case 'p':
    isAfternoon = takeWord(text, "pm");
    return *isAfternoon || takeWord(text, "am");
  case 'M':
    return set(minute, takeNumber(text, 2, 0, 59));
  case 'S':
    return set(second, takeNumber(text, 2, 0, 59));
  case 'g':
    return set(fraction, takeFraction(text, 3));
  case 'f':
    return set(fraction, takeFraction(text, 6));
  case 'n':
    return set(fraction, takeFraction(text, 9));
  case 'z':
    return set(offset, takeOffset(text));
  default: // %
    return take(text, specifier);
  }
}

std::optional<int64_t> Parts::moment(TimeUnit unit) const {
  int64_t hours = hour;
  if (isAfternoon) {
    if (hour > 12) {
      return std::nullopt;
    }
    hours = hour % 12 + (*isAfternoon ? 12 : 0);
  }
  const bool byDay = dayOfYear && !hasDate;
  if (!byDay && day > daysOfMonth(year, month)) {
    return std::nullopt;
  }
  const int64_t days =
      byDay ? daysFromCivil(year, 1, 1) + *dayOfYear - 1 : daysFromCivil(year, month, day);
  const int64_t seconds = ((days * 24 + hours) * 60 + minute) * 60 + second - offset;
  const __int128 nanoseconds = static_cast<__int128>(seconds) * kNanoseconds + fraction;
  const int64_t size = kNanoseconds / unitsOfSecond(unit);
  const __int128 value =
      nanoseconds >= 0 ? nanoseconds / size : -((-nanoseconds + size - 1) / size);
  return value >= INT64_MIN && value <= INT64_MAX ? std::optional(static_cast<int64_t>(value))
                                                  : std::nullopt;
}

constexpr Text kSpecifiers = "aAbBmdjYywuHIpMSgfnz%";

/// What stands for several parts; empty for other specifiers.
Text longForm(char specifier) {
  return specifier == 'x'   ? "%Y-%m-%d"
         : specifier == 'X' ? "%H:%M:%S"
         : specifier == 'c' ? "%Y-%m-%d %H:%M:%S"
                            : "";
}

/// Reads a text by a format.
bool takeAll(Parts &parts, Text &text, Text format) {
  while (!format.empty()) {
    const char next = format.front();
    format.remove_prefix(1);
    if (isBlank(next)) {
      if (text.empty() || !isBlank(text.front())) {
        return false;
      }
      skipBlanks(text);
      skipBlanks(format);
      continue;
    }
    if (next != '%') {
      if (!take(text, next)) {
        return false;
      }
      continue;
    }
    take(format, '-');
    const char specifier = format.front();
    format.remove_prefix(1);
    const Text form = longForm(specifier);
    if (!(form.empty() ? parts.takePart(specifier, text) : takeAll(parts, text, form))) {
      return false;
    }
  }
  return true;
}

} // namespace

std::string_view unsupportedPart(std::string_view format) {
  for (size_t at = format.find('%'); at != Text::npos; at = format.find('%', at)) {
    const size_t begin = at++;
    at += at < format.size() && format[at] == '-';
    const bool isKnown = at < format.size() && (kSpecifiers.find(format[at]) != Text::npos ||
                                                !longForm(format[at]).empty());
    ++at;
    if (!isKnown) {
      return format.substr(begin, at - begin);
    }
  }
  return {};
}

std::optional<int64_t> momentIn(std::string_view text, std::string_view format, TimeUnit unit) {
  Parts parts;
  skipBlanks(text);
  if (!takeAll(parts, text, format)) {
    return std::nullopt;
  }
  skipBlanks(text);
  return text.empty() ? parts.moment(unit) : std::nullopt;
}

} // namespace headrace
