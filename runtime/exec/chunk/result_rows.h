// The rows of a table result: in memory as long as nobody needs it, else in the spill file.
#pragma once

#include "runtime/exec/chunk/kept_chunks.h"

#include <atomic>
#include <memory>
#include <vector>

namespace headrace::exec {

/// Purpose: takes chunks while a plan runs, and keeps them for the caller afterwards.
/// Ownership: of the chunks and their extents. Thread-safety: full until end(), then immutable.
class ResultRows final {
public:
  ResultRows(plan::Schema schema, std::shared_ptr<MemoryAccount> account)
      : schema_(std::move(schema)), kept_(schema_, std::move(account)) {}
  /// Of chunks that stay where they are.
  static std::shared_ptr<const ResultRows> of(plan::Schema schema, std::vector<ChunkHandle> chunks);
  ResultRows(const ResultRows &) = delete;
  ResultRows &operator=(const ResultRows &) = delete;

  /// Whoever waits for the chunk's buffers has them back then.
  Status add(ChunkHandle chunk);
  /// There are no more: chunks of an ordered stream are put in order.
  void end() { kept_.end(); }

  const plan::Schema &schema() const { return schema_; }
  uint64_t rowCount() const { return rows_; }
  size_t chunkCount() const { return kept_.count(); }
  /// What waits on disk is read to memory that only the caller holds. Errors: those of the file.
  Expected<ChunkHandle> chunk(size_t index) const { return kept_.readForCaller(index); }

private:
  ResultRows(plan::Schema schema, std::vector<ChunkHandle> chunks);

  const plan::Schema schema_;
  std::atomic<uint64_t> rows_{0};
  KeptChunks kept_;
};

} // namespace headrace::exec
