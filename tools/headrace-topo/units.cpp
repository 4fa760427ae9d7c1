// Prefixes and digits.
#include "tools/headrace-topo/units.h"

#include <cmath>
#include <cstdint>
#include <cstdio>

namespace headrace::topo {
namespace {

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  // 1e+03 stands for what was rounded up to a thousand.
  if (std::string(text).find('e') != std::string::npos) {
    std::snprintf(text, sizeof(text), "%.0f", value);
  }
  return text;
}

} // namespace

std::string countText(double count) {
  constexpr const char *kPrefixes[] = {"", "k", "M", "G", "T", "P", "E", "Z"};
  size_t prefix = 0;
  while (std::abs(count) >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    count /= 1000;
    ++prefix;
  }
  return digits(count) + " " + kPrefixes[prefix];
}

std::string bytesText(double bytes) { return countText(bytes) + "B"; }

std::string rateText(double perSecond) { return countText(perSecond) + "B/s"; }

std::string secondsText(double seconds) {
  if (seconds == 0) {
    return "0 s";
  }
  constexpr const char *kUnits[] = {"s", "ms", "µs", "ns"};
  size_t unit = 0;
  while (seconds < 0.9995 && unit + 1 < std::size(kUnits)) {
    seconds *= 1000;
    ++unit;
  }
  return digits(seconds) + " " + kUnits[unit];
}

std::string percentText(double fraction) { return "±" + digits(100 * fraction) + " %"; }

std::string integerText(int64_t number) {
  std::string text = std::to_string(number);
  for (int64_t at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), ",");
  }
  return text;
}

std::string countedText(int64_t number, const std::string &noun) {
  return integerText(number) + " " + noun + (number == 1 ? "" : "s");
}

} // namespace headrace::topo
