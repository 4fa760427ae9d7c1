// Rows of several ranks divided by ranges of an order: in order, peers together, evenly, and alike
// on all ranks. Sources: runtime/exec/range/range_division.cpp, runtime/exec/range/order_keys.cpp,
// runtime/exec/chunk/kept_chunks.cpp
#include "runtime/exec/range/range_division.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <random>

namespace headrace::exec {
namespace {

using Row = std::pair<std::optional<int64_t>, std::string>;
using Group = std::vector<std::vector<Row>>; ///< the rows of each rank

class RangeDivisionTest : public testing::Test {
protected:
  RangeDivisionTest() { limitMemory(64 << 20); }

  void limitMemory(int64_t bytes) {
    memory_ = std::make_shared<RankMemory>(
        std::make_shared<BlockPool>(BlockPool::Options{64 << 20, 64 << 20, "--memory"}),
        Budget::Options{Tier::kHost, bytes, "--memory"});
    stream_.chunkRows = 100;
    stream_.schema.columns = {{"n", HR_I64, {LogicalKind::kI64}, true},
                              {"t", HR_STRING, {LogicalKind::kString}, false}};
    ReservationRequest request;
    request.operatorName = "test";
    account_ = *MemoryAccount::open(memory_, request);
  }

  /// The rows of a rank, to be kept as they come.
  void keep(RangeDivision &division, const std::vector<Row> &rows) {
    ChunkStream to(1, &doorbell_);
    for (size_t first = 0; first < rows.size(); first += stream_.chunkRows) {
      OutputChunk output(stream_, account_);
      ASSERT_TRUE(output.prepare().ok());
      HrOutputColumn *columns = output.abi().columns;
      for (size_t at = first; at < std::min(first + stream_.chunkRows, rows.size()); ++at) {
        uint32_t row = output.abi().rows++;
        columns[0].validity[row] = rows[at].first.has_value();
        static_cast<int64_t *>(columns[0].data)[row] = rows[at].first.value_or(0);
        const std::string &text = rows[at].second;
        ASSERT_TRUE(output.growHeap(1, text.size()).ok());
        std::memcpy(columns[1].heap + columns[1].heapUsed, text.data(), text.size());
        columns[1].heapUsed += static_cast<uint32_t>(text.size());
        static_cast<uint32_t *>(columns[1].data)[row + 1] = columns[1].heapUsed;
      }
      ChunkHandle chunk = *output.seal({}, 0);
      ASSERT_TRUE(to.tryPush(chunk));
      ASSERT_TRUE(division.keep(to).ok());
    }
    to.close();
    ASSERT_TRUE(division.keep(to).ok());
  }

  static std::vector<Row> rowsOf(const Chunk &chunk) {
    std::vector<Row> rows;
    const HrSegment &numbers = chunk.segments[0], &texts = chunk.segments[1];
    for (uint32_t row = 0; row < chunk.rows; ++row) {
      bool valid = !numbers.validity || (numbers.validity[row / 8] >> (row % 8) & 1) != 0;
      const auto *offsets = static_cast<const uint32_t *>(texts.data);
      rows.emplace_back(valid ? std::optional(static_cast<const int64_t *>(numbers.data)[row])
                              : std::nullopt,
                        std::string(reinterpret_cast<const char *>(texts.heap) + offsets[row],
                                    offsets[row + 1] - offsets[row]));
    }
    return rows;
  }

  /// What each rank gets.
  Group divide(const Group &given, const std::vector<plan::OrderKey> &order) {
    auto ranks = static_cast<uint32_t>(given.size());
    std::vector<std::unique_ptr<RangeDivision>> divisions;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      divisions.push_back(std::make_unique<RangeDivision>(stream_.schema, order,
                                                          plan::GroupPlace{rank, ranks}, account_));
      keep(*divisions[rank], given[rank]);
    }
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      auto others = [&](const auto &tell) {
        for (uint32_t other = 0; other < ranks; ++other) {
          if (other != rank) {
            tell(*divisions[other]);
          }
        }
      };
      auto member = static_cast<int>(rank);
      while (ChunkHandle samples = *divisions[rank]->tell()) {
        others([&](RangeDivision &d) { EXPECT_TRUE(d.addSamples(member, *samples).ok()); });
      }
      others([&](RangeDivision &d) { d.endSamples(member, divisions[rank]->rows()); });
    }
    Group got(given.size());
    for (const auto &division : divisions) {
      EXPECT_TRUE(division->hasAllSamples());
      while (ChunkHandle piece = *division->next()) {
        std::vector<Row> rows = rowsOf(*piece);
        std::vector<Row> &all = got[static_cast<size_t>(piece->target)];
        all.insert(all.end(), rows.begin(), rows.end());
      }
      EXPECT_EQ(division->step(), RangeDivision::Step::kDone);
    }
    return got;
  }

  static std::vector<Row> all(const Group &group) {
    std::vector<Row> rows;
    for (const std::vector<Row> &some : group) {
      rows.insert(rows.end(), some.begin(), some.end());
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  Doorbell doorbell_;
  plan::Stream stream_;
  std::shared_ptr<RankMemory> memory_;
  std::shared_ptr<MemoryAccount> account_;
};

Group numbers(size_t ranks, size_t rows, int64_t different) {
  std::mt19937 random(static_cast<unsigned>(rows));
  Group group(ranks);
  for (size_t i = 0; i < rows; ++i) {
    int64_t number = static_cast<int64_t>(random()) % different;
    group[i * i % ranks].emplace_back(random() % 10 == 0 ? std::nullopt : std::optional(number),
                                      std::to_string(number % 7));
  }
  return group;
}

TEST_F(RangeDivisionTest, RangesAscendAndAreEven) {
  for (size_t ranks : {2, 3, 4, 9}) {
    for (bool descending : {false, true}) {
      Group given = numbers(ranks, 20000, 1 << 30);
      Group got = divide(given, {{0, descending, /*nullsFirst=*/true}});
      EXPECT_EQ(all(got), all(given));
      std::optional<int64_t> last;
      for (std::vector<Row> &rows : got) {
        std::sort(rows.begin(), rows.end(), [&](const Row &a, const Row &b) {
          return a.first && b.first && descending ? *b.first < *a.first : a.first < b.first;
        });
        ASSERT_FALSE(rows.empty());
        if (last && rows.front().first) {
          EXPECT_TRUE(descending ? *rows.front().first < *last : *last < *rows.front().first);
        }
        EXPECT_TRUE(!last || rows.front().first) << "NULLs come first";
        last = rows.back().first;
        EXPECT_NEAR(static_cast<double>(rows.size()), 20000.0 / static_cast<double>(ranks), 1000);
      }
    }
  }
}

TEST_F(RangeDivisionTest, PeersAreTogether) {
  // Nine different keys of two columns; the first alone would not tell them apart.
  for (size_t ranks : {3, 11}) {
    Group given = numbers(ranks, 5000, 3);
    std::vector<plan::OrderKey> order{{0, false, false}, {1, true, false}};
    Group got = divide(given, order);
    EXPECT_EQ(all(got), all(given));
    std::map<Row, size_t> rankOf;
    for (size_t rank = 0; rank < got.size(); ++rank) {
      EXPECT_TRUE(ranks > 3 || !got[rank].empty());
      for (const Row &row : got[rank]) {
        EXPECT_EQ(rankOf.try_emplace(row, rank).first->second, rank);
      }
    }
  }
}

TEST_F(RangeDivisionTest, TextsThatBeginAlikeAreToldApart) {
  Group given(2);
  for (int i = 0; i < 1000; ++i) {
    given[static_cast<size_t>(i % 2)].emplace_back(0, "a long common beginning " +
                                                          std::to_string(1000 + i));
  }
  Group got = divide(given, {{1, false, false}});
  EXPECT_EQ(all(got), all(given));
  EXPECT_NEAR(static_cast<double>(got[0].size()), 500, 5);
  auto text = [](const Row &a, const Row &b) { return a.second < b.second; };
  EXPECT_LT(std::max_element(got[0].begin(), got[0].end(), text)->second,
            std::min_element(got[1].begin(), got[1].end(), text)->second);
}

TEST_F(RangeDivisionTest, RowsThatMemoryHasNoRoomForWaitOnDisk) {
  limitMemory(16 << 20);
  Group given(2);
  for (int i = 0; i < 40000; ++i) {
    given[static_cast<size_t>(i % 2)].emplace_back(
        i % 10007, std::string(1000, static_cast<char>('a' + i % 26)));
  }
  Group got = divide(given, {{0, false, false}});
  EXPECT_EQ(all(got), all(given));
  EXPECT_NEAR(static_cast<double>(got[0].size()), 20000, 1000);
  EXPECT_LT(std::max_element(got[0].begin(), got[0].end())->first,
            std::min_element(got[1].begin(), got[1].end())->first);
  EXPECT_GT(memory_->spill->writtenBytes(), int64_t{20} << 20);
}

TEST_F(RangeDivisionTest, FewRowsAndOneKey) {
  EXPECT_EQ(all(divide({{}, {}, {}}, {{0, false, false}})), all({}));
  Group one = {{}, {{5, "x"}}, {}};
  EXPECT_EQ(all(divide(one, {{0, false, false}})), all(one));
  Group alike = {{}, std::vector<Row>(500, {5, "x"}), std::vector<Row>(3, {5, "y"})};
  Group got = divide(alike, {{0, false, false}});
  EXPECT_EQ(all(got), all(alike));
  EXPECT_EQ(std::count_if(got.begin(), got.end(), [](const auto &rows) { return !rows.empty(); }),
            1);
}

} // namespace
} // namespace headrace::exec
