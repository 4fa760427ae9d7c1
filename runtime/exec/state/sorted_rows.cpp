// Rows in memory are distributed by ranges of their order, which are then sorted side by side; what
// was too much for memory is merged from disk.
#include "runtime/exec/state/sorted_rows.h"

#include "runtime/exec/window/window_merge.h"

#include <algorithm>

namespace headrace::exec {
namespace {
/// Of the memory that is free: what pieces of runs may take while they are merged.
constexpr int64_t kMergeShare = 2;
/// Likewise of windows, of which two merges may be under way at a time, each with two pieces of a
/// run.
constexpr int64_t kWindowMergeShare = 8;
/// Likewise: what rows of a window may take that are computed at a time. Who reads them has as
/// many.
constexpr int64_t kWindowShare = 12;
/// Ranges have about so many rows, unless there are more of them than a byte can tell apart.
constexpr uint64_t kRangeRows = 8192;
/// Bounds are chosen among so many rows a range: the largest is then about half as large again.
constexpr uint64_t kSamples = 32;
/// Of the pieces that there is room for: those that rows are in which are taken at once.
constexpr int64_t kTakenShare = 8;
constexpr int64_t kTakenPiecesMax = 8;

int64_t roomForPieces(const RankMemory &memory) {
  return memory.roomBytes() / BlockPool::blockBytes(kRunPieceBytes + HR_PADDING);
}
} // namespace

SortedRows::SortedRows(const plan::State &state, std::shared_ptr<MemoryAccount> account)
    : state_(state), order_(state), isWindow_(state.kind == plan::StateKind::kWindow),
      account_(account), ranges_(account), sorted_(account), other_(account) {}

void SortedRows::addPhases(PhasedJob &job, std::function<std::vector<StateCopy *>()> copies) {
  job.add([this, copies = std::move(copies)]() -> Expected<JobPhase> {
    for (StateCopy *copy : copies()) {
      copies_.push_back(static_cast<SortCopy *>(copy));
    }
    return listRows();
  });
  job.add([this]() -> Expected<JobPhase> { return findRanges(); });
  job.add([this]() -> Expected<JobPhase> { return scatter(); });
  job.add([this]() -> Expected<JobPhase> { return sortRanges(); });
  job.add([this]() -> Expected<JobPhase> { return gatherRuns(); });
  job.add([this]() -> Expected<JobPhase> {
    publish();
    return JobPhase{};
  });
}

JobPhase SortedRows::listRows() {
  uint64_t rows = 0;
  isOnDisk_ = isWindow_;
  for (const SortCopy *copy : copies_) {
    isOnDisk_ |= !copy->runs().empty();
    rows += copy->rowCount();
  }
  // Without room to distribute them to, all rows go to disk.
  isOnDisk_ = isOnDisk_ || !ranges_.resize(rows).ok() || !sorted_.resize(rows).ok();
  if (isOnDisk_) {
    ranges_.reset();
    sorted_.reset();
  }
  listed_.resize(copies_.size());
  areFew_ = rows <= kRangeRows;
  return phaseOf(static_cast<int64_t>(copies_.size()), areFew_, [this](int64_t copy) {
    if (isOnDisk_) {
      return copies_[copy]->spillAll();
    }
    listed_[copy] = copies_[copy]->firstRows();
    return Status();
  });
}

/// So that ranges of rows have about as many.
void SortedRows::chooseBounds(size_t ranges, uint64_t rows) {
  const uint64_t step = std::max<uint64_t>(rows / (ranges * kSamples), 1);
  std::vector<SortEntry> samples;
  uint64_t next = step / 2; // of the rows of all copies
  uint64_t passed = 0;
  for (const Entries &entries : listed_) {
    for (; next < passed + entries.size(); next += step) {
      samples.push_back(entries[next - passed]);
    }
    passed += entries.size();
  }
  std::sort(samples.begin(), samples.end(),
            [this](const SortEntry &a, const SortEntry &b) { return order_.isBefore(a, b); });
  for (size_t range = 1; range < ranges; ++range) {
    bounds_.push_back(samples[range * samples.size() / ranges]);
    boundWords_[range - 1] = bounds_.back().word;
    boundNexts_.push_back(order_.nextWord(bounds_.back()));
  }
  boundEnds_.resize(bounds_.size());
  for (size_t bound = bounds_.size(); bound-- > 0;) {
    const bool isLast = bound + 1 == bounds_.size() || boundWords_[bound] != boundWords_[bound + 1];
    boundEnds_[bound] = isLast ? bound + 1 : boundEnds_[bound + 1];
  }
}

uint8_t SortedRows::rangeOf(const SortEntry &entry) const {
  // Behind bounds of lesser words, found without a branch: which way it goes cannot be foreseen.
  size_t range = 0;
  for (size_t step = kRangesMax / 2; step > 0; step /= 2) {
    range += boundWords_[range + step - 1] < entry.word ? step : 0;
  }
  if (range >= bounds_.size() || boundWords_[range] != entry.word) {
    return static_cast<uint8_t>(range);
  }
  const auto first = boundNexts_.begin();
  const auto [same, behind] =
      std::equal_range(first + static_cast<ptrdiff_t>(range),
                       first + static_cast<ptrdiff_t>(boundEnds_[range]), order_.nextWord(entry));
  const auto *bound = std::upper_bound(
      bounds_.data() + (same - first), bounds_.data() + (behind - first), entry,
      [this](const SortEntry &a, const SortEntry &b) { return order_.isBefore(a, b); });
  return static_cast<uint8_t>(bound - bounds_.data());
}

JobPhase SortedRows::findRanges() {
  if (isOnDisk_) {
    return {};
  }
  uint64_t rows = 0;
  for (const Entries &entries : listed_) {
    rows += entries.size();
  }
  chooseBounds(std::clamp<uint64_t>(rows / kRangeRows, 1, kRangesMax), rows);
  shares_.resize(copies_.size() * (bounds_.size() + 1));
  rows = 0;
  for (size_t copy = 0; copy < listed_.size(); ++copy) {
    share(copy, 0).place = rows;
    rows += listed_[copy].size();
  }
  return phaseOf(static_cast<int64_t>(copies_.size()), areFew_, [this](int64_t copy) {
    uint8_t *range = ranges_.data() + share(copy, 0).place;
    for (const SortEntry &entry : listed_[copy]) {
      *range = rangeOf(entry);
      ++share(copy, *range++).rows;
    }
    return Status();
  });
}

JobPhase SortedRows::scatter() {
  if (isOnDisk_) {
    return {};
  }
  uint64_t place = 0;
  for (size_t range = 0; range <= bounds_.size(); ++range) {
    for (size_t copy = 0; copy < copies_.size(); ++copy) {
      share(copy, range).place = place;
      place += share(copy, range).rows;
    }
  }
  rows_ = sorted_.span().first(place);
  return phaseOf(static_cast<int64_t>(copies_.size()), areFew_, [this](int64_t copy) {
    const uint8_t *range = ranges_.data();
    for (int64_t before = 0; before < copy; ++before) {
      range += listed_[before].size();
    }
    for (const SortEntry &entry : listed_[copy]) {
      sorted_[share(copy, *range++).place++] = entry;
    }
    return Status();
  });
}

JobPhase SortedRows::sortRanges() {
  if (isOnDisk_) {
    return {};
  }
  ranges_.reset();
  // In place of the copies' own entries, which are not needed any more.
  for (SortCopy *copy : copies_) {
    copy->releaseEntries();
  }
  listed_.clear();
  if (!other_.resize(rows_.size()).ok()) {
    other_.reset();
  }
  const auto ranges = static_cast<int64_t>(bounds_.size() + 1);
  return {copies_.empty() ? 0 : ranges, [this](int, int64_t range) {
            // Where the last copy's share ends, the range does.
            const size_t last = copies_.size() - 1;
            const uint64_t begin = range == 0 ? 0 : share(last, range - 1).place;
            const uint64_t end = share(last, range).place;
            if (end > state_.offset && (state_.limit == 0 || begin < state_.limit)) {
              SortEntry *other = other_.data() ? other_.data() + begin : nullptr;
              furtherWords_ += order_.sort(rows_.subspan(begin, end - begin), other);
            }
            return Status();
          }};
}

JobPhase SortedRows::gatherRuns() {
  other_.reset();
  for (const SortCopy *copy : copies_) {
    runs_.insert(runs_.end(), copy->runs().begin(), copy->runs().end());
  }
  const int64_t share = isWindow_ ? kWindowMergeShare : kMergeShare;
  const auto runsMax =
      static_cast<size_t>(std::max<int64_t>(2, roomForPieces(account_->memory()) / share));
  if (runs_.size() <= runsMax) {
    return {};
  }
  return {1, [this, runsMax](int, int64_t) { return mergeSmallest(runsMax); }};
}

Status SortedRows::mergeSmallest(size_t runsMax) {
  HR_ASSIGN_OR_RETURN(Block staging, account_->allocate(kRunPieceBytes));
  while (runs_.size() > runsMax) {
    std::sort(runs_.begin(), runs_.end(),
              [](const auto &a, const auto &b) { return a->rows() > b->rows(); });
    const size_t count = std::min(runsMax, runs_.size() - runsMax + 1);
    const auto smallest = std::span(runs_).last(count);
    RunMerge merge(state_, smallest, account_);
    RunWriter writer(state_, account_->memory().spill, staging,
                     [&](const uint8_t *row) { return order_.entryOf(row).word; });
    HR_RETURN_IF_ERROR(merge.start());
    while (merge.row()) {
      HR_RETURN_IF_ERROR(writer.add(merge.row()));
      HR_RETURN_IF_ERROR(merge.advance());
    }
    HR_ASSIGN_OR_RETURN(std::shared_ptr<const RowRun> run, writer.end());
    runs_.resize(runs_.size() - count);
    runs_.push_back(std::move(run));
  }
  return {};
}

void SortedRows::publish() {
  uint64_t rows = 0;
  for (const std::shared_ptr<const RowRun> &run : runs_) {
    rows += run->rows();
  }
  if (isInMemory()) {
    rows = rows_.size();
  }
  if (state_.limit != 0) {
    rows = std::min(rows, state_.limit);
  }
  const uint64_t skipped = std::min<uint64_t>(state_.offset, rows);
  rowCount_ = rows - skipped;
  if (isInMemory()) {
    rows_ = rows_.subspan(skipped, rowCount_);
  }
}

Expected<std::unique_ptr<RowReader>> SortedRows::read() const {
  auto merge = std::make_unique<RunMerge>(state_, runs_, account_);
  merge->setTakenPieces(static_cast<size_t>(
      std::clamp<int64_t>(roomForPieces(account_->memory()) / kTakenShare, 1, kTakenPiecesMax)));
  uint64_t row = isWindow_ ? 0 : merge->skip(state_.offset);
  HR_RETURN_IF_ERROR(merge->start());
  if (isWindow_) {
    return std::unique_ptr<RowReader>(std::make_unique<WindowMerge>(
        state_, std::move(*merge), account_, account_->memory().roomBytes() / kWindowShare));
  }
  for (; row < state_.offset && merge->row(); ++row) {
    HR_RETURN_IF_ERROR(merge->advance());
  }
  return std::unique_ptr<RowReader>(std::move(merge));
}

} // namespace headrace::exec
