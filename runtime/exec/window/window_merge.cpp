// Whole partitions batch by batch; a large one in pieces, after it was counted.
#include "runtime/exec/window/window_merge.h"

#include "runtime/exec/rows/field_values.h"

#include <algorithm>
#include <cstring>

namespace headrace::exec {
namespace {

/// Partitions are computed together until they have so many rows.
constexpr uint64_t kBatchRows = 8192;
constexpr uint64_t kRowsMin = 4096, kRowsMax = 1 << 17;
/// Of what is in memory beside pieces of runs, for each row.
constexpr int64_t kListedBytes = 64;
/// More peers than these are known by where they end.
constexpr uint64_t kLargeGroup = 512;

Status tooLarge(const plan::State &state) {
  return makeError(ErrorKind::kMemory, "out of host memory: a partition of ", state.name,
                   " is larger than memory, and its functions look at more of it than a few rows "
                   "around each; raise --memory (memory= in Python)");
}

} // namespace

// ---- rows of the runs ----

HeldRows::Step HeldRows::next() const {
  if (!merge_.row()) {
    return Step::kEnd;
  }
  if (!last_) {
    return Step::kOtherPartition;
  }
  const Entry entry = order_->entryOf(const_cast<uint8_t *>(merge_.row()));
  if (!order_->samePartition(*last_, entry)) {
    return Step::kOtherPartition;
  }
  return order_->arePeers(*last_, entry) ? Step::kPeer : Step::kSamePartition;
}

Expected<uint8_t *> HeldRows::take() {
  auto *row = const_cast<uint8_t *>(merge_.row()); // of a piece that nobody else writes to
  std::shared_ptr<Held> &newest = newest_[merge_.run()];
  if (!newest || newest->piece != merge_.piece()) {
    newest = std::make_shared<Held>(Held{merge_.piece(), taken_, taken_});
    held_.push_back(newest);
  }
  newest->last = taken_++;
  last_ = order_->entryOf(row);
  lastPiece_ = newest->piece;
  HR_RETURN_IF_ERROR(merge_.advance());
  return row;
}

HeldRows HeldRows::fromHere() const {
  HeldRows rows(*order_, merge_);
  rows.last_ = last_;
  rows.lastPiece_ = lastPiece_;
  return rows;
}

void HeldRows::keepLast(uint64_t count) {
  const uint64_t first = taken_ - count;
  std::erase_if(held_, [&](const std::shared_ptr<Held> &held) { return held->last < first; });
  for (std::shared_ptr<Held> &newest : newest_) {
    if (newest && newest->last < first) {
      newest.reset();
    }
  }
}

void HeldRows::pin(uint64_t before, Pins &pins) const {
  for (const std::shared_ptr<Held> &held : held_) {
    if (held->first < before) {
      pins.push_back(held->piece);
    }
  }
}

// ---- reading ----

WindowMerge::WindowMerge(const plan::State &state, RunMerge merge,
                         std::shared_ptr<MemoryAccount> account, int64_t roomBytes)
    : state_(state), account_(account), order_(state), reach_(reachOf(state)),
      needsPeers_(WindowFunctions::needPeers(state)), folds_(WindowFunctions::foldFromFirst(state)),
      // All runs may come to their next piece at the same row.
      piecesMax_(2 * merge.runs() +
                 static_cast<size_t>(std::max<int64_t>(roomBytes / kRunPieceBytes, 2))),
      rowsMax_(std::clamp(static_cast<uint64_t>(roomBytes / kListedBytes), kRowsMin, kRowsMax)),
      rows_(order_, std::move(merge)), functions_(state, account), held_(account), steps_(account),
      group_(account), groupBegin_(std::move(account)) {}

Status WindowMerge::take(uint64_t count, MergedRows &out) {
  if (held_.size() == 0) {
    HR_RETURN_IF_ERROR(held_.resize(rowsMax_));
    HR_RETURN_IF_ERROR(steps_.resize(rowsMax_));
    HR_RETURN_IF_ERROR(group_.resize(needsPeers_ ? rowsMax_ : 0));
    HR_RETURN_IF_ERROR(groupBegin_.resize(needsPeers_ ? rowsMax_ + 1 : 0));
  }
  if (given_ == ready_) {
    HR_RETURN_IF_ERROR(computeNext());
  }
  const uint64_t given = std::min(count, ready_ - given_);
  for (uint64_t i = 0; i < given; ++i) {
    out.rows.push_back(held_[given_ + i]);
  }
  given_ += given;
  rows_.pin(UINT64_MAX, out.blocks);
  if (large_) {
    out.blocks.insert(out.blocks.end(), large_->pins.begin(), large_->pins.end());
  }
  return {};
}

bool WindowMerge::isFull() const { return count_ == rowsMax_ || rows_.pieces() >= piecesMax_; }

Status WindowMerge::append(HeldRows::Step step) {
  HR_ASSIGN_OR_RETURN(held_[count_], rows_.take());
  steps_[count_++] = step;
  return {};
}

void WindowMerge::forget(uint64_t rows) {
  count_ -= rows;
  std::memmove(held_.data(), held_.data() + rows, count_ * sizeof(uint8_t *));
  std::memmove(steps_.data(), steps_.data() + rows, count_ * sizeof(HeldRows::Step));
  rows_.keepLast(count_);
}

Status WindowMerge::computeNext() {
  if (large_ && large_->next < large_->rows) {
    return computeLarge();
  }
  forget(large_ ? count_ : ready_);
  large_.reset();
  ready_ = given_ = 0;
  uint64_t partition = 0; // where the last one begins
  while (true) {
    const HeldRows::Step step = rows_.next();
    if (step == HeldRows::Step::kOtherPartition) {
      partition = count_;
    }
    if (step == HeldRows::Step::kEnd || (partition == count_ && count_ >= kBatchRows)) {
      return computeWhole(count_);
    }
    if (isFull()) {
      if (partition > 0) {
        return computeWhole(partition);
      }
      HR_RETURN_IF_ERROR(startLarge());
      return computeLarge();
    }
    HR_RETURN_IF_ERROR(append(step));
  }
}

/// Groups of peers of the rows [begin, end) in memory, the first of which begins one.
void WindowMerge::listGroups(uint64_t begin, uint64_t end) {
  groups_ = 0;
  for (uint64_t row = begin; row < end; ++row) {
    if (row == begin || steps_[row] != HeldRows::Step::kPeer) {
      groupBegin_[groups_++] = static_cast<uint32_t>(row - begin);
    }
    group_[row - begin] = static_cast<uint32_t>(groups_ - 1);
  }
  groupBegin_[groups_] = static_cast<uint32_t>(end - begin);
}

/// Partitions of which all rows are in memory.
Status WindowMerge::computeWhole(uint64_t end) {
  for (uint64_t begin = 0, next = 0; begin < end; begin = next) {
    for (next = begin + 1; next < end && steps_[next] != HeldRows::Step::kOtherPartition; ++next) {
    }
    const uint64_t rows = next - begin;
    Partition partition{held_.span().subspan(begin, rows), {}, {}};
    if (needsPeers_) {
      listGroups(begin, next);
      partition.group = group_.span().first(rows);
      partition.groupBegin = groupBegin_.span().first(groups_ + 1);
    }
    HR_RETURN_IF_ERROR(functions_.compute(partition, {0, static_cast<uint32_t>(rows)}));
  }
  ready_ = end;
  return {};
}

// ---- a partition that does not fit ----

Status WindowMerge::fold(std::span<uint8_t *const> rows, std::vector<AnyFold> &folds, Pins &texts) {
  folds.resize(state_.windows.size());
  if (!folds_ || rows.empty()) {
    return {};
  }
  std::vector<AnyFold> next;
  HR_RETURN_IF_ERROR(
      functions_.total({rows, {}, {}}, {0, static_cast<uint32_t>(rows.size())}, next));
  HR_RETURN_IF_ERROR(functions_.append(folds, next));
  for (size_t number = 0; number < folds.size(); ++number) {
    if (!folds[number].valid || state_.fields[state_.windows[number].result].type != HR_STRING) {
      continue;
    }
    auto text = loadAs<HrString>(folds[number].value); // of a row that will not stay
    auto kept = std::make_shared<std::vector<uint8_t>>(text.length + HR_PADDING);
    std::memcpy(kept->data(), text.data, text.length);
    text.data = kept->data();
    storeAs(folds[number].value, text);
    texts.push_back(std::move(kept));
  }
  return {};
}

/// Reads it for the first time: how many rows it has, their folds, and where large groups end.
Status WindowMerge::startLarge() {
  if (reach_.any || reach_.first > count_ || reach_.behind + reach_.ahead >= count_) {
    return tooLarge(state_);
  }
  LargePartition &large = large_.emplace();
  large.firstRows.assign(held_.data(), held_.data() + reach_.first);
  if (reach_.first > 0) {
    rows_.pin(rows_.taken() - count_ + reach_.first, large.pins);
  }
  std::vector<AnyFold> folds;
  std::vector<uint8_t *> unfolded(held_.data(), held_.data() + count_);
  HeldRows scout = rows_.fromHere();
  uint64_t group = 0; // where the last one begins
  auto flush = [&]() -> Status {
    HR_RETURN_IF_ERROR(fold(unfolded, folds, large.pins));
    unfolded.clear();
    scout.keepLast(0);
    return {};
  };
  auto endGroup = [&]() -> Status {
    if (needsPeers_ && large.rows - group >= kLargeGroup) {
      HR_RETURN_IF_ERROR(flush());
      large.groups.push_back({group, large.rows, folds});
    }
    group = large.rows;
    return {};
  };
  // Groups that end among the rows in memory are not looked up.
  for (; large.rows < count_; ++large.rows) {
    if (large.rows > 0 && steps_[large.rows] != HeldRows::Step::kPeer) {
      group = large.rows;
    }
  }
  while (true) {
    const HeldRows::Step step = scout.next();
    if (step != HeldRows::Step::kPeer) {
      HR_RETURN_IF_ERROR(endGroup());
      if (step != HeldRows::Step::kSamePartition) {
        break;
      }
    }
    HR_ASSIGN_OR_RETURN(uint8_t *row, scout.take());
    large.lastRow = row;
    unfolded.push_back(row);
    ++large.rows;
    if (unfolded.size() >= rowsMax_ || scout.pieces() >= piecesMax_) {
      HR_RETURN_IF_ERROR(flush());
    }
  }
  if (large.rows > UINT32_MAX) {
    // no test: it takes 64 GiB
    return makeError(ErrorKind::kUnsupported,
                     "a window of more than 4294967295 rows on one rank, got ", large.rows);
  }
  HR_RETURN_IF_ERROR(flush());
  large.folds = std::move(folds);
  large.pins.push_back(scout.lastPiece());
  large.heldFolds.resize(state_.windows.size());
  if (!large.lastRow) {
    large.lastRow = held_[count_ - 1];
  }
  return {};
}

/// Rows of the large partition before that position leave memory.
Status WindowMerge::drop(uint64_t before) {
  LargePartition &large = *large_;
  const uint64_t rows = before - large.first;
  HR_RETURN_IF_ERROR(fold(held_.span().first(rows), large.heldFolds, large.pins));
  for (uint64_t row = 1; row <= rows && row < count_; ++row) {
    if (steps_[row] != HeldRows::Step::kPeer) {
      ++large.firstGroup;
      large.firstGroupBegin = large.first + row;
    }
  }
  if (rows == count_ && rows_.next() == HeldRows::Step::kSamePartition) {
    ++large.firstGroup;
    large.firstGroupBegin = before;
  }
  forget(rows);
  large.first = before;
  return {};
}

const WindowMerge::LargeGroup *WindowMerge::largeGroupAt(uint64_t row) const {
  const auto &groups = large_->groups;
  auto after =
      std::upper_bound(groups.begin(), groups.end(), row,
                       [](uint64_t at, const LargeGroup &group) { return at < group.begin; });
  return after != groups.begin() && row < std::prev(after)->end ? &*std::prev(after) : nullptr;
}

/// Where the piece of rows ends that can be computed with those in memory: at most at `end`.
uint64_t WindowMerge::endOfPiece(uint64_t end) const {
  const LargePartition &large = *large_;
  const uint64_t have = large.first + count_;
  if (!needsPeers_ || have == large.rows || end <= large.next) {
    return end;
  }
  for (uint64_t row = end; row < have; ++row) {
    if (steps_[row - large.first] != HeldRows::Step::kPeer) {
      return end; // the last group ends in memory
    }
  }
  uint64_t begin = end - 1;
  while (begin > large.first && steps_[begin - large.first] == HeldRows::Step::kPeer) {
    --begin;
  }
  if (begin > large.next) {
    return begin;
  }
  return !reach_.peers && largeGroupAt(large.next) ? end : large.next;
}

/// Folds that those of rows from large_->next on may begin with.
RunningFolds WindowMerge::knownFolds() const {
  const LargePartition &large = *large_;
  RunningFolds known{{static_cast<uint32_t>(large.first)}, {large.heldFolds}};
  auto add = [&](uint64_t rows, const std::vector<AnyFold> &folds) {
    if (rows > known.rows.back()) {
      known.rows.push_back(static_cast<uint32_t>(rows));
      known.folded.push_back(folds);
    }
  };
  if (const LargeGroup *group = largeGroupAt(large.next)) {
    add(group->end, group->folds);
  }
  add(large.rows, large.folds);
  return known;
}

void WindowMerge::listLargeGroups() {
  const LargePartition &large = *large_;
  groups_ = 1;
  groupBegin_[0] = static_cast<uint32_t>(large.firstGroupBegin);
  for (uint64_t row = 0; row < count_; ++row) {
    if (row > 0 && steps_[row] != HeldRows::Step::kPeer) {
      groupBegin_[groups_++] = static_cast<uint32_t>(large.first + row);
    }
    group_[row] = static_cast<uint32_t>(large.firstGroup + groups_ - 1);
  }
  const LargeGroup *last = largeGroupAt(large.first + count_ - 1);
  groupBegin_[groups_] = static_cast<uint32_t>(last ? last->end : large.first + count_);
}

Status WindowMerge::computeLarge() {
  LargePartition &large = *large_;
  HR_RETURN_IF_ERROR(drop(std::max(large.first, large.next - std::min(large.next, reach_.behind))));
  while (large.first + count_ < large.rows && !isFull()) {
    HR_RETURN_IF_ERROR(append(rows_.next()));
  }
  const uint64_t have = large.first + count_;
  const uint64_t end = endOfPiece(have == large.rows ? have : have - std::min(have, reach_.ahead));
  if (end <= large.next) {
    return tooLarge(state_);
  }
  Partition partition{{held_.span().first(count_), large.first, large.rows}, {}, {}};
  partition.firstRows = large.firstRows;
  partition.lastRow = large.lastRow;
  if (needsPeers_) {
    listLargeGroups();
    partition.group = {group_.span().first(count_), large.first, large.rows};
    partition.groupBegin = {groupBegin_.span().first(groups_ + 1), large.firstGroup,
                            large.firstGroup + groups_ + 1};
  }
  const RunningFolds known = knownFolds();
  HR_RETURN_IF_ERROR(
      functions_.compute(partition, {static_cast<uint32_t>(large.next), static_cast<uint32_t>(end)},
                         folds_ ? &known : nullptr));
  given_ = large.next - large.first;
  ready_ = end - large.first;
  large.next = end;
  return {};
}

} // namespace headrace::exec
