// Numbers for people: the unit follows the size, columns are counted in code points.
#include "runtime/base/readable.h"

#include <gtest/gtest.h>

using namespace headrace;

TEST(Readable, Bytes) {
  EXPECT_EQ(formatBytes(512), "512 B");
  EXPECT_EQ(formatBytes(static_cast<double>(int64_t{3} << 29)), "1.5 GiB");
  EXPECT_EQ(formatBytes(0), "0 B");
}

TEST(Readable, Seconds) {
  EXPECT_EQ(formatSeconds(0), "0 s");
  EXPECT_EQ(formatSeconds(4.2e-7), "420 ns");
  EXPECT_EQ(formatSeconds(1.234e-3), "1.23 ms");
  EXPECT_EQ(formatSeconds(9.996e-6), "10 µs");
  EXPECT_EQ(formatSeconds(0.5), "500 ms");
  EXPECT_EQ(formatSeconds(45.16), "45.2 s");
  EXPECT_EQ(formatSeconds(186), "3.1 min");
  EXPECT_EQ(formatSeconds(9000), "2.5 h");
}

TEST(Readable, Counts) {
  EXPECT_EQ(formatCount(0), "0");
  EXPECT_EQ(formatCount(999), "999");
  EXPECT_EQ(formatCount(6001215), "6,001,215");
  EXPECT_EQ(formatCount(1e3), "1,000");
  EXPECT_EQ(formatCount(12.34e6), "12.3 M");
  EXPECT_EQ(formatCount(1.5e9), "1.5 G");
  EXPECT_EQ(formatCount(2e12), "2 T");
}

TEST(Readable, WidthIsOfCodePoints) {
  EXPECT_EQ(displayWidth("1.2 µs"), 6u);
  EXPECT_EQ(cutToWidth("µµµµ", 4), "µµµµ");
  EXPECT_EQ(cutToWidth("µµµµµ", 4), "µµµ…");
  EXPECT_EQ(cutToWidth("orders", 3), "or…");
}
