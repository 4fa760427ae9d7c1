// Whether many bytes are UTF-8, with the processor's vectors.
#pragma once

#include "runtime/primitives/dispatch/isa.h"

#include <cstdint>

namespace headrace::primitives {

/// As utf8::isValid of base: no surrogates, overlong forms or what is above U+10FFFF.
bool isUtf8(Isa isa, const uint8_t *bytes, uint64_t count);

} // namespace headrace::primitives
