// Chunks for a rank that gives keys away, cut by what becomes of their rows.
#include "runtime/exec/skew/targeted_input.h"

#include <utility>

namespace headrace::exec {

TargetedInput::TargetedInput(ChunkStream &input, const plan::Schema &schema,
                             const std::vector<int32_t> &keys,
                             std::shared_ptr<const KeyShares> shares,
                             std::shared_ptr<MemoryAccount> account)
    : input_(input), schema_(&schema), keys_(&keys), shares_(std::move(shares)),
      account_(std::move(account)) {}

Expected<ChunkHandle> TargetedInput::tryPop() {
  if (pieces_.empty()) {
    ChunkHandle chunk = input_.tryPop();
    if (!chunk || !shares_ || !shares_->gives(static_cast<uint32_t>(chunk->target))) {
      return chunk;
    }
    HR_RETURN_IF_ERROR(divide(*chunk));
  }
  ChunkHandle piece = std::move(pieces_.front());
  pieces_.pop_front();
  return piece;
}

Status TargetedInput::divide(const Chunk &chunk) {
  hashKeys(chunk, *schema_, *keys_, 0, 1, hashes_);
  for (uint32_t row = 0; row < chunk.rows; ++row) {
    const uint32_t target = shares_->rankOf(hashes_.hashes[row]);
    if (target >= rows_.size()) {
      rows_.resize(target + 1);
    }
    rows_[target].push_back(row);
    movedRows_ += target != static_cast<uint32_t>(chunk.target);
  }
  for (size_t target = 0; target < rows_.size(); ++target) {
    if (!rows_[target].empty()) {
      HR_ASSIGN_OR_RETURN(auto piece, takePiece(chunk, *schema_, rows_[target],
                                                static_cast<int32_t>(target), account_));
      pieces_.push_back(std::move(piece));
      rows_[target].clear();
    }
  }
  return {};
}

} // namespace headrace::exec
