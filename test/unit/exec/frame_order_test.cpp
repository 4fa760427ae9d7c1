// Places among pieces of a list and of rows, beside those that are counted one by one.
// Sources: runtime/exec/window/{frame_order,place_counts,standings}.{h,cpp}
#include "runtime/exec/rows/field_values.h"
#include "runtime/exec/window/frame_order.h"
#include "test/unit/exec/finished_state.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace headrace::exec {
namespace {

/// One to three pieces of a list, in order.
Frames::Pieces somePieces(std::mt19937_64 &random, uint32_t size) {
  std::vector<uint32_t> ends(2 * (1 + random() % 3));
  for (uint32_t &end : ends) {
    end = static_cast<uint32_t>(random() % (size + 1));
  }
  std::sort(ends.begin(), ends.end());
  Frames::Pieces pieces;
  for (size_t i = 0; i < ends.size(); i += 2) {
    pieces.piece[pieces.count++] = {ends[i], ends[i + 1]};
  }
  return pieces;
}

TEST(PlaceCounts, AgreeWithCountingOneByOne) {
  PlaceCounts counts(makeAccount());
  std::mt19937_64 random(1);
  for (uint32_t size : {0, 1, 2, 3, 63, 64, 65, 128, 1000}) {
    std::vector<uint32_t> numbers(size);
    std::iota(numbers.begin(), numbers.end(), 0);
    std::shuffle(numbers.begin(), numbers.end(), random);
    std::vector<uint32_t> given = numbers;
    ASSERT_TRUE(counts.build(given).ok());
    for (int turn = 0; turn < 200; ++turn) {
      const Frames::Pieces pieces = somePieces(random, size);
      std::vector<uint32_t> seen;
      for (uint32_t i = 0; i < pieces.count; ++i) {
        seen.insert(seen.end(), numbers.begin() + pieces.piece[i].begin,
                    numbers.begin() + pieces.piece[i].end);
      }
      std::sort(seen.begin(), seen.end());
      for (uint32_t n = 0; n < seen.size(); ++n) {
        ASSERT_EQ(counts.nth(pieces, n), seen[n]);
      }
      const auto number = static_cast<uint32_t>(random() % (size + 2));
      uint32_t less = 0;
      for (uint32_t i = 0; i < pieces.count; ++i) {
        less += counts.less(pieces.piece[i], number);
      }
      ASSERT_EQ(less, std::lower_bound(seen.begin(), seen.end(), number) - seen.begin());
    }
  }
}

/// Rows {i64 key, i64 value, byte valid} of which those with a value count, or all.
TEST(FrameOrder, PlacesRowsAmongThoseThatCount) {
  struct Row {
    int64_t key, value, valid;
  };
  plan::State state;
  state.rowBytes = sizeof(Row);
  state.fields = {
      {.name = "key", .type = HR_I64, .offset = 0},
      {.name = "value", .type = HR_I64, .offset = 8, .nullable = true, .validOffset = 16}};
  const std::vector<plan::OrderKey> keys = {{0, true, false}}; // descending
  FrameOrder order(makeAccount());
  std::mt19937_64 random(2);
  for (uint32_t size : {1, 2, 70, 300}) {
    std::vector<Row> rows(size);
    std::vector<uint8_t *> pointers;
    for (Row &row : rows) {
      row = {static_cast<int64_t>(random() % 20), 0, static_cast<int64_t>(random() % 2)};
      pointers.push_back(reinterpret_cast<uint8_t *>(&row));
    }
    for (const plan::StateField *present :
         {static_cast<const plan::StateField *>(nullptr),
          static_cast<const plan::StateField *>(&state.fields[1])}) {
      ASSERT_TRUE(
          order.sort(RowOrder(state, keys), {std::span(pointers), {}, {}}, {0, size}, present)
              .ok());
      for (int turn = 0; turn < 100; ++turn) {
        const Frames::Pieces frame = somePieces(random, size);
        std::vector<uint32_t> seen;
        for (uint32_t i = 0; i < frame.count; ++i) {
          for (uint32_t row = frame.piece[i].begin; row < frame.piece[i].end; ++row) {
            if (!present || rows[row].valid != 0) {
              seen.push_back(row);
            }
          }
        }
        std::stable_sort(seen.begin(), seen.end(),
                         [&](uint32_t a, uint32_t b) { return rows[a].key > rows[b].key; });
        ASSERT_EQ(order.size(frame), seen.size());
        for (uint32_t n = 0; n < seen.size(); ++n) {
          ASSERT_EQ(order.nth(frame, n), seen[n]);
        }
        const auto row = static_cast<uint32_t>(random() % size);
        if (present && rows[row].valid == 0) {
          continue;
        }
        auto countOf = [&](const auto &isBefore) {
          return std::count_if(seen.begin(), seen.end(), isBefore);
        };
        const FrameOrder::Place place = order.placeOf(row);
        ASSERT_EQ(order.before(frame, place.own), countOf([&](uint32_t at) {
                    return rows[at].key > rows[row].key ||
                           (rows[at].key == rows[row].key && at < row);
                  }));
        ASSERT_EQ(order.before(frame, place.peersBegin),
                  countOf([&](uint32_t at) { return rows[at].key > rows[row].key; }));
        ASSERT_EQ(order.before(frame, place.peersEnd),
                  countOf([&](uint32_t at) { return rows[at].key >= rows[row].key; }));
      }
    }
  }
}

} // namespace
} // namespace headrace::exec
