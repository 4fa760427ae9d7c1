// Sizes in bytes as people write and read them, and bars.
#include "runtime/base/number_forms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace headrace {
namespace {

TEST(NumberForms, Sizes) {
  EXPECT_EQ(sizeText(0, 1024), "0 bytes");
  EXPECT_EQ(sizeText(-1, 1024), "-1 byte");
  EXPECT_EQ(sizeText(1023, 1024), "1023 bytes");
  EXPECT_EQ(sizeText(1536, 1024), "1.5 KiB");
  EXPECT_EQ(sizeText(-1'999'999, 1000), "-1.9 MB");
  EXPECT_EQ(sizeText(INT64_MAX, 1000), "9223.3 PB");
  EXPECT_EQ(sizeText(INT64_MIN, 1024), "-8192.0 PiB");
}

TEST(NumberForms, SizesInTexts) {
  EXPECT_EQ(sizeIn("1.5KB"), 1500);
  EXPECT_EQ(sizeIn("  2   GiB and more"), int64_t{2} << 30);
  EXPECT_EQ(sizeIn("1.9999 kib"), 2047);
  EXPECT_EQ(sizeIn("1e3 Bytes"), 1000);
  EXPECT_EQ(sizeIn("8388607 tib"), INT64_C(8388607) << 40);
  for (const char *text : {"", "KB", "1", "1 x", "-1 KB", "8388608 tib", "1 kilobytess"}) {
    EXPECT_EQ(sizeIn(text), std::nullopt) << text;
  }
}

TEST(NumberForms, Bars) {
  EXPECT_EQ(barText(5, 0, 10, 5), "██▌  ");
  EXPECT_EQ(barText(3, 0, 10, 4), "█▏  ");
  EXPECT_EQ(barText(0.3, 0, 1, 1), "▎");
  EXPECT_EQ(barText(-1, 0, 10, 2), "  ");
  EXPECT_EQ(barText(11, 0, 10, 2), "██");
  EXPECT_EQ(barText(1, 0, 10, 0.5), std::nullopt);
  EXPECT_EQ(barText(1, 0, 10, 1001), std::nullopt);
  EXPECT_EQ(barText(1, 0, 10, std::nan("")), std::nullopt);
  EXPECT_EQ(barText(1, -std::numeric_limits<double>::infinity(), 10, 4), std::nullopt);
}

} // namespace
} // namespace headrace
