// Values as text and back.
#pragma once

#include "runtime/abi/kernel.h"

namespace headrace::primitives {

/// A value as text. `value`: an __int128, for floats a double. A decimal has all digits of its
/// scale. `memory` has HR_TEXT_PRINTED bytes, to which `out` points.
void textPrint(int32_t form, const void *value, int32_t scale, uint8_t *memory, HrString *out);
/// 1 if the text, without white space around it, is such a value, which goes to `out` (see
/// textPrint); else 0. Decimals and integers are rounded half away from zero.
int32_t textParse(int32_t form, const HrString *text, int32_t scale, void *out);

} // namespace headrace::primitives
