// A stream of the plan whose rows are kept in parts until a repeat reads them: in memory as long as
// nobody else needs it, else in the rank's spill file.
#pragma once

#include "runtime/exec/chunk/chunk_spill.h"
#include "runtime/exec/chunk/chunk_stream.h"
#include "runtime/exec/source/morsel_queue.h"

#include <deque>

namespace headrace::exec {

/// Parts [first, last).
struct PartRange {
  uint32_t first = 0;
  uint32_t last = 0;
};

/// Purpose: chunks by part; the last part leaves memory first, since it is read last.
/// Ownership: of the chunks and their extents, until they are read. Thread-safety: full.
class PartedStream final : public ChunkSink, public Spillable {
public:
  /// What a part has taken in.
  struct Amount {
    uint64_t rows = 0;
    uint64_t textBytes = 0;
  };

  /// `account` is charged for the chunks that are read back, and gives back what is discharged.
  static Expected<std::shared_ptr<PartedStream>> open(const plan::Stream &stream,
                                                      std::shared_ptr<MemoryAccount> account);
  ~PartedStream() override;
  PartedStream(const PartedStream &) = delete;
  PartedStream &operator=(const PartedStream &) = delete;

  bool tryPush(ChunkHandle &chunk) override;
  bool hasRoom() const override { return true; }
  void close() override {}

  uint32_t parts() const { return static_cast<uint32_t>(parts_.size()); }
  Amount amount(uint32_t part) const;
  /// From now on next() hands out these.
  void openRound(PartRange range);
  /// A chunk of the round, which is then gone from here; null: it has no more.
  Expected<ChunkHandle> next();
  /// Chunks of the round that are left.
  size_t left() const;

  Expected<int64_t> spill(int64_t bytes) override;
  int64_t spillableBytes() const override;

private:
  struct Part {
    std::deque<KeptChunk> pieces;
    size_t resident = 0; ///< the first pieces; those behind are in the file
    Amount amount;
  };

  PartedStream(const plan::Stream &stream, std::shared_ptr<MemoryAccount> account)
      : account_(account), spill_(stream.schema, account), parts_(stream.parts) {}
  Expected<int64_t> spillLast(Part &part);

  const std::shared_ptr<MemoryAccount> account_;
  ChunkSpill spill_; ///< writes under the lock, reads outside of it
  mutable std::mutex mutex_;
  std::vector<Part> parts_;
  PartRange round_;
  int64_t residentBytes_ = 0;
};

/// The chunks of the stream's round as morsels.
std::unique_ptr<MorselQueue> makePartQueue(std::shared_ptr<PartedStream> stream);

} // namespace headrace::exec
