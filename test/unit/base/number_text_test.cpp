// Numbers in what a user wrote: the whole text, within bounds.
#include "runtime/base/number_text.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

std::string error(const std::string &text,
                  Expected<double> (*parse)(const std::string &, const std::string &, double,
                                            double)) {
  Expected<double> number = parse("ranks", text, 1, 100);
  return number ? "none" : number.status().message();
}

TEST(NumberText, WithinBounds) {
  EXPECT_EQ(*parseNumber("ranks", "2.5e1", 1, 100), 25);
  EXPECT_EQ(*parseNumber("ranks", "100", 1, 100), 100);
  EXPECT_EQ(*parseCount("ranks", "1e2", 1, 100), 100);
}

TEST(NumberText, ErrorsSayWhatIsWanted) {
  const std::string bounds = "ranks needs a number from 1 to 100, got ";
  for (const char *text : {"", "x", "3 ", "3x", "0.99", "101", "nan", "inf"}) {
    EXPECT_EQ(error(text, parseNumber), bounds + text);
    EXPECT_EQ(error(text, parseCount), bounds + text);
  }
  EXPECT_EQ(error("2.5", parseCount), "ranks needs a whole number, got 2.5");
  EXPECT_EQ(parseNumber("ranks", "x", 1, 2).status().kind(), ErrorKind::kUser);
}

} // namespace
} // namespace headrace
