// Samples, bounds between ranges, and chunks cut by them.
#include "runtime/exec/range/range_division.h"

#include "runtime/base/check.h"

#include <algorithm>
#include <numeric>

namespace headrace::exec {
namespace {

/// Of each rank, from so many of its chunks. Ranges are then even to a few hundredths.
constexpr uint64_t kSamples = 2048;
constexpr size_t kSampledChunks = 64;
/// So many are gone through for each row, in vectors or without a branch; of more the row's is
/// looked for.
constexpr size_t kFewRanges = 8;
/// In a row's range: its prefix is that of a bound, so that its keys decide.
constexpr uint32_t kTie = uint32_t{1} << 31;

} // namespace

RangeDivision::RangeDivision(const plan::Schema &schema, const std::vector<plan::OrderKey> &order,
                             plan::GroupPlace place, std::shared_ptr<MemoryAccount> account)
    : schema_(schema), keys_(schema, order), account_(account), self_(place.index),
      kept_(schema_, std::move(account)), samples_(place.count), ends_(place.count) {}

Status RangeDivision::keep(ChunkStream &input) {
  while (ChunkHandle chunk = input.tryPop()) {
    rows_ += chunk->rows;
    HR_RETURN_IF_ERROR(kept_.add(std::move(chunk)));
  }
  if (input.ended()) {
    step_ = Step::kTell;
  }
  return {};
}

Expected<ChunkHandle> RangeDivision::tell() {
  // Of every so many chunks one, and of their rows, whichever it is in, every so many one.
  const size_t stride = (kept_.count() + kSampledChunks - 1) / kSampledChunks;
  uint64_t step = std::max<uint64_t>(rows_ / std::max<size_t>(stride, 1) / kSamples, 1);
  std::vector<uint32_t> taken;
  while (nextTold_ < kept_.count()) {
    HR_ASSIGN_OR_RETURN(const ChunkHandle sampled, kept_.read(nextTold_));
    const Chunk &chunk = *sampled;
    nextTold_ += stride;
    for (uint64_t at = (passed_ + step - 1) / step * step; at < passed_ + chunk.rows; at += step) {
      taken.push_back(static_cast<uint32_t>(at - passed_));
    }
    passed_ += chunk.rows;
    if (!taken.empty()) {
      HR_ASSIGN_OR_RETURN(ChunkHandle samples,
                          takeRows(chunk, schema_, keys_.columns(), taken, account_));
      samples_[self_].chunks.push_back(samples);
      return samples;
    }
  }
  samples_[self_].rows = rows_;
  samples_[self_].complete = true;
  step_ = Step::kAgree;
  return ChunkHandle();
}

Status RangeDivision::addSamples(int member, const Chunk &samples) {
  HR_ASSIGN_OR_RETURN(ChunkHandle copy, copyChunk(samples, keys_.schema(), account_));
  samples_[static_cast<size_t>(member)].chunks.push_back(std::move(copy));
  return {};
}

void RangeDivision::endSamples(int member, uint64_t rows) {
  samples_[static_cast<size_t>(member)].rows = rows;
  samples_[static_cast<size_t>(member)].complete = true;
}

bool RangeDivision::hasAllSamples() const {
  return std::all_of(samples_.begin(), samples_.end(),
                     [](const RangeSamples &samples) { return samples.complete; });
}

/// All ranks have the same samples in the same order, so that their bounds are the same.
void RangeDivision::agree() {
  struct Sample {
    uint64_t prefix;
    const uint8_t *key;
    double rows; ///< that it stands for
  };
  uint64_t count = 0;
  auto rowsOf = [](const RangeSamples &samples) {
    uint64_t rows = 0;
    for (const ChunkHandle &chunk : samples.chunks) {
      rows += chunk->rows;
    }
    return rows;
  };
  for (const RangeSamples &samples : samples_) {
    count += rowsOf(samples);
  }
  std::vector<uint8_t> keys(count * keys_.rowBytes());
  std::vector<Sample> all;
  double total = 0;
  for (const RangeSamples &samples : samples_) {
    double each = static_cast<double>(samples.rows) / static_cast<double>(rowsOf(samples));
    for (const ChunkHandle &chunk : samples.chunks) {
      for (uint32_t row = 0; row < chunk->rows; ++row) {
        uint8_t *key = keys.data() + all.size() * keys_.rowBytes();
        keys_.read(*chunk, keys_.ownColumns(), row, key);
        all.push_back({keys_.order().prefix(key), key, each});
      }
    }
    total += static_cast<double>(samples.rows);
  }
  std::stable_sort(all.begin(), all.end(), [&](const Sample &a, const Sample &b) {
    return a.prefix != b.prefix ? a.prefix < b.prefix : keys_.order().compare(a.key, b.key) < 0;
  });
  double before = 0;
  for (const Sample &sample : all) {
    while (boundPrefixes_.size() + 1 < samples_.size() &&
           before >= total * static_cast<double>(boundPrefixes_.size() + 1) /
                         static_cast<double>(samples_.size())) {
      boundPrefixes_.push_back(sample.prefix);
      bounds_.insert(bounds_.end(), sample.key, sample.key + keys_.rowBytes());
    }
    before += sample.rows;
  }
}

/// Of each row how many bounds are below its prefix, with kTie where the next one is equal.
void RangeDivision::findRanges() {
  const uint32_t rows = divided_->rows;
  prefixes_.resize(rows);
  keys_.prefixes(*divided_, 0, prefixes_);
  ranges_.assign(rows, 0);
  if (boundPrefixes_.size() < kFewRanges) {
    for (uint64_t bound : boundPrefixes_) {
      for (uint32_t row = 0; row < rows; ++row) {
        ranges_[row] += prefixes_[row] > bound;
        ranges_[row] |= prefixes_[row] == bound ? kTie : 0;
      }
    }
    return;
  }
  for (uint32_t row = 0; row < rows; ++row) {
    const auto bound = std::ranges::lower_bound(boundPrefixes_, prefixes_[row]);
    const bool tie = bound != boundPrefixes_.end() && *bound == prefixes_[row];
    ranges_[row] = static_cast<uint32_t>(bound - boundPrefixes_.begin()) | (tie ? kTie : 0);
  }
}

/// `range` is the first bound whose prefix is that of the row. Keys beyond those of the prefix are
/// seldom looked at.
uint32_t RangeDivision::rangeOfTie(uint32_t row, uint32_t range, uint8_t *key) const {
  const uint64_t prefix = boundPrefixes_[range];
  keys_.read(*divided_, keys_.columns(), row, key);
  for (; range < boundPrefixes_.size() && boundPrefixes_[range] == prefix; ++range) {
    if (!keys_.order().isExact() &&
        keys_.order().compare(bounds_.data() + range * keys_.rowBytes(), key) > 0) {
      break;
    }
  }
  return range;
}

/// Neither way guesses a row's range before it is there: it would be wrong for every other row.
void RangeDivision::listRows() {
  const auto rows = static_cast<uint32_t>(ranges_.size());
  rowsBy_.resize(rows + 1);
  if (ends_.size() <= kFewRanges) {
    uint32_t listed = 0;
    for (uint32_t range = 0; range < ends_.size(); ++range) {
      for (uint32_t row = 0; row < rows; ++row) {
        rowsBy_[listed] = row;
        listed += ranges_[row] == range;
      }
      ends_[range] = listed;
    }
    return;
  }
  std::ranges::fill(ends_, 0);
  for (uint32_t range : ranges_) {
    ++ends_[range];
  }
  // First where each range begins; with its rows this moves to where it ends.
  std::exclusive_scan(ends_.begin(), ends_.end(), ends_.begin(), 0u);
  for (uint32_t row = 0; row < rows; ++row) {
    rowsBy_[ends_[ranges_[row]]++] = row;
  }
}

void RangeDivision::cut() {
  findRanges();
  std::vector<uint8_t> key(keys_.rowBytes());
  for (uint32_t row = 0; row < ranges_.size(); ++row) {
    if (ranges_[row] & kTie) {
      ranges_[row] = rangeOfTie(row, ranges_[row] & ~kTie, key.data());
    }
  }
  listRows();
}

Expected<ChunkHandle> RangeDivision::next() {
  if (step_ == Step::kAgree) {
    agree();
    step_ = Step::kDivide;
    nextRange_ = ends_.size();
  }
  while (true) {
    while (nextRange_ < ends_.size()) {
      const size_t range = nextRange_++;
      const uint32_t begin = range == 0 ? 0 : ends_[range - 1];
      if (begin == ends_[range]) {
        continue;
      }
      HR_ASSIGN_OR_RETURN(auto piece,
                          takePiece(*divided_, schema_,
                                    std::span(rowsBy_).subspan(begin, ends_[range] - begin),
                                    static_cast<int32_t>(range), account_));
      return ChunkHandle(std::move(piece));
    }
    divided_.reset();
    HR_ASSIGN_OR_RETURN(divided_, kept_.takeLast());
    if (!divided_) {
      step_ = Step::kDone;
      return ChunkHandle();
    }
    cut();
    nextRange_ = 0;
  }
}

} // namespace headrace::exec
