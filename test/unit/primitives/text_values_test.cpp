// Values as text and back.
#include "test/unit/primitives/testing.h"

#include "runtime/primitives/string/string.h"
#include "runtime/primitives/string/text_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

namespace headrace::primitives::testing {
namespace {

using I128 = __int128;

HrString view(const PaddedBytes &bytes) {
  return makeString(bytes.data(), static_cast<uint32_t>(bytes.size()));
}
std::string textOfView(const HrString &text) {
  return {reinterpret_cast<const char *>(text.data), text.length};
}

std::string printed(int32_t form, I128 value, int32_t scale = 0) {
  uint8_t memory[HR_TEXT_PRINTED + HR_PADDING];
  HrString out;
  textPrint(form, &value, scale, memory, &out);
  return textOfView(out);
}

std::optional<I128> parsed(int32_t form, std::string_view text, int32_t scale = 0) {
  PaddedBytes bytes(text);
  HrString operand = view(bytes);
  I128 value = 77;
  bool valid = textParse(form, &operand, scale, &value) != 0;
  EXPECT_TRUE(valid || value == 0);
  return valid ? std::optional(value) : std::nullopt;
}

template <typename Real> std::string printedReal(int32_t form, Real value) {
  uint8_t memory[HR_TEXT_PRINTED + HR_PADDING];
  HrString out;
  textPrint(form, &value, 0, memory, &out);
  return textOfView(out);
}
std::string printed(double value) { return printedReal(HR_TEXT_DOUBLE, value); }
std::string printed(float value) { return printedReal(HR_TEXT_FLOAT, value); }

template <typename Real> std::optional<Real> parsedReal(int32_t form, std::string_view text) {
  PaddedBytes bytes(text);
  HrString operand = view(bytes);
  Real value = 77;
  bool valid = textParse(form, &operand, 0, &value) != 0;
  EXPECT_TRUE(valid || value == 0);
  return valid ? std::optional(value) : std::nullopt;
}
std::optional<double> parsedDouble(std::string_view text) {
  return parsedReal<double>(HR_TEXT_DOUBLE, text);
}

TEST(TextValuesTest, PrintsExactly) {
  EXPECT_EQ(printed(HR_TEXT_INTEGER, 0), "0");
  EXPECT_EQ(printed(HR_TEXT_INTEGER, -42), "-42");
  EXPECT_EQ(printed(HR_TEXT_INTEGER, 5, 2), "0.05");
  EXPECT_EQ(printed(HR_TEXT_INTEGER, -12345, 2), "-123.45");
  I128 most = static_cast<I128>(~static_cast<unsigned __int128>(0) >> 1);
  EXPECT_EQ(printed(HR_TEXT_INTEGER, -most - 1), "-170141183460469231731687303715884105728");
  EXPECT_EQ(printed(HR_TEXT_INTEGER, most, 38), "1.70141183460469231731687303715884105727");
  EXPECT_EQ(printed(HR_TEXT_DATE, 0), "1970-01-01");
  EXPECT_EQ(printed(HR_TEXT_DATE, 19782), "2024-02-29");
  EXPECT_EQ(printed(HR_TEXT_DATE, -719163), "0001-12-31 (BC)");
  EXPECT_EQ(printed(HR_TEXT_DATE, INT32_MIN), "5877642-06-23 (BC)");
  EXPECT_EQ(printed(HR_TEXT_TIMESTAMP, -719163 * INT64_C(86'400'000'000), 6),
            "0001-12-31 (BC) 00:00:00");
  EXPECT_EQ(printed(HR_TEXT_BOOLEAN, 1), "true");
  EXPECT_EQ(printed(HR_TEXT_TIMESTAMP, 0, 6), "1970-01-01 00:00:00");
  EXPECT_EQ(printed(HR_TEXT_TIMESTAMP, -1, 6), "1969-12-31 23:59:59.999999");
  EXPECT_EQ(printed(HR_TEXT_TIMESTAMP, 3'600'500'000, 6), "1970-01-01 01:00:00.5");
  EXPECT_EQ(printed(HR_TEXT_TIMESTAMP, -1, 0), "1969-12-31 23:59:59");
  EXPECT_EQ(printed(HR_TEXT_TIMESTAMP, -1, 9), "1969-12-31 23:59:59.999999999");
  EXPECT_EQ(printed(HR_TEXT_TIMESTAMP, INT64_MAX - 1, 0), "292277026596-12-04 15:30:06");
  EXPECT_EQ(printed(HR_TEXT_TIMESTAMP, INT64_MAX, 0), "infinity");
  EXPECT_EQ(printed(HR_TEXT_ZONED_TIMESTAMP, -INT64_MAX, 6), "-infinity");
  EXPECT_EQ(printed(HR_TEXT_DATE, INT32_MAX, 0), "infinity");
  EXPECT_EQ(printed(HR_TEXT_DATE, -INT32_MAX, 0), "-infinity");
  EXPECT_EQ(printed(HR_TEXT_ZONED_TIMESTAMP, 20, 3), "1970-01-01 00:00:00.02+00");
  EXPECT_EQ(printed(HR_TEXT_TIME, 45'045'123'456, 6), "12:30:45.123456");
  EXPECT_EQ(printed(HR_TEXT_TIME, 86'400'000'000, 6), "24:00:00");
}

TEST(TextValuesTest, PrintsTheShortestTextOfAFloat) {
  EXPECT_EQ(printed(0.0), "0.0");
  EXPECT_EQ(printed(-0.0), "-0.0");
  EXPECT_EQ(printed(-2.5), "-2.5");
  EXPECT_EQ(printed(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(printed(1e15), "1000000000000000.0");
  EXPECT_EQ(printed(1e16), "1e+16");
  EXPECT_EQ(printed(1234567890123456.75), "1234567890123456.8");
  EXPECT_EQ(printed(1e-4), "0.0001");
  EXPECT_EQ(printed(-1.5e-5), "-1.5e-05");
  EXPECT_EQ(printed(5e-324), "5e-324");
  EXPECT_EQ(printed(-1.7976931348623157e308), "-1.7976931348623157e+308");
  EXPECT_EQ(printed(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(printed(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(printed(0.1f), "0.1");
  EXPECT_EQ(printed(123456789.0f), "123456790.0");
  EXPECT_EQ(printed(16777216.0f), "16777216.0");
}

TEST(TextValuesTest, ReadsFloats) {
  EXPECT_EQ(parsedDouble(" 1.5 "), 1.5);
  EXPECT_EQ(parsedDouble("+.5e1"), 5.0);
  EXPECT_EQ(parsedDouble("5."), 5.0);
  EXPECT_EQ(parsedDouble("1_000.2_5"), 1000.25);
  EXPECT_EQ(parsedDouble("-1e400"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(parsedDouble("1e-400"), 0.0);
  EXPECT_EQ(parsedDouble("0." + std::string(400, '0') + "1e50"), 0.0);
  EXPECT_EQ(parsedDouble("Infinity"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(parsedDouble("-inf"), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(*parsedDouble("NaN")));
  // Nearest to a float, which rounding by way of a double is not.
  EXPECT_EQ(parsedReal<float>(HR_TEXT_FLOAT, "1.00000017881393432617187499"), 1.0000001f);
  for (std::string_view text : {"", ".", "-", "1e", "e5", "1_", "_1", "1__0", "1._5", "0x10", "1 2",
                                "1,5", "1e5.5", "--1"}) {
    EXPECT_EQ(parsedDouble(text), std::nullopt) << text;
  }
}

TEST(TextValuesTest, ParsesWhatIsAValue) {
  EXPECT_EQ(parsed(HR_TEXT_DATE, " Infinity "), INT32_MAX);
  EXPECT_EQ(parsed(HR_TEXT_TIMESTAMP, "-inf", 6), -INT64_MAX);
  EXPECT_EQ(parsed(HR_TEXT_TIME, "infinity", 6), std::nullopt);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, " -42\n"), -42);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "+7"), 7);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "1.0"), 1);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "2.5"), 3);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, ""), std::nullopt);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "-"), std::nullopt);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, std::string(60, '9')), std::nullopt);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "1.005", 2), 101);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "-1.0049999", 2), -100);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "3", 2), 300);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "1.2.3", 2), std::nullopt);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "1.45e1"), 15);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "-15e-1"), -2);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "45e-2"), 0);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "5e-1"), 1);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "5e-2"), 0);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "1e-999999999999999999999"), 0);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "0e999999999999999999999"), 0);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "1e999999999999999999999"), std::nullopt);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "1e3", 2), 100000);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "1_000"), 1000);
  EXPECT_EQ(parsed(HR_TEXT_INTEGER, "1__000"), std::nullopt);
  EXPECT_EQ(parsed(HR_TEXT_DATE, "2024-02-29"), 19782);
  EXPECT_EQ(parsed(HR_TEXT_DATE, "2023-02-29"), std::nullopt);
  EXPECT_EQ(parsed(HR_TEXT_DATE, " 2024/2/29 "), 19782);
  EXPECT_EQ(parsed(HR_TEXT_DATE, "2024 02 29"), 19782);
  EXPECT_EQ(parsed(HR_TEXT_DATE, "2024-02-29T10:00"), 19782);
  EXPECT_EQ(parsed(HR_TEXT_DATE, "Epoch"), 0);
  EXPECT_EQ(parsed(HR_TEXT_DATE, "0001-12-31 (BC)"), -719163);
  EXPECT_EQ(parsed(HR_TEXT_DATE, "0-12-31"), -719163);
  EXPECT_EQ(parsed(HR_TEXT_DATE, "-1-12-31"), parsed(HR_TEXT_DATE, "2-12-31 (bc)"));
  for (std::string_view text :
       {"2024-02/29", "2024.02.29", "2024-02", "2024-002-9", "2024-2-009", "2024-2-29x", "24", "",
        "0000-01-01 (BC)", "2024-02-29 x", "12345678-01-01", "2024-00-10", "2024-02-00"}) {
    EXPECT_EQ(parsed(HR_TEXT_DATE, text), std::nullopt) << text;
  }
  auto timestamp = [](std::string_view text) { return parsed(HR_TEXT_TIMESTAMP, text, 6); };
  EXPECT_EQ(timestamp("1970-01-02"), 86'400'000'000);
  EXPECT_EQ(timestamp("1970-01-01 01:00"), 3'600'000'000);
  EXPECT_EQ(timestamp("1969-12-31T23:59:59.999999"), -1);
  EXPECT_EQ(timestamp("1970-01-01 00:00:00.05"), 50'000);
  EXPECT_EQ(timestamp("1970-01-01 24:00:00"), 86'400'000'000);
  EXPECT_EQ(timestamp("1970-01-01  0:0:0."), 0);
  EXPECT_EQ(timestamp("1970-01-01 00:00:00.1234567+02"), 123'456);
  EXPECT_EQ(parsed(HR_TEXT_ZONED_TIMESTAMP, "1970-01-01 00:00:00-01:30:01", 6), 5'401'000'000);
  EXPECT_EQ(parsed(HR_TEXT_ZONED_TIMESTAMP, "1970-01-01 00:00:00 Europe/Berlin", 6), std::nullopt);
  EXPECT_EQ(parsed(HR_TEXT_TIMESTAMP, "1969-12-31 23:59:59.5", 0), -1);
  EXPECT_EQ(parsed(HR_TEXT_TIMESTAMP, "1970-01-01 00:00:00.1234567899", 9), 123'456'789);
  EXPECT_EQ(parsed(HR_TEXT_TIME, "1:2:3.5", 6), 3'723'500'000);
  EXPECT_EQ(parsed(HR_TEXT_TIME, "1970-01-01 00:00:01", 9), 1'000'000'000);
  for (std::string_view text :
       {"1970-01-01 24:00:01", "1970-01-01 00:60", "1970-01-01 00", "1970-01-01 00:00:60",
        "1970-01-01 00:00:00+2", "1970-01-01 00:00:00.1a", "1970-01-01x00:00", "00:00:00"}) {
    EXPECT_EQ(timestamp(text), std::nullopt) << text;
  }
  EXPECT_EQ(parsed(HR_TEXT_BOOLEAN, "TRUE"), 1);
  EXPECT_EQ(parsed(HR_TEXT_BOOLEAN, "yes"), 1);
  EXPECT_EQ(parsed(HR_TEXT_BOOLEAN, "N"), 0);
  EXPECT_EQ(parsed(HR_TEXT_BOOLEAN, "on"), std::nullopt);
  EXPECT_EQ(parsed(HR_TEXT_BOOLEAN, " true"), std::nullopt);
}

} // namespace
} // namespace headrace::primitives::testing
