// Numbers as people read and write them: sizes in bytes, and bars.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

/// "1.5 KiB", or with units of 1000 "1.5 kB"; what is beyond one digit behind the point is cut.
std::string sizeText(int64_t bytes, uint64_t unit);
/// The bytes of "1.5KB" or "2 GiB", rounded down; nothing of another text, or of 2^63 and more.
std::optional<int64_t> sizeIn(std::string_view text);

/// A bar in a field of `width` characters, from 1 to 1000, which it fills in eighths of them as
/// `value` does what is between `least` and `most`; nothing if they make no such bar.
std::optional<std::string> barText(double value, double least, double most, double width);

} // namespace headrace
