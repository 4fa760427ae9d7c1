// The table of functions of texts, and their values.
#include "runtime/base/text_functions.h"

#include "runtime/base/ascii.h"
#include "runtime/base/binary_functions.h"
#include "runtime/base/canonical_forms.h"
#include "runtime/base/digests.h"
#include "runtime/base/enum_values.h"
#include "runtime/base/file_names.h"
#include "runtime/base/graphemes.h"
#include "runtime/base/interval_values.h"
#include "runtime/base/json_functions.h"
#include "runtime/base/list_functions.h"
#include "runtime/base/moment_pattern.h"
#include "runtime/base/name_list.h"
#include "runtime/base/number_forms.h"
#include "runtime/base/percent_text.h"
#include "runtime/base/regular_expression.h"
#include "runtime/base/sha256.h"
#include "runtime/base/text_distances.h"
#include "runtime/base/text_patterns.h"
#include "runtime/base/unsigned128.h"
#include "runtime/base/utf8.h"
#include "runtime/base/uuid.h"
#include "runtime/base/value_form.h"
#include "runtime/base/zone_rules.h"

#include <algorithm>
#include <array>
#include <bit>
#include <clocale>
#include <cmath>
#include <cstring>
#include <cwctype>
#include <functional>
#include <iterator>
#include <optional>

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
using Interval = PackedInterval;
using MaybeInterval = std::optional<PackedInterval>;
using Unsigned128 = PackedUnsigned128;
using MaybeUnsigned128 = std::optional<PackedUnsigned128>;
struct ShortNumber { ///< of 32 bits
  int64_t number;
  ShortNumber(int64_t number) : number(number) {}
};
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

/// Eight characters of ASCII, of which those from `first` on are the letters of the other case.
uint64_t inCase(uint64_t eight, char first) {
  constexpr uint64_t kEach = 0x0101010101010101, kHigh = 0x80 * kEach;
  const uint64_t fromFirst = eight + kEach * static_cast<uint8_t>(0x80 - first);
  const uint64_t behindLast = eight + kEach * static_cast<uint8_t>(0x80 - first - 26);
  return eight ^ (fromFirst & ~behindLast & kHigh) >> 2;
}

Text inCase(TextRoom &room, Text text, Case wanted) {
  constexpr uint64_t kNotAscii = 0x8080808080808080;
  const char first = wanted == Case::kUpper ? 'a' : 'A';
  return room.make(2 * text.size(), [&](char *to) { // two bytes become at most three
    for (Text rest = text; !rest.empty();) {
      uint64_t eight = kNotAscii;
      if (rest.size() >= sizeof eight) {
        std::memcpy(&eight, rest.data(), sizeof eight);
      }
      if ((eight & kNotAscii) == 0) {
        eight = inCase(eight, first);
        std::memcpy(to, &eight, sizeof eight);
        to += sizeof eight;
        rest.remove_prefix(sizeof eight);
        continue;
      }
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
  return room.make(text.size(), [&](char *to) { return reverseGraphemes(text, to); });
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

/// Digits of so many bits each of a number, where a negative one has 64 bits, from the first that
/// is not 0.
Text integerDigits(TextRoom &room, Integer number, Integer bits) {
  auto value = static_cast<uint64_t>(number);
  const auto width = static_cast<unsigned>(std::bit_width(value | 1));
  const auto each = static_cast<unsigned>(bits);
  const unsigned digits = (width + each - 1) / each;
  return room.make(digits, [&](char *to) {
    for (unsigned digit = digits; digit > 0; --digit, value >>= each) {
      to[digit - 1] = kDigits[value % (1u << each)];
    }
    return to + digits;
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

Text sliceOf(Text text, Integer from, Integer to) {
  const auto [first, end] = sliceBounds(utf8::count(text), from, to);
  const size_t start = utf8::bytesOf(text, first);
  return end > first ? text.substr(start, utf8::bytesOf(text.substr(start), end - first)) : Text();
}

MaybeText textOf(Binary bytes) { return utf8::isValid(bytes) ? MaybeText(bytes) : std::nullopt; }

Text inUrl(TextRoom &room, Text text) {
  return room.make(3 * text.size(), [&](char *to) { return percentEncode(text, to); });
}

/// Nothing if the text is no UTF-8 then.
MaybeText fromUrl(TextRoom &room, Text text) {
  const Text made = room.make(text.size(), [&](char *to) { return percentDecode(text, to); });
  return utf8::isValid(made) ? MaybeText(made) : std::nullopt;
}

using MaybeNumber = std::optional<Number>;

MaybeNumber someNumber(std::optional<int64_t> number) {
  return number ? MaybeNumber(Number{*number}) : std::nullopt;
}

/// `unit`: a TimeUnit.
MaybeNumber momentBy(Text text, Text format, Integer unit) {
  return someNumber(momentIn(text, format, static_cast<TimeUnit>(unit)));
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

using MaybeString = std::optional<std::string>;

Text kept(TextRoom &room, const std::string &text) {
  return room.make(text.size(), [&](char *to) { return append(text, to); });
}
MaybeText kept(TextRoom &room, const MaybeString &text) {
  return text ? MaybeText(kept(room, *text)) : std::nullopt;
}

MaybeBinary zoneRulesOf(TextRoom &room, Text name, Binary zones) {
  std::string made;
  const std::optional<std::string_view> rules = zoneNamed(name, zones, made);
  if (!rules) {
    return std::nullopt;
  }
  return Binary{made.empty() ? *rules : Text(kept(room, made))};
}

/// The nth element, a double, from 0 on.
double realAt(const List &list, uint32_t n = 0) {
  return realIn(list.view.code(), list.view.bytes(n));
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

Binary keptKey(TextRoom &room, const IntervalParts &parts) {
  return {kept(room, intervalKey(parts))};
}

MaybeEnum keptEnum(TextRoom &room, Text text, const List &values) {
  for (uint32_t place = 0; place < values.view.size(); ++place) {
    if (values.view.bytes(place) == text) {
      return Enum{kept(room, packedEnum(place, text))};
    }
  }
  return std::nullopt;
}

Text printedInterval(TextRoom &room, const IntervalParts &parts) {
  return kept(room, intervalText(parts));
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
template <> struct Given<Interval> {
  static constexpr Argument kKind = Argument::kInterval;
  static Interval of(std::span<const TextValue> given, size_t index) { return {given[index].text}; }
};
template <> struct Given<Unsigned128> {
  static constexpr Argument kKind = Argument::kUnsigned128;
  static Unsigned128 of(std::span<const TextValue> given, size_t index) {
    return {given[index].text};
  }
};
template <> struct Given<Uuid> {
  static constexpr Argument kKind = Argument::kUuid;
  static Uuid of(std::span<const TextValue> given, size_t index) { return {given[index].text}; }
};
template <> struct Given<Enum> {
  static constexpr Argument kKind = Argument::kEnum;
  static Enum of(std::span<const TextValue> given, size_t index) { return {given[index].text}; }
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
constexpr Result kResult = std::is_same_v<Type, Count>         ? Result::kCount
                           : std::is_same_v<Type, CodePoint>   ? Result::kCodePoint
                           : std::is_same_v<Type, Boolean>     ? Result::kBoolean
                           : std::is_same_v<Type, Number>      ? Result::kNumber
                           : std::is_same_v<Type, List>        ? Result::kList
                           : std::is_same_v<Type, Binary>      ? Result::kBinary
                           : std::is_same_v<Type, Interval>    ? Result::kInterval
                           : std::is_same_v<Type, Unsigned128> ? Result::kUnsigned128
                           : std::is_same_v<Type, Uuid>        ? Result::kUuid
                           : std::is_same_v<Type, Enum>        ? Result::kEnum
                           : std::is_same_v<Type, ShortNumber> ? Result::kShortNumber
                           : std::is_same_v<Type, Bytes>       ? Result::kBytes
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
// and behind these
#include "runtime/base/json_functions.def"
};
#undef HR_TEXT_OR_ERROR
#undef HR_TEXT_SKIPPING_NULLS
#undef HR_TEXT
#undef HR_LINE
#undef HR_WITH_ROOM

static_assert(
    std::ranges::is_sorted(kFunctions, std::less_equal<>(), &TextFunction::number),
    "lines of the tables stand in the order of their numbers, each of which is there once");

/// The places of numbers in the table; what no line has is at the first.
constexpr auto kPlaces = [] {
  std::array<uint16_t, std::end(kFunctions)[-1].number + 1> places{};
  for (size_t place = 0; place < std::size(kFunctions); ++place) {
    places[static_cast<size_t>(kFunctions[place].number)] = static_cast<uint16_t>(place);
  }
  return places;
}();

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
  case Result::kShortNumber:
    return {INT32_MIN, INT32_MAX};
  case Result::kText:
  case Result::kBinary:
  case Result::kInterval:
  case Result::kUnsigned128:
  case Result::kUuid:
  case Result::kEnum:
  case Result::kBytes:
  case Result::kList:
  case Result::kCount:
    break;
  }
  return {0, TextRoom::kBytesMax};
}

std::span<const TextFunction> textFunctions() { return kFunctions; }

const TextFunction &textFunction(int32_t number) {
  return kFunctions[kPlaces[static_cast<size_t>(number)]];
}

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
