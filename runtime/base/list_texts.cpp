// Functions between nested values and texts: how they are printed and ordered, and a list's
// elements as another type.
#include "runtime/base/ascii.h"
#include "runtime/base/list_functions.h"

#include "runtime/abi/kernel.h"
#include "runtime/base/byte_types.h"
#include "runtime/base/double_double.h"
#include "runtime/base/file_names.h"
#include "runtime/base/interval_values.h"
#include "runtime/base/moment_text.h"
#include "runtime/base/nested_texts.h"
#include "runtime/base/regular_expression.h"
#include "runtime/base/text_numbers.h"
#include "runtime/base/utf8.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace headrace {
namespace {

using Text = std::string_view;

Text keep(TextRoom &room, const std::string &text) {
  return room.make(text.size(), [&](char *to) { return std::copy(text.begin(), text.end(), to); });
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// An element that is not nested, as a cast to a text writes it.
std::string textOf(ElementCode code, Text element) {
  char memory[HR_TEXT_PRINTED];
  const LogicalType type = elementType(code);
  auto upTo = [&](char *end) { return std::string(memory, end); };
  if (const ByteType *bytes = byteTypeOf(type.kind)) {
    return bytes->text(element);
  }
  switch (type.kind) {
  case LogicalKind::kString:
    return std::string(element);
  case LogicalKind::kBool:
    return integerIn(code, element) != 0 ? "true" : "false";
  case LogicalKind::kF32:
    return std::string(printReal(static_cast<float>(realIn(code, element)), memory));
  case LogicalKind::kF64:
    return std::string(printReal(realIn(code, element), memory));
  case LogicalKind::kDate:
    return upTo(printDate(static_cast<int64_t>(integerIn(code, element)), memory));
  case LogicalKind::kTime:
    return upTo(printTime(static_cast<int64_t>(integerIn(code, element)), type.unit, memory));
  case LogicalKind::kTimestamp:
    return upTo(printTimestamp(static_cast<int64_t>(integerIn(code, element)), type.unit,
                               type.zoned, memory));
  default:
    return std::string(printExact(integerIn(code, element), type, memory));
  }
}

/// Whether a text in a list would read as something else without quotes.
bool needsQuotes(const std::string &text) {
  constexpr Text kSpecial = "'\"[]{}(),=:\\";
  return text.empty() || text.find_first_of(kSpecial) != std::string::npos ||
         isAsciiBlank(text.front()) || isAsciiBlank(text.back()) || equalsLower(text, "null");
}

void appendQuoted(Text text, std::string &out) {
  out += '\'';
  for (char letter : text) {
    if (letter == '\'' || letter == '\\') {
      out += '\\';
    }
    out += letter;
  }
  out += '\'';
}

/// The letters of shapes.
constexpr char kListShape = '[', kStructShape = '{', kTupleShape = '(', kMapShape = '=',
               kPlainShape = '"'; ///< a list of texts that have no quotes

/// What is at a place of a shape; nothing where it has none.
Text partOf(const ListView &shape, uint32_t place) {
  return place < shape.size() ? shape.bytes(place) : Text();
}

void append(const ListView &value, Text shape, std::string &out);

/// The element at a place, which is there.
void append(const ListView &value, uint32_t place, Text shape, std::string &out) {
  const ElementCode code = value.code(place);
  if (!value.isValid(place)) {
    out += "NULL";
  } else if (elementType(code).isNested()) {
    append(ListView(value.bytes(place)), shape, out);
  } else if (const std::string text = textOf(code, value.bytes(place)); needsQuotes(text)) {
    appendQuoted(text, out);
  } else {
    out += text;
  }
}

/// Nested values of no shape are lists.
void append(const ListView &value, Text shapeBytes, std::string &out) {
  const ListView shape(shapeBytes);
  const char letter = shape.size() == 0 ? kListShape : shape.bytes(0).front();
  const bool isList = letter == kListShape || letter == kPlainShape;
  out += isList ? kListShape : letter == kMapShape ? kStructShape : letter;
  for (uint32_t place = 0; place < value.size(); ++place) {
    out += place == 0 ? "" : ", ";
    if (letter == kStructShape) {
      appendQuoted(partOf(shape, 2 * place + 1), out);
      out += ": ";
      append(value, place, partOf(shape, 2 * place + 2), out);
    } else if (letter == kTupleShape) {
      append(value, place, partOf(shape, 2 * place + 2), out);
    } else if (letter == kMapShape) {
      const ListView entry(value.bytes(place));
      append(entry, 0, partOf(shape, 1), out);
      out += '=';
      append(entry, 1, partOf(shape, 2), out);
    } else if (letter == kPlainShape) {
      out += value.isValid(place) ? value.bytes(place) : Text("NULL");
    } else {
      append(value, place, partOf(shape, 1), out);
    }
  }
  out += letter == kTupleShape && value.size() == 1 ? "," : "";
  out += isList ? ']' : letter == kTupleShape ? ')' : '}';
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// The highest byte first.
void appendOrdered(unsigned __int128 bits, uint32_t bytes, std::string &out) {
  for (uint32_t byte = bytes; byte-- > 0;) {
    out += static_cast<char>(static_cast<uint8_t>(bits >> (8 * byte)));
  }
}

/// Bytes that are in order as the elements are, none the beginning of another's. A list: 1 before
/// each element, 2 for NULL, 0 at the end. A text: 0 becomes 0 1, and 0 0 ends it.
void appendOrder(ElementCode code, Text element, std::string &out);

void appendOrder(const ListView &list, std::string &out) {
  for (uint32_t index = 0; index < list.size(); ++index) {
    out += list.isValid(index) ? '\1' : '\2';
    if (list.isValid(index)) {
      appendOrder(list.code(index), list.bytes(index), out);
    }
  }
  out += '\0';
}

void appendOrder(ElementCode code, Text element, std::string &out) {
  const LogicalType type = elementType(code);
  const uint32_t bytes = elementBytes(code);
  if (type.isNested()) {
    appendOrder(ListView(element), out);
  } else if (type.isTextOrBinary()) {
    for (char letter : element) {
      out += letter;
      if (letter == '\0') {
        out += '\1';
      }
    }
    out.append(2, '\0');
  } else if (type.kind == LogicalKind::kInterval) {
    out += intervalKey(intervalParts(element));
  } else if (type.kind == LogicalKind::kU128) {
    out += element;
  } else if (type.real()) {
    // The bits of negative numbers count down; NaN, which is positive here, is the largest.
    const auto bits = std::bit_cast<uint64_t>(realIn(code, element));
    constexpr uint64_t kSign = uint64_t{1} << 63;
    appendOrdered((bits & kSign) != 0 ? ~bits : bits | kSign, sizeof bits, out);
  } else {
    const auto sign = static_cast<unsigned __int128>(1) << (8 * bytes - 1);
    appendOrdered(static_cast<unsigned __int128>(integerIn(code, element)) ^ sign, bytes, out);
  }
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

__int128 powerOfTen(int32_t digits) {
  __int128 power = 1;
  for (int32_t digit = 0; digit < digits; ++digit) {
    power *= 10;
  }
  return power;
}

bool fits(ElementCode code, __int128 value) {
  const LogicalType type = elementType(code);
  if (type.kind == LogicalKind::kDecimal) {
    const __int128 limit = powerOfTen(type.precision);
    return value > -limit && value < limit;
  }
  constexpr uint32_t kBits = 8, kMost = 128;
  const uint32_t bits = kBits * elementBytes(code);
  if (type.kind >= LogicalKind::kU8 && type.kind <= LogicalKind::kU64) { // in twice as many
    return value >= 0 && value < static_cast<__int128>(1) << bits / 2;
  }
  return value == value << (kMost - bits) >> (kMost - bits);
}

/// An exact number in units of 10^-from in units of 10^-to, rounded half away from zero.
std::optional<__int128> rescaled(__int128 value, int32_t from, int32_t to) {
  __int128 result = value;
  if (to >= from) {
    return __builtin_mul_overflow(value, powerOfTen(to - from), &result) ? std::nullopt
                                                                         : std::optional(result);
  }
  const __int128 unit = powerOfTen(from - to);
  result = value / unit;
  const __int128 rest = value % unit, size = rest < 0 ? -rest : rest;
  return size >= unit - size ? result + (value < 0 ? -1 : 1) : result;
}

std::optional<ElementBytes> exactFrom(ElementCode from, Text element, ElementCode to) {
  const LogicalType source = elementType(from), target = elementType(to);
  std::optional<__int128> value;
  if (source.kind == LogicalKind::kString) {
    __int128 parsed = 0;
    value = parseScaled(withoutBlanks(element), target.scale, &parsed) ? std::optional(parsed)
                                                                       : std::nullopt;
  } else if (source.real()) {
    const double scaled = realIn(from, element) * static_cast<double>(powerOfTen(target.scale));
    const bool isDecimal = target.kind == LogicalKind::kDecimal;
    const double whole = isDecimal ? std::round(scaled) : std::nearbyint(scaled);
    const double beyond = isDecimal ? static_cast<double>(powerOfTen(target.precision)) : 0x1p127;
    value = std::abs(whole) < beyond ? std::optional(static_cast<__int128>(whole)) : std::nullopt;
  } else {
    value = rescaled(integerIn(from, element), source.scale, target.scale);
  }
  return value && fits(to, *value) ? std::optional(ElementBytes::ofInteger(to, *value))
                                   : std::nullopt;
}

std::optional<ElementBytes> realFrom(ElementCode from, Text element, ElementCode to) {
  const LogicalType source = elementType(from);
  double value = 0;
  if (source.kind == LogicalKind::kString) {
    if (!parseReal(withoutBlanks(element), &value)) {
      return std::nullopt;
    }
  } else if (source.real()) {
    value = realIn(from, element);
  } else {
    value = nearestReal(integerIn(from, element), source.scale);
  }
  // A text may be infinite as a float.
  const bool isSingle =
      elementType(to).kind == LogicalKind::kF32 && source.kind != LogicalKind::kString;
  if (isSingle && std::isfinite(value) && std::isinf(static_cast<float>(value))) {
    return std::nullopt;
  }
  return ElementBytes::ofReal(to, value);
}

} // namespace

std::string shapeOf(const LogicalType &type, std::span<const LogicalType *const> plain) {
  if (!type.isNested()) {
    return {};
  }
  const bool isStruct = type.kind == LogicalKind::kStruct;
  const bool isTuple = isStruct && type.names.front().empty();
  const bool isPlain = std::ranges::find(plain, &type) != plain.end();
  const char letter = isPlain                           ? kPlainShape
                      : type.kind == LogicalKind::kList ? kListShape
                      : type.kind == LogicalKind::kMap  ? kMapShape
                      : isTuple                         ? kTupleShape
                                                        : kStructShape;
  std::vector<std::string> parts{std::string(1, letter)};
  size_t size = 1;
  for (size_t index = 0; index < type.children.size(); ++index) {
    if (isStruct) {
      size += parts.emplace_back(type.names[index]).size();
    }
    size += parts.emplace_back(shapeOf(type.children[index], plain)).size();
  }
  const ElementCode code = elementCode({LogicalKind::kString});
  std::string bytes(ListWriter::bytesOf(code, parts.size(), size), '\0');
  ListWriter writer(bytes.data(), code, static_cast<uint32_t>(parts.size()));
  for (const std::string &part : parts) {
    writer.add(part);
  }
  return bytes;
}

std::string nestedText(Text bytes, Text shape) {
  std::string text;
  append(ListView(bytes), shape, text);
  return text;
}

std::string listText(Text bytes) { return nestedText(bytes, {}); }

Text printedValue(TextRoom &room, const Nested &value, const List &shape) {
  return keep(room, nestedText(value.bytes, shape.bytes));
}

Text orderText(TextRoom &room, const Nested &value) {
  std::string text;
  appendOrder(ListView(value.bytes), text);
  return keep(room, text);
}

Text keyedText(TextRoom &room, const Nested &value) {
  std::string text; // no order is the beginning of another
  appendOrder(ListView(value.bytes), text);
  text += value.bytes;
  const auto size = static_cast<uint32_t>(value.bytes.size());
  text.append(reinterpret_cast<const char *>(&size), sizeof size);
  return keep(room, text);
}

List keyedValue(TextRoom &room, Text keyed, int64_t code) {
  uint32_t size = 0;
  if (keyed.size() >= sizeof size) { // else it is what stands under NULL
    keyed.remove_suffix(sizeof size);
    std::memcpy(&size, keyed.end(), sizeof size);
  }
  return listOfText(room, keyed.substr(keyed.size() - std::min<size_t>(size, keyed.size())), code);
}

MaybeList castList(TextRoom &room, const List &list, int64_t code) {
  const auto from = list.view.code(), to = static_cast<ElementCode>(code);
  const LogicalKind kind = elementType(to).kind;
  const bool isText = kind == LogicalKind::kString;
  std::string text; // all elements, one behind the other
  std::vector<size_t> ends;
  for (uint32_t index = 0; index < list.view.size(); ++index) {
    if (list.view.isValid(index)) {
      const Text element = list.view.bytes(index);
      if (isText && elementType(from).kind == LogicalKind::kList) {
        append(ListView(element), {}, text);
      } else if (isText) {
        text += textOf(from, element);
      } else {
        std::optional<ElementBytes> value =
            elementType(to).real() ? realFrom(from, element, to) : exactFrom(from, element, to);
        if (!value) {
          return std::nullopt;
        }
        text += value->view();
      }
    }
    ends.push_back(text.size());
  }
  return List(room.make(ListWriter::bytesOf(to, ends.size(), text.size()), [&](char *memory) {
    ListWriter writer(memory, to, static_cast<uint32_t>(ends.size()));
    size_t begin = 0;
    for (size_t index = 0; index < ends.size(); ++index) {
      const Text element = Text(text).substr(begin, ends[index] - begin);
      writer.add(list.view.isValid(static_cast<uint32_t>(index)) ? std::optional(element)
                                                                 : std::nullopt);
      begin = ends[index];
    }
    return writer.end();
  }));
}

Text joinedTexts(TextRoom &room, const List &list, Text by) {
  return room.make(list.view.textBytes() + by.size() * list.view.size(), [&](char *to) {
    bool isFirst = true;
    for (uint32_t index = 0; index < list.view.size(); ++index) {
      if (std::optional<Text> text = list.view.element(index)) {
        to = isFirst ? to : std::copy(by.begin(), by.end(), to);
        to = std::copy(text->begin(), text->end(), to);
        isFirst = false;
      }
    }
    return to;
  });
}

static List listOfTexts(TextRoom &room, const std::vector<std::optional<Text>> &texts) {
  return listOf(room, elementCode({LogicalKind::kString}), texts);
}

List splitText(TextRoom &room, Text text, Text by) {
  std::vector<std::optional<Text>> parts;
  while (true) {
    const size_t found = by.empty() ? Text::npos : text.find(by);
    const size_t end = by.empty() && !text.empty() ? utf8::firstBytes(text)
                       : found == Text::npos       ? text.size()
                                                   : found;
    parts.push_back(text.substr(0, end));
    if (end == text.size()) {
      break;
    }
    text.remove_prefix(end + by.size());
  }
  return listOfTexts(room, parts);
}

MaybeList splitText(TextRoom &room, Text text, Text pattern, Text options) {
  const std::optional<std::vector<Text>> parts = regular_expression::split(text, pattern, options);
  return parts ? MaybeList(listOfTexts(room, {parts->begin(), parts->end()})) : std::nullopt;
}

MaybeList allMatches(TextRoom &room, Text text, Text pattern, int64_t group, Text options) {
  const auto found = regular_expression::allMatches(text, pattern, group, options);
  return found ? MaybeList(listOfTexts(room, *found)) : std::nullopt;
}

static MaybeList listOfParts(TextRoom &room,
                             const std::optional<std::vector<nested_texts::Part>> &parts) {
  return parts ? MaybeList(listOfTexts(room, {parts->begin(), parts->end()})) : std::nullopt;
}

MaybeList elementTexts(TextRoom &room, Text text) {
  return listOfParts(room, nested_texts::elements(text));
}

MaybeList entryTexts(TextRoom &room, Text text) {
  const auto entries = nested_texts::entries(text);
  if (!entries) {
    return std::nullopt;
  }
  const ElementCode code = elementCode({LogicalKind::kString});
  std::vector<std::string> structs;
  for (const auto &[key, value] : *entries) {
    const FieldBytes fields[] = {{code, key}, {code, value}};
    structs.push_back(packedStruct(fields));
  }
  return listOf(room, elementCode({LogicalKind::kStruct}), {structs.begin(), structs.end()});
}

MaybeList fieldTexts(TextRoom &room, Text text, const List &names) {
  std::vector<Text> all;
  for (uint32_t place = 0; place < names.view.size(); ++place) {
    all.push_back(names.view.bytes(place));
  }
  return listOfParts(room, nested_texts::fields(text, all));
}

List pathParts(TextRoom &room, Text path, Text separator) {
  const std::vector<Text> parts = file_names::parts(path, separator);
  return listOfTexts(room, {parts.begin(), parts.end()});
}

} // namespace headrace
