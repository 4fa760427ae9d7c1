// After each row only its own way up is played again.
#include "runtime/exec/sort/run_merge.h"

#include <algorithm>
#include <utility>

namespace headrace::exec {

RunMerge::RunMerge(const plan::State &state, std::span<const std::shared_ptr<const RowRun>> runs,
                   std::shared_ptr<MemoryAccount> account)
    : order_(state), runs_(runs.begin(), runs.end()), entries_(runs.size()), losers_(runs.size()) {
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

/// Of rows with lesser words than some word there are at most as many as the pieces have that begin
/// with a lesser one. The greatest such word is taken of which these are not too many; of each run
/// only the last of these pieces may have others, too.
uint64_t RunMerge::skip(uint64_t rows) {
  std::vector<uint64_t> words;
  for (const std::shared_ptr<const RowRun> &run : runs_) {
    for (const RunPiece &piece : run->pieces()) {
      words.push_back(piece.firstWord);
    }
  }
  std::ranges::sort(words);
  auto beginsBefore = [](const RowRun &run, uint64_t word) {
    return std::ranges::lower_bound(run.pieces(), word, {}, &RunPiece::firstWord) -
           run.pieces().begin();
  };
  auto rowsOf = [](std::span<const RunPiece> pieces) {
    uint64_t sum = 0;
    for (const RunPiece &piece : pieces) {
      sum += piece.rows;
    }
    return sum;
  };
  const auto tooMany = std::ranges::partition_point(words, [&](uint64_t word) {
    uint64_t before = 0;
    for (const std::shared_ptr<const RowRun> &run : runs_) {
      before += rowsOf(run->pieces().first(static_cast<size_t>(beginsBefore(*run, word))));
    }
    return before <= rows;
  });
  if (tooMany == words.begin()) {
    return 0;
  }
  uint64_t skipped = 0;
  for (size_t run = 0; run < runs_.size(); ++run) {
    const auto pieces =
        static_cast<size_t>(std::max<ptrdiff_t>(beginsBefore(*runs_[run], *(tooMany - 1)) - 1, 0));
    readers_[run].skipPieces(pieces);
    skipped += rowsOf(runs_[run]->pieces().first(pieces));
  }
  return skipped;
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
  const size_t blocksMax = readers_.size() + takenPieces_;
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
