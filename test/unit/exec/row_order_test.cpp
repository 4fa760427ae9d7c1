// The order of rows by number and field by field, of rows and of columns.
// Sources: runtime/exec/rows/row_order.cpp
#include "runtime/exec/rows/field_values.h"
#include "runtime/exec/rows/row_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace headrace::exec {
namespace {

constexpr size_t kRows = 300;

struct Field {
  HrType type;
  uint32_t bytes;
  bool nullable;
};
constexpr Field kFields[] = {{HR_I32, 4, true},   {HR_F64, 8, true},     {HR_I128, 16, true},
                             {HR_I8, 1, false},   {HR_STRING, 0, false}, {HR_F32, 4, false},
                             {HR_I64, 8, false},  {HR_I16, 2, true},     {HR_BOOL, 0, false},
                             {HR_STRING, 0, true}};
constexpr uint32_t kFieldBytes = 32; ///< its value, and in the last byte whether there is one

/// Random values of each field, few of them different.
class RowOrderTest : public testing::Test {
protected:
  RowOrderTest() {
    state_.rowBytes = kFieldBytes * std::size(kFields);
    rows_.assign(kRows, std::vector<uint8_t>(state_.rowBytes));
    for (uint32_t f = 0; f < std::size(kFields); ++f) {
      plan::StateField field;
      field.type = kFields[f].type;
      field.offset = f * kFieldBytes;
      field.nullable = kFields[f].nullable;
      field.validOffset = field.offset + kFieldBytes - 1;
      state_.fields.push_back(field);
      fill(f);
    }
  }

  /// Of each row its value, also in a column.
  void fill(uint32_t f) {
    Column &column = columns_[f];
    column.data.resize(HR_PADDING);
    column.validity.resize(kRows / 8 + 1);
    uint32_t used = 0;
    for (uint32_t row = 0; row < kRows; ++row) {
      uint8_t *at = rows_[row].data() + state_.fields[f].offset;
      auto put = [&](const void *bytes, size_t count) {
        column.data.insert(column.data.end() - HR_PADDING, static_cast<const uint8_t *>(bytes),
                           static_cast<const uint8_t *>(bytes) + count);
      };
      const bool valid = !kFields[f].nullable || random_() % 4 != 0;
      at[kFieldBytes - 1] = valid;
      column.validity[row / 8] |= static_cast<uint8_t>(valid << row % 8);
      if (kFields[f].type == HR_STRING) {
        const char *text = kTexts[random_() % std::size(kTexts)];
        const auto length = static_cast<uint32_t>(std::strlen(text));
        storeAs(at, HrString{length, {}, reinterpret_cast<const uint8_t *>(text)});
        put(&used, sizeof(used));
        used += length;
        column.heap.append(text);
      } else if (kFields[f].type == HR_BOOL) {
        *at = random_() % 2;
        column.data.resize(kRows / 8 + 1 + HR_PADDING);
        column.data[row / 8] |= static_cast<uint8_t>(*at << row % 8);
      } else {
        store(kFields[f].type, at);
        put(at, kFields[f].bytes);
      }
    }
    column.data.insert(column.data.end() - HR_PADDING, reinterpret_cast<const uint8_t *>(&used),
                       reinterpret_cast<const uint8_t *>(&used) + sizeof(used));
    column.heap.append(HR_PADDING, 'x');
    column.segment = {};
    column.segment.data = column.data.data();
    column.segment.heap = reinterpret_cast<const uint8_t *>(column.heap.data());
    column.segment.validity = kFields[f].nullable ? column.validity.data() : nullptr;
  }

  void store(HrType type, uint8_t *at) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double reals[] = {0.0,  -0.0, std::nan(""), -std::nan(""),
                            -1.5, 2.25, kInfinity,    -kInfinity};
    const __int128 wides[] = {0, 5, -5, static_cast<__int128>(1) << 100,
                              -(static_cast<__int128>(1) << 90)};
    const auto small = static_cast<int64_t>(random_() % 5) - 2;
    switch (type) {
    case HR_F64:
      return storeAs(at, reals[random_() % 8]);
    case HR_F32:
      return storeAs(at, static_cast<float>(reals[random_() % 8]));
    case HR_I128:
      return storeAs(at, wides[random_() % 5]);
    case HR_I32:
      return storeAs(at, static_cast<int32_t>(small * 1'000'000'000));
    case HR_I16:
      return storeAs(at, static_cast<int16_t>(small * 16'000));
    case HR_I8:
      return storeAs(at, static_cast<int8_t>(small * 60));
    default:
      return storeAs(at, small * 4'000'000'000'000'000'000);
    }
  }

  std::vector<plan::OrderKey> someKeys() {
    std::vector<plan::OrderKey> keys;
    for (int32_t index = 0; index < static_cast<int32_t>(std::size(kFields)); ++index) {
      if (random_() % 4 == 0) {
        keys.push_back({index, random_() % 2 == 0, random_() % 2 == 0});
      }
    }
    std::shuffle(keys.begin(), keys.end(), random_);
    return keys;
  }

  struct Column {
    std::vector<uint8_t> data, validity;
    std::string heap;
    HrSegment segment;
  };
  /// HR_PADDING bytes behind each may be read.
  static constexpr char kTexts[][HR_PADDING + 32] = {"",
                                                     "a",
                                                     "seven l",
                                                     "eight le",
                                                     "a text of some length",
                                                     "a text of another",
                                                     "\xff\xff\xff\xff\xff\xff\xff\xff",
                                                     "b"};
  std::mt19937_64 random_{3};
  plan::State state_;
  std::vector<std::vector<uint8_t>> rows_;
  std::array<Column, std::size(kFields)> columns_;
};

TEST_F(RowOrderTest, NumbersAgreeWithFields) {
  size_t exact = 0;
  for (int turn = 0; turn < 80; ++turn) {
    RowOrder order(state_, someKeys());
    exact += order.isExact();
    for (int pair = 0; pair < 2000; ++pair) {
      const uint8_t *a = rows_[random_() % kRows].data();
      const uint8_t *b = rows_[random_() % kRows].data();
      int compared = order.compare(a, b);
      ASSERT_EQ(compared, -order.compare(b, a));
      if (order.prefix(a) != order.prefix(b)) {
        ASSERT_EQ(order.prefix(a) < order.prefix(b), compared < 0);
        ASSERT_NE(compared, 0);
      } else if (order.isExact()) {
        ASSERT_EQ(compared, 0);
      }
    }
  }
  EXPECT_GT(exact, 5u);
}

TEST_F(RowOrderTest, ColumnsHaveTheNumbersOfTheirRows) {
  for (int turn = 0; turn < 300; ++turn) {
    const std::vector<plan::OrderKey> keys = someKeys();
    RowOrder order(state_, keys);
    std::vector<const HrSegment *> columns;
    for (const plan::OrderKey &key : keys) {
      columns.push_back(&columns_[static_cast<size_t>(key.field)].segment);
    }
    const auto begin = static_cast<uint32_t>(random_() % kRows);
    std::vector<uint64_t> prefixes(random_() % (kRows - begin + 1), 7);
    order.prefixes(columns, begin, prefixes);
    for (size_t i = 0; i < prefixes.size(); ++i) {
      ASSERT_EQ(prefixes[i], order.prefix(rows_[begin + i].data())) << "turn " << turn;
    }
  }
}

} // namespace
} // namespace headrace::exec
