// Numbers as text and back.
#pragma once

#include "runtime/base/logical_type.h"

#include <cstdint>
#include <string_view>

namespace headrace {

using I128 = __int128;
using U128 = unsigned __int128;

/// Writes digits of at least `width` places that end before `end`; returns where they begin.
char *printDigits(U128 value, int32_t width, char *end);
/// With all `scale` digits behind the point. `memory` has HR_TEXT_PRINTED bytes, also below.
std::string_view printInteger(I128 value, int32_t scale, char *memory);
/// An integer or a decimal of this type: nothing stands in front of the point where all digits of
/// the type are behind it.
std::string_view printExact(I128 value, const LogicalType &type, char *memory);
/// The shortest text that reads back as the same number: "1.0", "0.0001", "1e+16", "1.5e-05"; of a
/// float for which that is a matter of ties all digits.
template <typename Real> std::string_view printReal(Real value, char *memory);

/// A number in decimal digits, perhaps with a point and an exponent, as an integer scaled by
/// 10^scale; rounded half away from zero. False if it is none, or does not fit.
bool parseScaled(std::string_view text, int32_t scale, I128 *out);
/// Likewise without its sign, of which it says whether it is a minus.
bool parseMagnitude(std::string_view text, int32_t scale, bool *isNegative, U128 *out);
/// The nearest Real (float or double), also "nan" and "inf"; what is too large is an infinity.
template <typename Real> bool parseReal(std::string_view text, Real *out);

} // namespace headrace
