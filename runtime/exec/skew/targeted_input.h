// The input of an exchange by hash, with the ranks that its chunks are to go to.
#pragma once

#include "runtime/exec/chunk_stream.h"
#include "runtime/exec/skew/key_hashes.h"
#include "runtime/exec/skew/key_shares.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

namespace headrace::exec {

/// Purpose: an exchange's input with the targets that chunks are to go to: those for a rank that
/// gives some of its keys away are divided. Not thread-safe beside the stream itself.
class TargetedInput {
public:
  /// As kernels have targeted them.
  explicit TargetedInput(ChunkStream &input) : input_(input) {}
  /// By the hash of these columns of the schema, which outlive it.
  TargetedInput(ChunkStream &input, const plan::Schema &schema, const std::vector<int32_t> &keys,
                std::shared_ptr<const KeyShares> shares, std::shared_ptr<MemoryAccount> account);

  /// Null if there is none at the moment.
  Expected<ChunkHandle> tryPop();
  bool hasNext() const { return !pieces_.empty() || input_.size() > 0; }
  /// Closed, and everything was popped.
  bool ended() const { return pieces_.empty() && input_.ended(); }
  /// Rows that went to another rank than their hash names.
  uint64_t movedRows() const { return movedRows_; }

private:
  Status divide(const Chunk &chunk);

  ChunkStream &input_;
  const plan::Schema *schema_ = nullptr;
  const std::vector<int32_t> *keys_ = nullptr;
  std::shared_ptr<const KeyShares> shares_; ///< null: as they are targeted
  std::shared_ptr<MemoryAccount> account_;
  KeyHashes hashes_;
  std::vector<std::vector<uint32_t>> rows_; ///< of the chunk at hand, by target
  std::deque<ChunkHandle> pieces_;
  uint64_t movedRows_ = 0;
};

} // namespace headrace::exec
