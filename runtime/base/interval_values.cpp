// Intervals as bytes, and arithmetic of them.
#include "runtime/base/interval_values.h"
#include "runtime/base/civil.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headrace {
namespace {

constexpr int64_t kMonthsOfYear = 12, kDaysOfMonth = 30, kSecondsOfDay = 86'400;
constexpr int64_t kMicrosOfSecond = 1'000'000, kMicrosOfDay = kSecondsOfDay * kMicrosOfSecond;
constexpr uint32_t kMonthBytes = 4, kMicrosBytes = 8;
constexpr uint32_t kKeyBytes = 10; ///< of all totals, which are less than 2^73

/// So many lowest bytes of a number, the highest first and the sign turned.
void append(__int128 value, uint32_t bytes, std::string &out) {
  const auto turned = static_cast<unsigned __int128>(value) ^ static_cast<unsigned __int128>(1)
                                                                  << (8 * bytes - 1);
  for (uint32_t byte = bytes; byte-- > 0;) {
    out += static_cast<char>(static_cast<uint8_t>(turned >> (8 * byte)));
  }
}

/// The number of such bytes, which go from the text.
template <typename Number> Number take(std::string_view &bytes) {
  uint64_t turned = 0;
  for (size_t byte = 0; byte < sizeof(Number); ++byte) {
    turned = turned << 8 | static_cast<uint8_t>(bytes[byte]);
  }
  bytes.remove_prefix(sizeof(Number));
  return static_cast<Number>(turned ^ uint64_t{1} << (8 * sizeof(Number) - 1));
}

template <typename Number> bool fits(__int128 value) {
  return value >= std::numeric_limits<Number>::min() && value <= std::numeric_limits<Number>::max();
}

/// Numbers that have no more digits than microseconds do, so that 4.999999999999 is 5.
double rounded(double value) {
  return std::rint(value * static_cast<double>(kMicrosOfSecond)) /
         static_cast<double>(kMicrosOfSecond);
}

/// A whole number that a double is; nothing beyond 64 bits.
std::optional<__int128> wholeOf(double value) {
  constexpr double kBeyond = 0x1p63;
  return std::abs(value) < kBeyond ? std::optional<__int128>(static_cast<__int128>(value))
                                   : std::nullopt;
}

/// A product as its whole part and the rest, without the rounding that a double of both has.
struct Product {
  double whole, rest;

  Product(int32_t number, double by)
      : whole(std::trunc(number * by)), rest(std::fma(number, by, -whole)) {}
};

} // namespace

__int128 IntervalParts::total() const {
  return (static_cast<__int128>(months) * kDaysOfMonth + days) * kMicrosOfDay + micros;
}

std::string packedInterval(const IntervalParts &parts) {
  std::string bytes;
  append(parts.months, kMonthBytes, bytes);
  append(parts.days, kMonthBytes, bytes);
  append(parts.micros, kMicrosBytes, bytes);
  return bytes;
}

IntervalParts intervalParts(std::string_view bytes) {
  IntervalParts parts;
  if (bytes.size() == kIntervalBytes) { // what lies under NULL has none
    parts.months = take<int32_t>(bytes);
    parts.days = take<int32_t>(bytes);
    parts.micros = take<int64_t>(bytes);
  }
  return parts;
}

std::string intervalKey(const IntervalParts &parts) {
  std::string bytes;
  append(parts.total(), kKeyBytes, bytes);
  return bytes;
}

std::optional<IntervalParts> intervalOf(__int128 months, __int128 days, __int128 micros) {
  if (!fits<int32_t>(months) || !fits<int32_t>(days) || !fits<int64_t>(micros)) {
    return std::nullopt;
  }
  return IntervalParts{static_cast<int32_t>(months), static_cast<int32_t>(days),
                       static_cast<int64_t>(micros)};
}

/// Towards the past.
static __int128 floorOver(__int128 value, int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

std::optional<IntervalParts> normalized(const IntervalParts &parts) {
  const __int128 days = floorOver(parts.total(), kMicrosOfDay);
  const __int128 months = floorOver(days, kDaysOfMonth);
  return intervalOf(months, days - months * kDaysOfMonth, parts.total() - days * kMicrosOfDay);
}

std::optional<IntervalParts> multiplied(const IntervalParts &parts, double by) {
  constexpr double kDays = kDaysOfMonth, kSeconds = kSecondsOfDay, kMicros = kMicrosOfSecond;
  const Product months(parts.months, by), days(parts.days, by);
  const double ofMonths = rounded(months.rest * kDays);
  double seconds = rounded((days.rest + ofMonths - std::trunc(ofMonths)) * kSeconds);
  double wholeDays = days.whole + std::trunc(ofMonths);
  if (std::abs(seconds) >= kSeconds) { // rounding may make a day of it
    const double more = std::trunc(seconds / kSeconds);
    wholeDays += more;
    seconds -= more * kSeconds;
  }
  const std::optional<__int128> monthsMade = wholeOf(months.whole), daysMade = wholeOf(wholeDays),
                                microsMade = wholeOf(std::rint(
                                    static_cast<double>(parts.micros) * by + seconds * kMicros));
  return monthsMade && daysMade && microsMade ? intervalOf(*monthsMade, *daysMade, *microsMade)
                                              : std::nullopt;
}

std::optional<IntervalParts> divided(const IntervalParts &parts, double by) {
  return multiplied(parts, 1 / by);
}

std::optional<IntervalParts> averageInterval(__int128 months, __int128 days, __int128 micros,
                                             int64_t count) {
  if (count <= 0) {
    return std::nullopt;
  }
  const __int128 ofMonths = months % count * kDaysOfMonth;
  const __int128 wholeDays = days / count + ofMonths / count;
  const __int128 rest = (days % count + ofMonths % count) * kMicrosOfDay + micros;
  const __int128 half = rest < 0 ? -(count / 2) : count / 2;
  return intervalOf(months / count, wholeDays, (rest + half) / count);
}

std::optional<IntervalParts> intervalBetween(const IntervalParts &from, const IntervalParts &to,
                                             double share) {
  const __int128 first = from.total(), way = to.total() - first;
  if (!fits<int64_t>(first) || !fits<int64_t>(to.total()) || !fits<int64_t>(way)) {
    return std::nullopt;
  }
  const __int128 micros = first + std::llround(static_cast<double>(way) * share);
  return intervalOf(0, micros / kMicrosOfDay, micros % kMicrosOfDay);
}

__int128 laterBy(const IntervalParts &parts, int64_t timestamp) {
  auto days = static_cast<int64_t>(floorOver(timestamp, kMicrosOfDay));
  const __int128 time = timestamp - static_cast<__int128>(days) * kMicrosOfDay;
  if (parts.months != 0) {
    const CivilDate date = civilFromDays(days);
    const int64_t months = date.year * kMonthsOfYear + date.month - 1 + parts.months;
    const auto year = static_cast<int64_t>(floorOver(months, kMonthsOfYear));
    const int64_t month = months - year * kMonthsOfYear + 1;
    days = daysFromCivil(year, month, std::min(date.day, daysOfMonth(year, month)));
  }
  return (static_cast<__int128>(days) + parts.days) * kMicrosOfDay + time + parts.micros;
}

std::optional<int64_t> bucketStart(const IntervalParts &width, int64_t timestamp, int64_t origin) {
  auto startOf = [](__int128 value, __int128 from, __int128 step) {
    const __int128 rest = (value - from) % step;
    return value - rest - (rest < 0 ? step : 0);
  };
  auto monthOf = [](int64_t moment) {
    const CivilDate date = civilFromDays(static_cast<int64_t>(floorOver(moment, kMicrosOfDay)));
    return date.year * kMonthsOfYear + date.month - 1;
  };
  __int128 start = 0;
  if (width.months != 0) {
    if (width.months < 0 || width.days != 0 || width.micros != 0) {
      return std::nullopt;
    }
    const auto month =
        static_cast<int64_t>(startOf(monthOf(timestamp), monthOf(origin), width.months));
    const auto year = static_cast<int64_t>(floorOver(month, kMonthsOfYear));
    start = static_cast<__int128>(daysFromCivil(year, month - year * kMonthsOfYear + 1, 1)) *
            kMicrosOfDay;
  } else if (width.total() > 0) {
    start = startOf(timestamp, origin, width.total());
  } else {
    return std::nullopt;
  }
  return fits<int64_t>(start) ? std::optional(static_cast<int64_t>(start)) : std::nullopt;
}

std::optional<PackedInterval> keepInterval(TextRoom &room,
                                           const std::optional<IntervalParts> &parts) {
  if (!parts) {
    return std::nullopt;
  }
  const std::string bytes = packedInterval(*parts);
  return PackedInterval{
      room.make(bytes.size(), [&](char *to) { return std::copy(bytes.begin(), bytes.end(), to); })};
}

} // namespace headrace
