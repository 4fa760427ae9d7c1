// Parts are counted, folded, and put together where the next phase begins with them.
#include "runtime/exec/window/large_partition.h"

#include "runtime/base/stop.h"

#include <numeric>

namespace headrace::exec {

LargePartition::LargePartition(const plan::State &state, const EntryOrder &order,
                               std::span<Entry> entries, uint32_t parts,
                               std::shared_ptr<MemoryAccount> account)
    : state_(state), order_(order), entries_(entries), rows_(account), group_(account),
      groupBegin_(std::move(account)), groups_(parts), totals_(parts) {
  for (uint64_t part = 0; part <= parts; ++part) {
    partBegin_.push_back(static_cast<uint32_t>(entries.size() * part / parts));
  }
}

Status LargePartition::prepare() {
  HR_RETURN_IF_ERROR(rows_.resize(entries_.size()));
  if (WindowFunctions::needPeers(state_)) {
    HR_RETURN_IF_ERROR(group_.resize(entries_.size()));
    HR_RETURN_IF_ERROR(groupBegin_.resize(entries_.size() + 1));
  }
  partition_ = {rows_.span(), group_.span(), groupBegin_.span()};
  return {};
}

void LargePartition::list(uint32_t part) {
  RowSpanOf span = rowsOf(part);
  uint32_t groups = 0;
  bool mixed = false;
  for (uint32_t row : RowsUntilStopped(span.begin, span.end)) {
    rows_[row] = entries_[row].row;
    mixed |= row > 0 && !order_.samePartition(entries_[row - 1], entries_[row]);
    if (group_.size() > 0) {
      groups += row == 0 || !order_.arePeers(entries_[row - 1], entries_[row]) ? 1 : 0;
      group_[row] = groups; // groups of the part up to the row
    }
  }
  groups_[part] = groups;
  if (mixed) {
    mixed_.store(true, std::memory_order_relaxed);
  }
}

void LargePartition::number(uint32_t part) {
  if (group_.size() == 0) {
    return;
  }
  uint32_t before = std::accumulate(groups_.begin(), groups_.begin() + part, 0u);
  RowSpanOf span = rowsOf(part);
  uint32_t last = 0;
  for (uint32_t row : RowsUntilStopped(span.begin, span.end)) {
    uint32_t group = group_[row];
    if (group != last) {
      groupBegin_[before + group - 1] = row;
      last = group;
    }
    group_[row] = before + group - 1;
  }
  if (part + 1 == parts()) {
    groupBegin_[before + groups_[part]] = partition_.size();
    partition_.groupBegin = partition_.groupBegin.first(before + groups_[part] + 1);
  }
}

Status LargePartition::total(uint32_t part, WindowFunctions &functions) {
  return functions.total(partition_, rowsOf(part), totals_[part]);
}

Status LargePartition::compute(uint32_t part, WindowFunctions &functions) {
  RunningFolds known;
  if (WindowFunctions::foldFromFirst(state_)) {
    std::vector<AnyFold> folded(state_.windows.size());
    for (uint32_t before = 0; before <= parts(); ++before) {
      known.rows.push_back(partBegin_[before]);
      known.folded.push_back(folded);
      if (before < parts()) {
        HR_RETURN_IF_ERROR(functions.append(folded, totals_[before]));
      }
    }
  }
  return functions.compute(partition_, rowsOf(part), &known);
}

} // namespace headrace::exec
