// What is looked for is found in one pass over the text, which checks all of it.
#include "runtime/base/json_functions.h"

#include "runtime/abi/kernel.h"
#include "runtime/base/ascii.h"
#include "runtime/base/json_text.h"
#include "runtime/base/json_values.h"
#include "runtime/base/list_values.h"
#include "runtime/base/text_numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace headrace::json {
namespace {

using Search = Scanner::Search;

Search enter(Scanner &scanner, const Step &step) {
  const char first = scanner.peek();
  const bool isKey = step.kind == Step::Kind::kKey || step.kind == Step::Kind::kPointed;
  if (first == '{' && isKey) {
    return scanner.enterKey(step.key);
  }
  if (first == '[' &&
      (step.kind == Step::Kind::kPlace || (step.kind == Step::Kind::kPointed && step.place >= 0))) {
    return scanner.enterPlace(step.place);
  }
  return scanner.skipValue() ? Search::kNowhere : Search::kMalformed;
}

/// A value and all in it, the less deep the earlier.
std::vector<Value> withAllIn(const Value &value) {
  std::vector<Value> all{value};
  for (size_t place = 0; place < all.size(); ++place) {
    if (const Value outer = all[place]; isNested(outer)) {
      eachIn(outer, [&](Text, const Value &inner) { all.push_back(inner); });
    }
  }
  return all;
}

/// Adds what a step leads to.
void take(const Value &from, const Step &step, std::vector<Value> &to) {
  const Kind kind = from.kind();
  const bool isObject = kind == Kind::kObject, isArray = kind == Kind::kArray;
  switch (step.kind) {
  case Step::Kind::kDescend: {
    const std::vector<Value> all = withAllIn(from);
    to.insert(to.end(), all.begin(), all.end());
    return;
  }
  case Step::Kind::kAnyKey:
  case Step::Kind::kAnyPlace:
  case Step::Kind::kAny:
    if ((isObject && step.kind != Step::Kind::kAnyPlace) ||
        (isArray && step.kind != Step::Kind::kAnyKey)) {
      eachIn(from, [&](Text, const Value &inner) { to.push_back(inner); });
    }
    return;
  case Step::Kind::kKey:
  case Step::Kind::kPlace:
  case Step::Kind::kPointed:
    break;
  }
  Scanner scanner(from.text);
  Value value;
  if (enter(scanner, step) == Search::kThere && scanner.readValue(value)) {
    to.push_back(value);
  }
}

Text kept(TextRoom &room, Text text) {
  return room.make(text.size(), [&](char *to) { return std::ranges::copy(text, to).out; });
}

/// Memory for one.
class OneText final : public TextRoom {
private:
  char *take(uint64_t bytes) override {
    memory_.resize(static_cast<size_t>(bytes));
    return memory_.data();
  }

  std::string memory_;
};

ElementCode codeOf(LogicalKind kind) {
  LogicalType type;
  type.kind = kind;
  return elementCode(type);
}

List listOfTexts(TextRoom &room, const std::vector<MaybeText> &texts) {
  return listOf(room, codeOf(LogicalKind::kString), texts);
}

List oneList(TextRoom &room, const List &list) {
  return listOfText(room, list.bytes, codeOf(LogicalKind::kList));
}
/// A list of NULL, whatever its type.
List oneNull(TextRoom &room) { return listOfNull(room, codeOf(LogicalKind::kString)); }

/// What `of` makes of the value that a path leads to, a text behind a letter.
template <typename Of> MaybeText found(Text text, Text path, Of of) {
  Value value;
  switch (find(text, knownPath(path), value)) {
  case Search::kMalformed:
    return std::nullopt;
  case Search::kNowhere:
    return Text();
  case Search::kThere:
    break;
  }
  return of(value);
}

constexpr char kLetter = '='; ///< any would do

/// A value of a text as it is written.
Text behindLetter(TextRoom &room, Text text, const Value &value) {
  if (isWritten(value) && value.text.data() != text.data()) {
    return {value.text.data() - 1, value.text.size() + 1}; // behind a blank or a mark
  }
  return room.make(bytesMax(value) + 1, [&](char *to) {
    *to = kLetter;
    return write(value, to + 1);
  });
}

/// What a string says.
Text insideBehindLetter(TextRoom &room, const Value &string) {
  const Text behindQuote = string.text.substr(0, string.text.size() - 1);
  return string.isCompact ? behindQuote : room.make(behindQuote.size(), [&](char *to) {
    *to = kLetter;
    return unescape(behindQuote.substr(1), to + 1);
  });
}

} // namespace

Search find(Text text, const Path &path, Value &value) {
  if (!path.isWellFormed || path.findsMany) {
    return Search::kMalformed;
  }
  Scanner scanner(text);
  for (const Step &step : path.steps) {
    const Search search = enter(scanner, step);
    if (search != Search::kThere) {
      return search == Search::kNowhere && scanner.finish() ? Search::kNowhere : Search::kMalformed;
    }
  }
  return scanner.readValue(value) && scanner.finish() ? Search::kThere : Search::kMalformed;
}

Text plainKey(TextRoom &room, Text key) {
  return key.find('\\') == Text::npos
             ? key
             : room.make(key.size(), [&](char *to) { return unescape(key, to); });
}

Text typeOf(const Value &value) {
  switch (value.kind()) {
  case Kind::kNull:
    return "=NULL";
  case Kind::kBoolean:
    return "=BOOLEAN";
  case Kind::kString:
    return "=VARCHAR";
  case Kind::kArray:
    return "=ARRAY";
  case Kind::kObject:
    return "=OBJECT";
  case Kind::kNumber:
    break;
  }
  return !isWhole(value.text) ? "=DOUBLE" : value.text.front() == '-' ? "=BIGINT" : "=UBIGINT";
}

size_t depthOf(const Value &value) {
  size_t depth = 0, deepest = 0;
  bool isInString = false;
  for (size_t at = 0; at < value.text.size(); ++at) {
    const char letter = value.text[at];
    at += isInString && letter == '\\' ? 1 : 0;
    isInString ^= letter == '"';
    if (!isInString && (letter == '{' || letter == '[')) {
      deepest = std::max(deepest, ++depth);
    } else if (!isInString && (letter == '}' || letter == ']')) {
      --depth;
    }
  }
  return deepest;
}

MaybeText extract(TextRoom &room, Text text, Text path) {
  return found(text, path, [&](const Value &value) { return behindLetter(room, text, value); });
}

MaybeText extractText(TextRoom &room, Text text, Text path) {
  return found(text, path, [&](const Value &value) {
    const Kind kind = value.kind();
    return kind == Kind::kNull     ? Text()
           : kind == Kind::kString ? insideBehindLetter(room, value)
                                   : behindLetter(room, text, value);
  });
}

MaybeText extractScalar(TextRoom &room, Text text, Text path) {
  return found(text, path, [&](const Value &value) {
    return value.kind() == Kind::kNull || isNested(value) ? Text()
                                                          : behindLetter(room, text, value);
  });
}

MaybeText typeOf(Text text, Text path) {
  return found(text, path, [](const Value &value) { return typeOf(value); });
}

std::optional<Number> arrayLength(Text text, Text path) {
  Value value;
  const Search search = find(text, knownPath(path), value);
  if (search == Search::kMalformed) {
    return std::nullopt;
  }
  int64_t size = search == Search::kNowhere ? -1 : 0;
  if (size == 0 && value.kind() == Kind::kArray) {
    eachIn(value, [&](Text, const Value &) { ++size; });
  }
  return Number{size};
}

MaybeList keysOf(TextRoom &room, Text text, Text path) {
  Value value;
  const Search search = find(text, knownPath(path), value);
  if (search != Search::kThere) {
    return search == Search::kMalformed ? MaybeList() : oneNull(room);
  }
  Texts kept;
  OneText made;
  std::vector<MaybeText> keys;
  if (value.kind() == Kind::kObject) {
    eachIn(value, [&](Text key, const Value &) { keys.emplace_back(plainKey(kept, key)); });
  }
  return oneList(room, listOfTexts(made, keys));
}

std::optional<bool> exists(Text text, Text path) {
  Value value;
  const Search search = find(text, knownPath(path), value);
  return search == Search::kMalformed ? std::nullopt : std::optional(search == Search::kThere);
}

/// All that a path with wildcards leads to.
static std::optional<std::vector<Value>> findAll(Text text, Text path) {
  const Path &steps = knownPath(path);
  std::vector<Value> values(1);
  if (!steps.isWellFormed || !read(text, values.front())) {
    return std::nullopt;
  }
  for (const Step &step : steps.steps) {
    std::vector<Value> next;
    for (const Value &value : values) {
      take(value, step, next);
    }
    values = std::move(next);
  }
  return values;
}

MaybeList extractAll(TextRoom &room, Text text, Text path) {
  const std::optional<std::vector<Value>> values = findAll(text, path);
  if (!values) {
    return std::nullopt;
  }
  Texts kept;
  std::vector<MaybeText> texts;
  for (const Value &value : *values) {
    texts.emplace_back(written(kept, value));
  }
  return listOfTexts(room, texts);
}

MaybeList partsOf(TextRoom &room, Text text, Text path) {
  const std::optional<std::vector<Value>> values = findAll(text, path);
  if (!values) {
    return std::nullopt;
  }
  std::vector<MaybeText> texts;
  for (const Value &value : *values) {
    texts.emplace_back(value.text);
  }
  return listOfTexts(room, texts);
}

bool isValid(Text text) {
  Value value;
  return read(text, value);
}

MaybeText checked(Text text) { return isValid(text) ? std::optional(text) : std::nullopt; }

MaybeText normalized(TextRoom &room, Text text) {
  Value value;
  return read(text, value) ? std::optional(written(room, value)) : std::nullopt;
}

MaybeText pretty(TextRoom &room, Text text) {
  Value value;
  if (!read(text, value)) {
    return std::nullopt;
  }
  return kept(room, prettied(value));
}

//===----------------------------------------------------------------------===//
// What has what
//===----------------------------------------------------------------------===//

/// Whether a value has all that `part` has.
static bool hasAll(const Value &value, const Value &part) {
  if (value.kind() != part.kind()) {
    return false;
  }
  if (Texts room; plain(room, value) == plain(room, part)) {
    return true;
  }
  bool has = isNested(value);
  eachIn(part, [&](Text key, const Value &wanted) {
    bool isThere = false, isNamedSo = false;
    Texts room;
    const Text name = plainKey(room, key);
    eachIn(value, [&](Text other, const Value &inner) {
      const bool isAsked =
          has && !isThere && (part.kind() == Kind::kArray || (!isNamedSo && isNamed(other, name)));
      isNamedSo |= isAsked;
      isThere |= isAsked && hasAll(inner, wanted);
    });
    has &= isThere;
  });
  return has;
}

std::optional<bool> contains(Text text, Text part) {
  Value value, wanted;
  if (!read(text, value) || !read(part, wanted) || depthOf(wanted) > kDepthMax) {
    return std::nullopt;
  }
  const std::vector<Value> all = withAllIn(value);
  return std::ranges::any_of(all, [&](const Value &one) { return hasAll(one, wanted); });
}

/// The first value of an object's key, which has no escapes.
static std::optional<Value> valueOf(const Value &object, Text name) {
  Scanner scanner(object.text);
  Value value;
  const bool isThere = scanner.peek() == '{' && scanner.enterKey(name) == Search::kThere;
  return isThere && scanner.readValue(value) ? std::optional(value) : std::nullopt;
}

/// Of what is no object nothing stays.
static void appendPatched(const Value &value, const Value &patch, std::string &to) {
  Texts room;
  if (patch.kind() != Kind::kObject) {
    to += written(room, patch);
    return;
  }
  const Value object = value.kind() == Kind::kObject ? value : Value{"{}"};
  const size_t first = to.size();
  to += '{';
  const auto appendKey = [&](Text name) {
    to += to.size() == first + 1 ? "" : ",";
    appendString(name, to);
    to += ':';
  };
  eachIn(object, [&](Text key, const Value &inner) {
    const Text name = plainKey(room, key);
    if (!valueOf(patch, name)) {
      appendKey(name);
      to += written(room, inner);
    }
  });
  eachIn(patch, [&](Text key, const Value &inner) {
    if (inner.kind() != Kind::kNull) {
      const Text name = plainKey(room, key);
      appendKey(name);
      appendPatched(valueOf(object, name).value_or(Value{"{}"}), inner, to);
    }
  });
  to += '}';
}

MaybeText patched(TextRoom &room, Text text, Text patch) {
  Value value, change;
  if (!read(text, value) || !read(patch, change) || depthOf(change) > kDepthMax) {
    return std::nullopt;
  }
  if (value.kind() != Kind::kObject) {
    return written(room, change);
  }
  std::string made;
  appendPatched(value, change, made);
  return kept(room, made);
}

//===----------------------------------------------------------------------===//
// To and from other types
//===----------------------------------------------------------------------===//

Text quoted(TextRoom &room, Text text) {
  std::string made;
  appendString(text, made);
  return kept(room, made);
}

Text printedReal(TextRoom &room, double value) {
  std::string number;
  appendReal(value, number);
  return kept(room, number);
}

/// A double as a cast to a text writes it, or as the nearest float, if there is one.
template <typename Real> static MaybeText castReal(TextRoom &room, double value) {
  const auto real = static_cast<Real>(value);
  if (std::isinf(real) && !std::isinf(value)) {
    return std::nullopt;
  }
  char memory[HR_TEXT_PRINTED];
  return kept(room, printReal(real, memory));
}

/// What a cast reads of a number.
static MaybeText numberFor(TextRoom &room, const Value &value, Target target) {
  const Text number = value.text;
  if (target == Target::kBoolean && !isKept(number)) {
    return realOf(number) != 0 ? "true" : "false";
  }
  if (target == Target::kDecimal || isKept(number)) {
    return number;
  }
  if (isWhole(number)) {
    return written(room, value); // of -0 without the sign
  }
  const double real = realOf(number);
  if (target == Target::kText) {
    return castReal<double>(room, real);
  }
  if (target == Target::kSingle) {
    return castReal<float>(room, real);
  }
  if (target == Target::kDouble) {
    return number;
  }
  char digits[std::numeric_limits<double>::max_exponent10 + 3];
  const auto end = std::to_chars(digits, std::end(digits), std::nearbyint(real), // to even
                                 std::chars_format::fixed);
  return kept(room, {digits, end.ptr});
}

/// The number that `0x1F` or `0b101` is, blanks before it or not; nothing of other texts.
static std::optional<unsigned __int128> basedNumber(Text text) {
  text = withoutBlanksBefore(text);
  const char mark = text.size() > 2 && text[0] == '0' ? lowerAscii(text[1]) : '\0';
  const unsigned base = mark == 'x' ? 16 : mark == 'b' ? 2 : 0;
  unsigned __int128 number = 0;
  bool isNumber = base != 0, isBehindDigit = false;
  for (const char letter : text.substr(std::min<size_t>(2, text.size()))) {
    constexpr Text kDigits = "0123456789abcdef";
    const size_t digit = kDigits.find(lowerAscii(letter));
    const bool isDigit = digit < base;
    isNumber &= (isDigit && !__builtin_mul_overflow(number, base, &number) &&
                 !__builtin_add_overflow(number, digit, &number)) ||
                (letter == '_' && isBehindDigit);
    isBehindDigit = isDigit;
  }
  return isNumber && isBehindDigit ? std::optional(number) : std::nullopt;
}

/// Whether a string has a value where strings are strict.
static bool isStrict(Text text, Target target) {
  constexpr Text kDigits = "0123456789";
  const auto isDigit = [&](char letter) { return kDigits.find(letter) != Text::npos; };
  const Text behind = withoutBlanksBefore(text), inside = withoutBlanksBehind(behind);
  const bool fillsUp = inside.size() > 1 && inside.front() == '0' && isDigit(inside[1]);
  switch (target) {
  case Target::kBoolean:
    return text.size() != 1 || Text("tTfF").find(text.front()) != Text::npos;
  case Target::kInteger:
    return !fillsUp &&
           inside.find_first_not_of(kDigits, inside.starts_with('-') ? 1 : 0) == Text::npos;
  case Target::kSingle:
  case Target::kDouble:
    return !fillsUp && inside.size() == behind.size() && !inside.starts_with('+') &&
           inside.find('_') == Text::npos;
  case Target::kText:
  case Target::kDecimal:
  case Target::kWord:
    return true;
  }
  return true;
}

/// What a cast reads of what is not null.
static MaybeText textFor(TextRoom &room, const Value &value, Target target, Strings strings) {
  const bool isText = target == Target::kText;
  switch (value.kind()) {
  case Kind::kString: {
    const Text inside = plain(room, value);
    if (target == Target::kInteger) {
      if (const auto number = basedNumber(inside)) {
        char digits[HR_TEXT_PRINTED], *end = digits + HR_TEXT_PRINTED;
        return kept(room, {printDigits(*number, 1, end), end});
      }
    }
    return strings == Strings::kTexts || isStrict(inside, target) ? MaybeText(inside)
                                                                  : std::nullopt;
  }
  case Kind::kNumber:
    return target == Target::kWord ? std::nullopt : numberFor(room, value, target);
  case Kind::kBoolean:
    return target == Target::kWord                ? MaybeText()
           : isText || target == Target::kBoolean ? value.text
           : value.text == "true"                 ? Text("1")
                                                  : Text("0");
  default:
    return isText ? MaybeText(written(room, value)) : std::nullopt;
  }
}

MaybeText castText(TextRoom &room, Text text, Target target, Strings strings) {
  Value value;
  if (!read(text, value)) {
    return std::nullopt;
  }
  if (value.kind() == Kind::kNull) {
    return Text();
  }
  OneText made;
  const MaybeText inside = textFor(made, value, target, strings);
  return inside ? MaybeText(room.make(inside->size() + 1,
                                      [&](char *to) {
                                        *to = kLetter;
                                        return std::ranges::copy(*inside, to + 1).out;
                                      }))
                : std::nullopt;
}

/// The values in what is of a kind; NULL of null, nothing of others.
static MaybeList valuesIn(TextRoom &room, Text text, Kind kind) {
  Value value;
  if (!read(text, value) || (value.kind() != kind && value.kind() != Kind::kNull)) {
    return std::nullopt;
  }
  if (value.kind() == Kind::kNull) {
    return oneNull(room);
  }
  OneText made;
  std::vector<MaybeText> texts;
  eachIn(value, [&](Text, const Value &inner) { texts.emplace_back(inner.text); });
  return oneList(room, listOfTexts(made, texts));
}

MaybeList listedIn(TextRoom &room, Text text) {
  Value value;
  if (!read(text, value) || value.kind() != Kind::kArray) {
    return std::nullopt;
  }
  Texts kept;
  std::vector<MaybeText> texts;
  eachIn(value, [&](Text, const Value &inner) { texts.emplace_back(written(kept, inner)); });
  return listOfTexts(room, texts);
}

MaybeList elementsOf(TextRoom &room, Text text) { return valuesIn(room, text, Kind::kArray); }

MaybeList valuesOf(TextRoom &room, Text text) { return valuesIn(room, text, Kind::kObject); }

MaybeList fieldsOf(TextRoom &room, Text text, const List &names, int64_t how) {
  Value value;
  if (!read(text, value)) {
    return std::nullopt;
  }
  if (value.kind() == Kind::kNull) {
    return oneNull(room);
  }
  std::vector<MaybeText> fields(names.view.size());
  bool fits = value.kind() == Kind::kObject;
  if (fits) {
    eachIn(value, [&](Text key, const Value &inner) {
      bool isKnown = false;
      for (uint32_t place = 0; place < names.view.size() && !isKnown; ++place) {
        isKnown = isNamed(key, names.view.bytes(place));
        if (isKnown) {
          fits &= !fields[place];
          fields[place] = fields[place] ? *fields[place] : inner.text;
        }
      }
      fits &= isKnown || how < 2;
    });
  }
  fits &= std::ranges::all_of(fields, [](const auto &field) { return field.has_value(); });
  OneText made;
  return fits || how == 0 ? MaybeList(oneList(room, listOfTexts(made, fields))) : std::nullopt;
}

} // namespace headrace::json
