// Units by the size of the number; three digits of it.
#include "runtime/base/readable.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace headrace {
namespace {

std::string threeDigits(double value, const char *unit) {
  char text[48];
  int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  std::string out = text;
  if (decimals > 0) {
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') {
      out.pop_back();
    }
  }
  return out + " " + unit;
}

bool continues(char letter) { return (static_cast<unsigned char>(letter) & 0xc0) == 0x80; }

} // namespace

std::string formatSeconds(double seconds) {
  struct Unit {
    double below;
    double factor;
    const char *name;
  };
  constexpr std::array<Unit, 5> kUnits = {{{1e-6, 1e9, "ns"},
                                           {1e-3, 1e6, "µs"},
                                           {1, 1e3, "ms"},
                                           {120, 1, "s"},
                                           {7200, 1.0 / 60, "min"}}};
  if (seconds == 0) {
    return "0 s";
  }
  for (const Unit &unit : kUnits) {
    if (seconds < unit.below) {
      return threeDigits(seconds * unit.factor, unit.name);
    }
  }
  return threeDigits(seconds / 3600, "h");
}

std::string formatCount(double count) {
  constexpr double kExactBelow = 1e7;
  if (count >= kExactBelow) {
    return count < 1e9    ? threeDigits(count / 1e6, "M")
           : count < 1e12 ? threeDigits(count / 1e9, "G")
                          : threeDigits(count / 1e12, "T");
  }
  std::string digits = std::to_string(std::llround(count));
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string formatBytes(double bytes) {
  constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  size_t unit = 0;
  while (std::abs(bytes) >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof(text), unit == 0 ? "%.0f %s" : "%.4g %s", bytes, kUnits[unit]);
  return text;
}

size_t displayWidth(std::string_view text) {
  size_t width = 0;
  for (char letter : text) {
    width += continues(letter) ? 0 : 1;
  }
  return width;
}

std::string cutToWidth(std::string_view text, size_t width) {
  if (displayWidth(text) <= width) {
    return std::string(text);
  }
  size_t end = 0;
  for (size_t columns = 0; end < text.size(); ++end) {
    if (!continues(text[end]) && columns++ + 1 >= width) {
      break;
    }
  }
  return std::string(text.substr(0, end)) + "…";
}

} // namespace headrace
