// The values of the functions of lists (list_functions.def).
#pragma once

#include "runtime/base/list_values.h"
#include "runtime/base/text_room.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

struct TextValue;

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
struct Number {
  int64_t number;
};

List listOfInteger(TextRoom &room, int64_t value, int64_t code);
List listOfWide(TextRoom &room, int64_t low, int64_t high, int64_t code);
List listOfText(TextRoom &room, std::string_view text, int64_t code);
List listOfNull(TextRoom &room, int64_t code);

/// The nth element, from 1 on, of a negative n from the end; nothing if it is NULL or not there.
std::optional<std::string_view> elementAt(const List &list, int64_t n);
Number integerAt(const List &list, int64_t n);
Number highAt(const List &list, int64_t n);

List joinedLists(TextRoom &room, const Lists &lists);
std::string_view orderText(TextRoom &room, const List &list);
std::string_view printedList(TextRoom &room, const List &list);
/// The list that has these bytes.
std::string listText(std::string_view bytes);
MaybeList castList(TextRoom &room, const List &list, int64_t code);
List rangeList(TextRoom &room, int64_t start, int64_t stop, int64_t step, int64_t closed);
List sliceOf(TextRoom &room, const List &list, int64_t from, int64_t to);
int64_t placeOf(const List &list, const List &element);
List distinctList(TextRoom &room, const List &list);
int64_t countDistinct(const List &list);
/// Each step-th element from the first on, of a negative step from the last; the step is not 0.
List steppedList(TextRoom &room, const List &list, int64_t step);
List sortedList(TextRoom &room, const List &list, int64_t descending, int64_t nullsFirst);
MaybeList sumOfList(TextRoom &room, const List &list);
List averageOfList(TextRoom &room, const List &list);
List productOfList(TextRoom &room, const List &list);
/// `sign` is that of the order of the wanted element against the others.
List extremeOfList(TextRoom &room, const List &list, int sign);
int64_t countValid(const List &list);
/// The most frequent element, of several the one that comes first.
List modeOfList(TextRoom &room, const List &list);
/// A quantile: `share` is a double by its bits, exactly part / whole unless `whole` is 0. Between
/// two elements it is a double, of decimals and floats of 32 bits one of theirs.
List quantileOfList(TextRoom &room, const List &list, int64_t share, int64_t part, int64_t whole,
                    int64_t descending, int64_t between);
bool hasAny(const List &list, const List &other);
bool hasAll(const List &list, const List &other);
List commonList(TextRoom &room, const List &list, const List &other);
std::string_view joinedTexts(TextRoom &room, const List &list, std::string_view by);
List splitText(TextRoom &room, std::string_view text, std::string_view by);

} // namespace headrace
