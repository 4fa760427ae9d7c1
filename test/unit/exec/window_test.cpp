// Rows of windows in order, whatever their hashes.
// Sources: runtime/exec/window/{window_rows,window_functions,window_folds,frames}.cpp,
// runtime/exec/window/{entry_order,entry_sort,first_rows,large_partition,range_divider}.cpp
#include "runtime/exec/rows/field_values.h"
#include "runtime/exec/rows/row_order.h"
#include "runtime/exec/state/rank_state.h"
#include "test/unit/exec/finished_state.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <tuple>

namespace headrace::exec {
namespace {

plan::StateField field(HrType type, uint32_t offset, plan::Combine combine, bool nullable = false,
                       uint32_t validOffset = 0) {
  plan::StateField made;
  made.type = type;
  made.offset = offset;
  made.combine = combine;
  made.nullable = nullable;
  made.validOffset = validOffset;
  return made;
}

/// Rows {i64 hash, i64 key, i64 value, i64 place, i64 total}: rank of the value and sum of the
/// values up to it, by key.
plan::State rankedState() {
  plan::State state;
  state.name = "ranked";
  state.kind = plan::StateKind::kWindow;
  state.rowBytes = 48;
  state.fields = {
      field(HR_I64, 8, plan::Combine::kKey, true, 40), field(HR_I64, 16, plan::Combine::kPayload),
      field(HR_I64, 24, plan::Combine::kComputed), field(HR_I64, 32, plan::Combine::kSum)};
  state.order = {{1, false, false}};
  plan::WindowColumn place;
  place.function = plan::WindowFunction::kRank;
  place.result = 2;
  plan::WindowColumn total;
  total.function = plan::WindowFunction::kFold;
  total.result = 3;
  total.input = 1;
  total.unit = plan::FrameUnit::kRange;
  total.end.edge = plan::FrameEdge::kCurrentRow;
  state.windows = {place, total};
  return state;
}

struct Ranked {
  int64_t hash, key, value, place, total, valid;
};

/// What a state makes of the rows, with as many copies as lists; and what memory it took.
std::vector<Ranked> computed(const plan::State &state,
                             const std::vector<std::vector<Ranked>> &copies,
                             int64_t *peakBytes = nullptr) {
  constexpr int64_t kBytes = 256 << 20;
  auto memory = std::make_shared<RankMemory>(
      std::make_shared<BlockPool>(BlockPool::Options{kBytes, kBytes, "--memory"}),
      Budget::Options{Tier::kHost, kBytes, "--memory"});
  plan::Plan plan;
  plan.states = {state};
  auto made = RankState::create(plan, 0, memory);
  EXPECT_TRUE(made.ok());
  RankState &ranked = **made;
  RankState::CopySlots slots = ranked.addCopies(copies.size());
  for (size_t index = 0; index < copies.size(); ++index) {
    auto *buffer = static_cast<HrRowBuffer *>((*ranked.copy(slots[index]))->abi());
    for (const Ranked &row : copies[index]) {
      if (buffer->next == buffer->end) {
        EXPECT_TRUE(growRows(buffer).ok());
      }
      std::memcpy(buffer->next, &row, sizeof row);
      buffer->next += sizeof row;
      ++buffer->rows;
    }
  }
  Status finished = finishWith(2, ranked);
  EXPECT_TRUE(finished.ok()) << finished.message();
  std::vector<const uint8_t *> rows;
  ranked.rows(0, ranked.rowCount(), rows);
  std::vector<Ranked> out;
  for (const uint8_t *row : rows) {
    out.push_back(loadAs<Ranked>(row));
  }
  if (peakBytes) {
    *peakBytes = ranked.peakBytes();
  }
  return out;
}

void expectRanked(std::vector<Ranked> rows, size_t count) {
  ASSERT_EQ(rows.size(), count);
  std::sort(rows.begin(), rows.end(), [](const Ranked &a, const Ranked &b) {
    return a.key != b.key ? a.key < b.key : a.value < b.value;
  });
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin;
    int64_t total = 0;
    for (; end < rows.size() && rows[end].key == rows[begin].key;) {
      size_t peers = end;
      for (; end < rows.size() && rows[end].key == rows[peers].key &&
             rows[end].value == rows[peers].value;
           ++end) {
        total += rows[end].value;
      }
      for (size_t row = peers; row < end; ++row) {
        ASSERT_EQ(rows[row].place, static_cast<int64_t>(peers - begin) + 1);
        ASSERT_EQ(rows[row].total, total);
      }
    }
    begin = end;
  }
}

TEST(WindowRows, RanksPartitionsOfAllSizes) {
  for (int64_t keys : {1, 7, 5000, 90000}) {
    std::mt19937_64 random(keys);
    std::vector<std::vector<Ranked>> copies(3);
    for (int64_t i = 0; i < 90000; ++i) {
      auto key = static_cast<int64_t>(random() % keys);
      auto hash = static_cast<int64_t>(static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15u);
      copies[random() % 3].push_back(
          {hash, key, static_cast<int64_t>(random() % 1000) - 500, 0, 0, 1});
    }
    expectRanked(computed(rankedState(), copies), 90000);
  }
}

TEST(WindowRows, PartitionsOfOneHashStayApart) {
  std::mt19937_64 random(1);
  std::vector<std::vector<Ranked>> copies(2);
  for (int64_t i = 0; i < 40000; ++i) {
    auto key = static_cast<int64_t>(random() % 50);
    copies[i % 2].push_back({key % 3, key, static_cast<int64_t>(random() % 100), 0, 0, 1});
  }
  expectRanked(computed(rankedState(), copies), 40000);
}

TEST(WindowRows, NoRows) { expectRanked(computed(rankedState(), {{}, {}}), 0); }

TEST(WindowRows, ScratchIsCharged) {
  constexpr int64_t kRows = 200000;
  std::vector<std::vector<Ranked>> copies(1);
  for (int64_t i = 0; i < kRows; ++i) {
    copies[0].push_back({0, 0, i, 0, 0, 1});
  }
  plan::State state = rankedState();
  state.fields[3].combine = plan::Combine::kMax;
  int64_t growing = 0, tree = 0;
  computed(state, copies, &growing);
  state.windows[1].exclude = plan::FrameExclusion::kCurrentRow;
  std::vector<Ranked> rows = computed(state, copies, &tree);
  EXPECT_GE(tree, growing + kRows * 16); // a tree of values, each with a flag
  for (const Ranked &row : rows) {       // the largest but one's own of those up to one's own
    ASSERT_EQ(row.total, std::max<int64_t>(row.value - 1, 0));
  }
}

/// A state that may leave out rows behind the first gives them the places of one that keeps all.
TEST(WindowRows, FirstRowsAreThoseOfAll) {
  constexpr uint64_t kFirst = 3;
  for (int64_t hashes : {1, 2, 64}) { // 64 keys: of one hash, of two, each with its own
    for (bool byNumber : {false, true}) {
      std::mt19937_64 random(5);
      std::vector<std::vector<Ranked>> copies(2);
      for (int64_t i = 0; i < 200000; ++i) {
        auto key = static_cast<int64_t>(random() % 64);
        auto value = static_cast<int64_t>(byNumber ? random() >> 1 : random() % 50);
        auto hash = static_cast<int64_t>(static_cast<uint64_t>(key % hashes) * 0x9e3779b97f4a7c15u);
        copies[i % 2].push_back({hash, key, value, 0, 0, 1});
      }
      plan::State state = rankedState();
      state.windows.resize(1);
      state.windows[0].function =
          byNumber ? plan::WindowFunction::kRowNumber : plan::WindowFunction::kRank;
      auto firstOf = [](const std::vector<Ranked> &rows) {
        std::vector<std::tuple<int64_t, int64_t, int64_t>> first;
        for (const Ranked &row : rows) {
          if (row.place <= static_cast<int64_t>(kFirst)) {
            first.emplace_back(row.key, row.place, row.value);
          }
        }
        std::sort(first.begin(), first.end());
        return first;
      };
      std::vector<Ranked> all = computed(state, copies);
      state.limit = kFirst;
      std::vector<Ranked> some = computed(state, copies);
      EXPECT_EQ(firstOf(some), firstOf(all));
      if (hashes == 64) {
        EXPECT_LT(some.size(), all.size() / 2);
      }
    }
  }
}

/// Where partitions are small nothing can be left out, and nothing is lost.
TEST(WindowRows, FirstRowsOfSmallPartitions) {
  std::vector<std::vector<Ranked>> copies(1);
  for (int64_t i = 0; i < 100000; ++i) {
    auto hash = static_cast<int64_t>(static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u);
    copies[0].push_back({hash, i, i, 0, 0, 1});
  }
  plan::State state = rankedState();
  state.windows.resize(1);
  state.limit = 1;
  EXPECT_EQ(computed(state, copies).size(), copies[0].size());
}

} // namespace
} // namespace headrace::exec
