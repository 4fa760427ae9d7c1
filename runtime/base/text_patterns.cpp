// Both go on where the last star of the pattern stands for one more, and nowhere else.
#include "runtime/base/text_patterns.h"

#include "runtime/base/utf8.h"

#include <tuple>
#include <utility>

namespace headrace {

using Text = std::string_view;

/// Takes what stands for one byte from the front of a glob's pattern; whether it is this byte.
/// Nothing if it has no end, or is none.
static std::optional<bool> takeOfGlob(Text &pattern, char byte) {
  const char first = pattern.front();
  pattern.remove_prefix(1);
  if (first == '?') {
    return true;
  }
  if (first == '\\') {
    if (pattern.empty()) {
      return std::nullopt;
    }
    const bool isIt = pattern.front() == byte;
    pattern.remove_prefix(1);
    return isIt;
  }
  if (first != '[') {
    return first == byte;
  }
  const bool isNegated = !pattern.empty() && pattern.front() == '!';
  pattern.remove_prefix(isNegated);
  bool isAmong = false;
  for (bool isFirst = true; !pattern.empty() && (isFirst || pattern.front() != ']');
       isFirst = false) {
    const auto low = static_cast<uint8_t>(pattern.front());
    uint8_t high = low;
    pattern.remove_prefix(1);
    if (pattern.size() >= 2 && pattern[0] == '-' && pattern[1] != ']') {
      high = static_cast<uint8_t>(pattern[1]);
      pattern.remove_prefix(2);
    }
    isAmong |= low <= static_cast<uint8_t>(byte) && static_cast<uint8_t>(byte) <= high;
  }
  if (pattern.empty()) {
    return std::nullopt;
  }
  pattern.remove_prefix(1);
  return isAmong != isNegated;
}

bool fitsGlob(Text text, Text pattern) {
  // What is tried next where what is tried now fails: the last * stands for one byte more.
  std::optional<std::pair<Text, Text>> other;
  while (true) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      other = {text, pattern};
      continue;
    }
    if (pattern.empty() && text.empty()) {
      return true;
    }
    const bool fits =
        !pattern.empty() && !text.empty() && takeOfGlob(pattern, text.front()).value_or(false);
    if (fits) {
      text.remove_prefix(1);
      continue;
    }
    if (!other || other->first.empty()) {
      return false;
    }
    other->first.remove_prefix(1);
    std::tie(text, pattern) = *other;
  }
}

std::optional<bool> isLike(Text text, Text pattern, Text escape) {
  // What is tried next where what is tried now fails: the last % stands for one character more.
  std::optional<std::pair<Text, Text>> other;
  while (true) {
    if (!pattern.empty() && pattern.front() == '%' && !(escape == "%")) {
      pattern.remove_prefix(1);
      other = {text, pattern};
      continue;
    }
    if (pattern.empty() && text.empty()) {
      return true;
    }
    Text wanted = pattern.empty() ? pattern : utf8::first(pattern);
    Text rest = pattern.substr(wanted.size());
    const bool any = wanted == "_" && escape != "_";
    if (!wanted.empty() && wanted == escape) {
      if (rest.empty()) {
        return std::nullopt;
      }
      wanted = utf8::first(rest);
      rest.remove_prefix(wanted.size());
    }
    if (!wanted.empty() && !text.empty() && (any || wanted == utf8::first(text))) {
      text.remove_prefix(utf8::firstBytes(text));
      pattern = rest;
    } else if (other && !other->first.empty()) {
      other->first.remove_prefix(utf8::firstBytes(other->first));
      std::tie(text, pattern) = *other;
    } else {
      return false;
    }
  }
}

} // namespace headrace
