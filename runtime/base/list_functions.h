// The values of the functions of lists (list_functions.def).
#pragma once

#include "runtime/base/interval_values.h"
#include "runtime/base/list_values.h"
#include "runtime/base/quantile.h"
#include "runtime/base/text_room.h"
#include "runtime/base/text_value.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace {

/// What the table writes of lists.
struct List {
  explicit List(std::string_view bytes) : bytes(bytes), view(bytes) {}
  std::string_view bytes;
  ListView view;
};
using MaybeList = std::optional<List>;
struct Lists {
  std::span<const TextValue> values;
};
/// A list, a struct or a map.
struct Nested {
  std::string_view bytes;
};
struct Number {
  int64_t number;
};

/// Of elements of one type.
List listOf(TextRoom &room, ElementCode code,
            const std::vector<std::optional<std::string_view>> &elements);
List listOfInteger(TextRoom &room, int64_t value, int64_t code);
List listOfWide(TextRoom &room, int64_t low, int64_t high, int64_t code);
List listOfText(TextRoom &room, std::string_view text, int64_t code);
List listOfNull(TextRoom &room, int64_t code);
List listOfReal(TextRoom &room, double value);
MaybeList listOfReal(TextRoom &room, std::optional<double> value);
/// Of one decimal, by its units; nothing of none, or where 38 digits do not hold it.
MaybeList listOfDecimal(TextRoom &room, std::optional<__int128> units, int32_t scale);
/// Of in how many ways k of n things can be chosen; nothing of negative numbers, or likewise.
MaybeList binomial(TextRoom &room, int64_t n, int64_t k);

/// The nth element, from 1 on, of a negative n from the end; nothing if it is NULL or not there.
std::optional<std::string_view> elementAt(const List &list, int64_t n);
Number integerAt(const List &list, int64_t n);
Number highAt(const List &list, int64_t n);

List joinedLists(TextRoom &room, const Lists &lists);
/// The same of lists that stand one behind the other, each behind its length as an uint32_t.
List joinedParts(TextRoom &room, std::string_view parts);
std::string_view orderText(TextRoom &room, const Nested &value);
/// The same with the value's bytes behind it, and at the end how many there are of these, a
/// uint32_t: in order as the values are, whatever bytes they have.
std::string_view keyedText(TextRoom &room, const Nested &value);
/// A list of that value, an element of that code.
List keyedValue(TextRoom &room, std::string_view keyed, int64_t code);

/// How a nested type is written, as a list of texts: a letter, and the shapes of what is in it, of
/// a struct each behind its field's name. Of other types it is empty.
/// `plain`: the lists in it whose texts have no quotes.
std::string shapeOf(const LogicalType &type, std::span<const LogicalType *const> plain = {});
std::string_view printedValue(TextRoom &room, const Nested &value, const List &shape);
/// A value of that shape as a cast to a text writes it.
std::string nestedText(std::string_view bytes, std::string_view shape);
/// A list of such lists, or of values that are not nested.
std::string listText(std::string_view bytes);
MaybeList castList(TextRoom &room, const List &list, int64_t code);
List rangeList(TextRoom &room, int64_t start, int64_t stop, int64_t step, int64_t closed);
/// Timestamps in microseconds; nothing for infinite ones, a step that goes both ways, or more of
/// them than a list has room for.
MaybeList momentSeries(TextRoom &room, int64_t start, int64_t stop, const IntervalParts &step,
                       bool withStop, int64_t code);
/// What `[from:to]` takes of so many: the first place, counted from 0, and the one behind the last,
/// or one before it.
std::pair<int64_t, int64_t> sliceBounds(int64_t size, int64_t from, int64_t to);
List sliceOf(TextRoom &room, const List &list, int64_t from, int64_t to);
int64_t placeOf(const List &list, const List &element);
List distinctList(TextRoom &room, const List &list);
int64_t countDistinct(const List &list);
/// Each step-th element from the first on, of a negative step from the last; the step is not 0.
/// Nothing of a step of 0.
MaybeList steppedList(TextRoom &room, const List &list, int64_t step);
List sortedList(TextRoom &room, const List &list, int64_t descending, int64_t nullsFirst);
/// The places, from 1 on, of the elements in that order.
List sortedPlaces(TextRoom &room, const List &list, int64_t descending, int64_t nullsFirst);
MaybeList sumOfList(TextRoom &room, const List &list);
MaybeList averageOfList(TextRoom &room, const List &list);
List productOfList(TextRoom &room, const List &list);
/// `sign` is that of the order of the wanted element against the others.
List extremeOfList(TextRoom &room, const List &list, int sign);
int64_t countValid(const List &list);
/// By the order of elements of a type: bytes that differ may be equal intervals.
struct IsLessElement {
  ElementCode code;
  bool operator()(std::string_view a, std::string_view b) const {
    return compareElements(code, a, b) < 0;
  }
};
/// How many there are of each element that is not NULL, in their order.
std::map<std::string_view, int64_t, IsLessElement> elementCounts(const List &list);
/// The most frequent element, of several the one that comes first.
List modeOfList(TextRoom &room, const List &list);
/// Each element once that is not NULL, the most frequent ones first, and of those that are as
/// frequent the one that is so often first.
List byFrequency(TextRoom &room, const List &list);
/// The first `count` elements; nothing unless that is 1 to 999,999.
MaybeList firstElements(TextRoom &room, const List &list, int64_t count);
/// A quantile (quantile.h) of the elements that are not NULL; nothing between intervals that are
/// too long.
MaybeList quantileOfList(TextRoom &room, const List &list, QuantileShare share, bool descending,
                         QuantileKind kind);
/// The elements of all lists in a list.
List flattenedList(TextRoom &room, const List &lists);
/// Those at these places, NULL where there is none; nothing if a place is NULL. The list is not
/// empty: an empty one does not say of what type these are.
MaybeList selectedElements(TextRoom &room, const List &list, const List &places);
/// Likewise those with a mark that is true; nothing if a mark is NULL.
MaybeList markedElements(TextRoom &room, const List &list, const List &marks);
/// So many elements, behind the list's own the only one of `filling`, which may be NULL; nothing if
/// the number is negative or too large.
MaybeList resizedList(TextRoom &room, const List &list, int64_t size, const List &filling);
List repeatedList(TextRoom &room, const List &list, int64_t times);
bool hasAny(const List &list, const List &other);
bool hasAll(const List &list, const List &other);
List commonList(TextRoom &room, const List &list, const List &other);
/// The struct of the only elements of the lists.
List structOf(TextRoom &room, const Lists &fields);
/// The structs of the elements of lists that are as long as `like`, NULL where it has NULL.
List structsOf(TextRoom &room, const List &like, const Lists &fields);
/// The nth field of each struct in the list.
List fieldsOf(TextRoom &room, const List &list, int64_t n);
/// The entries of a map, or nothing: a key is NULL or there twice, or has no value.
MaybeList entriesOf(TextRoom &room, const List &keys, const List &values);
MaybeList checkedEntries(TextRoom &room, const List &entries);
/// The values of the keys that equal the only element of the last list: one or none.
List valuesAt(TextRoom &room, const List &entries, const List &key);
/// The entries of the map from elements to how many there are, of a list in order.
List countedEntries(TextRoom &room, const List &list);
/// The bins between the two elements of a list, doubles, integers of 64 bits or timestamps, by
/// their upper ends, at most twice `count`; nothing if there are none, or 1,000,000 are too few.
/// `nice`: their ends are round numbers or moments.
MaybeList equalBins(TextRoom &room, const List &ends, int64_t count, bool nice);
/// The entries of the map from bins, by their upper ends, to how many elements are in each, those
/// that are in none under the only key in `other`, if there is one. `exact`: an element is in the
/// bin that it equals. Nothing if a bin is NULL.
MaybeList binnedEntries(TextRoom &room, const List &values, const List &bins, const List &other,
                        bool exact);
/// The entries of all maps, of equal keys with the last value.
List mergedEntries(TextRoom &room, const Lists &maps);
std::string_view joinedTexts(TextRoom &room, const List &list, std::string_view by);
List splitText(TextRoom &room, std::string_view text, std::string_view by);
/// By a regular expression and its options; nothing if RE2 refuses it.
MaybeList splitText(TextRoom &room, std::string_view text, std::string_view pattern,
                    std::string_view options);
/// What its group fits wherever the regular expression does; nothing if RE2 refuses it.
MaybeList allMatches(TextRoom &room, std::string_view text, std::string_view pattern, int64_t group,
                     std::string_view options);
/// What a text of a list, map or struct is made of, as casts read it: texts, NULL where they are,
/// of a map in structs of a key and a value, of a struct those of the fields with these names.
/// Nothing if it is a text of another kind.
MaybeList elementTexts(TextRoom &room, std::string_view text);
MaybeList entryTexts(TextRoom &room, std::string_view text);
MaybeList fieldTexts(TextRoom &room, std::string_view text, const List &names);
List pathParts(TextRoom &room, std::string_view path, std::string_view separator);

// Of two points, lists of f32 or both of f64: the only element of a list, of their type. Nothing
// where the lists have different lengths, or a NULL.

MaybeList distanceOf(TextRoom &room, const List &x, const List &y);
MaybeList innerProduct(TextRoom &room, const List &x, const List &y, int sign);
MaybeList cosineOf(TextRoom &room, const List &x, const List &y);
MaybeList cosineDistance(TextRoom &room, const List &x, const List &y);
/// Of three coordinates each, as is what it gives; nothing otherwise, or with a NULL.
MaybeList crossProduct(TextRoom &room, const List &x, const List &y);

/// `list`; nothing if it has another length.
inline MaybeList listOfSize(const List &list, int64_t size) {
  return list.view.size() == size ? MaybeList(list) : std::nullopt;
}

// What aggregates make of a list: the only element of a list, none where there is no value.

enum class Spread {
  kVariance,
  kSampleVariance,
  kDeviation,
  kSampleDeviation,
  kError,
  kSkewness,
  kKurtosis,
  kPopulationKurtosis
};
List spreadOfList(TextRoom &room, const List &list, Spread spread);
/// Of pairs (y, x) one behind the other: their number, the means of x and y, and the sums of xx, yy
/// and xy of deviations from them, each as `comoment` of `frame` has it.
List comomentsOfList(TextRoom &room, const List &list);
/// Rounded once.
List exactSumOfList(TextRoom &room, const List &list);
List exactMeanOfList(TextRoom &room, const List &list);
/// In bits.
List entropyOfList(TextRoom &room, const List &list);
enum class Bits { kAnd, kOr, kXor };
List bitsOfList(TextRoom &room, const List &list, Bits bits);
/// The first that is not NULL.
List firstOfList(TextRoom &room, const List &list);

} // namespace headrace
