// Intervals as they are kept, packed bytes in the place of a text; what they are compared by, their
// texts, and arithmetic of them.
#pragma once

#include "runtime/base/text_room.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

/// A length of time, none of whose parts follows from another.
struct IntervalParts {
  int32_t months = 0, days = 0;
  int64_t micros = 0;

  bool operator==(const IntervalParts &) const = default;
  /// Microseconds, a month being 30 days: what intervals are compared by.
  __int128 total() const;
};

/// An interval that lies in memory:
///
///   | months: i32 | days: i32 | micros: i64 |
///
/// each with its highest byte first and its sign turned, so that bytes are in order as the parts.
inline constexpr uint32_t kIntervalBytes = 16;
std::string packedInterval(const IntervalParts &parts);
/// Of such bytes; of others no time at all.
IntervalParts intervalParts(std::string_view bytes);
/// Bytes that are equal, and in order, as intervals are.
std::string intervalKey(const IntervalParts &parts);

/// Nothing if a part does not fit.
std::optional<IntervalParts> intervalOf(__int128 months, __int128 days, __int128 micros);

/// "1 year -2 months 3 days -04:05:06.5"; "00:00:00" if it is none.
std::string intervalText(const IntervalParts &parts);
/// What a text says: numbers with units and times of hours, minutes and seconds, as "1 year 2.5
/// days 03:04:05", then perhaps "ago", which turns all of it; or seconds alone. Nothing if it says
/// none, or one that is too long.
std::optional<IntervalParts> parseInterval(std::string_view text);

/// An equal interval of months, 0 to 29 days, and less than a day that is not negative; nothing if
/// the months do not fit.
std::optional<IntervalParts> normalized(const IntervalParts &parts);

/// So many times as long, rounded to microseconds; a share of a month becomes days of 30, one of a
/// day a time. Nothing if that is too long, or no number.
std::optional<IntervalParts> multiplied(const IntervalParts &parts, double by);
std::optional<IntervalParts> divided(const IntervalParts &parts, double by);
/// The mean of `count` intervals, of which these are the sums, likewise; nothing of none.
std::optional<IntervalParts> averageInterval(__int128 months, __int128 days, __int128 micros,
                                             int64_t count);

/// From one interval a share of the way to another, rounded, as days and a time; nothing if 64 bits
/// do not hold the microseconds of either or of the way.
std::optional<IntervalParts> intervalBetween(const IntervalParts &from, const IntervalParts &to,
                                             double share);

/// A timestamp so much later, in microseconds: first by months, on the last day of its month where
/// that is shorter.
__int128 laterBy(const IntervalParts &parts, int64_t timestamp);

/// The beginning of the stretch of this width that a timestamp is in; one stretch begins at
/// `origin`, of months at the first day of its month. Nothing for a width that is not positive or
/// of months and more.
std::optional<int64_t> bucketStart(const IntervalParts &width, int64_t timestamp, int64_t origin);

/// What the table of functions writes of intervals (text_functions.def): their bytes.
struct PackedInterval : std::string_view {
  IntervalParts parts() const { return intervalParts(*this); }
};

std::optional<PackedInterval> keepInterval(TextRoom &room,
                                           const std::optional<IntervalParts> &parts);

} // namespace headrace
