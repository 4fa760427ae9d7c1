// Figures as people read them: decimal prefixes, three digits.
#pragma once

#include <cstdint>
#include <string>

namespace headrace::topo {

std::string countText(double count);      ///< "989 T", "1.5 G", "72 "
std::string bytesText(double bytes);      ///< "80 GB"
std::string rateText(double perSecond);   ///< "450 GB/s"
std::string secondsText(double seconds);  ///< "1.5 µs"
std::string percentText(double fraction); ///< "±15 %"
std::string integerText(int64_t number);  ///< "100,800"
/// "1 rank", "100,800 ranks".
std::string countedText(int64_t number, const std::string &noun);

} // namespace headrace::topo
