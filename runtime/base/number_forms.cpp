// A size is a number, blanks and a unit; a bar is whole blocks, a part of one, and blanks.
#include "runtime/base/number_forms.h"

#include "runtime/base/ascii.h"
#include "runtime/base/text_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace headrace {
namespace {

using Text = std::string_view;

struct Unit {
  Text names; ///< with blanks around each
  double bytes;
};
constexpr std::array<Unit, 9> kUnits = {{{" byte bytes b ", 1},
                                         {" kilobyte kilobytes kb k ", 1e3},
                                         {" megabyte megabytes mb m ", 1e6},
                                         {" gigabyte gigabytes gb g ", 1e9},
                                         {" terabyte terabytes tb t ", 1e12},
                                         {" kib ", 0x1p10},
                                         {" mib ", 0x1p20},
                                         {" gib ", 0x1p30},
                                         {" tib ", 0x1p40}}};

/// Takes what consists of these characters from the front of the text.
Text takeWhile(Text &text, Text characters) {
  const Text taken = text.substr(0, text.find_first_not_of(characters));
  text.remove_prefix(taken.size());
  return taken;
}

} // namespace

std::string sizeText(int64_t bytes, uint64_t unit) {
  static constexpr Text kBinary[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  static constexpr Text kDecimal[] = {"kB", "MB", "GB", "TB", "PB"};
  const uint64_t size = bytes < 0 ? -static_cast<uint64_t>(bytes) : static_cast<uint64_t>(bytes);
  uint64_t whole = size, rest = 0;
  size_t name = 0;
  for (; whole >= unit && name < std::size(kBinary); ++name) {
    rest = whole % unit;
    whole /= unit;
  }
  std::string text = (bytes < 0 ? "-" : "") + std::to_string(whole);
  if (name == 0) {
    text += size == 1 ? " byte" : " bytes";
  } else {
    text += '.' + std::to_string(rest * 10 / unit) + ' ';
    text += (unit == 1024 ? kBinary : kDecimal)[name - 1];
  }
  return text;
}

std::optional<int64_t> sizeIn(Text text) {
  takeWhile(text, kAsciiBlanks);
  double number = 0;
  if (!parseReal(takeWhile(text, "0123456789.eE-"), &number)) {
    return std::nullopt;
  }
  takeWhile(text, kAsciiBlanks);
  std::string name = " ";
  for (const char c : text.substr(0, text.find_first_of(kAsciiBlanks))) {
    name += lowerAscii(c);
  }
  name += ' ';
  const auto *unit = std::ranges::find_if(
      kUnits, [&](const Unit &unit) { return unit.names.find(name) != Text::npos; });
  if (name.size() == 2 || unit == kUnits.end()) {
    return std::nullopt;
  }
  const double bytes = number * unit->bytes;
  return bytes >= 0 && bytes < 0x1p63 ? std::optional(static_cast<int64_t>(bytes)) : std::nullopt;
}

std::optional<std::string> barText(double value, double least, double most, double width) {
  constexpr double kWidthMax = 1000;
  constexpr uint64_t kParts = 8;
  static constexpr Text kBlocks[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  if (!(width >= 1 && width <= kWidthMax)) {
    return std::nullopt;
  }
  double filled = 0;
  if (value >= most && value > least) {
    filled = width;
  } else if (value > least && !std::isnan(most)) {
    filled = width * (value - least) / (most - least);
  }
  if (!std::isfinite(filled)) {
    return std::nullopt;
  }
  const auto parts = static_cast<uint64_t>(filled * kParts);
  std::string bar;
  for (uint64_t block = 0; block < parts / kParts; ++block) {
    bar += kBlocks[kParts];
  }
  bar += kBlocks[parts % kParts];
  const uint64_t used = (parts + kParts - 1) / kParts, all = static_cast<uint64_t>(width);
  bar.append(used < all ? all - used : 0, ' ');
  return bar;
}

} // namespace headrace
