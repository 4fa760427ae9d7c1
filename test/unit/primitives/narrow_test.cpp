// Stored integers as narrower ones, on every instruction set: cut to their width, with their range.
#include "runtime/primitives/narrow/narrow.h"

#include "runtime/abi/type_bytes.h"
#include "test/unit/primitives/testing.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace headrace::primitives::testing {
namespace {

template <typename Stored> void expectNarrowed(StoredInteger stored, std::mt19937_64 &random) {
  for (Isa isa : supportedIsas()) {
    for (HrType target : {HR_I8, HR_I16, HR_I32, HR_I64}) {
      for (size_t count : {0, 1, 7, 8, 31, 64, 1000}) {
        // At an odd address: no alignment is needed.
        std::vector<uint8_t> bytes(count * sizeof(Stored) + 1);
        std::vector<int64_t> values;
        const int shift = static_cast<int>(random() % (8 * sizeof(Stored)));
        for (size_t i = 0; i < count; ++i) {
          const auto value = static_cast<Stored>(static_cast<Stored>(random()) >> shift);
          std::memcpy(bytes.data() + 1 + i * sizeof(Stored), &value, sizeof value);
          values.push_back(static_cast<int64_t>(value));
        }
        const size_t width = abi::bytesOf(target);
        std::vector<uint8_t> out(count * width + 1, 0xa5);
        const IntegerRange range =
            narrowIntegers(isa, stored, bytes.data() + 1, count, target, out.data());
        EXPECT_EQ(out.back(), 0xa5);
        if (count == 0) {
          EXPECT_GT(range.min, range.max);
          continue;
        }
        ASSERT_EQ(range.min, *std::min_element(values.begin(), values.end()));
        ASSERT_EQ(range.max, *std::max_element(values.begin(), values.end()));
        for (size_t i = 0; i < count; ++i) { // little-endian: the low bytes come first
          ASSERT_EQ(std::memcmp(out.data() + i * width, &values[i], width), 0) << i;
        }
      }
    }
  }
}

TEST(Narrow, ValuesAndTheirRange) {
  std::mt19937_64 random(seed());
  for (int round = 0; round < 20; ++round) {
    expectNarrowed<int32_t>(StoredInteger::kI32, random);
    expectNarrowed<uint32_t>(StoredInteger::kU32, random);
    expectNarrowed<int64_t>(StoredInteger::kI64, random);
  }
}

} // namespace
} // namespace headrace::primitives::testing
