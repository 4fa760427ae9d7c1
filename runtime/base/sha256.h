// SHA-256 (FIPS 180-4): what is code is loaded only if it has the digest that its plan states.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace headrace {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::span<const uint8_t> bytes);

} // namespace headrace
