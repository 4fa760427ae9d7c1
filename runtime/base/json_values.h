// Values in texts of JSON, for the functions of JSON: what paths lead to, and what is in them.
#pragma once

#include "runtime/base/json_path.h"
#include "runtime/base/json_scanner.h"
#include "runtime/base/text_room.h"

#include <deque>
#include <string>
#include <string_view>

namespace headrace::json {

/// What a path without wildcards leads to.
Scanner::Search find(std::string_view text, const Path &path, Value &value);

/// Shows the values in a well-formed object or array, with keys as they are written.
template <typename Show> void eachIn(const Value &value, Show show) {
  Scanner scanner(value.text);
  const bool isObject = scanner.peek() == '{';
  for (Scanner::Behind next = scanner.enter(); next == Scanner::Behind::kMore;
       next = scanner.behind()) {
    std::string_view key;
    Value inner;
    if ((isObject && !scanner.readKey(key)) || !scanner.readValue(inner)) {
      return; // it is well-formed
    }
    show(key, inner);
  }
}

inline bool isNested(const Value &value) { return value.kind() >= Kind::kArray; }

/// How deep a value may be nested for what calls itself for each value in another.
inline constexpr size_t kDepthMax = 500;
size_t depthOf(const Value &value);

/// Memory for many texts.
class Texts final : public TextRoom {
private:
  char *take(uint64_t bytes) override {
    return kept_.emplace_back(static_cast<size_t>(bytes), '\0').data();
  }

  std::deque<std::string> kept_;
};

/// What is between the quotes of a key, without escapes.
std::string_view plainKey(TextRoom &room, std::string_view key);

/// The name of the type that DuckDB would take for a value, behind a letter.
std::string_view typeOf(const Value &value);

} // namespace headrace::json
