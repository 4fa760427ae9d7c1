// Different values in frames that move from row to row, beside those that are counted anew for
// each.
#include "runtime/exec/window/distinct_values.h"
#include "runtime/exec/window/frequent_values.h"

#include "test/unit/exec/finished_state.h"
#include "test/unit/exec/random_frames.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

namespace headrace::exec {
namespace {

constexpr uint32_t kRowBytes = 32, kValueAt = 8, kValidAt = 24;

/// A partition in the order of a key with peers, whose rows have a value that may be NULL.
class Rows {
public:
  Rows(HrType type, uint32_t count, std::mt19937_64 &random) : type_(type) {
    state_.kind = plan::StateKind::kWindow;
    state_.rowBytes = kRowBytes;
    plan::StateField key, value;
    value.type = type;
    value.offset = kValueAt;
    value.nullable = true;
    value.validOffset = kValidAt;
    state_.fields = {key, value};
    state_.order = {{0, false, false}};
    bytes_.resize(uint64_t{count} * kRowBytes);
    for (uint32_t row = 0; row < count; ++row) {
      uint8_t *at = bytes_.data() + uint64_t{row} * kRowBytes;
      rows_.push_back(at);
      const bool isNew = row == 0 || random() % 3 == 0;
      if (isNew) {
        groupBegin_.push_back(row);
      }
      group_.push_back(static_cast<uint32_t>(groupBegin_.size()) - 1);
      const auto place = static_cast<int64_t>(groupBegin_.size());
      std::memcpy(at, &place, sizeof place);
      at[kValidAt] = random() % 5 != 0;
      putValue(at + kValueAt, random() % 6);
    }
    groupBegin_.push_back(count);
    partition_.rows = rows_;
    partition_.group = group_;
    partition_.groupBegin = groupBegin_;
  }

  const plan::State &state() const { return state_; }
  const Partition &partition() const { return partition_; }
  /// What tells its value from others.
  std::optional<std::string> valueOf(uint32_t row) const {
    const uint8_t *at = rows_[row];
    if (at[kValidAt] == 0) {
      return std::nullopt;
    }
    if (type_ == HR_STRING) {
      HrString text;
      std::memcpy(&text, at + kValueAt, sizeof text);
      return std::string(reinterpret_cast<const char *>(text.data), text.length);
    }
    return std::string(reinterpret_cast<const char *>(at + kValueAt), 8);
  }

private:
  void putValue(uint8_t *to, uint64_t number) const {
    // Alike as far as a prefix of eight bytes goes; there are readable bytes behind them.
    static const std::string kBehind(HR_PADDING, '\x7f');
    static const std::string kTexts[] = {kBehind,
                                         "a" + kBehind,
                                         "eight bytes, and one more" + kBehind,
                                         "eight bytes, and two" + kBehind,
                                         "eight by" + kBehind,
                                         "b" + kBehind};
    if (type_ == HR_STRING) {
      const std::string &text = kTexts[number];
      const HrString value{static_cast<uint32_t>(text.size() - HR_PADDING),
                           {},
                           reinterpret_cast<const uint8_t *>(text.data())};
      std::memcpy(to, &value, sizeof value);
    } else {
      const int64_t value = static_cast<int64_t>(number) - 2;
      std::memcpy(to, &value, sizeof value);
    }
  }

  HrType type_;
  plan::State state_;
  std::vector<uint8_t> bytes_;
  std::vector<uint8_t *> rows_;
  std::vector<uint32_t> group_, groupBegin_;
  Partition partition_;
};

TEST(DistinctValues, FollowFramesOfEveryKind) {
  std::mt19937_64 random(11);
  DistinctValues values(makeAccount());
  Frames frames(makeAccount());
  for (int round = 0; round < 400; ++round) {
    const auto count = static_cast<uint32_t>(1 + random() % 40);
    const Rows rows(round % 2 == 0 ? HR_I64 : HR_STRING, count, random);
    plan::WindowColumn window;
    window.function = plan::WindowFunction::kCount;
    window.input = 1;
    window.distinct = true;
    window.unit = random() % 2 == 0 ? plan::FrameUnit::kRows : plan::FrameUnit::kGroups;
    window.start = boundOf(random, 5, true);
    window.end = boundOf(random, 5, false);
    window.exclude = static_cast<plan::FrameExclusion>(random() % 4);
    // A worker has a part of the rows.
    const auto begin = static_cast<uint32_t>(random() % count);
    const RowSpanOf part{begin, begin + static_cast<uint32_t>(1 + random() % (count - begin))};
    ASSERT_TRUE(frames.compute(rows.state(), window, rows.partition(), part).ok());
    ASSERT_TRUE(values.number(rows.state(), 1, rows.partition(), frames.seen()).ok());
    std::set<std::string> now;
    uint32_t next = part.begin;
    values.follow(
        frames, part, [&](uint32_t row) { ASSERT_TRUE(now.insert(*rows.valueOf(row)).second); },
        [&](uint32_t row) { ASSERT_EQ(now.erase(*rows.valueOf(row)), 1u); },
        [&](uint32_t row) {
          ASSERT_EQ(row, next++);
          std::set<std::string> expected, visited;
          const Frames::Pieces pieces = frames.pieces(row);
          for (uint32_t i = 0; i < pieces.count; ++i) {
            for (uint32_t at = pieces.piece[i].begin; at < pieces.piece[i].end; ++at) {
              if (rows.valueOf(at)) {
                expected.insert(*rows.valueOf(at));
              }
            }
          }
          Expected<std::span<const uint32_t>> examples = values.rowsOf(pieces);
          ASSERT_TRUE(examples.ok());
          for (uint32_t example : *examples) {
            ASSERT_TRUE(visited.insert(*rows.valueOf(example)).second);
          }
          ASSERT_EQ(values.count(), expected.size()) << "round " << round << ", row " << row;
          ASSERT_EQ(visited, expected) << "round " << round << ", row " << row;
          ASSERT_EQ(now, expected) << "round " << round << ", row " << row;
        });
    EXPECT_EQ(next, part.end);
  }
}

TEST(FrequentValues, TheFirstOfTheMostFrequent) {
  std::mt19937_64 random(12);
  DistinctValues values(makeAccount());
  FrequentValues frequent(makeAccount());
  Frames frames(makeAccount());
  for (int round = 0; round < 400; ++round) {
    const auto count = static_cast<uint32_t>(1 + random() % 40);
    const Rows rows(round % 2 == 0 ? HR_I64 : HR_STRING, count, random);
    plan::WindowColumn window;
    window.function = plan::WindowFunction::kMode;
    window.input = 1;
    window.unit = random() % 2 == 0 ? plan::FrameUnit::kRows : plan::FrameUnit::kGroups;
    window.start = boundOf(random, 5, true);
    window.end = boundOf(random, 5, false);
    window.exclude = static_cast<plan::FrameExclusion>(random() % 4);
    const RowSpanOf part{0, count};
    ASSERT_TRUE(frames.compute(rows.state(), window, rows.partition(), part).ok());
    ASSERT_TRUE(values.number(rows.state(), 1, rows.partition(), frames.seen()).ok());
    ASSERT_TRUE(frequent.begin(values, frames.seen()).ok());
    auto add = [&](uint32_t row) { frequent.add(row); };
    auto remove = [&](uint32_t row) { frequent.remove(row); };
    followFrames(frames, part, add, remove, [&](uint32_t row) {
      std::map<std::string, std::pair<int, int64_t>> found; // how often, and less where first
      const Frames::Pieces pieces = frames.pieces(row);
      for (uint32_t i = 0; i < pieces.count; ++i) {
        for (uint32_t at = pieces.piece[i].begin; at < pieces.piece[i].end; ++at) {
          if (rows.valueOf(at)) {
            ++found.try_emplace(*rows.valueOf(at), 0, -int64_t(at)).first->second.first;
          }
        }
      }
      std::pair<int, int64_t> most{0, -int64_t(DistinctValues::kNoValue)};
      for (const auto &[value, often] : found) {
        most = std::max(most, often);
      }
      ASSERT_EQ(frequent.first(), static_cast<uint32_t>(-most.second))
          << "round " << round << ", row " << row;
    });
  }
}

} // namespace
} // namespace headrace::exec
