// After each row only its own way up is played again.
#include "runtime/exec/sort/run_merge.h"

#include <utility>

namespace headrace::exec {
namespace {
/// Rows that are taken at once keep so many pieces in memory, beside those that are being read.
constexpr size_t kBlocksRead = 8;
} // namespace

RunMerge::RunMerge(const plan::State &state, std::span<const std::shared_ptr<const RowRun>> runs,
                   std::shared_ptr<MemoryAccount> account)
    : order_(state), entries_(runs.size()), losers_(runs.size()) {
  for (const std::shared_ptr<const RowRun> &run : runs) {
    readers_.emplace_back(state, run, account);
  }
}

bool RunMerge::isBefore(size_t a, size_t b) const {
  const SortEntry &first = entries_[a], &second = entries_[b];
  return first.row && (!second.row || order_.isBefore(first, second));
}

size_t RunMerge::play(size_t node) {
  if (node >= readers_.size()) {
    return node - readers_.size();
  }
  size_t winner = play(2 * node);
  size_t loser = play(2 * node + 1);
  if (isBefore(loser, winner)) {
    std::swap(winner, loser);
  }
  losers_[node] = loser;
  return winner;
}

Status RunMerge::start() {
  for (size_t reader = 0; reader < readers_.size(); ++reader) {
    HR_RETURN_IF_ERROR(advance(reader));
  }
  winner_ = play(1);
  return {};
}

Status RunMerge::advance(size_t reader) {
  HR_RETURN_IF_ERROR(readers_[reader].advance());
  const uint8_t *row = readers_[reader].row();
  entries_[reader] = row ? order_.entryOf(row) : SortEntry{};
  return {};
}

Status RunMerge::advance() {
  HR_RETURN_IF_ERROR(advance(winner_));
  for (size_t node = (winner_ + readers_.size()) / 2; node >= 1; node /= 2) {
    if (isBefore(losers_[node], winner_)) {
      std::swap(losers_[node], winner_);
    }
  }
  return {};
}

Status RunMerge::take(uint64_t count, MergedRows &out) {
  std::vector<const void *> held(readers_.size());
  const size_t blocksMax = readers_.size() + kBlocksRead;
  while (out.rows.size() < count && out.blocks.size() < blocksMax && row()) {
    const std::shared_ptr<const void> &block = readers_[winner_].block();
    if (held[winner_] != block.get()) {
      held[winner_] = block.get();
      out.blocks.push_back(block);
    }
    out.rows.push_back(row());
    HR_RETURN_IF_ERROR(advance());
  }
  return {};
}

} // namespace headrace::exec
