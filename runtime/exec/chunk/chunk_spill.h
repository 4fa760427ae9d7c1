// Chunks on their way to the rank's spill file and back.
#pragma once

#include "runtime/exec/chunk/chunk.h"
#include "runtime/exec/memory/spill_file.h"

#include <memory>
#include <vector>

namespace headrace::exec {

/// A chunk in memory, or where its rows are in the spill file.
struct KeptChunk {
  ChunkHandle chunk;
  SpillFile::Extent extent;
  int64_t bytes = 0; ///< of memory that it takes there
  ChunkOrder order;
};

/// Purpose: writes and reads chunks of one schema. Thread-safety: one writer at a time, beside any
/// number of readers. `account` is charged for what is read.
class ChunkSpill {
public:
  ChunkSpill(const plan::Schema &schema, std::shared_ptr<MemoryAccount> account)
      : schema_(schema), account_(std::move(account)) {}

  /// The memory that writing needs, to be given to prepare(): asking for it may have others write.
  Expected<std::shared_ptr<SpillStaging>> room() const;
  void prepare(std::shared_ptr<SpillStaging> room) { staging_ = std::move(room); }
  bool isPrepared() const { return staging_ != nullptr; }

  /// What a chunk takes, that is in memory of its own.
  static KeptChunk inMemory(ChunkHandle chunk);
  /// The rows of the chunk in the file, as one or several; none if a row of it is too large.
  Expected<std::vector<KeptChunk>> write(const Chunk &chunk);
  /// The rows in memory that is charged to the account, or to nobody: the caller's.
  Expected<ChunkHandle> read(const SpillFile::Extent &extent) const;
  Expected<ChunkHandle> readForCaller(const SpillFile::Extent &extent) const;
  void release(const SpillFile::Extent &extent) const { file().release(extent); }

private:
  SpillFile &file() const { return *account_->memory().spill; }
  const plan::Schema &schema_;
  const std::shared_ptr<MemoryAccount> account_;
  std::shared_ptr<SpillStaging> staging_;
};

} // namespace headrace::exec
