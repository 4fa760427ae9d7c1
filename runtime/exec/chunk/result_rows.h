// The rows of a table result: in memory as long as nobody needs it, else in the spill file.
#pragma once

#include "runtime/exec/chunk/chunk_spill.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace::exec {

/// Purpose: takes chunks while a plan runs, and keeps them for the caller afterwards.
/// Ownership: of the chunks and their extents. Thread-safety: full until end(), then immutable.
class ResultRows final : public Spillable {
public:
  static Expected<std::shared_ptr<ResultRows>> open(plan::Schema schema,
                                                    std::shared_ptr<MemoryAccount> account);
  /// Of chunks that stay where they are.
  static std::shared_ptr<const ResultRows> of(plan::Schema schema, std::vector<ChunkHandle> chunks);
  ~ResultRows() override;

  /// Whoever waits for the chunk's buffers has them back then.
  Status add(ChunkHandle chunk);
  /// There are no more: chunks of an ordered stream are put in order.
  void end();

  const plan::Schema &schema() const { return schema_; }
  uint64_t rowCount() const { return rows_; }
  size_t chunkCount() const { return chunks_.size(); }
  /// What waits on disk is read to memory that only the caller holds. Errors: those of the file.
  Expected<ChunkHandle> chunk(size_t index) const;

  Expected<int64_t> spill(int64_t bytes) override;
  int64_t spillableBytes() const override;

private:
  ResultRows(plan::Schema schema, std::shared_ptr<MemoryAccount> account)
      : schema_(std::move(schema)), account_(account), spill_(schema_, account) {}

  const plan::Schema schema_;
  const std::shared_ptr<MemoryAccount> account_;
  mutable std::mutex mutex_;
  ChunkSpill spill_;
  std::vector<KeptChunk> chunks_;
  size_t passed_ = 0; ///< chunks that are in the file, or too large for it
  int64_t residentBytes_ = 0;
  uint64_t rows_ = 0;
};

} // namespace headrace::exec
