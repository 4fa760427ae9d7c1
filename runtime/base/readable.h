// Numbers for people: seconds and counts with the unit that suits them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

/// "420 ns", "1.23 ms", "45.2 s", "3.1 min", "2.5 h".
std::string formatSeconds(double seconds);
/// "6,001,215"; from ten millions on "12.3 M", "1.5 G", "2 T".
std::string formatCount(double count);
/// "1.5 GiB", "512 B".
std::string formatBytes(double bytes);
/// The columns that UTF-8 text takes on a terminal: its code points.
size_t displayWidth(std::string_view text);
/// The text in at most `width` columns; what is cut off becomes "…".
std::string cutToWidth(std::string_view text, size_t width);

} // namespace headrace
