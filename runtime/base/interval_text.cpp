// Intervals as texts, and back; as DuckDB writes and reads them.
#include "runtime/base/ascii.h"
#include "runtime/base/interval_values.h"
#include "runtime/base/name_list.h"

#include <algorithm>
#include <cstdlib>

namespace headrace {
namespace {

using Text = std::string_view;

constexpr int64_t kMicrosOfSecond = 1'000'000, kMicrosOfMinute = 60 * kMicrosOfSecond;
constexpr int64_t kMicrosOfHour = 60 * kMicrosOfMinute, kMicrosOfDay = 24 * kMicrosOfHour;
constexpr int64_t kDaysOfMonth = 30;

/// What a share of a unit is rounded to: nothing is left of it, or so much of the next one.
enum class Share : uint8_t { kNone, kMonths, kDays, kMicros };

struct Unit {
  Text names;
  int64_t months, days, micros; ///< only one of them is not 0
  Share share;
};

constexpr Unit kUnits[] = {
    {"millennium millenium millennia millenniums mil mils", 12'000, 0, 0, Share::kMonths},
    {"century centuries cent c", 1200, 0, 0, Share::kMonths},
    {"decade decades dec decs", 120, 0, 0, Share::kMonths},
    {"year years yr yrs y", 12, 0, 0, Share::kMonths},
    {"quarter quarters", 3, 0, 0, Share::kDays},
    {"month months mon mons", 1, 0, 0, Share::kMicros},
    {"week weeks w weekofyear", 0, 7, 0, Share::kMicros},
    {"day days d dayofmonth", 0, 1, 0, Share::kMicros},
    {"hour hours hr hrs h", 0, 0, kMicrosOfHour, Share::kMicros},
    {"minute minutes min mins m", 0, 0, kMicrosOfMinute, Share::kMicros},
    {"second seconds sec secs s", 0, 0, kMicrosOfSecond, Share::kMicros},
    {"millisecond milliseconds ms msec msecs msecond mseconds", 0, 0, 1000, Share::kMicros},
    {"microsecond microseconds us usec usecs usecond useconds", 0, 0, 1, Share::kNone},
};
constexpr Text kSecond = "second";

bool isBlank(char letter) { return letter == ' ' || letter == '\t' || letter == '\n'; }
bool isDigit(char letter) { return letter >= '0' && letter <= '9'; }
bool isLetter(char letter) { return lowerAscii(letter) >= 'a' && lowerAscii(letter) <= 'z'; }

void skipBlanks(Text &text) {
  while (!text.empty() && isBlank(text.front())) {
    text.remove_prefix(1);
  }
}

/// The digits in front, which go from the text.
Text takeDigits(Text &text) {
  const size_t count = static_cast<size_t>(std::ranges::find_if_not(text, isDigit) - text.begin());
  const Text digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

/// Nothing beyond 64 bits.
std::optional<int64_t> numberOf(Text digits) {
  int64_t number = 0;
  for (char digit : digits) {
    if (__builtin_mul_overflow(number, 10, &number) ||
        __builtin_add_overflow(number, digit - '0', &number)) {
      return std::nullopt;
    }
  }
  return number;
}

/// Less than 1: digits behind a point, of which so many count.
struct Fraction {
  __int128 over = 0, under = 1;

  explicit Fraction(Text digits) {
    constexpr size_t kDigits = 15; // a share of a millennium in microseconds has 128 bits
    for (char digit : digits.substr(0, kDigits)) {
      over = over * 10 + (digit - '0');
      under *= 10;
    }
  }
  /// So much of `of`, which is not negative: cut off, or rounded half away from zero.
  __int128 cut(__int128 of) const { return over * of / under; }
  __int128 rounded(__int128 of) const { return (over * of + under / 2) / under; }
};

/// Sums of parts, which may not fit an interval yet.
struct Sums {
  __int128 months = 0, days = 0, micros = 0;

  void add(int64_t number, const Fraction &share, const Unit &unit, int sign) {
    months += static_cast<__int128>(sign) * number * unit.months;
    days += static_cast<__int128>(sign) * number * unit.days;
    micros += static_cast<__int128>(sign) * number * unit.micros;
    switch (unit.share) {
    case Share::kNone:
      break;
    case Share::kMonths:
      months += sign * share.rounded(unit.months);
      break;
    case Share::kDays: {
      const __int128 whole = share.cut(unit.months);
      months += sign * whole;
      days += sign * (share.rounded(unit.months * kDaysOfMonth) - whole * kDaysOfMonth);
      break;
    }
    case Share::kMicros: {
      const int64_t daysOf = unit.months * kDaysOfMonth + unit.days;
      const __int128 whole = share.cut(daysOf);
      days += sign * whole;
      micros += sign * (share.rounded(daysOf * kMicrosOfDay + unit.micros) - whole * kMicrosOfDay);
      break;
    }
    }
  }
};

const Unit *unitNamed(Text name) {
  std::string small(name);
  std::ranges::transform(small, small.begin(), lowerAscii);
  const Unit *found =
      std::ranges::find_if(kUnits, [&](const Unit &unit) { return listsName(unit.names, small); });
  return small.empty() || found == std::end(kUnits) ? nullptr : found;
}

/// One or two digits below 60 behind a colon, which go from the text; nothing for others.
std::optional<int64_t> takeSixtieth(Text &text) {
  if (text.empty() || !isDigit(text.front())) {
    return std::nullopt;
  }
  int64_t number = text.front() - '0';
  text.remove_prefix(1);
  if (!text.empty() && isDigit(text.front())) {
    number = number * 10 + (text.front() - '0');
    text.remove_prefix(1);
  }
  return number < 60 ? std::optional(number) : std::nullopt;
}

/// The microseconds of what stands behind the hours, which goes from the text: ":", ":MM", ":MM:",
/// ":MM:SS" and a fraction, whose digits beyond microseconds are cut off.
std::optional<int64_t> takeMinutes(Text &text) {
  text.remove_prefix(1);
  if (text.empty()) {
    return 0;
  }
  const std::optional<int64_t> minutes = takeSixtieth(text);
  if (!minutes || (!text.empty() && text.front() != ':')) {
    return std::nullopt;
  }
  text.remove_prefix(std::min<size_t>(text.size(), 1));
  const std::optional<int64_t> seconds = text.empty() ? 0 : takeSixtieth(text);
  if (!seconds) {
    return std::nullopt;
  }
  int64_t micros = *minutes * kMicrosOfMinute + *seconds * kMicrosOfSecond;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    micros += static_cast<int64_t>(Fraction(takeDigits(text)).cut(kMicrosOfSecond));
  }
  return micros;
}

/// Whether a text that begins with "a" is "ago" and blanks.
bool isAgo(Text text) {
  constexpr Text kAgo = "ago";
  const bool isWord =
      text.size() >= kAgo.size() && std::equal(kAgo.begin(), kAgo.end(), text.begin(),
                                               [](char a, char b) { return a == lowerAscii(b); });
  return isWord && std::ranges::all_of(text.substr(kAgo.size()), isBlank);
}

void appendUnit(int64_t count, Text name, std::string &out) {
  if (count != 0) {
    out += (out.empty() ? "" : " ") + std::to_string(count) + " ";
    out += name;
    out += std::abs(count) == 1 ? "" : "s";
  }
}

std::string twoDigits(uint64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

} // namespace

std::string intervalText(const IntervalParts &parts) {
  std::string text;
  appendUnit(parts.months / 12, "year", text);
  appendUnit(parts.months % 12, "month", text);
  appendUnit(parts.days, "day", text);
  if (parts.micros == 0 && !text.empty()) {
    return text;
  }
  const auto micros = static_cast<uint64_t>(parts.micros);
  const uint64_t size = parts.micros < 0 ? -micros : micros;
  text += text.empty() ? "" : " ";
  text += parts.micros < 0 ? "-" : "";
  text += twoDigits(size / kMicrosOfHour) + ":" + twoDigits(size / kMicrosOfMinute % 60) + ":" +
          twoDigits(size / kMicrosOfSecond % 60);
  if (const uint64_t fraction = size % kMicrosOfSecond; fraction != 0) {
    std::string digits = std::to_string(kMicrosOfSecond + fraction).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return text;
}

std::optional<IntervalParts> parseInterval(Text text) {
  Sums sums;
  bool isFirst = true;
  if (text.starts_with('@')) {
    text.remove_prefix(1);
  }
  for (skipBlanks(text); !text.empty(); skipBlanks(text), isFirst = false) {
    if (lowerAscii(text.front()) == 'a' && !isFirst) {
      return isAgo(text) ? intervalOf(-sums.months, -sums.days, -sums.micros) : std::nullopt;
    }
    const int sign = text.front() == '-' ? -1 : 1;
    text.remove_prefix(sign < 0 ? 1 : 0);
    const Text digits = takeDigits(text);
    const std::optional<int64_t> number = numberOf(digits);
    if (digits.empty() || !number) {
      return std::nullopt;
    }
    if (text.starts_with(':')) {
      const std::optional<int64_t> rest = takeMinutes(text);
      sums.micros += sign * (static_cast<__int128>(*number) * kMicrosOfHour + rest.value_or(0));
      if (!rest || !intervalOf(sums.months, sums.days, sums.micros)) {
        return std::nullopt;
      }
      continue;
    }
    text.remove_prefix(text.starts_with('.') ? 1 : 0);
    const bool hasFraction = !digits.empty() && digits.data() + digits.size() != text.data();
    const Fraction share(hasFraction ? takeDigits(text) : Text());
    skipBlanks(text);
    const bool isAlone = isFirst && text.empty();
    const auto *end = std::ranges::find_if_not(text, isLetter);
    const Text name = isAlone ? kSecond : Text(text.begin(), end);
    const Unit *unit = unitNamed(name);
    if (!unit) {
      return std::nullopt;
    }
    text.remove_prefix(isAlone ? 0 : name.size());
    sums.add(*number, share, *unit, sign);
    if (!intervalOf(sums.months, sums.days, sums.micros)) {
      return std::nullopt;
    }
  }
  return isFirst ? std::nullopt : intervalOf(sums.months, sums.days, sums.micros);
}

} // namespace headrace
