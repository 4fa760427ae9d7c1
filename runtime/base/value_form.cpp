// A form is read anew for each value: it is a few characters.
#include "runtime/base/value_form.h"

#include "runtime/base/text_numbers.h"
#include "runtime/base/utf8.h"

#include "runtime/abi/kernel.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace headrace {
namespace {

using Text = std::string_view;
using MaybeString = std::optional<std::string>;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isOneOf(char c, Text characters) { return characters.find(c) != Text::npos; }

/// The first character if it is one of these, which is taken.
char takeOne(Text &text, Text characters) {
  const char first = text.empty() || !isOneOf(text.front(), characters) ? '\0' : text.front();
  text.remove_prefix(first != '\0');
  return first;
}

/// A number in front, which is taken; nothing if there is none, or it is beyond all reason.
std::optional<size_t> takeNumber(Text &text) {
  constexpr size_t kDigits = 6;
  size_t value = 0, digits = 0;
  for (; digits < text.size() && isDigit(text[digits]); ++digits) {
    value = value * 10 + static_cast<size_t>(text[digits] - '0');
    if (digits == kDigits) {
      return std::nullopt;
    }
  }
  text.remove_prefix(digits);
  return digits > 0 ? std::optional(value) : std::nullopt;
}

struct Form {
  char fill = ' ';
  char align = '\0'; ///< <, > or ^; none is that of the kind of value
  char sign = '\0';  ///< + or a blank, of numbers that are not negative
  bool hasPrefix = false, hasZeros = false;
  bool isUnsigned = false; ///< a negative number is one of 64 bits without a sign
  size_t width = 0;
  std::optional<size_t> precision;
  char separator = '\0'; ///< between thousands
  char type = '\0';
};

/// [fill]align, sign, #, 0, width, a separator, .precision, type.
bool readBraces(Text text, Form &form) {
  constexpr Text kAligns = "<>^";
  if (text.size() > 1 && isOneOf(text[1], kAligns)) {
    form.fill = text.front();
    text.remove_prefix(1);
  }
  form.align = takeOne(text, kAligns);
  form.sign = takeOne(text, "+- ");
  form.sign = form.sign == '-' ? '\0' : form.sign; // of negative numbers alone
  form.hasPrefix = takeOne(text, "#") != '\0';
  form.hasZeros = takeOne(text, "0") != '\0';
  form.width = takeNumber(text).value_or(0);
  form.separator = takeOne(text, ",_'");
  if (takeOne(text, ".") != '\0') {
    form.precision = takeNumber(text);
    if (!form.precision) {
      return false;
    }
  }
  form.type = text.empty() ? '\0' : text.front();
  const bool isAscii = static_cast<unsigned char>(form.fill) < 0x80 && form.fill != '{';
  const bool isPlain = form.width == 0 && form.sign == '\0' && !form.hasPrefix && !form.hasZeros;
  return text.size() <= 1 && isAscii && (form.separator == '\0' || isPlain) &&
         (form.type == '\0' || isOneOf(form.type, "dxXbBofFeEgGs"));
}

/// %, flags, width, .precision, type.
bool readPercent(Text text, Form &form) {
  text.remove_prefix(1);
  form.align = '>';
  for (char flag = takeOne(text, "-+ #0,_'"); flag != '\0'; flag = takeOne(text, "-+ #0,_'")) {
    form.align = flag == '-' ? '<' : form.align;
    form.sign = flag == '+' || flag == ' ' ? flag : form.sign;
    form.hasPrefix |= flag == '#';
    form.hasZeros |= flag == '0';
    form.separator = isOneOf(flag, ",_'") ? flag : form.separator;
  }
  form.width = takeNumber(text).value_or(0);
  if (takeOne(text, ".") != '\0') {
    form.precision = takeNumber(text);
    if (!form.precision) {
      return false;
    }
  }
  while (takeOne(text, "l") != '\0') {
  }
  if (text.size() != 1 || !isOneOf(text.front(), "diuxXocsfFeEgG") ||
      (form.separator != '\0' && (form.hasZeros || form.width > 0))) {
    return false;
  }
  form.isUnsigned = isOneOf(text.front(), "uxXo");
  form.type = text.front() == 'i' || text.front() == 'u' ? 'd' : text.front();
  if (form.hasZeros) {
    if (form.align == '<') {
      return false;
    }
    form.align = '\0';
  }
  return true;
}

/// The form that a text means.
std::optional<Form> formOf(Text text) {
  Form form;
  const bool isRead = text.starts_with('%') ? readPercent(text, form) : readBraces(text, form);
  return isRead ? std::optional(form) : std::nullopt;
}

std::string padded(const Form &form, const std::string &text, char align) {
  const auto size = static_cast<size_t>(
      std::ranges::count_if(text, [](char byte) { return !utf8::continues(byte); }));
  const size_t blanks = form.width > size ? form.width - size : 0;
  const size_t before = align == '>' ? blanks : align == '^' ? blanks / 2 : 0;
  return std::string(before, form.fill) + text + std::string(blanks - before, form.fill);
}

std::string signOf(const Form &form, bool isNegative) {
  return isNegative ? "-" : form.sign == '\0' ? "" : std::string(1, form.sign);
}

/// A number of its sign, its prefix and its digits.
std::string assembled(const Form &form, bool isNegative, const std::string &prefix,
                      const std::string &digits) {
  std::string text = signOf(form, isNegative) + prefix;
  const size_t size = text.size() + digits.size();
  text += std::string(form.hasZeros && form.width > size ? form.width - size : 0, '0') + digits;
  return padded(form, text, form.align == '\0' ? '>' : form.align);
}

/// The digits in front of a point with the separator between each three of them.
void separateThousands(std::string &digits, char separator) {
  const auto end = std::ranges::find_if_not(digits, isDigit) - digits.begin();
  for (int64_t at = end - 3; at > 0 && separator != '\0'; at -= 3) {
    digits.insert(static_cast<size_t>(at), 1, separator);
  }
}

void makeUpper(std::string &text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c;
  });
}

/// A double's digits, without a sign.
std::string digitsOf(const Form &form, double value) {
  if (form.type == '\0') {
    char memory[HR_TEXT_PRINTED];
    return std::string(printReal(value, memory));
  }
  constexpr size_t kRoom = 400; // digits in front of the point, and the exponent
  constexpr int kUsual = 6;
  const auto lower = static_cast<char>(form.type | 0x20);
  const auto how = lower == 'f'   ? std::chars_format::fixed
                   : lower == 'e' ? std::chars_format::scientific
                                  : std::chars_format::general;
  const int precision = form.precision ? static_cast<int>(*form.precision) : kUsual;
  std::string digits(kRoom + static_cast<size_t>(precision), '\0');
  const auto written =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, how, precision);
  digits.resize(static_cast<size_t>(written.ptr - digits.data()));
  if (lower != form.type) {
    makeUpper(digits);
  }
  return digits;
}

/// Takes a `{…}`; `next` is the argument of one without a number, which are not mixed with others.
std::optional<FormatPiece> takeBraces(Text &format, size_t &next, bool &isNumbered) {
  const size_t end = format.find('}');
  Text inside = format.substr(1, end == Text::npos ? end : end - 1);
  std::optional<size_t> number = takeNumber(inside);
  if (end == Text::npos || (number ? next > 0 : isNumbered) ||
      (!inside.empty() && inside.front() != ':')) {
    return std::nullopt;
  }
  isNumbered |= number.has_value();
  const size_t argument = number ? *number : next++;
  inside.remove_prefix(!inside.empty());
  format.remove_prefix(end + 1);
  return FormatPiece{std::string(inside), argument};
}

} // namespace

std::optional<std::vector<FormatPiece>> piecesOf(Text format, FormatStyle style) {
  const Text special = style == FormatStyle::kBraces ? "{}" : "%";
  std::vector<FormatPiece> pieces;
  std::string plain;
  size_t next = 0;
  bool isNumbered = false;
  while (!format.empty()) {
    const char first = format.front();
    if (!isOneOf(first, special)) {
      plain += first;
      format.remove_prefix(1);
      continue;
    }
    if (format.size() > 1 && format[1] == first) {
      plain += first;
      format.remove_prefix(2);
      continue;
    }
    std::optional<FormatPiece> piece;
    if (first == '%') {
      const auto size =
          static_cast<size_t>(std::find_if(format.begin(), format.end(),
                                           [](char c) { return isLetter(c) && c != 'l'; }) -
                              format.begin());
      const Text form = format.substr(0, size + 1);
      piece = FormatPiece{std::string(form), next++};
      format.remove_prefix(form.size());
    } else if (first == '{') {
      piece = takeBraces(format, next, isNumbered);
    }
    if (!piece) {
      return std::nullopt;
    }
    if (!plain.empty()) {
      pieces.push_back({std::exchange(plain, "")});
    }
    pieces.push_back(*piece);
  }
  if (!plain.empty()) {
    pieces.push_back({plain});
  }
  return pieces;
}

MaybeString writtenIn(Text text, int64_t value) {
  const std::optional<Form> form = formOf(text);
  if (!form || form->precision || (form->type != '\0' && !isOneOf(form->type, "dxXbBoc")) ||
      (form->hasZeros && form->align != '\0') ||
      (form->hasPrefix && !isOneOf(form->type, "xXbB"))) {
    return std::nullopt;
  }
  if (form->type == 'c') {
    constexpr int64_t kLetters = 0x80;
    const bool isPlain =
        form->sign == '\0' && !form->hasZeros && form->separator == '\0' && form->align == '>';
    return value >= 0 && value < kLetters && isPlain
               ? MaybeString(padded(*form, std::string(1, static_cast<char>(value)), form->align))
               : std::nullopt;
  }
  const bool isNegative = value < 0 && !form->isUnsigned;
  const auto bits = static_cast<uint64_t>(value);
  const char lower = static_cast<char>(form->type | 0x20);
  const int base = lower == 'x' ? 16 : lower == 'b' ? 2 : lower == 'o' ? 8 : 10;
  char memory[64];
  const auto written =
      std::to_chars(memory, memory + sizeof(memory), isNegative ? -bits : bits, base);
  std::string digits(memory, written.ptr);
  if (base == 10) {
    separateThousands(digits, form->separator);
  } else if (form->separator != '\0') {
    return std::nullopt;
  }
  if (form->type == 'X') {
    makeUpper(digits);
  }
  const std::string prefix =
      form->hasPrefix && (value != 0 || !form->isUnsigned) ? std::string{'0', form->type} : "";
  return assembled(*form, isNegative, prefix, digits);
}

MaybeString writtenIn(Text text, double value) {
  const std::optional<Form> form = formOf(text);
  if (!form || form->hasPrefix || (form->type != '\0' && !isOneOf(form->type, "fFeEgG")) ||
      (form->type == '\0' && form->precision) ||
      (isOneOf(form->type, "gG") && form->precision == size_t{0}) ||
      (form->hasZeros && form->align != '\0')) {
    return std::nullopt;
  }
  const bool isNegative = std::signbit(value) && !std::isnan(value);
  if (!std::isfinite(value)) { // as a text, also of zeros
    const Form outer{.fill = form->hasZeros ? '0' : form->fill,
                     .align = form->align == '\0' ? '<' : form->align,
                     .width = form->width};
    return padded(outer, signOf(*form, isNegative) + digitsOf(*form, std::abs(value)), outer.align);
  }
  std::string digits = digitsOf(*form, std::abs(value));
  separateThousands(digits, form->separator);
  return assembled(*form, isNegative, "", digits);
}

MaybeString writtenIn(Text text, Text value) {
  const std::optional<Form> form = formOf(text);
  if (!form || (form->type != '\0' && form->type != 's') || form->sign != '\0' || form->hasPrefix ||
      form->hasZeros || form->separator != '\0') {
    return std::nullopt;
  }
  const size_t size =
      form->precision ? utf8::bytesOf(value, static_cast<int64_t>(*form->precision)) : value.size();
  return padded(*form, std::string(value.substr(0, size)), form->align == '\0' ? '<' : form->align);
}

} // namespace headrace
