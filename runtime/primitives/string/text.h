// Strings made of strings and values: case, trims, concatenation, replacement, and values as text
// and back.
#pragma once

#include "runtime/abi/kernel.h"

namespace headrace::primitives {

/// Characters (code points).
int64_t textLength(const HrString *text);

/// The text without the characters of `set` at the ends that the function names; a view on its
/// bytes.
HrString textTrimmed(HrTextFunction function, const HrString &text, const HrString &set);

/// Bytes that are enough for the result of a function that makes new text (not a trim).
uint64_t textBytesMax(HrTextFunction function, const HrString *const *operands, int32_t count);
/// Writes the result and returns its bytes.
uint64_t writeText(HrTextFunction function, const HrString *const *operands, int32_t count,
                   uint8_t *out);

/// A value as text. `value`: an __int128, for floats a double. A decimal has all digits of its
/// scale. `memory` has HR_TEXT_PRINTED bytes, to which `out` points.
void textPrint(int32_t form, const void *value, int32_t scale, uint8_t *memory, HrString *out);
/// 1 if the text, without white space around it, is such a value, which goes to `out` (see
/// textPrint); else 0. Decimals and integers are rounded half away from zero.
int32_t textParse(int32_t form, const HrString *text, int32_t scale, void *out);

} // namespace headrace::primitives
