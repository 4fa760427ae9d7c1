// Functions of lists and structs: elements in and out, lists of lists' elements, and what they add
// up to.
#include "runtime/base/list_functions.h"

#include "runtime/base/interval_values.h"
#include "runtime/base/moment_text.h"
#include "runtime/base/stop.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <unordered_set>
#include <vector>

namespace headrace {
namespace {

using Element = std::optional<std::string_view>;

bool isFloat(ElementCode code) { return elementType(code).real(); }

/// The list of `size` elements that `each(writer)` adds, whose texts have so many bytes.
template <typename Each>
List makeList(TextRoom &room, ElementCode code, uint64_t size, uint64_t textBytes, Each each) {
  if (size > UINT32_MAX) {
    return List(room.make(UINT64_MAX, [](char *to) { return to; })); // there is no room for it
  }
  return List(room.make(ListWriter::bytesOf(code, size, textBytes), [&](char *to) {
    ListWriter writer(to, code, static_cast<uint32_t>(size));
    each(writer);
    return writer.end();
  }));
}

List listOfOne(TextRoom &room, ElementCode code, Element element) {
  return makeList(room, code, 1, element ? element->size() : 0,
                  [&](ListWriter &writer) { writer.add(element); });
}

/// Some of a list's elements, by their places.
List listAt(TextRoom &room, const ListView &list, std::span<const uint32_t> places) {
  uint64_t bytes = 0;
  for (uint32_t place : places) {
    bytes += list.bytes(place).size();
  }
  return makeList(room, list.code(), places.size(), bytes, [&](ListWriter &writer) {
    for (uint32_t place : places) {
      writer.add(list.element(place));
    }
  });
}

List emptyOf(TextRoom &room, const ListView &list) { return listAt(room, list, {}); }

using Elements = std::unordered_set<std::string_view>;

/// Those that are not NULL.
Elements elementsOf(const ListView &list) {
  Elements elements;
  for (uint32_t index : RowsUntilStopped(0, list.size())) {
    if (list.isValid(index)) {
      elements.insert(list.bytes(index));
    }
  }
  return elements;
}

/// The places of elements that are not NULL, each when it comes first.
std::vector<uint32_t> firstPlaces(const ListView &list) {
  std::vector<uint32_t> places;
  Elements seen;
  for (uint32_t index : RowsUntilStopped(0, list.size())) {
    if (list.isValid(index) && seen.insert(list.bytes(index)).second) {
      places.push_back(index);
    }
  }
  return places;
}

} // namespace

//===----------------------------------------------------------------------===//
// Elements in and out
//===----------------------------------------------------------------------===//

List listOfReal(TextRoom &room, double value) {
  const ElementCode code = elementCode({LogicalKind::kF64});
  return listOfOne(room, code, ElementBytes::ofReal(code, value).view());
}

MaybeList listOfReal(TextRoom &room, std::optional<double> value) {
  return value ? MaybeList(listOfReal(room, *value)) : std::nullopt;
}

MaybeList listOfDecimal(TextRoom &room, std::optional<__int128> units, int32_t scale) {
  constexpr int32_t kDigits = 38;
  __int128 limit = 1;
  for (int32_t digit = 0; digit < kDigits; ++digit) {
    limit *= 10;
  }
  if (!units || *units <= -limit || *units >= limit) {
    return std::nullopt;
  }
  const ElementCode code = elementCode({LogicalKind::kDecimal, kDigits, scale});
  return listOfOne(room, code, ElementBytes::ofInteger(code, *units).view());
}

MaybeList binomial(TextRoom &room, int64_t n, int64_t k) {
  if (n < 0 || k < 0) {
    return std::nullopt;
  }
  __int128 ways = k > n ? 0 : 1;
  const int64_t fewer = std::min(k, n - k);
  for (int64_t chosen = 1; chosen <= fewer; ++chosen) {
    const int64_t factor = n - fewer + chosen, common = std::gcd(factor, chosen);
    ways /= chosen / common; // what is left of it divides them
    if (__builtin_mul_overflow(ways, factor / common, &ways)) {
      return std::nullopt;
    }
  }
  const ElementCode code = elementCode({LogicalKind::kI128});
  return listOfOne(room, code, ElementBytes::ofInteger(code, ways).view());
}

List listOfInteger(TextRoom &room, int64_t value, int64_t code) {
  const auto type = static_cast<ElementCode>(code);
  if (!isFloat(type)) {
    return listOfOne(room, type, ElementBytes::ofInteger(type, value).view());
  }
  const double real = elementBytes(type) == 4 ? std::bit_cast<float>(static_cast<int32_t>(value))
                                              : std::bit_cast<double>(value);
  return listOfOne(room, type, ElementBytes::ofReal(type, real).view());
}

List listOfWide(TextRoom &room, int64_t low, int64_t high, int64_t code) {
  const auto type = static_cast<ElementCode>(code);
  const auto value = static_cast<__int128>(static_cast<unsigned __int128>(high) << 64 |
                                           static_cast<uint64_t>(low));
  return listOfOne(room, type, ElementBytes::ofInteger(type, value).view());
}

List listOfText(TextRoom &room, std::string_view text, int64_t code) {
  return listOfOne(room, static_cast<ElementCode>(code), text);
}

List listOfNull(TextRoom &room, int64_t code) {
  return listOfOne(room, static_cast<ElementCode>(code), std::nullopt);
}

/// Where the nth element is, if it is there and not NULL.
static std::optional<uint32_t> placeAt(const ListView &list, int64_t n) {
  const int64_t size = list.size();
  const int64_t place = n < 0 ? n + size : n - 1;
  const bool isThere = n != 0 && place >= 0 && place < size;
  return isThere && list.isValid(static_cast<uint32_t>(place))
             ? std::optional(static_cast<uint32_t>(place))
             : std::nullopt;
}

/// The bits of the nth element; 0 of NULL.
static __int128 bitsAt(const ListView &list, int64_t n) {
  const std::optional<uint32_t> place = placeAt(list, n);
  return place ? integerIn(list.code(*place), list.bytes(*place)) : 0;
}

Element elementAt(const List &list, int64_t n) {
  const std::optional<uint32_t> place = placeAt(list.view, n);
  return place ? list.view.element(*place) : std::nullopt;
}

Number integerAt(const List &list, int64_t n) {
  return {static_cast<int64_t>(bitsAt(list.view, n))};
}

Number highAt(const List &list, int64_t n) {
  return {static_cast<int64_t>(bitsAt(list.view, n) >> 64)};
}

//===----------------------------------------------------------------------===//
// Other lists
//===----------------------------------------------------------------------===//

/// The elements of the lists that `forEach` calls a function with.
template <typename ForEach> static List joined(TextRoom &room, ForEach forEach) {
  uint64_t size = 0, bytes = 0;
  ElementCode code = 0;
  forEach([&](const ListView &list) {
    size += list.size();
    bytes += list.textBytes();
    code = list.code() == 0 ? code : list.code();
  });
  return makeList(room, code, size, bytes, [&](ListWriter &writer) {
    forEach([&](const ListView &list) {
      for (uint32_t index = 0; index < list.size(); ++index) {
        writer.add(list.element(index));
      }
    });
  });
}

List joinedLists(TextRoom &room, const Lists &lists) {
  return joined(room, [&](auto visit) {
    for (const TextValue &value : lists.values) {
      visit(ListView(value.text));
    }
  });
}

List joinedParts(TextRoom &room, std::string_view parts) {
  return joined(room, [&](auto visit) {
    for (std::string_view left = parts; !left.empty();) {
      uint32_t length = 0;
      std::memcpy(&length, left.data(), sizeof length);
      visit(ListView(left.substr(sizeof length, length)));
      left.remove_prefix(sizeof length + length);
    }
  });
}

std::pair<int64_t, int64_t> sliceBounds(int64_t size, int64_t from, int64_t to) {
  const int64_t first = std::max<int64_t>(from < 0 ? std::max(from, -size) + size : from - 1, 0);
  const int64_t end = to < 0 ? std::max(to, -size - 1) + size + 1 : std::min(to, size);
  return {first, end};
}

List sliceOf(TextRoom &room, const List &list, int64_t from, int64_t to) {
  const auto [first, end] = sliceBounds(list.view.size(), from, to);
  std::vector<uint32_t> places(static_cast<size_t>(std::max<int64_t>(end - first, 0)));
  std::iota(places.begin(), places.end(), static_cast<uint32_t>(first));
  return listAt(room, list.view, places);
}

int64_t placeOf(const List &list, const List &element) {
  if (element.view.size() != 1) {
    return 0;
  }
  const Element wanted = element.view.element(0);
  const ElementCode code = element.view.code();
  for (uint32_t index = 0; index < list.view.size(); ++index) {
    const Element other = list.view.element(index);
    if (other == wanted || (other && wanted && compareElements(code, *other, *wanted) == 0)) {
      return int64_t{index} + 1;
    }
  }
  return 0;
}

List distinctList(TextRoom &room, const List &list) {
  return listAt(room, list.view, firstPlaces(list.view));
}

int64_t countDistinct(const List &list) {
  return static_cast<int64_t>(elementsOf(list.view).size());
}

MaybeList steppedList(TextRoom &room, const List &list, int64_t step) {
  if (step == 0) {
    return std::nullopt;
  }
  const int64_t size = list.view.size();
  const int64_t width = std::max<int64_t>(step < 0 ? -std::max(step, -size - 1) : step, 1);
  std::vector<uint32_t> places;
  for (int64_t place = 0; place < size; place += width) {
    places.push_back(static_cast<uint32_t>(step < 0 ? size - 1 - place : place));
    if (width > size) {
      break;
    }
  }
  return listAt(room, list.view, places);
}

static std::vector<uint32_t> placesInOrder(const List &list, bool descending, bool nullsFirst) {
  std::vector<uint32_t> places(list.view.size());
  std::iota(places.begin(), places.end(), 0);
  StopCheck check;
  auto isBefore = [&](uint32_t a, uint32_t b) {
    const bool hasA = list.view.isValid(a), hasB = list.view.isValid(b);
    if (!hasA || !hasB) {
      return nullsFirst ? !hasA && hasB : hasA && !hasB;
    }
    const int order = compareElements(list.view.code(), list.view.bytes(a), list.view.bytes(b));
    return descending ? order > 0 : order < 0;
  };
  std::stable_sort(places.begin(), places.end(), untilStopped(check, isBefore));
  return places;
}

List sortedList(TextRoom &room, const List &list, int64_t descending, int64_t nullsFirst) {
  return listAt(room, list.view, placesInOrder(list, descending != 0, nullsFirst != 0));
}

List sortedPlaces(TextRoom &room, const List &list, int64_t descending, int64_t nullsFirst) {
  const std::vector<uint32_t> places = placesInOrder(list, descending != 0, nullsFirst != 0);
  const ElementCode code = elementCode({LogicalKind::kI64});
  return makeList(room, code, places.size(), 0, [&](ListWriter &writer) {
    for (uint32_t place : places) {
      writer.add(ElementBytes::ofInteger(code, int64_t{place} + 1).view());
    }
  });
}

bool hasAny(const List &list, const List &other) {
  const Elements elements = elementsOf(list.view);
  bool found = false;
  eachValid(other.view, [&](std::string_view element) { found |= elements.contains(element); });
  return found;
}

bool hasAll(const List &list, const List &other) {
  const Elements elements = elementsOf(list.view);
  bool all = true;
  eachValid(other.view, [&](std::string_view element) { all &= elements.contains(element); });
  return all;
}

List commonList(TextRoom &room, const List &list, const List &other) {
  const Elements elements = elementsOf(other.view);
  std::vector<uint32_t> places = firstPlaces(list.view);
  std::erase_if(places, [&](uint32_t place) { return !elements.contains(list.view.bytes(place)); });
  return listAt(room, list.view, places);
}

List rangeList(TextRoom &room, int64_t start, int64_t stop, int64_t step, int64_t closed) {
  const ElementCode code = elementCode({LogicalKind::kI64});
  const __int128 distance =
      step > 0 ? static_cast<__int128>(stop) - start : static_cast<__int128>(start) - stop;
  const __int128 width = step > 0 ? step : -static_cast<__int128>(step);
  const __int128 size = step == 0 || distance < 0 ? 0
                        : closed != 0             ? distance / width + 1
                                                  : (distance + width - 1) / width;
  return makeList(room, code, static_cast<uint64_t>(std::min<__int128>(size, INT64_MAX)), 0,
                  [&](ListWriter &writer) {
                    for (__int128 number = 0; number < size; ++number) {
                      writer.add(ElementBytes::ofInteger(code, start + number * step).view());
                    }
                  });
}

MaybeList momentSeries(TextRoom &room, int64_t start, int64_t stop, const IntervalParts &step,
                       bool withStop, int64_t code) {
  const bool isUp = step.months > 0 || step.days > 0 || step.micros > 0;
  const bool isDown = step.months < 0 || step.days < 0 || step.micros < 0;
  if ((isUp && isDown) || isInfiniteTimestamp(start) || isInfiniteTimestamp(stop)) {
    return std::nullopt;
  }
  auto each = [&](auto visit) {
    for (__int128 moment = start; isUp || isDown;) {
      if ((isUp ? moment > stop : moment < stop) || (moment == stop && !withStop) ||
          !visit(static_cast<int64_t>(moment))) {
        break;
      }
      moment = laterBy(step, static_cast<int64_t>(moment));
    }
  };
  uint64_t size = 0;
  each([&](int64_t /*moment*/) { return ++size <= UINT32_MAX; });
  if (size > UINT32_MAX) {
    return std::nullopt;
  }
  const auto type = static_cast<ElementCode>(code);
  return makeList(room, type, size, 0, [&](ListWriter &writer) {
    each([&](int64_t moment) {
      writer.add(ElementBytes::ofInteger(type, moment).view());
      return true;
    });
  });
}

//===----------------------------------------------------------------------===//
// What they add up to
//===----------------------------------------------------------------------===//

List extremeOfList(TextRoom &room, const List &list, int sign) {
  Element best;
  eachValid(list.view, [&](std::string_view element) {
    if (!best || compareElements(list.view.code(), element, *best) == sign) {
      best = element;
    }
  });
  return best ? listOfOne(room, list.view.code(), best) : emptyOf(room, list.view);
}

int64_t countValid(const List &list) {
  int64_t count = 0;
  eachValid(list.view, [&](std::string_view) { ++count; });
  return count;
}

List byFrequency(TextRoom &room, const List &list) {
  struct Found {
    uint32_t place; ///< the last
    int64_t count = 0;
  };
  auto isLess = [code = list.view.code()](std::string_view a, std::string_view b) {
    return compareElements(code, a, b) < 0;
  };
  std::map<std::string_view, Found, decltype(isLess)> all(isLess);
  for (uint32_t place = 0; place < list.view.size(); ++place) {
    if (list.view.isValid(place)) {
      Found &found = all[list.view.bytes(place)];
      found = {place, found.count + 1};
    }
  }
  std::vector<Found> order;
  for (const auto &[element, found] : all) {
    order.push_back(found);
  }
  std::ranges::sort(order, [](const Found &a, const Found &b) {
    return a.count != b.count ? a.count > b.count : a.place < b.place;
  });
  std::vector<uint32_t> places;
  for (const Found &found : order) {
    places.push_back(found.place);
  }
  return listAt(room, list.view, places);
}

MaybeList firstElements(TextRoom &room, const List &list, int64_t count) {
  constexpr int64_t kMost = 999'999;
  return count < 1 || count > kMost ? std::nullopt : MaybeList(sliceOf(room, list, 1, count));
}

std::map<std::string_view, int64_t, IsLessElement> elementCounts(const List &list) {
  std::map<std::string_view, int64_t, IsLessElement> counts(IsLessElement{list.view.code()});
  eachValid(list.view, [&](std::string_view element) { ++counts[element]; });
  return counts;
}

List modeOfList(TextRoom &room, const List &list) {
  std::map<std::string_view, int64_t, IsLessElement> counts = elementCounts(list);
  Element best;
  eachValid(list.view, [&](std::string_view element) {
    best = !best || counts[element] > counts[*best] ? element : best;
  });
  return best ? listOfOne(room, list.view.code(), best) : emptyOf(room, list.view);
}

MaybeList quantileOfList(TextRoom &room, const List &list, QuantileShare share, bool descending,
                         QuantileKind kind) {
  const ElementCode code = list.view.code();
  std::vector<std::string_view> elements;
  eachValid(list.view, [&](std::string_view element) { elements.push_back(element); });
  if (elements.empty()) {
    return emptyOf(room, list.view);
  }
  StopCheck check;
  auto isBefore = [&](std::string_view a, std::string_view b) {
    return descending ? compareElements(code, b, a) < 0 : compareElements(code, a, b) < 0;
  };
  std::sort(elements.begin(), elements.end(), untilStopped(check, isBefore));
  auto found =
      quantileOf(share, kind, code, elements.size(), [&](uint64_t n) { return elements[n]; });
  return found ? MaybeList(listOfOne(room, found->code, found->bytes())) : std::nullopt;
}

} // namespace headrace
