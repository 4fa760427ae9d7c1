// Chunks that wait until all are there: in memory as long as nobody else needs it, else in the
// rank's spill file.
#pragma once

#include "runtime/exec/chunk/chunk_spill.h"

#include <memory>
#include <mutex>
#include <vector>

namespace headrace::exec {

/// Purpose: chunks of one schema in the order in which they came; the first ones leave memory
/// first. Ownership: of the chunks and their extents. Thread-safety: full until end(), then
/// immutable. `schema` outlives it. `account` is charged for chunks that are copied or read back,
/// and gives back what is discharged.
class KeptChunks final : public Spillable {
public:
  KeptChunks(const plan::Schema &schema, std::shared_ptr<MemoryAccount> account);
  /// Chunks that stay where they are.
  KeptChunks(const plan::Schema &schema, std::vector<ChunkHandle> chunks);
  ~KeptChunks() override;
  KeptChunks(const KeptChunks &) = delete;
  KeptChunks &operator=(const KeptChunks &) = delete;

  /// Whoever waits for the chunk's buffers has them back then.
  Status add(ChunkHandle chunk);
  /// There are no more, and none leaves memory any more: those of an ordered stream are put in
  /// order.
  void end();

  /// A chunk may become several when it leaves memory.
  size_t count() const;
  /// One of them, in memory that is charged to the account, or that only the caller holds. Errors:
  /// those of the spill file.
  Expected<ChunkHandle> read(size_t index) const;
  Expected<ChunkHandle> readForCaller(size_t index) const;
  /// The last one, which is then gone from here; null: there are none. Before end().
  Expected<ChunkHandle> takeLast();

  Expected<int64_t> spill(int64_t bytes) override;
  int64_t spillableBytes() const override;

private:
  KeptChunk at(size_t index) const;

  const plan::Schema &schema_;
  const std::shared_ptr<MemoryAccount> account_; ///< null: they stay
  mutable std::mutex mutex_;
  ChunkSpill spill_; ///< writes under the lock, reads outside of it
  bool ended_ = false;
  std::vector<KeptChunk> chunks_;
  size_t passed_ = 0; ///< chunks that are in the file, or too large for it
  int64_t residentBytes_ = 0;
};

} // namespace headrace::exec
