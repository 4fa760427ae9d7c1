// The table of functions of texts, and their values.
#include "runtime/base/text_functions.h"

#include "runtime/base/binary_functions.h"
#include "runtime/base/digests.h"
#include "runtime/base/file_names.h"
#include "runtime/base/list_functions.h"
#include "runtime/base/moment_pattern.h"
#include "runtime/base/name_list.h"
#include "runtime/base/regular_expression.h"
#include "runtime/base/sha256.h"
#include "runtime/base/utf8.h"

#include <algorithm>
#include <array>
#include <bit>
#include <clocale>
#include <cstring>
#include <cwctype>
#include <iterator>
#include <optional>
#include <tuple>
#include <vector>

namespace headrace {
namespace {

// What the table writes.
using Text = std::string_view;
using MaybeText = std::optional<std::string_view>;
using Integer = int64_t;
using Boolean = bool;
using MaybeBoolean = std::optional<bool>;
using Texts = std::span<const TextValue>;
struct Blanks : Text {};
struct Bytes : Text {}; ///< of a text or a binary
using MaybeBytes = std::optional<Bytes>;
struct AllBytes {
  Texts values;
};
struct Count {
  int64_t number;
  Count(int64_t number) : number(number) {}
};
using MaybeCount = std::optional<Count>;
struct CodePoint {
  int64_t number;
  CodePoint(int64_t number) : number(number) {}
};

char *append(Text text, char *to) { return std::copy(text.begin(), text.end(), to); }

//===----------------------------------------------------------------------===//
// Case
//===----------------------------------------------------------------------===//

/// The simple mappings of Unicode, whatever the process's locale.
locale_t unicode() {
  static const locale_t made = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  return made;
}

enum class Case : uint8_t { kUpper, kLower };

uint32_t mapped(uint32_t code, Case to) {
  constexpr uint32_t kSharpS = 0xdf, kCapitalSharpS = 0x1e9e; // ß and ẞ, which the tables leave out
  if (to == Case::kUpper && code == kSharpS) {
    return kCapitalSharpS;
  }
  if (!unicode()) {
    return code;
  }
  const auto wide = static_cast<wint_t>(code);
  return static_cast<uint32_t>(to == Case::kUpper ? towupper_l(wide, unicode())
                                                  : towlower_l(wide, unicode()));
}

Text inCase(TextRoom &room, Text text, Case wanted) {
  const char first = wanted == Case::kUpper ? 'a' : 'A';
  return room.make(2 * text.size(), [&](char *to) { // two bytes become at most three
    for (Text rest = text; !rest.empty();) {
      const Text character = utf8::first(rest);
      rest.remove_prefix(character.size());
      if (character.size() > 1) {
        to = utf8::encode(mapped(utf8::decode(character), wanted), to);
        continue;
      }
      const char byte = character.front();
      *to++ = static_cast<uint8_t>(byte - first) < 26 ? static_cast<char>(byte ^ 0x20) : byte;
    }
    return to;
  });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Whether one character is among others.
bool isIn(Text character, Text set) {
  for (; !set.empty(); set.remove_prefix(utf8::firstBytes(set))) {
    if (utf8::first(set) == character) {
      return true;
    }
  }
  return false;
}

Text withoutStart(Text text, Text set) {
  while (!text.empty() && isIn(utf8::first(text), set)) {
    text.remove_prefix(utf8::firstBytes(text));
  }
  return text;
}

Text withoutEnd(Text text, Text set) {
  while (!text.empty() && isIn(utf8::last(text), set)) {
    text.remove_suffix(utf8::last(text).size());
  }
  return text;
}

/// Where `part`, which is not empty, begins from `from` on; the text's end without it.
size_t find(Text text, Text part, size_t from = 0) {
  if (part.size() > text.size() - from) {
    return text.size();
  }
  const auto *found = static_cast<const char *>(
      memmem(text.data() + from, text.size() - from, part.data(), part.size()));
  return found ? static_cast<size_t>(found - text.data()) : text.size();
}

Count positionOf(Text text, Text part) {
  const size_t at = part.empty() ? 0 : find(text, part);
  return at == text.size() && !part.empty() ? 0 : utf8::count(text.substr(0, at)) + 1;
}

bool isAnywhere(Text text, Text part) { return part.empty() || find(text, part) < text.size(); }

/// Shows the parts between which `by` stands, one after the other, until one is enough.
template <typename IsEnough> void eachPart(Text text, Text by, IsEnough isEnough) {
  while (true) {
    const bool byCharacter = by.empty() && !text.empty();
    const size_t end = byCharacter ? utf8::firstBytes(text) : find(text, by);
    if (isEnough(text.substr(0, end)) || end == text.size()) {
      return;
    }
    text.remove_prefix(end + by.size());
  }
}

Text partOf(Text text, Text by, Integer place) {
  Integer parts = 0;
  if (place < 0) {
    eachPart(text, by, [&](Text) { return ++parts, false; });
    place += parts + 1;
  }
  Text found = text.substr(0, 0);
  Integer at = 0;
  eachPart(text, by, [&](Text part) {
    found = ++at == place ? part : found;
    return at >= place;
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Made of others
//===----------------------------------------------------------------------===//

Text joined(TextRoom &room, Texts texts) {
  uint64_t bytes = 0;
  for (const TextValue &each : texts) {
    bytes += each.text.size();
  }
  return room.make(bytes, [&](char *to) {
    for (const TextValue &each : texts) {
      to = append(each.text, to);
    }
    return to;
  });
}

/// How often `part`, which is not empty, is replaced.
uint64_t timesIn(Text text, Text part) {
  uint64_t times = 0;
  for (size_t at = find(text, part); at < text.size(); at = find(text, part, at + part.size())) {
    ++times;
  }
  return times;
}

Text replaced(TextRoom &room, Text text, Text part, Text by) {
  if (part.empty()) {
    return text;
  }
  // Room for the most that it can be is cheaper than counting, unless that is much.
  constexpr uint64_t kMuch = 1 << 16;
  const uint64_t growth = by.size() > part.size() ? by.size() - part.size() : 0;
  uint64_t times = text.size() / part.size();
  times = times * growth > kMuch ? timesIn(text, part) : times;
  return room.make(text.size() + times * growth, [&](char *to) {
    size_t at = 0;
    for (size_t found = find(text, part); found < text.size(); found = find(text, part, at)) {
      to = append(by, append(text.substr(at, found - at), to));
      at = found + part.size();
    }
    return append(text.substr(at), to);
  });
}

Text reversed(TextRoom &room, Text text) {
  return room.make(text.size(), [&](char *to) {
    for (Text rest = text; !rest.empty(); rest.remove_suffix(utf8::last(rest).size())) {
      to = append(utf8::last(rest), to);
    }
    return to;
  });
}

MaybeBytes repeated(TextRoom &room, Text text, Integer times) {
  uint64_t bytes;
  if (__builtin_mul_overflow(text.size(), std::max<Integer>(times, 0), &bytes) ||
      bytes > TextRoom::kBytesMax) {
    return std::nullopt;
  }
  const Text all = room.make(bytes, [&](char *to) {
    for (uint64_t made = 0; made < bytes; made += text.size()) {
      to = append(text, to);
    }
    return to;
  });
  return Bytes{all};
}

enum class Side : uint8_t { kStart, kEnd };

MaybeText padded(TextRoom &room, Text text, Integer wanted, Text by, Side side) {
  const Integer length = utf8::count(text), characters = utf8::count(by);
  if (wanted <= length) {
    return text.substr(0, utf8::bytesOf(text, wanted));
  }
  if (characters == 0) {
    return std::nullopt;
  }
  const Integer missing = wanted - length, times = missing / characters;
  const Text rest = by.substr(0, utf8::bytesOf(by, missing % characters));
  uint64_t bytes;
  if (__builtin_mul_overflow(by.size(), times, &bytes) ||
      __builtin_add_overflow(bytes, text.size() + rest.size(), &bytes)) {
    bytes = UINT64_MAX; // which no room has
  }
  return room.make(bytes, [&](char *to) {
    to = side == Side::kEnd ? append(text, to) : to;
    for (Integer i = 0; i < times; ++i) {
      to = append(by, to);
    }
    to = append(rest, to);
    return side == Side::kStart ? append(text, to) : to;
  });
}

Text translated(TextRoom &room, Text text, Text from, Text by) {
  constexpr uint64_t kBytesOfCharacter = 4;
  return room.make(kBytesOfCharacter * text.size(), [&](char *to) {
    for (Text rest = text; !rest.empty(); rest.remove_prefix(utf8::firstBytes(rest))) {
      const Text character = utf8::first(rest);
      Text source = from, target = by;
      while (!source.empty() && utf8::first(source) != character) {
        source.remove_prefix(utf8::firstBytes(source));
        target.remove_prefix(target.empty() ? 0 : utf8::firstBytes(target));
      }
      to = append(source.empty() ? character : target.empty() ? target : utf8::first(target), to);
    }
    return to;
  });
}

MaybeText characterOf(TextRoom &room, Integer code) {
  constexpr Integer kCodes = 0x110000, kSurrogates = 0xd800, kBehindSurrogates = 0xe000;
  if (code < 0 || code >= kCodes || (code >= kSurrogates && code < kBehindSurrogates)) {
    return std::nullopt;
  }
  constexpr uint64_t kBytesOfCharacter = 4;
  return room.make(kBytesOfCharacter,
                   [&](char *to) { return utf8::encode(static_cast<uint32_t>(code), to); });
}

constexpr Text kDigits = "0123456789ABCDEF";

Text inDigits(TextRoom &room, Text text, unsigned bits) {
  const unsigned digits = 8 / bits;
  return room.make(text.size() * digits, [&](char *to) {
    for (const char byte : text) {
      for (unsigned digit = digits; digit > 0; --digit) {
        const unsigned value = static_cast<uint8_t>(byte) >> (digit - 1) * bits;
        *to++ = kDigits[value % (1u << bits)];
      }
    }
    return to;
  });
}

/// The digits of a digest.
Text hashed(TextRoom &room, Text text, std::string (*digest)(std::span<const uint8_t>)) {
  const std::string digits = digest({reinterpret_cast<const uint8_t *>(text.data()), text.size()});
  return room.make(digits.size(), [&](char *to) { return append(digits, to); });
}

Binary sliceOf(Binary bytes, Integer from, Integer to) {
  const auto [first, end] = sliceBounds(static_cast<Integer>(bytes.size()), from, to);
  return {end > first ? bytes.substr(static_cast<size_t>(first), static_cast<size_t>(end - first))
                      : Text()};
}

MaybeText textOf(Binary bytes) { return utf8::isValid(bytes) ? MaybeText(bytes) : std::nullopt; }

Text inUrl(TextRoom &room, Text text) {
  constexpr Text kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
  return room.make(3 * text.size(), [&](char *to) {
    for (const char byte : text) {
      if (kPlain.find(byte) != Text::npos) {
        *to++ = byte;
        continue;
      }
      *to++ = '%';
      *to++ = kDigits[static_cast<uint8_t>(byte) >> 4];
      *to++ = kDigits[byte & 15];
    }
    return to;
  });
}

/// Other uses of '%' stay; nothing if the text is no UTF-8 then.
MaybeText fromUrl(TextRoom &room, Text text) {
  auto digitAt = [&](size_t at) {
    const size_t found =
        at < text.size() ? Text("0123456789abcdefABCDEF").find(text[at]) : Text::npos;
    return found == Text::npos ? -1 : static_cast<int>(found < 16 ? found : found - 6);
  };
  const Text made = room.make(text.size(), [&](char *to) {
    for (size_t at = 0; at < text.size(); ++at) {
      const int high = text[at] == '%' ? digitAt(at + 1) : -1, low = digitAt(at + 2);
      const bool isByte = high >= 0 && low >= 0;
      *to++ = isByte ? static_cast<char>(16 * high + low) : text[at];
      at += isByte ? 2 : 0;
    }
    return to;
  });
  return utf8::isValid(made) ? MaybeText(made) : std::nullopt;
}

using MaybeNumber = std::optional<Number>;

/// `unit`: a TimeUnit.
MaybeNumber momentBy(Text text, Text format, Integer unit) {
  const std::optional<int64_t> moment = momentIn(text, format, static_cast<TimeUnit>(unit));
  return moment ? MaybeNumber(Number{*moment}) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Parts and numbers
//===----------------------------------------------------------------------===//

/// `by` in place of n characters from the start on, which is counted from 1.
Text overlaid(TextRoom &room, Text text, Text by, Integer start, Integer n) {
  const Integer length = utf8::count(text);
  auto before = [&](__int128 characters) { // as many of them as there are
    const auto most = static_cast<__int128>(length);
    return utf8::bytesOf(text, static_cast<Integer>(std::clamp<__int128>(characters, 0, most)));
  };
  const Text head = text.substr(0, before(static_cast<__int128>(start) - 1));
  const Text tail = text.substr(before(static_cast<__int128>(start) - 1 + n));
  return room.make(head.size() + by.size() + tail.size(),
                   [&](char *to) { return append(tail, append(by, append(head, to))); });
}

MaybeText inBase(TextRoom &room, Integer number, Integer radix, Integer digits) {
  constexpr Text kAll = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr Integer kMost = 64;
  if (number < 0 || radix < 2 || radix > static_cast<Integer>(kAll.size()) || digits < 0 ||
      digits > kMost) {
    return std::nullopt;
  }
  char made[kMost];
  Integer count = 0;
  for (; count == 0 || number > 0 || count < digits; number /= radix) {
    made[kMost - ++count] = kAll[static_cast<size_t>(number % radix)];
  }
  return room.make(static_cast<uint64_t>(count), [&](char *to) {
    return append(Text(made + kMost - count, static_cast<size_t>(count)), to);
  });
}

/// With one digit behind the point, which is cut off, not rounded.
Text humanBytes(TextRoom &room, Integer bytes, uint64_t unit) {
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
  return room.make(text.size(), [&](char *to) { return append(text, to); });
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Takes what stands for one byte from the front of a glob's pattern; whether it is this byte.
/// Nothing if it has no end, or is none.
std::optional<bool> takeOfGlob(Text &pattern, char byte) {
  const char first = pattern.front();
  pattern.remove_prefix(1);
  if (first == '?') {
    return true;
  }
  if (first == '\\') {
    if (pattern.empty()) {
      return std::nullopt;
    }
    const bool isIt = pattern.front() == byte;
    pattern.remove_prefix(1);
    return isIt;
  }
  if (first != '[') {
    return first == byte;
  }
  const bool isNegated = !pattern.empty() && pattern.front() == '!';
  pattern.remove_prefix(isNegated);
  bool isAmong = false;
  for (bool isFirst = true; !pattern.empty() && (isFirst || pattern.front() != ']');
       isFirst = false) {
    const auto low = static_cast<uint8_t>(pattern.front());
    uint8_t high = low;
    pattern.remove_prefix(1);
    if (pattern.size() >= 2 && pattern[0] == '-' && pattern[1] != ']') {
      high = static_cast<uint8_t>(pattern[1]);
      pattern.remove_prefix(2);
    }
    isAmong |= low <= static_cast<uint8_t>(byte) && static_cast<uint8_t>(byte) <= high;
  }
  if (pattern.empty()) {
    return std::nullopt;
  }
  pattern.remove_prefix(1);
  return isAmong != isNegated;
}

Boolean fitsGlob(Text text, Text pattern) {
  // What is tried next where what is tried now fails: the last * stands for one byte more.
  std::optional<std::pair<Text, Text>> other;
  while (true) {
    if (!pattern.empty() && pattern.front() == '*') {
      pattern.remove_prefix(1);
      other = {text, pattern};
      continue;
    }
    if (pattern.empty() && text.empty()) {
      return true;
    }
    const bool fits =
        !pattern.empty() && !text.empty() && takeOfGlob(pattern, text.front()).value_or(false);
    if (fits) {
      text.remove_prefix(1);
      continue;
    }
    if (!other || other->first.empty()) {
      return false;
    }
    other->first.remove_prefix(1);
    std::tie(text, pattern) = *other;
  }
}

/// `escape`: one character; none if it is empty.
MaybeBoolean isLike(Text text, Text pattern, Text escape) {
  // What is tried next where what is tried now fails: the last % stands for one character more.
  std::optional<std::pair<Text, Text>> other;
  while (true) {
    if (!pattern.empty() && pattern.front() == '%' && !(escape == "%")) {
      pattern.remove_prefix(1);
      other = {text, pattern};
      continue;
    }
    if (pattern.empty() && text.empty()) {
      return true;
    }
    Text wanted = pattern.empty() ? pattern : utf8::first(pattern);
    Text rest = pattern.substr(wanted.size());
    const bool any = wanted == "_" && escape != "_";
    if (!wanted.empty() && wanted == escape) {
      if (rest.empty()) {
        return std::nullopt;
      }
      wanted = utf8::first(rest);
      rest.remove_prefix(wanted.size());
    }
    if (!wanted.empty() && !text.empty() && (any || wanted == utf8::first(text))) {
      text.remove_prefix(utf8::firstBytes(text));
      pattern = rest;
    } else if (other && !other->first.empty()) {
      other->first.remove_prefix(utf8::firstBytes(other->first));
      std::tie(text, pattern) = *other;
    } else {
      return false;
    }
  }
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

Count edits(Text text, Text other) {
  // Of the part of `other` that was read to each start of `text`.
  std::vector<int64_t> edits(text.size() + 1);
  for (size_t at = 0; at <= text.size(); ++at) {
    edits[at] = static_cast<int64_t>(at);
  }
  for (const char byte : other) {
    int64_t before = edits[0]++;
    for (size_t at = 1; at <= text.size(); ++at) {
      const int64_t changed = before + (text[at - 1] != byte);
      before = edits[at];
      edits[at] = std::min({changed, before + 1, edits[at - 1] + 1});
    }
  }
  return edits.back();
}

MaybeCount differences(Text text, Text other) {
  if (text.size() != other.size() || text.empty()) {
    return std::nullopt;
  }
  int64_t count = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    count += text[at] != other[at];
  }
  return Count(count);
}

/// The distance of Damerau and Levenshtein; a swapped pair may have other bytes put in between.
int64_t editsWithSwaps(Text x, Text y) {
  const size_t width = y.size() + 2;
  const auto far = static_cast<int64_t>(x.size() + y.size());
  // Row and column 0 stand before the texts, so that what is before both is far.
  std::vector<int64_t> edits((x.size() + 2) * width, far);
  auto at = [&](size_t row, size_t column) -> int64_t & { return edits[row * width + column]; };
  for (size_t row = 0; row <= x.size(); ++row) {
    at(row + 1, 1) = static_cast<int64_t>(row);
  }
  for (size_t column = 0; column <= y.size(); ++column) {
    at(1, column + 1) = static_cast<int64_t>(column);
  }
  std::array<size_t, 256> lastRow{}; // where each byte was last in x, from 1 on
  for (size_t row = 1; row <= x.size(); ++row) {
    size_t lastColumn = 0; // where this row's byte was last in y
    for (size_t column = 1; column <= y.size(); ++column) {
      const bool isSame = x[row - 1] == y[column - 1];
      const size_t pairRow = lastRow[static_cast<uint8_t>(y[column - 1])], pairColumn = lastColumn;
      const auto between = static_cast<int64_t>((row - pairRow - 1) + (column - pairColumn - 1));
      at(row + 1, column + 1) =
          std::min({at(row, column) + (isSame ? 0 : 1), at(row + 1, column) + 1,
                    at(row, column + 1) + 1, at(pairRow, pairColumn) + between + 1});
      lastColumn = isSame ? column : lastColumn;
    }
    lastRow[static_cast<uint8_t>(x[row - 1])] = row;
  }
  return at(x.size() + 1, y.size() + 1);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using Argument = TextFunction::Argument;
using Result = TextFunction::Result;

/// A type of the table as an argument, and its value among those given.
template <typename Type> struct Given;
template <> struct Given<Text> {
  static constexpr Argument kKind = Argument::kText;
  static Text of(std::span<const TextValue> given, size_t index) { return given[index].text; }
};
template <> struct Given<Integer> {
  static constexpr Argument kKind = Argument::kInteger;
  static Integer of(std::span<const TextValue> given, size_t index) { return given[index].number; }
};
template <> struct Given<Blanks> {
  static constexpr Argument kKind = Argument::kBlanks;
  static Blanks of(std::span<const TextValue> given, size_t index) {
    return {index < given.size() ? given[index].text : " "};
  }
};
template <> struct Given<Texts> {
  static constexpr Argument kKind = Argument::kTexts;
  static Texts of(std::span<const TextValue> given, size_t index) { return given.subspan(index); }
};
template <> struct Given<Binary> {
  static constexpr Argument kKind = Argument::kBinary;
  static Binary of(std::span<const TextValue> given, size_t index) { return {given[index].text}; }
};
template <> struct Given<Bytes> {
  static constexpr Argument kKind = Argument::kBytes;
  static Bytes of(std::span<const TextValue> given, size_t index) { return {given[index].text}; }
};
template <> struct Given<AllBytes> {
  static constexpr Argument kKind = Argument::kAllBytes;
  static AllBytes of(std::span<const TextValue> given, size_t index) {
    return {given.subspan(index)};
  }
};
template <> struct Given<List> {
  static constexpr Argument kKind = Argument::kList;
  static List of(std::span<const TextValue> given, size_t index) { return List(given[index].text); }
};
template <> struct Given<Lists> {
  static constexpr Argument kKind = Argument::kLists;
  static Lists of(std::span<const TextValue> given, size_t index) { return {given.subspan(index)}; }
};

template <> struct Given<Nested> {
  static constexpr Argument kKind = Argument::kNested;
  static Nested of(std::span<const TextValue> given, size_t index) { return {given[index].text}; }
};

template <typename Type>
constexpr Result kResult = std::is_same_v<Type, Count>       ? Result::kCount
                           : std::is_same_v<Type, CodePoint> ? Result::kCodePoint
                           : std::is_same_v<Type, Boolean>   ? Result::kBoolean
                           : std::is_same_v<Type, Number>    ? Result::kNumber
                           : std::is_same_v<Type, List>      ? Result::kList
                           : std::is_same_v<Type, Binary>    ? Result::kBinary
                           : std::is_same_v<Type, Bytes>     ? Result::kBytes
                                                             : Result::kText;
template <typename Type> constexpr Result kResult<std::optional<Type>> = kResult<Type>;

template <typename Type> bool put(Type value, TextValue &out) {
  if constexpr (requires { value.has_value(); }) {
    return value && put(*value, out);
  } else if constexpr (std::is_base_of_v<Text, Type>) {
    out.text = value;
  } else if constexpr (std::is_same_v<Type, List>) {
    out.text = value.bytes;
  } else if constexpr (std::is_same_v<Type, Boolean>) {
    out.number = value ? 1 : 0;
  } else {
    out.number = value.number;
  }
  return true;
}

/// What the C++ function of a line says of itself.
template <auto function> struct Signature;
template <typename Value, typename... Types, Value (*function)(TextRoom &, Types...)>
struct Signature<function> {
  static constexpr Result kGives = kResult<Value>;
  static constexpr Argument kArguments[] = {Given<Types>::kKind...};

  static bool evaluate(TextRoom &room, std::span<const TextValue> given, TextValue &out) {
    return [&]<size_t... index>(std::index_sequence<index...>) {
      return put(function(room, Given<Types>::of(given, index)...), out);
    }(std::index_sequence_for<Types...>());
  }
};

template <auto function>
constexpr TextFunction line(int32_t number, Text name, TextFunction::Nulls nulls, Text error,
                            Text duckdbNames, Text substraitNames) {
  using Of = Signature<function>;
  return {number, name,        Of::kArguments, Of::kGives,  nulls,
          error,  duckdbNames, substraitNames, Of::evaluate};
}

#define HR_WITH_ROOM(...) ([[maybe_unused]] TextRoom & room, __VA_ARGS__)
#define HR_LINE(number, name, nulls, error, gives, arguments, value, duckdb, substrait)            \
  line<+[] HR_WITH_ROOM arguments -> gives { return value; }>(                                     \
      number, #name, TextFunction::Nulls::nulls, error, duckdb, substrait),
#define HR_TEXT(number, name, gives, arguments, value, duckdb, substrait, text)                    \
  HR_LINE(number, name, kSpread, "", gives, arguments, value, duckdb, substrait)
#define HR_TEXT_SKIPPING_NULLS(number, name, gives, arguments, value, duckdb, substrait, text)     \
  HR_LINE(number, name, kSkip, "", gives, arguments, value, duckdb, substrait)
#define HR_TEXT_OR_ERROR(number, name, gives, arguments, value, duckdb, substrait, text, error)    \
  HR_LINE(number, name, kSpread, error, gives, arguments, value, duckdb, substrait)
constexpr TextFunction kFunctions[] = {
#include "runtime/base/text_functions.def"
// behind it, as their numbers are
#include "runtime/base/list_functions.def"
};
#undef HR_TEXT_OR_ERROR
#undef HR_TEXT_SKIPPING_NULLS
#undef HR_TEXT
#undef HR_LINE
#undef HR_WITH_ROOM

/// The numbers of functions of lists.
constexpr int32_t kFirstList = 1000;
constexpr size_t kTexts =
    std::ranges::find(kFunctions, kFirstList, &TextFunction::number) - std::begin(kFunctions);

constexpr size_t placeOfNumber(int32_t number) {
  return static_cast<size_t>(number) - (number < kFirstList ? 0 : kFirstList - kTexts);
}

constexpr bool numbersAreCounted() {
  for (size_t index = 0; index < std::size(kFunctions); ++index) {
    if (placeOfNumber(kFunctions[index].number) != index) {
      return false;
    }
  }
  return true;
}
static_assert(numbersAreCounted(), "lines of the tables stand in the order of their numbers");

} // namespace

bool TextFunction::takes(size_t count) const {
  return isVariadic() ? count >= arguments.size()
                      : count == arguments.size() || (count + 1 == arguments.size() &&
                                                      arguments.back() == Argument::kBlanks);
}

std::pair<int64_t, int64_t> TextFunction::range() const {
  constexpr int64_t kCodeMax = 0x10ffff;
  switch (result) {
  case Result::kBoolean:
    return {0, 1};
  case Result::kCodePoint:
    return {-1, kCodeMax};
  case Result::kNumber:
    return {INT64_MIN, INT64_MAX};
  case Result::kText:
  case Result::kBinary:
  case Result::kBytes:
  case Result::kList:
  case Result::kCount:
    break;
  }
  return {0, TextRoom::kBytesMax};
}

std::span<const TextFunction> textFunctions() { return kFunctions; }

const TextFunction &textFunction(int32_t number) { return kFunctions[placeOfNumber(number)]; }

const TextFunction *textFunctionNamed(std::string_view name) {
  const TextFunction *found = std::ranges::find(kFunctions, name, &TextFunction::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

static const TextFunction *functionOf(std::string_view TextFunction::*names, std::string_view name,
                                      size_t arguments) {
  for (const TextFunction &function : kFunctions) {
    if (function.takes(arguments) && listsName(function.*names, name)) {
      return &function;
    }
  }
  return nullptr;
}

const TextFunction *textFunctionOfDuckdb(std::string_view name, size_t arguments) {
  return functionOf(&TextFunction::duckdbNames, name, arguments);
}

const TextFunction *textFunctionOfSubstrait(std::string_view name, size_t arguments) {
  return functionOf(&TextFunction::substraitNames, name, arguments);
}

} // namespace headrace
