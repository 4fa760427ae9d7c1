// MD5 (RFC 1321) and SHA-1 (FIPS 180-4), for the functions of SQL alone: neither keeps a secret or
// says that something is whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace headrace {

/// 32 and 40 lower-case hexadecimal digits.
std::string md5(std::span<const uint8_t> bytes);
std::string sha1(std::span<const uint8_t> bytes);

} // namespace headrace
