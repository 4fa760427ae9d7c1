// A format is read part by part, beside the text.
#include "runtime/base/moment_pattern.h"

#include "runtime/base/ascii.h"
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
  const bool found = equalsLower(text.substr(0, lower.size()), lower);
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

/// What says which day is meant. A month or day in numbers goes before all else, a year before the
/// weeks of ISO; of the others a text may have one.
enum class DayBy { kNone, kYear, kMonthAndDay, kDayOfYear, kWeekFromSunday, kWeekFromMonday, kIso };

/// Of what is said by several parts together.
struct Parts {
  int64_t year = 1900, month = 1, day = 1, hour = 0, minute = 0, second = 0, fraction = 0;
  int64_t offset = 0;
  DayBy by = DayBy::kNone;
  int64_t dayOfYear = 1, week = 0;
  int64_t dayOfWeek = 0; ///< from Sunday, or what begins the week where it is not said
  bool hasDayOfWeek = false;
  std::optional<int64_t> isoYear, isoWeek, isoDay;
  std::optional<bool> isAfternoon;

  /// Takes the part that a specifier means from the front of the text.
  bool takePart(char specifier, Text &text);
  std::optional<int64_t> moment(TimeUnit unit) const;

private:
  bool takeYear(std::optional<int64_t> number);
  bool takeOffsetInYear(DayBy kind, int64_t &part, std::optional<int64_t> number);
  bool takeIso(std::optional<int64_t> &part, std::optional<int64_t> number);
  int64_t days() const;
};

bool Parts::takeYear(std::optional<int64_t> number) {
  by = by == DayBy::kNone || by == DayBy::kIso ? DayBy::kYear : by;
  year = number.value_or(year);
  return number.has_value();
}

/// A day or a week of the year.
bool Parts::takeOffsetInYear(DayBy kind, int64_t &part, std::optional<int64_t> number) {
  if (by != DayBy::kMonthAndDay) {
    if (by != DayBy::kNone && by != DayBy::kYear) {
      return false;
    }
    by = kind;
  }
  part = number.value_or(part);
  return number.has_value();
}

/// A year or a week of ISO, once.
bool Parts::takeIso(std::optional<int64_t> &part, std::optional<int64_t> number) {
  const bool isYear = &part == &isoYear;
  if (by == DayBy::kNone) {
    by = DayBy::kIso;
  }
  const bool isPassedOver = by == DayBy::kMonthAndDay || (isYear && by == DayBy::kYear);
  if (!isPassedOver && (by != DayBy::kIso || part)) {
    return false;
  }
  part = number;
  return number.has_value();
}

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
    if (!set(month, takeOneOf(text, kMonths, specifier == 'b' ? 3 : Text::npos))) {
      return false;
    }
    ++month;
    return true;
  case 'm':
    by = DayBy::kMonthAndDay;
    return set(month, takeNumber(text, 2, 1, 12));
  case 'd':
    by = DayBy::kMonthAndDay;
    return set(day, takeNumber(text, 2, 1, 31));
  case 'j':
    return takeOffsetInYear(DayBy::kDayOfYear, dayOfYear, takeNumber(text, 3, 1, 366));
  case 'U':
  case 'W':
    return takeOffsetInYear(specifier == 'U' ? DayBy::kWeekFromSunday : DayBy::kWeekFromMonday,
                            week, takeNumber(text, 2, 0, 53));
  case 'G':
    return takeIso(isoYear, takeNumber(text, 4, 0, 9999));
  case 'V':
    return takeIso(isoWeek, takeNumber(text, 2, 1, 53));
  case 'Y':
    return takeYear(takeNumber(text, 4, 0, 9999));
  case 'y':
    if (!takeYear(takeNumber(text, 2, 0, 99))) {
      return false;
    }
    year += year < 69 ? 2000 : 1900;
    return true;
  case 'w':
    hasDayOfWeek = true;
    return set(dayOfWeek, takeNumber(text, 1, 0, 6));
  case 'u': {
    const bool isFirst = !isoDay;
    isoDay = takeNumber(text, 1, 1, 7);
    return isFirst && isoDay;
  }
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

/// The Monday of the week that a day, counted from 1970-01-01, is in.
int64_t mondayOf(int64_t day) {
  constexpr int64_t kWeek = 7, kThursday = 3;
  const int64_t since = (day + kThursday) % kWeek;
  return day - (since < 0 ? since + kWeek : since);
}

int64_t Parts::days() const {
  const int64_t first = daysFromCivil(year, 1, 1);
  switch (by) {
  case DayBy::kDayOfYear:
    return first + dayOfYear - 1;
  case DayBy::kIso: // its first week is that of the fourth of January
    return mondayOf(daysFromCivil(isoYear.value_or(1900), 1, 4)) + (isoWeek.value_or(1) - 1) * 7 +
           isoDay.value_or(1) - 1;
  case DayBy::kWeekFromSunday:
  case DayBy::kWeekFromMonday: { // days before the first whole week are of week 0
    const bool fromMonday = by == DayBy::kWeekFromMonday;
    int64_t begin = mondayOf(first) - (fromMonday ? 0 : 1);
    begin -= begin >= first ? 7 : 0;
    return begin + week * 7 + (fromMonday && hasDayOfWeek ? (dayOfWeek + 6) % 7 : dayOfWeek);
  }
  default:
    return daysFromCivil(year, month, day);
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
  const bool isOfMonth = by == DayBy::kNone || by == DayBy::kYear || by == DayBy::kMonthAndDay;
  if (isOfMonth && day > daysOfMonth(year, month)) {
    return std::nullopt;
  }
  const int64_t seconds = ((days() * 24 + hours) * 60 + minute) * 60 + second - offset;
  const __int128 nanoseconds = static_cast<__int128>(seconds) * kNanoseconds + fraction;
  const int64_t size = kNanoseconds / unitsOfSecond(unit);
  const __int128 value =
      nanoseconds >= 0 ? nanoseconds / size : -((-nanoseconds + size - 1) / size);
  return value >= INT64_MIN && value <= INT64_MAX ? std::optional(static_cast<int64_t>(value))
                                                  : std::nullopt;
}

constexpr Text kSpecifiers = "aAbBmdjUWGVYywuHIpMSgfnz%";

/// What stands for several parts; empty for other specifiers.
Text longForm(char specifier) {
  return specifier == 'x'   ? "%Y-%m-%d"
         : specifier == 'X' ? "%H:%M:%S"
         : specifier == 'c' ? "%Y-%m-%d %H:%M:%S"
                            : "";
}

/// "infinity", "-infinity" and "epoch", whatever the format.
std::optional<int64_t> specialMoment(Text text) {
  auto is = [&](Text word) {
    Text rest = text;
    const bool isWord = takeWord(rest, word);
    skipBlanks(rest);
    return isWord && rest.empty();
  };
  return is("infinity")    ? std::optional(INT64_MAX)
         : is("-infinity") ? std::optional(-INT64_MAX)
         : is("epoch")     ? std::optional(INT64_C(0))
                           : std::nullopt;
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
  if (std::optional<int64_t> special = specialMoment(text)) {
    return special;
  }
  if (!takeAll(parts, text, format)) {
    return std::nullopt;
  }
  skipBlanks(text);
  return text.empty() ? parts.moment(unit) : std::nullopt;
}

} // namespace headrace
