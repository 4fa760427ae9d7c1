// Dates, times of day and timestamps as text, and back.
#include "runtime/base/moment_text.h"

#include "runtime/base/ascii.h"
#include "runtime/base/civil.h"

#include <algorithm>
#include <cstring>

namespace headrace {
namespace {

constexpr std::string_view kBeforeChrist = " (BC)"; // behind a year that counts from 1 backwards
constexpr int kNanosecondDigits = 9;
constexpr int64_t kNanoseconds = 1'000'000'000;
constexpr int64_t kNanosecondsOfDay = 86'400 * kNanoseconds;

// ---- printing ----

/// At least `digits` digits.
char *put(uint64_t value, int digits, char *at) {
  char reversed[20];
  int count = 0;
  for (; value != 0 || count < digits; value /= 10) {
    reversed[count++] = static_cast<char>('0' + value % 10);
  }
  return std::reverse_copy(reversed, reversed + count, at);
}

char *put(std::string_view text, char *at) { return std::copy(text.begin(), text.end(), at); }

char *putInfinity(int64_t value, char *at) { return put(value > 0 ? "infinity" : "-infinity", at); }

// ---- parsing ----

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// 1 of "infinity", -1 of "-infinity", 0 of other texts.
int infiniteSign(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  text.remove_prefix(negative);
  const bool isInfinite = equalsLower(text, "infinity") || equalsLower(text, "inf");
  return !isInfinite ? 0 : negative ? -1 : 1;
}

bool take(std::string_view &text, char wanted) {
  bool found = !text.empty() && text.front() == wanted;
  text.remove_prefix(found);
  return found;
}

constexpr std::string_view kBlanks = " \t\n\v\f\r";

/// Takes a number of 1 to `digitsMax` digits from the front, or gives -1; also where there are
/// more, unless these may stay.
int64_t takeNumber(std::string_view &text, size_t digitsMax, bool mayGoOn = false) {
  int64_t value = 0;
  size_t digits = 0;
  for (; digits < text.size() && isDigit(text[digits]); ++digits) {
    if (digits == digitsMax) {
      if (mayGoOn) {
        break;
      }
      return -1;
    }
    value = value * 10 + (text[digits] - '0');
  }
  text.remove_prefix(digits);
  return digits == 0 ? -1 : value;
}

/// Takes a year, month and day from the front, with one of four characters between them, and
/// perhaps " (BC)".
std::optional<int64_t> takeDate(std::string_view &text) {
  constexpr size_t kYearDigits = 7;
  const bool negative = take(text, '-');
  int64_t year = takeNumber(text, kYearDigits);
  const char between = text.empty() ? ' ' : text.front();
  int64_t parts[2]; // month and day
  for (int64_t &part : parts) {
    if (!take(text, between)) {
      return std::nullopt;
    }
    part = takeNumber(text, 2);
  }
  if (std::string_view("-/ \\").find(between) == std::string_view::npos) {
    return std::nullopt;
  }
  const auto [month, day] = parts;
  const bool beforeChrist = equalsLower(text.substr(0, kBeforeChrist.size()), " (bc)");
  if (year < 0 || month < 1 || month > 12 || (beforeChrist && (year == 0 || negative))) {
    return std::nullopt;
  }
  if (beforeChrist) {
    text.remove_prefix(kBeforeChrist.size());
    year = 1 - year;
  }
  year = negative ? -year : year;
  return day >= 1 && day <= daysOfMonth(year, month)
             ? std::optional(daysFromCivil(year, month, day))
             : std::nullopt;
}

/// Takes "H:M", "H:M:S" or "H:M:S.f" from the front, as nanoseconds; what a colon that no digit
/// follows leaves out is 0.
std::optional<int64_t> takeTime(std::string_view &text) {
  constexpr size_t kHourDigits = 10; // most of them zeros
  const int64_t hour = takeNumber(text, kHourDigits);
  if (hour < 0 || hour > 24 || !take(text, ':')) {
    return std::nullopt;
  }
  auto isEmpty = [&] { return text.empty() || !isDigit(text.front()); };
  const bool hasMinute = !isEmpty();
  const int64_t minute = hasMinute ? takeNumber(text, 2) : 0;
  int64_t second = 0, fraction = 0;
  if (hasMinute && take(text, ':') && !isEmpty()) {
    second = takeNumber(text, 2, /*mayGoOn=*/true);
    if (take(text, '.')) {
      int digits = 0;
      for (; !text.empty() && isDigit(text.front()); text.remove_prefix(1), ++digits) {
        fraction = digits < kNanosecondDigits ? fraction * 10 + (text.front() - '0') : fraction;
      }
      for (; digits < kNanosecondDigits; ++digits) {
        fraction *= 10;
      }
    }
  }
  const bool isEnd = hour == 24 && minute == 0 && second == 0 && fraction == 0;
  if ((hour > 23 && !isEnd) || minute < 0 || minute > 59 || second > 59) {
    return std::nullopt;
  }
  return ((hour * 60 + minute) * 60 + second) * kNanoseconds + fraction;
}

/// Takes "Z" or "+HH", "+HHMM", "+HH:MM", "+HH:MM:SS" from the front, as seconds; 0 if there is
/// none.
std::optional<int64_t> takeOffset(std::string_view &text) {
  if (text.empty() || take(text, 'Z')) {
    return 0;
  }
  if (text.front() != '+' && text.front() != '-') {
    return 0;
  }
  const int64_t sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  int64_t seconds = 0, unit = 3600;
  bool hasColons = true;
  for (int part = 0; part < 3 && (part < 2 || hasColons); ++part, unit /= 60) {
    std::string_view digits = text;
    hasColons = part == 0 || take(digits, ':');
    if (part == 2 && !hasColons) {
      break;
    }
    if (digits.size() < 2 || !isDigit(digits[0]) || !isDigit(digits[1])) {
      return part == 0 ? std::nullopt : std::optional(sign * seconds);
    }
    seconds += ((digits[0] - '0') * 10 + (digits[1] - '0')) * unit;
    text = digits.substr(2);
  }
  return sign * seconds;
}

/// What stands behind the time of a timestamp, as seconds: an offset, or behind one blank the name
/// of a zone (where it counts, of the only one that there is), or nothing; then blanks to the end.
std::optional<int64_t> parseZone(std::string_view text, bool zoned) {
  std::optional<int64_t> offset = 0;
  if (text.size() > 1 && text[0] == ' ' && text[1] != ' ') {
    text.remove_prefix(1);
    const size_t end = std::min(
        text.size(), text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789/_+-:"));
    const std::string_view name = text.substr(0, end);
    text.remove_prefix(end);
    if (zoned && !equalsLower(name, "utc") && !equalsLower(name, "gmt")) {
      return std::nullopt;
    }
  } else {
    offset = takeOffset(text);
  }
  return text.find_first_not_of(' ') == std::string_view::npos ? offset : std::nullopt;
}

/// Takes what stands between a date and a time from the front: a blank or "T", then blanks.
bool takeBetween(std::string_view &text) {
  const bool isThere = text.front() == 'T' || kBlanks.find(text.front()) != std::string_view::npos;
  text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return isThere;
}

/// The moment that a text of a date, perhaps with a time, says, as nanoseconds.
std::optional<__int128> parseMoment(std::string_view text, bool zoned, bool *isLocal = nullptr) {
  std::optional<int64_t> days = takeDate(text), time = 0, offset = 0;
  bool hasZone = false;
  if (!days) {
    return std::nullopt;
  }
  if (!text.empty()) {
    time = takeBetween(text) ? takeTime(text) : std::nullopt;
    hasZone = text.find_first_not_of(' ') != std::string_view::npos;
    offset = time ? parseZone(text, zoned) : std::nullopt;
    if (!offset) {
      return std::nullopt;
    }
  }
  if (isLocal) {
    *isLocal = !hasZone;
  }
  return static_cast<__int128>(*days) * kNanosecondsOfDay + *time -
         (zoned ? static_cast<__int128>(*offset) * kNanoseconds : 0);
}

/// Nanoseconds in a unit: cut off, but rounded to half away from zero where the unit is coarse.
__int128 inUnit(__int128 nanoseconds, TimeUnit unit) {
  const __int128 divisor = kNanoseconds / unitsOfSecond(unit);
  auto floored = [](__int128 value, __int128 by) { return value / by - (value % by < 0); };
  if (unit >= TimeUnit::kMicrosecond) {
    return floored(nanoseconds, divisor);
  }
  const __int128 microseconds = floored(nanoseconds, 1000), coarse = divisor / 1000;
  return (microseconds + (microseconds < 0 ? -coarse / 2 : coarse / 2)) / coarse;
}

} // namespace

std::pair<int64_t, int64_t> finiteTimestamps(TimeUnit unit) {
  constexpr int64_t kLeast = -9'223'372'022'400'000'000, kGreatest = kInfiniteTimestamp - 1; // us
  if (unit == TimeUnit::kNanosecond) {
    return {-kGreatest, kGreatest};
  }
  const int64_t microseconds = unitsOfSecond(TimeUnit::kMicrosecond) / unitsOfSecond(unit);
  return {kLeast / microseconds, kGreatest / microseconds};
}

char *printDate(int64_t days, char *memory) {
  if (days == kInfiniteDate || days == -kInfiniteDate) {
    return putInfinity(days, memory);
  }
  const CivilDate date = civilFromDays(days);
  const bool beforeChrist = date.year <= 0;
  char *at = put(static_cast<uint64_t>(beforeChrist ? 1 - date.year : date.year), 4, memory);
  *at++ = '-';
  at = put(static_cast<uint64_t>(date.month), 2, at);
  *at++ = '-';
  at = put(static_cast<uint64_t>(date.day), 2, at);
  return beforeChrist ? put(kBeforeChrist, at) : at;
}

char *printTime(int64_t time, TimeUnit unit, char *memory) {
  const int64_t units = unitsOfSecond(unit), seconds = time / units;
  int64_t fraction = time % units;
  char *at = put(static_cast<uint64_t>(seconds / 3600), 2, memory);
  *at++ = ':';
  at = put(static_cast<uint64_t>(seconds / 60 % 60), 2, at);
  *at++ = ':';
  at = put(static_cast<uint64_t>(seconds % 60), 2, at);
  if (fraction != 0) {
    int digits = digitsOf(unit);
    for (; fraction % 10 == 0; --digits) {
      fraction /= 10;
    }
    *at++ = '.';
    at = put(static_cast<uint64_t>(fraction), digits, at);
  }
  return at;
}

char *printTimestamp(int64_t timestamp, TimeUnit unit, bool zoned, char *memory) {
  if (isInfiniteTimestamp(timestamp)) {
    return putInfinity(timestamp, memory);
  }
  const int64_t day = unitsOfDay(unit);
  const int64_t days = timestamp / day - (timestamp % day < 0 ? 1 : 0);
  char *at = printDate(days, memory);
  *at++ = ' ';
  at = printTime(timestamp - days * day, unit, at);
  return zoned ? put("+00", at) : at;
}

std::optional<int64_t> parseDate(std::string_view text) {
  if (equalsLower(text, "epoch")) {
    return 0;
  }
  if (const int sign = infiniteSign(text)) {
    return sign * kInfiniteDate;
  }
  std::optional<int64_t> days = takeDate(text);
  if (!days || *days <= -kInfiniteDate || *days >= kInfiniteDate) {
    return std::nullopt;
  }
  if (text.empty()) {
    return days;
  }
  return takeBetween(text) && takeTime(text) && parseZone(text, /*zoned=*/false) ? days
                                                                                 : std::nullopt;
}

/// Nothing beyond those of the unit.
static std::optional<int64_t> timestampOf(__int128 nanoseconds, TimeUnit unit) {
  const __int128 value = inUnit(nanoseconds, unit);
  const auto [least, greatest] = finiteTimestamps(unit);
  const bool isFinite = value >= least && value <= greatest;
  return isFinite ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
}

std::optional<int64_t> parseTime(std::string_view text, TimeUnit unit) {
  std::string_view time = text;
  std::optional<int64_t> nanoseconds = takeTime(time);
  // As DuckDB has it: anything may stand behind the seconds, nothing behind minutes, nor behind a
  // date alone; behind a date and a time blanks of which the first is a space.
  const std::string_view taken = text.substr(0, text.size() - time.size());
  const bool hasSeconds = std::ranges::count(taken, ':') == 2 && taken.back() != ':';
  if (nanoseconds && (time.empty() || hasSeconds)) {
    return static_cast<int64_t>(inUnit(*nanoseconds, unit));
  }
  const size_t end = text.find_last_not_of(kBlanks) + 1;
  const std::string_view behind = text.substr(end);
  text = text.substr(0, end);
  const bool isWhole = text.find(':') != std::string_view::npos && behind.starts_with(' ');
  if (!behind.empty() && !isWhole && !equalsLower(text, "epoch")) {
    return std::nullopt;
  }
  if (equalsLower(text, "epoch")) {
    return 0;
  }
  std::optional<__int128> moment = parseMoment(text, /*zoned=*/false);
  if (!moment || !timestampOf(*moment, TimeUnit::kMicrosecond)) {
    return std::nullopt;
  }
  const __int128 rest = *moment % kNanosecondsOfDay;
  return static_cast<int64_t>(inUnit(rest < 0 ? rest + kNanosecondsOfDay : rest, unit));
}

std::optional<int64_t> parseTimestamp(std::string_view text, TimeUnit unit, bool zoned,
                                      bool *isLocal) {
  if (equalsLower(text, "epoch")) {
    return 0;
  }
  if (const int sign = infiniteSign(text)) {
    return sign * kInfiniteTimestamp;
  }
  std::optional<__int128> nanoseconds = parseMoment(text, zoned, isLocal);
  return nanoseconds ? timestampOf(*nanoseconds, unit) : std::nullopt;
}

} // namespace headrace
