// Quantiles of frames, beside those of lists of the frames' elements; and numbers that come and go.
// Sources: runtime/exec/window/{present_numbers.h,window_quantiles.cpp}
#include "runtime/base/list_functions.h"
#include "runtime/exec/rows/field_values.h"
#include "runtime/exec/window/window_functions.h"
#include "test/unit/base/packed_lists.h"
#include "test/unit/exec/finished_state.h"
#include "test/unit/exec/random_frames.h"

#include <random>
#include <set>

namespace headrace::exec {
namespace {

TEST(PresentNumbers, TheNthIsThatOfASet) {
  std::mt19937_64 random(4);
  PresentNumbers present(makeAccount());
  for (uint32_t size : {1, 2, 3, 8, 63, 64, 65, 200}) {
    ASSERT_TRUE(present.begin(size).ok());
    std::set<uint32_t> expected;
    for (int turn = 0; turn < 300; ++turn) {
      const auto number = static_cast<uint32_t>(random() % size);
      if (expected.insert(number).second) {
        present.add(number);
      } else {
        expected.erase(number);
        present.remove(number);
      }
      uint32_t n = 0;
      for (uint32_t there : expected) {
        ASSERT_EQ(present.nth(n++), there) << size;
      }
    }
  }
}

/// Rows {i64 key, i32 value, list of the value, list of quantiles}; of some the list is NULL.
class Rows {
public:
  struct Row {
    int64_t key;
    int32_t value;
    uint8_t hasList, hasResult;
    HrString list, result;
  };

  Rows(uint32_t count, std::mt19937_64 &random) : rows_(count) {
    state_.kind = plan::StateKind::kWindow;
    state_.rowBytes = sizeof(Row);
    auto at = [](const char *name, HrType type, uint32_t offset) {
      return plan::StateField{.name = name, .type = type, .offset = offset};
    };
    state_.fields = {
        at("key", HR_I64, offsetof(Row, key)), at("value", HR_I32, offsetof(Row, value)),
        at("list", HR_STRING, offsetof(Row, list)), at("result", HR_STRING, offsetof(Row, result))};
    state_.fields[2].nullable = state_.fields[3].nullable = true;
    state_.fields[2].validOffset = offsetof(Row, hasList);
    state_.fields[3].validOffset = offsetof(Row, hasResult);
    state_.order = {{0, false, false}};
    lists_.reserve(count);
    for (uint32_t row = 0; row < count; ++row) {
      const auto value = static_cast<int32_t>(random() % 9) - 4;
      lists_.push_back(pack(kInteger, {integer(value)}));
      rows_[row] = {row / 3, value, static_cast<uint8_t>(random() % 5 != 0), 0, {}, {}};
      setList(row, lists_.back());
      pointers_.push_back(reinterpret_cast<uint8_t *>(&rows_[row]));
      group_.push_back(row / 3);
      if (row % 3 == 0) {
        groupBegin_.push_back(row);
      }
    }
    groupBegin_.push_back(count);
    partition_.rows = pointers_;
    partition_.group = group_;
    partition_.groupBegin = groupBegin_;
  }

  plan::State &state() { return state_; }
  const Partition &partition() const { return partition_; }
  uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  const Row &operator[](uint32_t row) const { return rows_[row]; }
  void setList(uint32_t row, const std::string &list) {
    rows_[row].list = {
        static_cast<uint32_t>(list.size()), {}, reinterpret_cast<const uint8_t *>(list.data())};
  }
  std::string result(uint32_t row) const {
    const HrString &list = rows_[row].result;
    return rows_[row].hasResult ? listText({reinterpret_cast<const char *>(list.data), list.length})
                                : "none";
  }

private:
  plan::State state_;
  std::vector<Row> rows_;
  std::vector<std::string> lists_;
  std::vector<uint8_t *> pointers_;
  std::vector<uint32_t> group_, groupBegin_;
  Partition partition_;
};

plan::WindowColumn quantilesOf(std::vector<QuantileShare> shares, QuantileKind kind) {
  plan::WindowColumn window;
  window.function = plan::WindowFunction::kQuantiles;
  window.input = 2;
  window.result = 3;
  window.order = {{1, false, false}};
  window.shares = std::move(shares);
  window.quantileKind = kind;
  window.end.edge = plan::FrameEdge::kCurrentRow;
  return window;
}

/// The same of the list of a frame's elements.
std::string expectedOf(const Rows &rows, const plan::WindowColumn &window,
                       const Frames::Pieces &pieces) {
  std::vector<int> values;
  for (uint32_t i = 0; i < pieces.count; ++i) {
    for (uint32_t row = pieces.piece[i].begin; row < pieces.piece[i].end; ++row) {
      if (rows[row].hasList) {
        values.push_back(rows[row].value);
      }
    }
  }
  if (window.distinct) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }
  if (values.empty()) {
    return "none";
  }
  std::vector<std::optional<std::string>> elements;
  for (int value : values) {
    elements.push_back(integer(value));
  }
  const std::string list = pack(kInteger, elements);
  ExactRoom room;
  std::vector<std::optional<std::string>> found;
  ElementCode code = 0;
  for (QuantileShare share : window.shares) {
    const MaybeList one =
        quantileOfList(room, List(list), share, window.order[0].descending, window.quantileKind);
    code = one->view.code();
    found.emplace_back(one->view.bytes(0));
  }
  return listText(pack(code, found));
}

TEST(WindowQuantiles, AreThoseOfListsOfFrames) {
  std::mt19937_64 random(21);
  Frames frames(makeAccount());
  for (int round = 0; round < 600; ++round) {
    Rows rows(static_cast<uint32_t>(1 + random() % 60), random);
    const auto kind = random() % 2 == 0 ? QuantileKind::kBetween : QuantileKind::kDiscrete;
    std::vector<QuantileShare> shares = {{static_cast<int64_t>(random() % 11), 10}};
    if (random() % 2 == 0) {
      shares.push_back(QuantileShare::ofReal(1.0 / 3));
    }
    plan::WindowColumn window = quantilesOf(shares, kind);
    window.distinct = random() % 3 == 0;
    window.order[0].descending = random() % 3 == 0;
    window.unit = random() % 2 == 0 ? plan::FrameUnit::kRows : plan::FrameUnit::kGroups;
    window.start = boundOf(random, 7, true);
    window.end = boundOf(random, 7, false);
    window.exclude = static_cast<plan::FrameExclusion>(random() % 4);
    rows.state().windows = {window};
    const auto begin = static_cast<uint32_t>(random() % rows.size()); // a worker's part
    const RowSpanOf part{begin,
                         begin + static_cast<uint32_t>(1 + random() % (rows.size() - begin))};
    WindowFunctions functions(rows.state(), makeAccount());
    ASSERT_TRUE(functions.compute(rows.partition(), part).ok());
    ASSERT_TRUE(frames.compute(rows.state(), window, rows.partition(), part).ok());
    for (uint32_t row = part.begin; row < part.end; ++row) {
      ASSERT_EQ(rows.result(row), expectedOf(rows, window, frames.pieces(row)))
          << "round " << round << ", row " << row;
    }
  }
}

TEST(WindowQuantiles, AListHasOneElement) {
  std::mt19937_64 random(22);
  Rows rows(4, random);
  rows.state().fields[2].nullable = false; // all rows count
  rows.state().windows = {quantilesOf({{1, 1}}, QuantileKind::kDiscrete)};
  const std::string empty, two = pack(kInteger, {integer(1), integer(2)});
  for (const std::string &list : {empty, two}) {
    for (uint32_t row = 0; row < rows.size(); ++row) {
      rows.setList(row, list);
    }
    WindowFunctions functions(rows.state(), makeAccount());
    const Status status = functions.compute(rows.partition(), {0, rows.size()});
    const std::string size = std::to_string(List(list).view.size());
    EXPECT_EQ(status.message(),
              "a quantile is of lists of one element, got " + size + " and " + size);
  }
}

} // namespace
} // namespace headrace::exec
