// What aggregates make of the numbers in a list; the values are those of aggregates of columns.
#include "runtime/base/double_double.h"
#include "runtime/base/list_functions.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {
namespace {

/// Without those that are NULL.
std::vector<double> realsOf(const List &list) {
  std::vector<double> values;
  eachValid(list.view, [&](std::string_view element) {
    values.push_back(numberIn(list.view.code(), element));
  });
  return values;
}

double sumOf(const std::vector<double> &values) {
  DoubleDouble<double> sum{0, 0};
  double plain = 0;
  for (const double value : values) {
    sum = sumOf(Computing(), sum, {value, 0});
    plain += value;
  }
  return std::isfinite(sum.high) ? sum.high : plain;
}

/// A double, or no element for none.
List maybeReal(TextRoom &room, std::optional<double> value) {
  if (!value) {
    return listOf(room, elementCode({LogicalKind::kF64}), {});
  }
  return listOfReal(room, std::isnan(*value) ? std::numeric_limits<double>::quiet_NaN() : *value);
}

/// The sum of the nth powers of the differences from the mean.
double moment(const std::vector<double> &values, double mean, int power) {
  double sum = 0;
  for (const double value : values) {
    sum += std::pow(value - mean, power);
  }
  return sum;
}

std::optional<double> spreadOf(const std::vector<double> &values, Spread spread) {
  const auto count = static_cast<double>(values.size());
  auto needs = [&](double least) { return count >= least; };
  const double mean = sumOf(values) / count, squares = moment(values, mean, 2);
  const double variance = squares / count;
  auto skew = [&] { return moment(values, mean, 3) / count / std::pow(variance, 1.5); };
  auto excess = [&] { return moment(values, mean, 4) / count / (variance * variance) - 3; };
  using Value = std::optional<double>;
  switch (spread) {
  case Spread::kVariance:
    return needs(1) ? Value(variance) : Value();
  case Spread::kSampleVariance:
    return needs(2) ? Value(squares / (count - 1)) : Value();
  case Spread::kDeviation:
    return needs(1) ? Value(std::sqrt(variance)) : Value();
  case Spread::kSampleDeviation:
    return needs(2) ? Value(std::sqrt(squares / (count - 1))) : Value();
  case Spread::kError:
    return needs(1) ? Value(std::sqrt(squares) / count) : Value();
  case Spread::kSkewness:
    return needs(3) && variance != 0 ? Value(skew() * std::sqrt(count * (count - 1)) / (count - 2))
                                     : Value();
  case Spread::kKurtosis:
    return needs(4) && variance != 0
               ? Value((count - 1) * ((count + 1) * excess() + 6) / ((count - 2) * (count - 3)))
               : Value();
  case Spread::kPopulationKurtosis:
    return needs(2) && variance != 0 ? Value(excess()) : Value();
  }
  return std::nullopt;
}

} // namespace

/// Of integers and decimals; nothing if 128 bits do not hold it.
static std::optional<__int128> exactSumOf(const List &list, ElementCode code) {
  __int128 sum = 0;
  bool fits = true;
  eachValid(list.view, [&](std::string_view element) {
    fits &= !__builtin_add_overflow(sum, integerIn(code, element), &sum);
  });
  return fits ? std::optional(sum) : std::nullopt;
}

MaybeList sumOfList(TextRoom &room, const List &list) {
  const ElementCode code = list.view.code();
  if (countValid(list) == 0) {
    return listOf(room, list.view.code(), {});
  }
  if (elementType(code).real()) {
    double sum = 0;
    eachValid(list.view, [&](std::string_view element) { sum += realIn(code, element); });
    const ElementCode real = elementCode({LogicalKind::kF64});
    return listOf(room, real, {ElementBytes::ofReal(real, sum).view()});
  }
  const bool isDecimal = elementType(code).kind == LogicalKind::kDecimal;
  const std::optional<__int128> sum = exactSumOf(list, code);
  if (isDecimal || !sum) {
    return listOfDecimal(room, sum, elementType(code).scale);
  }
  const ElementCode exact = elementCode({LogicalKind::kI128});
  return listOf(room, exact, {ElementBytes::ofInteger(exact, *sum).view()});
}

MaybeList averageOfList(TextRoom &room, const List &list) {
  const ElementCode code = list.view.code(), real = elementCode({LogicalKind::kF64});
  const int64_t count = countValid(list);
  if (count == 0) {
    return listOf(room, list.view.code(), {});
  }
  double sum = 0;
  if (!elementType(code).real() && elementType(code).kind != LogicalKind::kDecimal) {
    const std::optional<__int128> exact = exactSumOf(list, code);
    if (!exact) {
      return std::nullopt;
    }
    sum = static_cast<double>(*exact);
  } else {
    eachValid(list.view, [&](std::string_view element) { sum += numberIn(code, element); });
  }
  return listOf(room, real, {ElementBytes::ofReal(real, sum / static_cast<double>(count)).view()});
}

List productOfList(TextRoom &room, const List &list) {
  const ElementCode code = list.view.code(), real = elementCode({LogicalKind::kF64});
  if (countValid(list) == 0) {
    return listOf(room, list.view.code(), {});
  }
  double product = 1;
  eachValid(list.view, [&](std::string_view element) { product *= numberIn(code, element); });
  return listOf(room, real, {ElementBytes::ofReal(real, product).view()});
}

List spreadOfList(TextRoom &room, const List &list, Spread spread) {
  return maybeReal(room, spreadOf(realsOf(list), spread));
}

/// From sums of x, of y and of their products.
static double comomentOf(const DoubleDouble<double> &x, const DoubleDouble<double> &y,
                         const DoubleDouble<double> &products, double count, bool areSquares) {
  const auto [scaled, least] = deviationsOf(Computing(), x, y, products, count);
  const bool isNoise = (areSquares ? scaled : std::abs(scaled)) < std::abs(least);
  return (isNoise ? 0 : scaled) / count;
}

List comomentsOfList(TextRoom &room, const List &list) {
  const std::vector<double> values = realsOf(list);
  const ElementCode real = elementCode({LogicalKind::kF64});
  if (values.empty()) {
    return listOf(room, real, {});
  }
  DoubleDouble<double> x{0, 0}, y{0, 0}, xx{0, 0}, yy{0, 0}, xy{0, 0};
  double plainX = 0, plainY = 0;
  auto add = [](DoubleDouble<double> &sum, double a, double b) {
    sum = sumOf(Computing(), sum, productOf(Computing(), a, b));
  };
  for (size_t pair = 0; pair + 1 < values.size(); pair += 2) {
    const double valueY = values[pair], valueX = values[pair + 1];
    add(x, valueX, 1);
    add(y, valueY, 1);
    add(xx, valueX, valueX);
    add(yy, valueY, valueY);
    add(xy, valueX, valueY);
    plainX += valueX;
    plainY += valueY;
  }
  const auto count = static_cast<double>(values.size() / 2);
  const double parts[] = {count,
                          plainX / count,
                          plainY / count,
                          comomentOf(x, x, xx, count, /*areSquares=*/true),
                          comomentOf(y, y, yy, count, /*areSquares=*/true),
                          comomentOf(x, y, xy, count, /*areSquares=*/false)};
  std::vector<ElementBytes> bytes;
  std::vector<std::optional<std::string_view>> elements;
  for (const double part : parts) {
    bytes.push_back(ElementBytes::ofReal(real, part));
  }
  for (const ElementBytes &each : bytes) {
    elements.push_back(each.view());
  }
  return listOf(room, real, elements);
}

List exactSumOfList(TextRoom &room, const List &list) {
  const std::vector<double> values = realsOf(list);
  return maybeReal(room, values.empty() ? std::nullopt : std::optional(sumOf(values)));
}

List exactMeanOfList(TextRoom &room, const List &list) {
  const std::vector<double> values = realsOf(list);
  const auto count = static_cast<double>(values.size());
  return maybeReal(room, values.empty() ? std::nullopt : std::optional(sumOf(values) / count));
}

List entropyOfList(TextRoom &room, const List &list) {
  const double total = static_cast<double>(countValid(list));
  std::vector<int64_t> sizes;
  for (const auto &[value, count] : elementCounts(list)) {
    sizes.push_back(count);
  }
  std::ranges::sort(sizes); // so that equal shares give the same bits
  double entropy = 0;
  for (const int64_t size : sizes) {
    const double share = static_cast<double>(size) / total;
    entropy -= share * std::log2(share);
  }
  return listOfReal(room, entropy == 0 ? 0 : entropy); // not −0
}

List bitsOfList(TextRoom &room, const List &list, Bits bits) {
  std::optional<std::string> all; // byte by byte: whatever the integers are, all have as many
  eachValid(list.view, [&](std::string_view element) {
    if (!all) {
      all = element;
      return;
    }
    std::ranges::transform(*all, element, all->begin(), [&](char a, char b) {
      const int joined = bits == Bits::kAnd ? a & b : bits == Bits::kOr ? a | b : a ^ b;
      return static_cast<char>(joined);
    });
  });
  return all ? listOf(room, list.view.code(), {std::string_view(*all)})
             : listOf(room, list.view.code(), {});
}

List firstOfList(TextRoom &room, const List &list) {
  for (uint32_t index = 0; index < list.view.size(); ++index) {
    if (const auto element = list.view.element(index)) {
      return listOf(room, list.view.code(), {element});
    }
  }
  return listOf(room, list.view.code(), {});
}

} // namespace headrace
