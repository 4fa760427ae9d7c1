// Histograms over given bins: the bins of equal widths between two values, and how many elements
// of a list are in each.
#include "runtime/base/civil.h"
#include "runtime/base/interval_values.h"
#include "runtime/base/list_functions.h"
#include "runtime/base/moment_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headrace {
namespace {

using Wide = __int128;

constexpr int64_t kBinsMax = 1'000'000;

//===----------------------------------------------------------------------===//
// Round numbers: multiples of 2 or 5 times a power of ten, as DuckDB chooses them
//===----------------------------------------------------------------------===//

/// The power of ten below a number; 0 below 2.
Wide powerBelow(Wide number) {
  Wide power = 1;
  while (power < number) {
    power *= 10;
  }
  return power / 10;
}

double powerBelow(double number) {
  double power = 1;
  if (number < 1) {
    while (power > number) {
      power /= 10;
    }
    return power;
  }
  while (power < number) {
    power *= 10;
  }
  return power / 10;
}

Wide nearestMultiple(Wide number, Wide of) { return of == 0 ? 0 : (number + of / 2) / of * of; }

Wide nextMultiple(Wide number, Wide of) { return of == 0 ? 0 : (number + (of - 1)) / of * of; }

double orElse(double number, double otherwise) {
  return std::isfinite(number) ? number : otherwise;
}

double nearestMultiple(double number, double of) {
  return orElse(std::round(number / of) * of, number);
}

double nextMultiple(double number, double of) {
  return orElse(std::ceil(number / of) * of, number);
}

template <typename Number> Number roundStep(Number step) {
  const Number power = powerBelow(step);
  const Number two = power * (power * 3 <= step ? 10 : 2),
               five = power * (power * 2 <= step ? 5 : 1);
  const Number byTwo = nearestMultiple(step, two), byFive = nearestMultiple(step, five);
  auto away = [&](Number number) { return number < step ? step - number : number - step; };
  return away(byTwo) < away(byFive) ? byTwo : byFive;
}

//===----------------------------------------------------------------------===//
// Bins by their upper ends, the greatest first
//===----------------------------------------------------------------------===//

/// In thousandths, so that steps that are no integers add up.
std::vector<int64_t> binsOf(int64_t least, int64_t most, int64_t count, bool nice) {
  constexpr Wide kParts = 1000;
  const Wide low = Wide{least} * kParts;
  Wide high = Wide{most} * kParts, step = (high - low) / count;
  auto limit = static_cast<size_t>(count);
  if (nice) {
    const Wide roundWidth = roundStep(step), end = nextMultiple(high, roundWidth);
    if (end != low && roundWidth != 0) {
      high = end;
      step = roundWidth;
    }
    limit *= 2;
  }
  step = std::max<Wide>(step, 1);
  std::vector<int64_t> bins;
  for (Wide end = high; end > low; end -= step) {
    const Wide whole = end / kParts; // only the first may be above all integers: 0 is in its place
    const int64_t bin = whole > INT64_MAX ? 0 : static_cast<int64_t>(whole);
    if (!bins.empty() && (bin < least || bins.size() >= limit)) {
      break;
    }
    if (bins.empty() || bin != bins.back()) {
      bins.push_back(bin);
    }
  }
  return bins;
}

/// Nothing if the ends are too close together for a step.
std::optional<std::vector<double>> binsOf(double least, double most, int64_t count, bool nice) {
  const auto parts = static_cast<double>(count);
  const double span = most - least;
  double step = std::isfinite(span) ? span / parts : most / parts - least / parts;
  const double unit = 10 / powerBelow(step);
  auto limit = static_cast<size_t>(count);
  double high = most;
  if (nice) {
    step = roundStep(step);
    high = nextMultiple(most, step);
    limit *= 2;
  }
  std::vector<double> bins;
  for (double end = high; end > least; end -= step) {
    const double bin = nice ? std::round(end * unit) / unit : end; // steps add up errors
    if (end - step == end) {
      return std::nullopt;
    }
    if (!bins.empty() && bin == bins.back()) {
      continue;
    }
    if (bin <= least || bins.size() >= limit) {
      break;
    }
    bins.push_back(bin);
  }
  return bins;
}

constexpr int64_t kSecond = 1'000'000, kMinute = 60 * kSecond, kHour = 60 * kMinute,
                  kDay = 24 * kHour;

int64_t floorTo(int64_t moment, int64_t unit) {
  const int64_t rest = moment % unit;
  return moment - (rest < 0 ? rest + unit : rest);
}

struct CivilMoment {
  explicit CivilMoment(int64_t moment)
      : date(civilFromDays(floorTo(moment, kDay) / kDay)), time(moment - floorTo(moment, kDay)) {}
  CivilDate date;
  int64_t time;
};

/// Shorter units are left out where longer ones say enough.
IntervalParts roundWidth(IntervalParts width) {
  constexpr int32_t kMonthsAlone = 6, kDaysAlone = 5;
  auto rounded = [&](int64_t unit) { return (width.micros + unit / 2) / unit * unit; };
  if (width.months >= kMonthsAlone) {
    return {width.months, 0, 0};
  }
  if (width.months > 0 || width.days >= kDaysAlone) {
    return {width.months, width.days, 0};
  }
  const int64_t micros = width.micros;
  const int64_t unit = width.days > 0 || micros >= 6 * kHour ? kHour
                       : micros >= kHour                     ? 15 * kMinute
                       : micros >= 10 * kMinute              ? kMinute
                       : micros >= kMinute                   ? 15 * kSecond
                       : micros >= 10 * kSecond              ? kSecond
                                                             : 1;
  return {width.months, width.days, rounded(unit)};
}

/// The next moment that is round beside bins of this width.
Wide roundMoment(int64_t moment, const IntervalParts &width) {
  constexpr int32_t kMonthsOfYear = 12;
  if (width.months >= kMonthsOfYear) {
    const CivilMoment civil(moment);
    const int64_t first = daysFromCivil(civil.date.year, civil.date.month, 1);
    const bool isFirst = civil.date.day == 1 && civil.time == 0;
    return Wide{first + (isFirst ? 0 : daysOfMonth(civil.date.year, civil.date.month))} * kDay;
  }
  const int64_t unit = width.months > 0 || width.days > 0 ? kDay
                       : width.micros >= kHour            ? kHour
                       : width.micros >= kMinute          ? kMinute
                       : width.micros >= kSecond          ? kSecond
                                                          : 1;
  const int64_t start = floorTo(moment, unit);
  return Wide{start} + (start == moment ? 0 : unit);
}

/// Timestamps at round moments, by months, days and times of their own.
std::vector<int64_t> roundBinsOf(int64_t least, int64_t most, int64_t count) {
  constexpr int32_t kMonthsOfYear = 12;
  constexpr double kDaysOfMonth = 30;
  const CivilMoment from(least), to(most);
  const auto parts = static_cast<double>(count);
  const double months = static_cast<double>((to.date.year - from.date.year) * kMonthsOfYear +
                                            (to.date.month - from.date.month)) /
                        parts;
  auto restOf = [](double number) { return number > 0 ? number - std::floor(number) : 0; };
  // Rounded once, as DuckDB's packages do: beside a whole number it makes a difference of a unit.
  const double days = std::fma(restOf(months), kDaysOfMonth,
                               static_cast<double>(to.date.day - from.date.day) / parts);
  const double micros = std::fma(restOf(days), static_cast<double>(kDay),
                                 static_cast<double>(to.time - from.time) / parts);
  IntervalParts width = roundWidth(
      {static_cast<int32_t>(months), static_cast<int32_t>(days), static_cast<int64_t>(micros)});
  Wide end = roundMoment(most, width);
  if (width.months <= 0 && width.days <= 0 && width.micros <= 0) {
    width = {0, 0, 1};
  }
  width = {-width.months, -width.days, -width.micros};
  std::vector<int64_t> bins;
  while (end >= least && bins.size() < static_cast<size_t>(count)) {
    bins.push_back(static_cast<int64_t>(std::min<Wide>(end, INT64_MAX)));
    end = laterBy(width, bins.back());
  }
  return bins;
}

/// The least first; the last one is not below `most`.
template <typename Number, typename Pack>
List listOfBins(TextRoom &room, ElementCode code, std::vector<Number> bins, Number most,
                Pack pack) {
  if (bins.empty()) {
    bins.push_back(most);
  }
  bins.front() = std::max(bins.front(), most);
  std::vector<ElementBytes> packed;
  for (auto bin = bins.rbegin(); bin != bins.rend(); ++bin) {
    packed.push_back(pack(code, *bin));
  }
  std::vector<std::optional<std::string_view>> elements;
  for (const ElementBytes &bin : packed) {
    elements.emplace_back(bin.view());
  }
  return listOf(room, code, elements);
}

} // namespace

MaybeList equalBins(TextRoom &room, const List &ends, int64_t count, bool nice) {
  const ListView &view = ends.view;
  if (view.size() != 2 || !view.allValid() || count <= 0 || count > kBinsMax) {
    return std::nullopt;
  }
  const ElementCode code = view.code();
  const LogicalType type = elementType(code);
  if (type.real()) {
    const double least = realIn(code, view.bytes(0)), most = realIn(code, view.bytes(1));
    std::optional<std::vector<double>> bins;
    if (least == most) {
      bins = {most};
    } else if (std::isfinite(least) && std::isfinite(most) && least < most) {
      bins = binsOf(least, most, count, nice);
    }
    return bins ? MaybeList(listOfBins(room, code, *bins, most, ElementBytes::ofReal))
                : std::nullopt;
  }
  const auto least = static_cast<int64_t>(integerIn(code, view.bytes(0)));
  const auto most = static_cast<int64_t>(integerIn(code, view.bytes(1)));
  const bool isMoment = type.kind == LogicalKind::kTimestamp;
  auto isInfinite = [&](int64_t end) { return isMoment && isInfiniteTimestamp(end); };
  if (least > most || (least != most && (isInfinite(least) || isInfinite(most)))) {
    return std::nullopt;
  }
  return listOfBins(room, code,
                    least == most      ? std::vector<int64_t>{most}
                    : isMoment && nice ? roundBinsOf(least, most, count)
                                       : binsOf(least, most, count, nice),
                    most, ElementBytes::ofInteger);
}

MaybeList binnedEntries(TextRoom &room, const List &values, const List &bins, const List &other,
                        bool exact) {
  if (!bins.view.allValid()) {
    return std::nullopt;
  }
  const ElementCode code = values.view.code();
  auto isLess = [&](std::string_view a, std::string_view b) {
    return compareElements(code, a, b) < 0;
  };
  std::vector<std::string_view> ends;
  eachValid(bins.view, [&](std::string_view end) { ends.push_back(end); });
  std::ranges::sort(ends, isLess);
  ends.erase(std::ranges::unique(ends, [&](auto a, auto b) { return !isLess(a, b); }).begin(),
             ends.end());
  std::vector<int64_t> counts(ends.size() + 1);
  eachValid(values.view, [&](std::string_view value) {
    auto end = std::ranges::lower_bound(ends, value, isLess);
    end = exact && end != ends.end() && isLess(value, *end) ? ends.end() : end;
    ++counts[static_cast<size_t>(end - ends.begin())];
  });
  const ElementCode number = elementCode({LogicalKind::kU64});
  std::vector<std::string> entries;
  auto add = [&](ElementCode type, std::string_view key, int64_t count) {
    const ElementBytes size = ElementBytes::ofInteger(number, count);
    const FieldBytes fields[] = {{type, key}, {number, size.view()}};
    entries.push_back(packedStruct(fields));
  };
  for (size_t bin = 0; bin < ends.size(); ++bin) {
    add(bins.view.code(), ends[bin], counts[bin]);
  }
  if (counts.back() > 0 && other.view.size() == 1) {
    add(other.view.code(), other.view.bytes(0), counts.back());
  }
  return listOf(room, elementCode({LogicalKind::kStruct}),
                std::vector<std::optional<std::string_view>>(entries.begin(), entries.end()));
}

} // namespace headrace
