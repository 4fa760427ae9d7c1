// By dynamic programming over the starts of both texts.
#include "runtime/base/text_distances.h"

#include "runtime/base/stop.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <vector>

namespace headrace {

using Text = std::string_view;

int64_t editDistance(Text text, Text other) {
  // Of the part of `other` that was read to each start of `text`.
  std::vector<int64_t> edits(text.size() + 1);
  for (size_t at = 0; at <= text.size(); ++at) {
    edits[at] = static_cast<int64_t>(at);
  }
  StopCheck check;
  for (const char byte : other) {
    if (check.isStoppedAfter(text.size())) {
      break;
    }
    int64_t before = edits[0]++;
    for (size_t at = 1; at <= text.size(); ++at) {
      const int64_t changed = before + (text[at - 1] != byte);
      before = edits[at];
      edits[at] = std::min({changed, before + 1, edits[at - 1] + 1});
    }
  }
  return edits.back();
}

std::optional<int64_t> hammingDistance(Text text, Text other) {
  if (text.size() != other.size() || text.empty()) {
    return std::nullopt;
  }
  int64_t count = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    count += text[at] != other[at];
  }
  return count;
}

int64_t editDistanceWithSwaps(Text x, Text y) {
  // By column the edits to the start of y before it; column 0 stands before both texts: far.
  using Row = std::vector<int64_t>;
  const auto far = static_cast<int64_t>(x.size() + y.size());
  Row before(y.size() + 2, far);
  for (size_t column = 0; column <= y.size(); ++column) {
    before[column + 1] = static_cast<int64_t>(column);
  }
  Row edits;
  std::array<Row, 256> beforeLast;   // the rows before those where each byte was last in x
  std::array<size_t, 256> lastRow{}; // their numbers, from 1 on
  StopCheck check;
  for (size_t row = 1; row <= x.size() && !check.isStoppedAfter(y.size()); ++row) {
    edits.resize(y.size() + 2);
    edits[0] = far;
    edits[1] = static_cast<int64_t>(row);
    size_t lastColumn = 0; // where this row's byte was last in y
    for (size_t column = 1; column <= y.size(); ++column) {
      const bool isSame = x[row - 1] == y[column - 1];
      const auto byte = static_cast<uint8_t>(y[column - 1]);
      const size_t pairRow = lastRow[byte];
      const auto between = static_cast<int64_t>((row - pairRow - 1) + (column - lastColumn - 1));
      const int64_t pair = pairRow == 0 ? far : beforeLast[byte][lastColumn];
      edits[column + 1] = std::min({before[column] + (isSame ? 0 : 1), edits[column] + 1,
                                    before[column + 1] + 1, pair + between + 1});
      lastColumn = isSame ? column : lastColumn;
    }
    const auto byte = static_cast<uint8_t>(x[row - 1]);
    lastRow[byte] = row;
    before.swap(beforeLast[byte]);
    before.swap(edits);
  }
  return before.back();
}

std::optional<double> jaccardSimilarity(Text text, Text other) {
  if (text.empty() || other.empty()) {
    return std::nullopt;
  }
  using Bytes = std::bitset<256>;
  auto bytesOf = [](Text of) {
    Bytes bytes;
    for (const char byte : of) {
      bytes.set(static_cast<uint8_t>(byte));
    }
    return bytes;
  };
  const Bytes ours = bytesOf(text), theirs = bytesOf(other);
  return static_cast<double>((ours & theirs).count()) /
         static_cast<double>((ours | theirs).count());
}

double jaroSimilarity(Text text, Text other) {
  const size_t longest = std::max(text.size(), other.size());
  const size_t reach = longest < 4 ? 0 : longest / 2 - 1; // how far apart bytes may stand
  std::vector<char> isTaken(other.size());
  std::vector<char> common; // in the order of `text`
  StopCheck check;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t end = std::min(at + reach + 1, other.size());
    size_t place = at > reach ? at - reach : 0;
    if (check.isStoppedAfter(end - std::min(place, end))) {
      break;
    }
    for (; place < end; ++place) {
      if (!isTaken[place] && other[place] == text[at]) {
        isTaken[place] = 1;
        common.push_back(text[at]);
        break;
      }
    }
  }
  if (common.empty()) {
    return 0;
  }
  size_t differing = 0;
  auto next = common.begin();
  for (size_t place = 0; place < other.size(); ++place) {
    if (isTaken[place]) {
      differing += *next++ != other[place];
    }
  }
  const auto count = static_cast<double>(common.size());
  const auto swaps = static_cast<double>(differing / 2);
  return (count / static_cast<double>(text.size()) + count / static_cast<double>(other.size()) +
          (count - swaps) / count) /
         3;
}

double jaroWinklerSimilarity(Text text, Text other) {
  constexpr size_t kStart = 4;
  constexpr double kLeast = 0.7, kOfEach = 0.1;
  const double similarity = jaroSimilarity(text, other);
  const size_t length = std::min({text.size(), other.size(), kStart});
  const auto [end, unused] = std::mismatch(text.begin(), text.begin() + length, other.begin());
  const auto same = static_cast<double>(end - text.begin());
  return similarity > kLeast ? similarity + same * kOfEach * (1 - similarity) : similarity;
}

} // namespace headrace
