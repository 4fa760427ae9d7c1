// Puts the primitives into the imports table.
#include "runtime/primitives/fill.h"

#include "runtime/base/math_functions.h"

#include "runtime/primitives/decode/cursor.h"
#include "runtime/primitives/dispatch/table.h"
#include "runtime/primitives/hash/hash.h"
#include "runtime/primitives/number/number.h"
#include "runtime/primitives/string/string.h"
#include "runtime/primitives/string/text_values.h"

#include <cmath>
#include <cstring>

namespace headrace::primitives {

void fillPrimitiveImports(HrImports *table, Isa isa) {
  isaPrimitives(isa).fill(table);

  table->hr_cursor_run_ = cursorRun;
  table->hr_cursor_encoding_ = cursorEncoding;

  table->hr_rank_of_hash_ = rankOfHash;

  table->hr_string_equal_ = stringEqual;
  table->hr_string_compare_ = stringCompare;
  table->hr_string_hash_ = stringHash;
  table->hr_string_starts_with_ = stringStartsWith;
  table->hr_string_ends_with_ = stringEndsWith;
  table->hr_string_substring_ = stringSubstring;

  table->hr_text_print_ = textPrint;
  table->hr_text_parse_ = textParse;

  table->hr_multiply_i128_ = multiplyI128;
  table->hr_divide_i128_ = divideI128;
  table->hr_i128_to_f64_ = i128ToDouble;
  table->hr_math_ = evaluateMath;
  table->hr_integer_math_ = [](int32_t function, int64_t x, int64_t y, int64_t *out) -> int32_t {
    std::optional<int64_t> value = evaluateIntegerMath(function, x, y);
    *out = value.value_or(0);
    return value ? 0 : 1;
  };
  table->hr_wide_math_ = [](int32_t function, const void *x, const void *y, void *out) -> int32_t {
    __int128 first, second;
    std::memcpy(&first, x, sizeof first);
    std::memcpy(&second, y, sizeof second);
    const std::optional<__int128> value = evaluateIntegerMath(function, first, second);
    const __int128 result = value.value_or(0);
    std::memcpy(out, &result, sizeof result);
    return value ? 0 : 1;
  };

  // The library's own: LLVM also calls them with null pointers and no bytes, which C++ does not
  // allow.
  table->memcpy_ = std::memcpy;
  table->memmove_ = std::memmove;
  table->memset_ = std::memset;
  table->__divti3_ = [](__int128 a, __int128 b) -> __int128 { return a / b; };
  table->__modti3_ = [](__int128 a, __int128 b) -> __int128 { return a % b; };
  table->fmod_ = [](double a, double b) { return std::fmod(a, b); };
}

} // namespace headrace::primitives
