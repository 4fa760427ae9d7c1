// The rules of time zones as bytes that plans carry: how far clocks are ahead of UTC, at a moment
// and where clocks show something; what follows for days and texts.
//
//   u32 n, i32 offset at first, n times i64 second, n times i32 offset from then on, and after them
//   i32 standard offset, i32 summer offset, two rules of 4 i32: month, week (5: the last), day of
//   the week (0: Sunday), second of that day by the clock before. Without a summer: nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace {

/// When clocks are changed each year.
struct YearlyChange {
  int32_t month, week, dayOfWeek, second;
};

/// Rules before they are packed.
struct ZoneTable {
  struct Summer {
    int32_t standardOffset, offset;
    YearlyChange start, end;
  };
  int32_t firstOffset = 0;
  std::vector<int64_t> seconds; ///< ascending, since 1970-01-01 (UTC)
  std::vector<int32_t> offsets; ///< from then on
  std::optional<Summer> summer; ///< after the last of them

  std::string packed() const;
};

/// "CET-1CEST,M3.5.0,M10.5.0/3", as files of zones end; nothing of a zone without a summer, false
/// of what is none, or has other rules than these.
bool parseSummer(std::string_view rule, std::optional<ZoneTable::Summer> &summer);

/// A file of a zone (TZif, RFC 9636) as rules; nothing if it is none.
std::optional<std::string> zoneOfFile(std::string_view bytes);

/// Seconds that clocks of "UTC+2", "GMT-05:30" and the like are ahead of UTC.
std::optional<int32_t> fixedOffset(std::string_view name);

/// Where a name stands in a list of zones, and the list: `u32` count, and for each in the order of
/// names (in small letters) u32 ends of its name and of its rules, before all names and rules.
std::string packedZones(const std::vector<std::pair<std::string, std::string>> &zones);
/// The rules of a name in any case; nothing if there is none. Those of fixed offsets go to `made`.
std::optional<std::string_view> zoneNamed(std::string_view name, std::string_view zones,
                                          std::string &made);

/// Rules in bytes that outlive it.
class ZoneRules {
public:
  explicit ZoneRules(std::string_view bytes);

  /// Seconds that clocks are ahead at a moment, in microseconds; of infinite ones 0.
  int32_t offsetAt(int64_t micros) const;
  /// Where clocks show this: the later of two moments, and as if they had not been changed yet
  /// where they never show it.
  int32_t offsetOfClock(int64_t micros) const;
  /// The moment so many days later, when clocks show the same; where they show it twice and it was
  /// as far ahead, the earlier one. Nothing if it is too far.
  std::optional<int64_t> daysLater(int64_t micros, int64_t days) const;
  /// The most such days that do not lead beyond a moment, or the fewest backwards.
  int64_t daysBetween(int64_t from, int64_t to) const;

private:
  int32_t offsetIn(int64_t second, bool ofClock) const;
  int32_t summerOffset(int64_t second, bool ofClock) const;

  std::string_view bytes_;
  uint32_t count_;
};

/// The moment as clocks show it, with the hours and minutes that they are ahead.
std::string printZoned(int64_t micros, std::string_view rules);
/// How far they are ahead: "+02", "-00:44:30".
std::string printOffset(int32_t seconds);
/// A text without an offset is by these clocks.
std::optional<int64_t> parseZoned(std::string_view text, std::string_view rules);

} // namespace headrace
