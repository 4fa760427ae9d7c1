// What the functions of texts and lists take and give.
#pragma once

#include <cstdint>
#include <string_view>

namespace headrace {

/// An argument or what a function gives: a text, or else a number (of a Boolean 0 or 1).
struct TextValue {
  std::string_view text;
  int64_t number = 0;
};

} // namespace headrace
