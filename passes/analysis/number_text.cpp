// Numbers as text and back, on known values.
#include "passes/analysis/number_text.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Regex.h"

#include <algorithm>
#include <charconv>
#include <limits>

using namespace headrace::analysis;
using llvm::StringRef;

std::string headrace::analysis::realText(double value, bool isSingle) {
  char buffer[64];
  constexpr auto format = std::chars_format::scientific;
  char *end = isSingle
                  ? std::to_chars(buffer, std::end(buffer), static_cast<float>(value), format).ptr
                  : std::to_chars(buffer, std::end(buffer), value, format).ptr;
  StringRef text(buffer, static_cast<size_t>(end - buffer));
  auto [mantissa, power] = text.split('e');
  int exponent = 0;
  power.consume_front("+");
  if (power.getAsInteger(10, exponent) || exponent < -4 || exponent >= 16) {
    return text.str(); // inf and nan too
  }
  std::string sign = mantissa.consume_front("-") ? "-" : "";
  std::string digits =
      mantissa.take_front().str() + mantissa.drop_front(std::min<size_t>(2, mantissa.size())).str();
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  }
  size_t whole = static_cast<size_t>(exponent) + 1;
  digits.append(digits.size() > whole ? 0 : whole + 1 - digits.size(), '0');
  return sign + digits.insert(whole, ".");
}

std::optional<NumberText> headrace::analysis::numberOfText(StringRef text) {
  static const llvm::Regex shape("^([+-]?)([0-9_]*)(\\.?)([0-9_]*)([eE]([+-]?[0-9_]+))?$");
  llvm::SmallVector<StringRef> parts;
  static const llvm::Regex strayed("(^|[^0-9])_|_($|[^0-9])"); // an underscore not between digits
  if (!shape.match(text, &parts) || strayed.match(text)) {
    return std::nullopt;
  }
  auto plain = [](StringRef digits) {
    std::string kept = digits.str();
    llvm::erase(kept, '_');
    return kept;
  };
  std::string whole = plain(parts[2]), digits = whole + plain(parts[4]);
  if (digits.empty()) {
    return std::nullopt;
  }
  NumberText number{parts[1] == "-", StringRef(digits).ltrim('0').str(), 0};
  constexpr int64_t kFar = int64_t{1} << 40;
  if (std::string power = plain(parts[6]); !power.empty()) {
    bool isFar = StringRef(power).ltrim("+").getAsInteger(10, number.exponent);
    number.exponent = isFar ? (parts[6].starts_with("-") ? -kFar : kFar)
                            : std::clamp(number.exponent, -kFar, kFar);
  }
  number.exponent += static_cast<int64_t>(whole.size()) -
                     static_cast<int64_t>(digits.size() - number.digits.size());
  return number;
}

std::optional<double> headrace::analysis::realOfText(StringRef text, bool isSingle) {
  std::optional<NumberText> number = numberOfText(text);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!number) {
    bool negative = text.consume_front("-");
    text.consume_front("+");
    bool isInfinite = text.equals_insensitive("inf") || text.equals_insensitive("infinity");
    bool isNan = text.equals_insensitive("nan") ||
                 (text.starts_with_insensitive("nan(") && text.ends_with(")"));
    if (!isInfinite && !isNan) {
      return std::nullopt;
    }
    double value = isInfinite ? infinity : std::numeric_limits<double>::quiet_NaN();
    return negative ? -value : value;
  }
  llvm::APFloat value(isSingle ? llvm::APFloat::IEEEsingle() : llvm::APFloat::IEEEdouble());
  std::string plain = "0." + number->digits + "0e" +
                      std::to_string(std::clamp<int64_t>(number->exponent, -5000, 5000));
  if (llvm::Error error =
          value.convertFromString(plain, llvm::APFloat::rmNearestTiesToEven).takeError()) {
    llvm::consumeError(std::move(error));
    return std::nullopt;
  }
  double result = value.convertToDouble();
  return number->negative ? -result : result;
}
