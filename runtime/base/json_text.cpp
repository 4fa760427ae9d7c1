// Writes numbers as JavaScript does, but with a point in each that is no integer.
#include "runtime/base/json_text.h"

#include "runtime/base/text_numbers.h"
#include "runtime/base/utf8.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headrace::json {
namespace {

/// The longest that a double is written.
constexpr size_t kRealBytes = 32;

char *append(std::string_view text, char *to) { return std::copy(text.begin(), text.end(), to); }

/// Writes a finite double, of at most kRealBytes, and returns the end.
char *writeReal(double value, char *to) {
  char memory[kRealBytes];
  const auto end =
      std::to_chars(memory, memory + sizeof memory, std::abs(value), std::chars_format::scientific);
  const std::string_view shortest(memory, static_cast<size_t>(end.ptr - memory));
  const size_t exponentAt = shortest.find('e');
  std::string_view exponentDigits = shortest.substr(exponentAt + 1);
  exponentDigits.remove_prefix(exponentDigits.front() == '+' ? 1 : 0);
  int exponent = 0;
  std::from_chars(exponentDigits.data(), exponentDigits.data() + exponentDigits.size(), exponent);
  std::string digits(1, shortest.front());
  digits += exponentAt > 2 ? shortest.substr(2, exponentAt - 2) : std::string_view();
  const auto count = static_cast<int>(digits.size());
  to = append(std::signbit(value) ? "-" : "", to);
  if (exponent < -6 || exponent > 20) {
    *to++ = digits.front();
    to = count > 1 ? append(digits.substr(1), append(".", to)) : to;
    *to++ = 'e';
    return std::to_chars(to, to + 5, exponent).ptr;
  }
  if (exponent < 0) {
    to = append("0.", to);
    to = std::fill_n(to, -exponent - 1, '0');
    return append(digits, to);
  }
  const int whole = exponent + 1; // digits before the point
  if (count <= whole) {
    to = std::fill_n(append(digits, to), whole - count, '0');
    return append(".0", to);
  }
  to = append(std::string_view(digits).substr(0, static_cast<size_t>(whole)), to);
  return append(std::string_view(digits).substr(static_cast<size_t>(whole)), append(".", to));
}

/// Whether the shortest text of what a number with a point means is that number itself.
bool isShortest(std::string_view number) {
  constexpr size_t kDigitsSure = 15; // any two of so many digits are different doubles
  number.remove_prefix(number.front() == '-' ? 1 : 0);
  const size_t point = number.find('.');
  if (point == std::string_view::npos || number.find_first_of("eE") != std::string_view::npos ||
      number.size() > kDigitsSure + 1) {
    return false;
  }
  const std::string_view behind = number.substr(point + 1);
  return behind == "0" ||
         (behind.back() != '0' && (number[0] != '0' || behind.find_first_not_of('0') < 6));
}

char *writeNumber(std::string_view number, char *to) {
  if (number == "-0") {
    return append("0", to);
  }
  const bool isReal = number.find_first_of(".eE") != std::string_view::npos;
  if (!isReal || isShortest(number)) {
    return append(number, to);
  }
  const double value = realOf(number);
  return std::isinf(value) ? append(number, to) : writeReal(value, to);
}

/// Writes a control character, quote or backslash as an escape.
char *writeEscape(char letter, char *to) {
  constexpr std::string_view kMeant = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
  *to++ = '\\';
  if (const size_t found = kMeant.find(letter); found != std::string_view::npos) {
    *to++ = kLetters[found];
    return to;
  }
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  to = append("u00", to);
  *to++ = kDigits[static_cast<uint8_t>(letter) >> 4];
  *to++ = kDigits[static_cast<uint8_t>(letter) & 15];
  return to;
}

bool needsEscape(char letter) {
  return static_cast<uint8_t>(letter) < ' ' || letter == '"' || letter == '\\';
}

/// Writes what is between the quotes of a string with other escapes, which are no longer.
char *writeEscapes(std::string_view inside, char *to) {
  constexpr size_t kShort = 16; // for which a call takes longer
  if (inside.size() <= kShort) {
    size_t plain = 0;
    for (; plain < inside.size() && inside[plain] != '\\'; ++plain) {
      *to++ = inside[plain];
    }
    inside.remove_prefix(plain);
  }
  while (true) {
    const size_t plain = std::min(inside.find('\\'), inside.size());
    to = append(inside.substr(0, plain), to);
    inside.remove_prefix(plain);
    if (inside.empty()) {
      return to;
    }
    size_t bytes;
    const uint32_t code = escapedCode(inside, bytes);
    to = code < 0x80 && needsEscape(static_cast<char>(code))
             ? writeEscape(static_cast<char>(code), to)
             : utf8::encode(code, to);
    inside.remove_prefix(bytes);
  }
}

/// Goes over the tokens of a well-formed text.
class Tokens {
public:
  explicit Tokens(std::string_view text) : rest_(text) {}

  /// The next one: a string, a number or word, or one of `{}[]:,`; empty at the end.
  std::string_view next() {
    size_t blanks = 0;
    while (blanks < rest_.size() && static_cast<uint8_t>(rest_[blanks]) <= ' ') {
      ++blanks;
    }
    rest_.remove_prefix(blanks);
    size_t size = rest_.empty() ? 0 : 1;
    if (rest_.starts_with('"')) {
      size = rest_.find('"', 1);
      if (rest_[size - 1] == '\\') { // the quote may be an escape
        for (size = 1; rest_[size] != '"';) {
          size += rest_[size] == '\\' ? 2 : 1;
        }
      }
      ++size;
    } else if (size > 0 && !isMark(rest_.front())) {
      while (size < rest_.size() && static_cast<uint8_t>(rest_[size]) > ' ' &&
             !isMark(rest_[size])) {
        ++size;
      }
    }
    const std::string_view token = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return token;
  }

  static bool isMark(char letter) {
    switch (letter) {
    case '{':
    case '}':
    case '[':
    case ']':
    case ':':
    case ',':
      return true;
    default:
      return false;
    }
  }

private:
  std::string_view rest_;
};

/// Writes a token but for a comma.
char *writeToken(std::string_view token, char *to) {
  if (Tokens::isMark(token.front())) {
    *to = token.front();
    return to + 1;
  }
  if (token.front() == '"') {
    *to++ = '"';
    to = writeEscapes(token.substr(1, token.size() - 2), to);
    *to++ = '"';
    return to;
  }
  const bool isNumber = token.front() == '-' || (token.front() >= '0' && token.front() <= '9');
  return isNumber ? writeNumber(token, to) : append(token, to);
}

} // namespace

double realOf(std::string_view number) {
  double value = 0;
  parseReal(number, &value);
  return value;
}

bool isWhole(std::string_view number) {
  if (number.front() == '-') {
    int64_t value;
    const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
    return read.ec == std::errc() && read.ptr == number.data() + number.size();
  }
  uint64_t value;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  return read.ec == std::errc() && read.ptr == number.data() + number.size();
}

bool isKept(std::string_view number) {
  return !isWhole(number) &&
         (number.find_first_of(".eE") == std::string_view::npos || std::isinf(realOf(number)));
}

uint64_t bytesMax(const Value &value) { return value.text.size() + value.reals * kRealBytes; }

char *write(const Value &value, char *to) {
  if (isWritten(value)) {
    return append(value.text, to);
  }
  Tokens tokens(value.text);
  bool isBehindComma = false;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token.front() == ',') {
      isBehindComma = true;
      continue;
    }
    if (isBehindComma && token.front() != '}' && token.front() != ']') {
      *to++ = ',';
    }
    isBehindComma = false;
    to = writeToken(token, to);
  }
  return to;
}

std::string_view written(TextRoom &room, const Value &value) {
  return isWritten(value) ? value.text
                          : room.make(bytesMax(value), [&](char *to) { return write(value, to); });
}

std::string_view plain(TextRoom &room, const Value &value) {
  if (value.kind() != Kind::kString) {
    return written(room, value);
  }
  const std::string_view inside = value.text.substr(1, value.text.size() - 2);
  return value.isCompact ? inside
                         : room.make(inside.size(), [&](char *to) { return unescape(inside, to); });
}

void appendString(std::string_view text, std::string &to) {
  to += '"';
  for (const char letter : text) {
    char memory[8];
    to.append(memory,
              needsEscape(letter) ? writeEscape(letter, memory) : append({&letter, 1}, memory));
  }
  to += '"';
}

void appendReal(double value, std::string &to) {
  if (!std::isfinite(value)) {
    to += std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  char memory[kRealBytes];
  to.append(memory, writeReal(value, memory));
}

std::string prettied(const Value &value) {
  constexpr size_t kIndent = 4;
  std::string out;
  size_t depth = 0;
  std::string_view before;
  Tokens tokens(value.text);
  bool isBehindComma = false;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    const bool closes = token == "}" || token == "]";
    if (token == ",") {
      isBehindComma = true;
      continue;
    }
    if (closes) {
      --depth;
    }
    if (isBehindComma && !closes) {
      out += ',';
    }
    const bool isFirst = before == "{" || before == "[";
    if (isBehindComma || isFirst != closes) {
      const bool isNumber = !Tokens::isMark(token.front()) && kindOf(token) == Kind::kNumber;
      out.append("\n").append(isNumber && isKept(token) ? 0 : depth * kIndent, ' ');
    }
    isBehindComma = false;
    char number[kRealBytes];
    if (token == ":") {
      out += ": ";
    } else if (token.size() <= kRealBytes / 2) {
      out.append(number, writeToken(token, number));
    } else {
      std::string longer(token.size() + kRealBytes, '\0');
      out.append(longer.data(), writeToken(token, longer.data()));
    }
    if (token == "{" || token == "[") {
      ++depth;
    }
    before = token;
  }
  return out;
}

} // namespace headrace::json
