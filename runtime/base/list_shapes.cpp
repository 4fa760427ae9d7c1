// Lists of other lists' elements: of all of them, of some places, longer or shorter.
#include "runtime/base/list_functions.h"

#include <algorithm>
#include <vector>

namespace headrace {
namespace {

using Element = std::optional<std::string_view>;

/// Of the places, from 1 on, of some elements; NULL where there is none.
List elementsAt(TextRoom &room, const List &list, const std::vector<int64_t> &places) {
  std::vector<Element> elements;
  for (int64_t place : places) {
    const bool isThere = place >= 1 && place <= list.view.size();
    elements.push_back(isThere ? list.view.element(static_cast<uint32_t>(place - 1))
                               : std::nullopt);
  }
  return listOf(room, list.view.code(), elements);
}

bool hasNull(const List &list) {
  return countValid(list) != static_cast<int64_t>(list.view.size());
}

} // namespace

List flattenedList(TextRoom &room, const List &lists) {
  std::vector<Element> elements;
  ElementCode code = 0;
  for (uint32_t place = 0; place < lists.view.size(); ++place) {
    const ListView list(lists.view.bytes(place)); // empty where it is NULL
    code = list.code() == 0 ? code : list.code();
    for (uint32_t index = 0; index < list.size(); ++index) {
      elements.push_back(list.element(index));
    }
  }
  return listOf(room, code, elements);
}

MaybeList selectedElements(TextRoom &room, const List &list, const List &places) {
  if (hasNull(places)) {
    return std::nullopt;
  }
  std::vector<int64_t> wanted;
  for (uint32_t index = 0; index < places.view.size(); ++index) {
    wanted.push_back(integerAt(places, index + 1).number);
  }
  return elementsAt(room, list, wanted);
}

MaybeList markedElements(TextRoom &room, const List &list, const List &marks) {
  if (hasNull(marks)) {
    return std::nullopt;
  }
  std::vector<int64_t> wanted;
  for (uint32_t index = 0; index < marks.view.size(); ++index) {
    if (integerAt(marks, index + 1).number != 0) {
      wanted.push_back(index + 1);
    }
  }
  return elementsAt(room, list, wanted);
}

MaybeList resizedList(TextRoom &room, const List &list, int64_t size, const List &filling) {
  constexpr int64_t kSizeMax = UINT32_MAX;
  if (size < 0 || size > kSizeMax) {
    return std::nullopt;
  }
  const Element more = filling.view.size() == 0 ? std::nullopt : filling.view.element(0);
  std::vector<Element> elements;
  for (int64_t index = 0; index < size; ++index) {
    const bool isThere = index < list.view.size();
    elements.push_back(isThere ? list.view.element(static_cast<uint32_t>(index)) : more);
  }
  return listOf(room, filling.view.code(), elements);
}

List repeatedList(TextRoom &room, const List &list, int64_t times) {
  std::vector<Element> elements;
  for (int64_t time = 0; time < times && list.view.size() != 0; ++time) {
    for (uint32_t index = 0; index < list.view.size(); ++index) {
      elements.push_back(list.view.element(index));
    }
  }
  return listOf(room, list.view.code(), elements);
}

} // namespace headrace
