// Paths into JSON, as DuckDB's: `$.a.b`, `$."a b"`, `$[0]`, `$[#-1]`, `$.*`, `$[*]`, `$..a`, a
// pointer (`/a/0`), or one key.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::json {

struct Step {
  enum class Kind : uint8_t {
    kKey,
    kPlace,   ///< in an array, a negative one from the end
    kPointed, ///< a key of an object, or a place in an array, which -1 is not
    kAnyKey,
    kAnyPlace,
    kAny,    ///< of both
    kDescend ///< to what is there and all in it
  } kind;
  std::string key;
  int64_t place = 0;
};

struct Path {
  std::vector<Step> steps;
  bool isWellFormed = true;
  bool findsMany = false; ///< has wildcards
};

/// What a text means as a path.
Path pathOf(std::string_view text);
/// The same of one that was asked for lately by the same thread, if it can be; valid until the
/// thread's next call.
const Path &knownPath(std::string_view text);

} // namespace headrace::json
