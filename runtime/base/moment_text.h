// Dates, times of day and timestamps as text, and back; as DuckDB writes and reads them.
#pragma once

#include "runtime/base/logical_type.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace headrace {

/// What stands for a date and a timestamp of any unit that is later than all; their opposites are
/// earlier.
inline constexpr int64_t kInfiniteDate = INT32_MAX;
inline constexpr int64_t kInfiniteTimestamp = INT64_MAX;
constexpr bool isInfiniteTimestamp(int64_t timestamp) {
  return timestamp == kInfiniteTimestamp || timestamp == -kInfiniteTimestamp;
}

/// The least and the greatest timestamp that DuckDB calls finite.
std::pair<int64_t, int64_t> finiteTimestamps(TimeUnit unit);

/// Bytes of memory that the longest text needs.
inline constexpr int kMomentTextBytes = 48;

/// Write into `memory`, which has kMomentTextBytes, and give the end of the text.
char *printDate(int64_t days, char *memory);
char *printTime(int64_t time, TimeUnit unit, char *memory);
char *printTimestamp(int64_t timestamp, TimeUnit unit, bool zoned, char *memory);

/// Of texts without blanks around them; nothing if it is no such value. Digits of a second beyond
/// the unit are cut off, but rounded where the unit is no more than a millisecond.
std::optional<int64_t> parseDate(std::string_view text);
/// Behind it blanks may stand, where DuckDB lets them.
std::optional<int64_t> parseTime(std::string_view text, TimeUnit unit);
/// Of a zoned timestamp the offset counts, for others it says nothing. `isLocal`: whether a text
/// has none, so that it is what clocks show.
std::optional<int64_t> parseTimestamp(std::string_view text, TimeUnit unit, bool zoned,
                                      bool *isLocal = nullptr);

} // namespace headrace
