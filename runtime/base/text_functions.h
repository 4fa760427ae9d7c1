// The functions of texts and lists that expressions have, one table for all levels
// (text_functions.def).
#pragma once

#include "runtime/base/text_room.h"
#include "runtime/base/text_value.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace headrace {

struct TextFunction {
  enum class Argument : uint8_t {
    kText,
    kInteger,
    kBlanks,
    kTexts,
    kBinary,
    kInterval,
    kUnsigned128,
    kUuid,
    kEnum,
    kBytes,
    kAllBytes,
    kList,
    kLists,
    kNested,
  };
  enum class Result : uint8_t {
    kText,
    kBinary,
    kInterval,
    kUnsigned128,
    kUuid,
    kEnum,
    kBytes,
    kCount,
    kCodePoint,
    kBoolean,
    kList,
    kNumber,
    kShortNumber
  };
  enum class Nulls : uint8_t { kSpread, kSkip };

  int32_t number; ///< in kernels
  std::string_view name;
  std::span<const Argument> arguments; ///< kBlanks, kTexts, kAllBytes and kLists are last ones
  Result result;
  Nulls nulls;
  std::string_view error; ///< of arguments without a value; empty: all have one
  std::string_view duckdbNames, substraitNames; ///< with spaces between them
  /// Whether there is a value, which goes to the last. `given`: as many as `takes` says.
  bool (*evaluate)(TextRoom &room, std::span<const TextValue> given, TextValue &out);

  /// Whether a call may have so many arguments.
  bool takes(size_t count) const;
  Argument argument(size_t index) const { return arguments[std::min(index, arguments.size() - 1)]; }
  bool wantsInteger(size_t index) const { return argument(index) == Argument::kInteger; }
  bool wantsList(size_t index) const {
    return argument(index) == Argument::kList || argument(index) == Argument::kLists;
  }
  /// A list, a struct or a map.
  bool wantsNested(size_t index) const { return argument(index) == Argument::kNested; }
  bool wantsBinary(size_t index) const { return argument(index) == Argument::kBinary; }
  bool wantsInterval(size_t index) const { return argument(index) == Argument::kInterval; }
  bool wantsUnsigned128(size_t index) const { return argument(index) == Argument::kUnsigned128; }
  bool wantsUuid(size_t index) const { return argument(index) == Argument::kUuid; }
  bool wantsEnum(size_t index) const { return argument(index) == Argument::kEnum; }
  /// A text or bytes.
  bool wantsBytes(size_t index) const {
    return argument(index) == Argument::kBytes || argument(index) == Argument::kAllBytes;
  }
  /// Takes any number of the last argument.
  bool isVariadic() const {
    return arguments.back() == Argument::kTexts || arguments.back() == Argument::kAllBytes ||
           arguments.back() == Argument::kLists;
  }
  /// A text, or bytes, an interval, a ui128, a UUID, an enum or a list, which are one inside.
  bool givesText() const { return result <= Result::kBytes || result == Result::kList; }
  /// The least and greatest number that it gives; of no meaning for a text.
  std::pair<int64_t, int64_t> range() const;
};

/// All of them, those of lists (list_functions.def) too.
std::span<const TextFunction> textFunctions();
const TextFunction &textFunction(int32_t number);
/// The function of this name; null if there is none.
const TextFunction *textFunctionNamed(std::string_view name);
/// The function that a call in a DuckDB plan or in Substrait means; null if it is another's.
const TextFunction *textFunctionOfDuckdb(std::string_view name, size_t arguments);
const TextFunction *textFunctionOfSubstrait(std::string_view name, size_t arguments);

} // namespace headrace
