// Selections against a loop.
#include "test/unit/primitives/testing.h"

#include <gtest/gtest.h>

namespace headrace::primitives::testing {
namespace {

class SelectTest : public ::testing::TestWithParam<Isa> {};

TEST_P(SelectTest, BitsAndBytes) {
  HrImports table = primitivesOf(GetParam());
  std::mt19937_64 random(seed());
  for (int round = 0; round < 500; ++round) {
    uint32_t rows = static_cast<uint32_t>(random() % 1025);
    uint64_t percent = random() % 101;
    std::vector<uint64_t> bits((rows + 63) / 64);
    std::vector<uint8_t> bytes(rows);
    std::vector<uint16_t> expected;
    for (uint32_t i = 0; i < rows; ++i) {
      if (random() % 100 < percent) {
        bits[i / 64] |= 1ull << (i % 64);
        bytes[i] = static_cast<uint8_t>(1 + random() % 255);
        expected.push_back(static_cast<uint16_t>(i));
      }
    }
    if (rows % 64) { // rows past the end do not count
      bits.back() |= ~0ull << (rows % 64);
    }
    std::vector<uint16_t> out(rows + 32);
    uint32_t count = table.hr_select_bits_(bits.data(), rows, out.data());
    EXPECT_EQ(std::vector<uint16_t>(out.begin(), out.begin() + count), expected);
    std::fill(out.begin(), out.end(), 0);
    count = table.hr_select_bytes_(bytes.data(), rows, out.data());
    EXPECT_EQ(std::vector<uint16_t>(out.begin(), out.begin() + count), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, SelectTest, ::testing::ValuesIn(supportedIsas()),
                         [](const auto &info) { return isaTestName(info.param); });

} // namespace
} // namespace headrace::primitives::testing
