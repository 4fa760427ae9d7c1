// The rules of time zones.
#include "runtime/base/zone_rules.h"

#include "runtime/base/ascii.h"
#include "runtime/base/civil.h"
#include "runtime/base/moment_text.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace headrace {
namespace {

constexpr int64_t kSecond = 1'000'000, kSecondsOfDay = 86'400, kDay = kSecondsOfDay * kSecond;

int64_t floorOver(int64_t value, int64_t by) { return value / by - (value % by < 0); }

template <typename T> void put(std::string &out, T value) {
  out.append(reinterpret_cast<const char *>(&value), sizeof value);
}

template <typename T> T readAt(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

/// The days since 1970 of a rule of M3.5.0 in a year.
int64_t dayOf(const YearlyChange &change, int64_t year) {
  constexpr int64_t kEpochDay = 4; // a Thursday
  const int64_t first = daysFromCivil(year, change.month, 1);
  const int64_t dayOfWeek = ((first + kEpochDay) % 7 + 7) % 7;
  int64_t day = (change.dayOfWeek - dayOfWeek + 7) % 7 + 7 * (int64_t{change.week} - 1);
  while (day >= daysOfMonth(year, change.month)) {
    day -= 7;
  }
  return first + day;
}

// ---- texts of rules ----

bool take(std::string_view &text, char wanted) {
  const bool found = !text.empty() && text.front() == wanted;
  text.remove_prefix(found);
  return found;
}

std::optional<int32_t> takeNumber(std::string_view &text) {
  int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || text.front() == '-') {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

/// "2", "-2", "+05:30", "2:00:30", as seconds.
std::optional<int32_t> takeClock(std::string_view &text) {
  const int32_t sign = text.starts_with('-') ? -1 : 1;
  if (!take(text, '-')) {
    take(text, '+');
  }
  int32_t seconds = 0, unit = 3600;
  for (int part = 0; part < 3; ++part, unit /= 60) {
    if (part > 0 && !take(text, ':')) {
      break;
    }
    const std::optional<int32_t> number = text.empty() ? std::nullopt : takeNumber(text);
    if (!number) {
      return std::nullopt;
    }
    seconds += *number * unit;
  }
  return sign * seconds;
}

/// A name of letters, or of anything in < >.
bool takeName(std::string_view &text) {
  const bool quoted = take(text, '<');
  const size_t end =
      quoted ? text.find('>')
             : text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
  const bool found = end != std::string_view::npos && end > 0;
  text.remove_prefix(found ? end + quoted : 0);
  return found;
}

/// ",M3.5.0/2"; the time of the day is 2 o'clock without one.
std::optional<YearlyChange> takeChange(std::string_view &text) {
  constexpr int32_t kTwo = 7200;
  if (!take(text, ',') || !take(text, 'M')) {
    return std::nullopt;
  }
  int32_t parts[3];
  for (int part = 0; part < 3; ++part) {
    const std::optional<int32_t> number =
        (part > 0 && !take(text, '.')) || text.empty() ? std::nullopt : takeNumber(text);
    if (!number) {
      return std::nullopt;
    }
    parts[part] = *number;
  }
  const std::optional<int32_t> second = take(text, '/') ? takeClock(text) : kTwo;
  const bool fits = second && parts[0] >= 1 && parts[0] <= 12 && parts[1] >= 1 && parts[1] <= 5 &&
                    parts[2] >= 0 && parts[2] <= 6;
  return fits ? std::optional(YearlyChange{parts[0], parts[1], parts[2], *second}) : std::nullopt;
}

// ---- files ----

int32_t bigEndian32(std::string_view bytes, size_t at) {
  return static_cast<int32_t>(__builtin_bswap32(readAt<uint32_t>(bytes, at)));
}
int64_t bigEndian64(std::string_view bytes, size_t at) {
  return static_cast<int64_t>(__builtin_bswap64(readAt<uint64_t>(bytes, at)));
}

constexpr size_t kHeaderBytes = 44, kTypeBytes = 6;

/// What the header of a block counts.
struct Block {
  size_t universal, standard, leaps, times, types, letters;

  Block(std::string_view bytes, size_t at) {
    size_t place = at + 20;
    for (size_t *count : {&universal, &standard, &leaps, &times, &types, &letters}) {
      *count = static_cast<uint32_t>(bigEndian32(bytes, place));
      place += 4;
    }
  }
  size_t size(size_t timeBytes) const {
    return times * (timeBytes + 1) + types * kTypeBytes + letters + leaps * (timeBytes + 4) +
           standard + universal;
  }
};

} // namespace

std::string ZoneTable::packed() const {
  std::string out;
  put(out, static_cast<uint32_t>(seconds.size()));
  put(out, firstOffset);
  for (const int64_t second : seconds) {
    put(out, second);
  }
  for (const int32_t offset : offsets) {
    put(out, offset);
  }
  if (summer) {
    put(out, summer->standardOffset);
    put(out, summer->offset);
    for (const YearlyChange &change : {summer->start, summer->end}) {
      for (const int32_t part : {change.month, change.week, change.dayOfWeek, change.second}) {
        put(out, part);
      }
    }
  }
  return out;
}

bool parseSummer(std::string_view rule, std::optional<ZoneTable::Summer> &summer) {
  constexpr int32_t kHour = 3600;
  summer.reset();
  const std::optional<int32_t> standard = takeName(rule) ? takeClock(rule) : std::nullopt;
  if (!standard || rule.empty()) {
    return standard.has_value();
  }
  if (!takeName(rule)) {
    return false;
  }
  const std::optional<int32_t> other = rule.starts_with(',') ? *standard - kHour : takeClock(rule);
  const std::optional<YearlyChange> start = other ? takeChange(rule) : std::nullopt;
  const std::optional<YearlyChange> end = start ? takeChange(rule) : std::nullopt;
  if (!end || !rule.empty()) {
    return false;
  }
  summer = ZoneTable::Summer{-*standard, -*other, *start, *end};
  return true;
}

std::optional<std::string> zoneOfFile(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with("TZif") || bytes[4] < '2') {
    return std::nullopt;
  }
  const size_t start = kHeaderBytes + Block(bytes, 0).size(4); // behind the block of 32 bits
  if (bytes.size() < start + kHeaderBytes) {
    return std::nullopt;
  }
  const Block block(bytes, start);
  const size_t times = start + kHeaderBytes, indices = times + block.times * 8,
               types = indices + block.times, end = start + kHeaderBytes + block.size(8);
  if (block.types == 0 || bytes.size() < end + 2) {
    return std::nullopt;
  }
  auto offsetOf = [&](size_t type) { return bigEndian32(bytes, types + type * kTypeBytes); };
  ZoneTable table;
  table.firstOffset = offsetOf(0);
  for (size_t index = 0; index < block.times; ++index) {
    const size_t type = static_cast<uint8_t>(bytes[indices + index]);
    if (type >= block.types) {
      return std::nullopt;
    }
    const int32_t before = table.offsets.empty() ? table.firstOffset : table.offsets.back();
    if (offsetOf(type) != before || index + 1 == block.times) { // from the last on there are rules
      table.seconds.push_back(bigEndian64(bytes, times + index * 8));
      table.offsets.push_back(offsetOf(type));
    }
  }
  const std::string_view rule = bytes.substr(end + 1, bytes.find('\n', end + 1) - end - 1);
  return rule.empty() || parseSummer(rule, table.summer) ? std::optional(table.packed())
                                                         : std::nullopt;
}

std::optional<int32_t> fixedOffset(std::string_view name) {
  constexpr int32_t kHoursMax = 23;
  const std::string_view start = name.substr(0, 3);
  if (!equalsLower(start, "utc") && !equalsLower(start, "gmt")) {
    return std::nullopt;
  }
  name.remove_prefix(start.size());
  if (name.empty()) {
    return 0;
  }
  const int32_t sign = name.front() == '-' ? -1 : 1;
  if (!take(name, '-') && !take(name, '+')) {
    return std::nullopt;
  }
  const std::optional<int32_t> hours = name.empty() ? std::nullopt : takeNumber(name);
  int32_t minutes = 0;
  if (take(name, ':')) {
    const std::optional<int32_t> number = name.size() == 2 ? takeNumber(name) : std::nullopt;
    minutes = number.value_or(60);
  }
  const bool fits = hours && *hours <= kHoursMax && minutes < 60 && name.empty();
  return fits ? std::optional(sign * (*hours * 60 + minutes) * 60) : std::nullopt;
}

std::string packedZones(const std::vector<std::pair<std::string, std::string>> &zones) {
  std::string head, body;
  put(head, static_cast<uint32_t>(zones.size()));
  for (const auto &[name, rules] : zones) {
    body += name;
    put(head, static_cast<uint32_t>(body.size()));
    body += rules;
    put(head, static_cast<uint32_t>(body.size()));
  }
  return head + body;
}

std::optional<std::string_view> zoneNamed(std::string_view name, std::string_view zones,
                                          std::string &made) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), lowerAscii);
  const auto count = readAt<uint32_t>(zones, 0);
  const std::string_view body = zones.substr(4 + size_t{count} * 8);
  auto ends = [&](int64_t entry) { // of the name and the rules
    return entry < 0 ? std::pair(0u, 0u)
                     : std::pair(readAt<uint32_t>(zones, 4 + static_cast<size_t>(entry) * 8),
                                 readAt<uint32_t>(zones, 8 + static_cast<size_t>(entry) * 8));
  };
  int64_t first = 0, last = count;
  while (first < last) {
    const int64_t middle = (first + last) / 2;
    const auto start = ends(middle - 1).second;
    const auto [nameEnd, rulesEnd] = ends(middle);
    const std::string_view found = body.substr(start, nameEnd - start);
    if (found == lower) {
      return body.substr(nameEnd, rulesEnd - nameEnd);
    }
    (found < lower ? first : last) = found < lower ? middle + 1 : middle;
  }
  if (const std::optional<int32_t> offset = fixedOffset(name)) {
    made = ZoneTable{.firstOffset = *offset}.packed();
    return made;
  }
  return std::nullopt;
}

ZoneRules::ZoneRules(std::string_view bytes) : bytes_(bytes), count_(readAt<uint32_t>(bytes, 0)) {}

int32_t ZoneRules::summerOffset(int64_t second, bool ofClock) const {
  constexpr size_t kChangeBytes = 16;
  const size_t at = 8 + size_t{count_} * 12;
  const auto standard = readAt<int32_t>(bytes_, at), summer = readAt<int32_t>(bytes_, at + 4);
  auto changeAt = [&](size_t place) {
    return YearlyChange{readAt<int32_t>(bytes_, place), readAt<int32_t>(bytes_, place + 4),
                        readAt<int32_t>(bytes_, place + 8), readAt<int32_t>(bytes_, place + 12)};
  };
  const int64_t local = ofClock ? second : second + standard;
  const int64_t year = civilFromDays(floorOver(local, kSecondsOfDay)).year;
  // By the clock before it, as a moment, or as the clock after it shows it.
  auto turn = [&](const YearlyChange &change, int32_t before, int32_t after) {
    return dayOf(change, year) * kSecondsOfDay + change.second - before + (ofClock ? after : 0);
  };
  const int64_t start = turn(changeAt(at + 8), standard, summer),
                end = turn(changeAt(at + 8 + kChangeBytes), summer, standard);
  const bool isSummer =
      start < end ? second >= start && second < end : second >= start || second < end;
  return isSummer ? summer : standard;
}

int32_t ZoneRules::offsetIn(int64_t second, bool ofClock) const {
  auto offset = [&](uint32_t index) {
    return readAt<int32_t>(bytes_, 8 + size_t{count_} * 8 + size_t{index} * 4);
  };
  auto isBehind = [&](uint32_t index) { // the change
    return second >= readAt<int64_t>(bytes_, 8 + size_t{index} * 8) + (ofClock ? offset(index) : 0);
  };
  uint32_t first = 0, last = count_;
  while (first < last) {
    const uint32_t middle = (first + last) / 2;
    (isBehind(middle) ? first : last) = isBehind(middle) ? middle + 1 : middle;
  }
  const bool hasSummer = bytes_.size() > 8 + size_t{count_} * 12;
  if (first == count_ && hasSummer) {
    return summerOffset(second, ofClock);
  }
  return first == 0 ? readAt<int32_t>(bytes_, 4) : offset(first - 1);
}

int32_t ZoneRules::offsetAt(int64_t micros) const {
  return isInfiniteTimestamp(micros) ? 0 : offsetIn(floorOver(micros, kSecond), /*ofClock=*/false);
}

int32_t ZoneRules::offsetOfClock(int64_t micros) const {
  return isInfiniteTimestamp(micros) ? 0 : offsetIn(floorOver(micros, kSecond), /*ofClock=*/true);
}

std::optional<int64_t> ZoneRules::daysLater(int64_t micros, int64_t days) const {
  if (isInfiniteTimestamp(micros) || days == 0) {
    return micros;
  }
  int64_t distance = 0, later = 0;
  if (__builtin_mul_overflow(days, kDay, &distance) ||
      __builtin_add_overflow(micros, distance, &later) || isInfiniteTimestamp(later)) {
    return std::nullopt;
  }
  // As ICU has it, which corrects the time of the day if clocks have been changed between.
  const int64_t before = offsetAt(micros), after = offsetAt(later);
  auto timeOfDay = [](int64_t moment, int64_t offset) {
    const int64_t second = floorOver(moment, kSecond) + offset;
    return second - floorOver(second, kSecondsOfDay) * kSecondsOfDay;
  };
  const int64_t time = timeOfDay(micros, before);
  const int64_t shift = (before - after) % kSecondsOfDay;
  if (timeOfDay(later, after) == time || shift == 0) {
    return later;
  }
  const int64_t corrected = later + shift * kSecond;
  const bool isShown = timeOfDay(corrected, offsetAt(corrected)) == time;
  return !isShown && shift < 0 ? later : corrected;
}

int64_t ZoneRules::daysBetween(int64_t from, int64_t to) const {
  constexpr int64_t kTooFar = INT64_MAX;
  const bool isBack = to < from;
  int64_t days = to / kDay - from / kDay; // but for a day
  auto isBeyond = [&](int64_t count) {
    const int64_t moment = daysLater(from, count).value_or(isBack ? -kTooFar : kTooFar);
    return isBack ? moment < to : moment > to;
  };
  const int64_t one = isBack ? -1 : 1;
  for (days += 2 * one; days * one > 0 && isBeyond(days); days -= one) {
  }
  return days * one > 0 ? days : 0;
}

std::string printOffset(int32_t seconds) {
  std::string out(1, seconds < 0 ? '-' : '+');
  const int32_t size = seconds < 0 ? -seconds : seconds;
  auto two = [&](int32_t value) {
    out += static_cast<char>('0' + value / 10);
    out += static_cast<char>('0' + value % 10);
  };
  two(size / 3600);
  if (size % 3600 != 0) {
    out += ':';
    two(size / 60 % 60);
  }
  if (size % 60 != 0) {
    out += ':';
    two(size % 60);
  }
  return out;
}

std::string printZoned(int64_t micros, std::string_view rules) {
  char memory[kMomentTextBytes];
  const int32_t offset = ZoneRules(rules).offsetAt(micros);
  const int64_t shown = micros + offset * kSecond;
  const char *end = printTimestamp(shown, TimeUnit::kMicrosecond, /*zoned=*/false, memory);
  std::string text(memory, static_cast<size_t>(end - memory));
  const int32_t sign = offset < 0 ? -1 : 1; // seconds are not shown
  return isInfiniteTimestamp(micros) ? text : text + printOffset(sign * (sign * offset / 60 * 60));
}

std::optional<int64_t> parseZoned(std::string_view text, std::string_view rules) {
  bool isLocal = false;
  const std::optional<int64_t> micros =
      parseTimestamp(text, TimeUnit::kMicrosecond, /*zoned=*/true, &isLocal);
  if (!micros || !isLocal) {
    return micros;
  }
  int64_t moment = 0;
  const bool overflows =
      __builtin_sub_overflow(*micros, ZoneRules(rules).offsetOfClock(*micros) * kSecond, &moment);
  return overflows ? std::nullopt : std::optional(moment);
}

} // namespace headrace
