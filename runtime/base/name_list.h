// Names in one text, with spaces between them, as tables of functions have them.
#pragma once

#include <algorithm>
#include <string_view>

namespace headrace {

inline bool listsName(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) {
      return true;
    }
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

} // namespace headrace
