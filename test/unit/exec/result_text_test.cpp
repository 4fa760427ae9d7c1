// Values as text, CSV quoting, aligned columns.
#include "runtime/exec/result_text.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <sstream>

namespace headrace::exec {
namespace {

template <typename T> std::string integerText(const plan::Column &column, T value) {
  Chunk chunk;
  chunk.rows = 1;
  chunk.segments.resize(1);
  chunk.segments[0].data = &value;
  return *cellText(chunk, column, 0, 0);
}

TEST(ResultText, DecimalsKeepTheirScale) {
  plan::Column price{"price", HR_I64, {LogicalKind::kDecimal, 15, 2}, false};
  EXPECT_EQ(integerText<int64_t>(price, 0), "0.00");
  EXPECT_EQ(integerText<int64_t>(price, 5), "0.05");
  EXPECT_EQ(integerText<int64_t>(price, -5), "-0.05");
  EXPECT_EQ(integerText<int64_t>(price, 12345), "123.45");
  EXPECT_EQ(integerText<int64_t>(price, INT64_MIN), "-92233720368547758.08");
  plan::Column wide{"wide", HR_I128, {LogicalKind::kDecimal, 38, 4}, false};
  __int128 large = static_cast<__int128>(INT64_MAX) * 1'000'000'000;
  EXPECT_EQ(integerText<__int128>(wide, -large), "-922337203685477580700000.0000");
  plan::Column whole{"whole", HR_I16, {LogicalKind::kDecimal, 4, 0}, false};
  EXPECT_EQ(integerText<int16_t>(whole, -120), "-120");
}

TEST(ResultText, IntegersAndDates) {
  EXPECT_EQ(integerText<int8_t>({"i", HR_I8, {LogicalKind::kI64}, false}, -128), "-128");
  plan::Column day{"day", HR_I32, {LogicalKind::kDate}, false};
  EXPECT_EQ(integerText<int32_t>(day, 0), "1970-01-01");
  EXPECT_EQ(integerText<int32_t>(day, -1), "1969-12-31");
  EXPECT_EQ(integerText<int32_t>(day, 11016), "2000-02-29");
}

TEST(ResultText, RealsReadBackTheSame) {
  EXPECT_EQ(integerText<double>({"x", HR_F64, {LogicalKind::kF64}, false}, 0.1), "0.1");
  EXPECT_EQ(integerText<float>({"x", HR_F32, {LogicalKind::kF32}, false}, 0.1f), "0.1");
  EXPECT_EQ(integerText<double>({"x", HR_F64, {LogicalKind::kF64}, false}, 1e22), "1e+22");
}

TEST(ResultText, AlignedColumnsCountCodePoints) {
  static const uint32_t offsets[] = {0, 3, 8, 8};
  static const char heap[] = "abc\xc3\xa9t\xc3\xa9"; // "abc" and "été"
  static const uint8_t validity[] = {0b011};
  static const uint8_t flags[] = {0b101};
  auto chunk = std::make_shared<Chunk>();
  chunk->rows = 3;
  chunk->segments.resize(2);
  chunk->segments[0].data = offsets;
  chunk->segments[0].heap = reinterpret_cast<const uint8_t *>(heap);
  chunk->segments[0].validity = validity;
  chunk->segments[1].data = flags;
  chunk->heapBytes.resize(2);
  auto rows = ResultRows::of({{{"text", HR_STRING, {LogicalKind::kString}, true},
                               {"flag", HR_BOOL, {LogicalKind::kBool}, false}}},
                             {chunk});
  std::ostringstream aligned;
  ASSERT_TRUE(writeAligned(*rows, 2, aligned).ok());
  EXPECT_EQ(aligned.str(),
            "text  flag\n----  -----\nabc   true\n\xc3\xa9t\xc3\xa9   false\n... 1 more row\n");
  std::ostringstream csv;
  ASSERT_TRUE(writeCsv(*rows, csv).ok());
  EXPECT_EQ(csv.str(), "text,flag\nabc,true\n\xc3\xa9t\xc3\xa9,false\n,true\n");
}

} // namespace
} // namespace headrace::exec
