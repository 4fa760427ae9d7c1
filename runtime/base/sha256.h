// SHA-256 (FIPS 180-4): what is code is loaded only if it has the digest that its plan states; and
// HMAC (RFC 2104), by which ranks prove that they know a secret.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headrace {

/// 64 lower-case hexadecimal digits.
std::string sha256(std::span<const uint8_t> bytes);
std::string sha256(std::string_view bytes);

/// 32 bytes.
std::string hmacSha256(std::string_view key, std::string_view message);

} // namespace headrace
