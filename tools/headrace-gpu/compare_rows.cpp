// Rows are sorted by what is exact in them, then compared one by one.
#include "tools/headrace-gpu/compare_rows.h"

#include <algorithm>
#include <cmath>

namespace headrace::gpu {

namespace {

/// Floats do not decide the order.
std::string keyOf(const Json &row) {
  std::string key;
  for (const Json &value : row) {
    key += value.is_number() ? "" : value.dump();
    key += '\n';
  }
  return key;
}

void sortRows(std::vector<Json> &rows) {
  std::ranges::stable_sort(rows, [](const Json &a, const Json &b) { return keyOf(a) < keyOf(b); });
}

/// JSON has no NaN and no infinities: they are texts in what is expected.
double numberOf(const Json &value) {
  return value.is_number() ? value.get<double>() : std::stod(value.get<std::string>());
}

bool areAlike(const Json &found, const Json &expected, double largest, double tolerance) {
  if (!found.is_number()) {
    return found == expected;
  }
  if (expected.is_null()) {
    return false;
  }
  double a = found.get<double>(), b = numberOf(expected);
  if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b)) {
    return (std::isnan(a) && std::isnan(b)) || a == b;
  }
  return std::abs(a - b) <= tolerance * std::max({std::abs(a), std::abs(b), largest});
}

} // namespace

std::string differenceOf(std::vector<Json> found, std::vector<Json> expected, double tolerance) {
  if (found.size() != expected.size()) {
    return std::to_string(found.size()) + " rows, expected " + std::to_string(expected.size());
  }
  std::vector<double> largest;
  for (const Json &row : found) {
    largest.resize(std::max(largest.size(), row.size()));
    for (size_t column = 0; column < row.size(); ++column) {
      if (row[column].is_number() && std::isfinite(row[column].get<double>())) {
        largest[column] = std::max(largest[column], std::abs(row[column].get<double>()));
      }
    }
  }
  sortRows(found);
  for (Json &row : expected) { // texts that stand for floats do not decide either
    for (size_t column = 0; column < row.size() && !found.empty(); ++column) {
      if (found.front()[column].is_number() && row[column].is_string()) {
        row[column] = numberOf(row[column]);
      }
    }
  }
  sortRows(expected);
  for (size_t row = 0; row < found.size(); ++row) {
    if (found[row].size() != expected[row].size()) {
      return "rows of " + std::to_string(found[row].size()) + " columns, expected " +
             std::to_string(expected[row].size());
    }
    for (size_t column = 0; column < found[row].size(); ++column) {
      if (!areAlike(found[row][column], expected[row][column], largest[column], tolerance)) {
        return "row " + std::to_string(row) + " is " + found[row].dump() + ", expected " +
               expected[row].dump();
      }
    }
  }
  return "";
}

Json timesInteger(const Json &value, uint64_t factor) {
  // Digit by digit: sums of 128 bits.
  auto text = value.get<std::string>();
  bool isNegative = text.starts_with("-");
  std::string digits;
  unsigned __int128 carry = 0;
  for (auto digit = text.rbegin(); digit != text.rend() && *digit != '-'; ++digit) {
    carry += static_cast<unsigned __int128>(*digit - '0') * factor;
    digits.push_back(static_cast<char>('0' + static_cast<int>(carry % 10)));
    carry /= 10;
  }
  for (; carry != 0; carry /= 10) {
    digits.push_back(static_cast<char>('0' + static_cast<int>(carry % 10)));
  }
  while (digits.size() > 1 && digits.back() == '0') {
    digits.pop_back();
  }
  if (isNegative) {
    digits.push_back('-');
  }
  return std::string(digits.rbegin(), digits.rend());
}

} // namespace headrace::gpu
