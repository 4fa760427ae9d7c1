// Values as text and back (numbers: text_numbers.cpp).
#include "runtime/primitives/string/text_values.h"
#include "runtime/base/moment_text.h"
#include "runtime/base/text_numbers.h"
#include "runtime/primitives/string/string.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace headrace::primitives {
namespace {

bool equalsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b;
         });
}

TimeUnit unitOf(int32_t scale) { return static_cast<TimeUnit>(scale / 3); }

/// A date, time or timestamp, by its form.
std::string_view printMoment(int32_t form, int64_t value, int32_t scale, char *memory) {
  char *end = form == HR_TEXT_DATE ? printDate(value, memory)
              : form == HR_TEXT_TIME
                  ? printTime(value, unitOf(scale), memory)
                  : printTimestamp(value, unitOf(scale), form == HR_TEXT_ZONED_TIMESTAMP, memory);
  return {memory, static_cast<size_t>(end - memory)};
}

bool parseMoment(int32_t form, std::string_view text, int32_t scale, I128 *out) {
  std::optional<int64_t> value =
      form == HR_TEXT_DATE   ? parseDate(text)
      : form == HR_TEXT_TIME ? parseTime(text, unitOf(scale))
                             : parseTimestamp(text, unitOf(scale), form == HR_TEXT_ZONED_TIMESTAMP);
  *out = value.value_or(0);
  return value.has_value();
}

bool isMoment(int32_t form) {
  return form == HR_TEXT_DATE || form == HR_TEXT_TIME || form == HR_TEXT_TIMESTAMP ||
         form == HR_TEXT_ZONED_TIMESTAMP;
}

bool parseBoolean(std::string_view text, I128 *out) {
  auto isAnyOf = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return equalsIgnoringCase(text, word); });
  };
  *out = isAnyOf({"true", "t", "yes", "y", "1"});
  return *out != 0 || isAnyOf({"false", "f", "no", "n", "0"});
}

bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isSpace(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && isSpace(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// A float or double of the text, 0 if it is none.
template <typename Real> int32_t parseInto(std::string_view text, void *out) {
  Real real = 0;
  const bool valid = parseReal(text, &real);
  real = valid ? real : 0;
  std::memcpy(out, &real, sizeof real);
  return valid;
}

template <typename Real> std::string_view printFrom(const void *value, char *memory) {
  Real real;
  std::memcpy(&real, value, sizeof real);
  return printReal(real, memory);
}

} // namespace

void textPrint(int32_t form, const void *value, int32_t scale, uint8_t *memory, HrString *out) {
  char *chars = reinterpret_cast<char *>(memory);
  std::string_view text;
  if (form == HR_TEXT_DOUBLE || form == HR_TEXT_FLOAT) {
    text =
        form == HR_TEXT_DOUBLE ? printFrom<double>(value, chars) : printFrom<float>(value, chars);
  } else {
    I128 integer;
    std::memcpy(&integer, value, sizeof integer);
    text = isMoment(form) ? printMoment(form, static_cast<int64_t>(integer), scale, chars)
           : form == HR_TEXT_BOOLEAN ? std::string_view(integer ? "true" : "false")
                                     : printInteger(integer, scale, chars);
  }
  std::memmove(chars, text.data(), text.size());
  *out = makeString(memory, static_cast<uint32_t>(text.size()));
}

int32_t textParse(int32_t form, const HrString *text, int32_t scale, void *out) {
  const std::string_view whole(reinterpret_cast<const char *>(text->data), text->length);
  const std::string_view inner = trimmed(whole);
  if (form == HR_TEXT_DOUBLE) {
    return parseInto<double>(inner, out);
  }
  if (form == HR_TEXT_FLOAT) {
    return parseInto<float>(inner, out);
  }
  I128 integer = 0;
  const std::string_view moment =
      form == HR_TEXT_TIME ? whole.substr(inner.data() - whole.data()) : inner;
  const bool valid = isMoment(form)            ? parseMoment(form, moment, scale, &integer)
                     : form == HR_TEXT_BOOLEAN ? parseBoolean(whole, &integer)
                                               : parseScaled(inner, scale, &integer);
  integer = valid ? integer : 0;
  std::memcpy(out, &integer, sizeof integer);
  return valid;
}

} // namespace headrace::primitives
