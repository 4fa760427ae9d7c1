// Memory of one owner inside a run: a reservation with a name, and blocks charged to it.
#pragma once

#include "runtime/exec/memory/spill_file.h"
#include "runtime/memory/block_pool.h"
#include "runtime/memory/budget.h"
#include "runtime/memory/buffer_pool.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::exec {

/// By which the scans of a rank know whether memory will come back from one of them.
struct ScanTraffic {
  std::atomic<int> lanes{0};             ///< at work on morsels of scans
  std::atomic<uint64_t> morselsEnded{0}; ///< whose memory has come back
  std::atomic<int> waiting{0};           ///< scans that would ask again then
};

/// Who holds what could wait on disk.
class Spillable {
public:
  virtual ~Spillable() = default;
  /// Writes out what is needed last, until `bytes` have come back to the budget or nothing is left;
  /// how many have. Blocks. kIo: the disk.
  virtual Expected<int64_t> spill(int64_t bytes) = 0;
  /// What spill() could give back.
  virtual int64_t spillableBytes() const = 0;
};

class MemoryAccount;

/// Where rows are encoded on their way to the spill file, by one at a time.
struct SpillStaging {
  std::shared_ptr<MemoryAccount> account; ///< of who needed it first
  Block block;
  std::mutex mutex;
};

/// The memory of one rank: its budget, and the blocks that all ranks of the process share.
struct RankMemory {
  std::shared_ptr<BlockPool> blocks;
  Budget budget;
  ScanTraffic scans;
  const std::shared_ptr<SpillFile> spill; ///< where what has no room waits

  RankMemory(std::shared_ptr<BlockPool> pool, Budget::Options options, SpillOptions spilled = {})
      : blocks(std::move(pool)), budget(std::move(options)),
        spill(std::make_shared<SpillFile>(std::move(spilled))) {}

  void add(Spillable *holder);
  void remove(Spillable *holder);
  /// Has `bytes` or some more written out; how many came back, 0 if nothing is left. One caller at
  /// a time works.
  Expected<int64_t> makeRoom(int64_t bytes);
  int64_t spillableBytes() const;
  /// What is free, and what makeRoom() could give.
  int64_t roomBytes() const {
    return budget.limitBytes() - budget.reservedBytes() + spillableBytes();
  }
  /// The one of the rank, charged to `account` if nobody has it yet: asking for it may have others
  /// write.
  Expected<std::shared_ptr<SpillStaging>> staging(const std::shared_ptr<MemoryAccount> &account);

private:
  mutable std::mutex mutex_;
  std::vector<Spillable *> spillables_; ///< the last is asked first
  std::mutex stagingMutex_;
  std::weak_ptr<SpillStaging> staging_;
};

/// Purpose: the account of a state, a task or a result, named in memory errors.
/// Ownership: shared by whatever holds its blocks, so that chunks may outlive the run; keeps the
/// budget and the pool alive. Thread-safety: full. Lifetime: blocks must be dropped before their
/// account.
class MemoryAccount : public std::enable_shared_from_this<MemoryAccount> {
public:
  static Expected<std::shared_ptr<MemoryAccount>> open(std::shared_ptr<RankMemory> memory,
                                                       ReservationRequest request);

  /// A block of at least `bytes`, 64-byte aligned, contents undefined; or the typed memory error.
  Expected<Block> allocate(int64_t bytes);
  /// The same, but nothing is written out for it.
  Expected<Block> allocateIfFree(int64_t bytes);
  /// A pool of buffers charged to the account, which the buffers keep; of blocks that are seen
  /// elsewhere, or of those of the process.
  Expected<std::unique_ptr<BufferPool>> createPool(BufferPool::Options options,
                                                   std::shared_ptr<BlockPool> blocks = nullptr);
  /// Takes bytes of the budget before they are allocated; or the typed memory error.
  Status reserve(int64_t bytes);
  int64_t peakBytes() const { return reservation_.peakBytes(); }
  /// To charge what is not a block.
  Reservation &reservation() { return reservation_; }
  RankMemory &memory() { return *memory_; }

private:
  /// Asks again and again, as long as something can be written out for it.
  template <typename Ask> auto withRoom(int64_t bytes, const Ask &ask) -> decltype(ask());
  Status named(const Status &status) const;
  std::shared_ptr<RankMemory> memory_;
  Reservation reservation_;
  std::string operatorName_;
  std::string place_;
};

/// Bytes handed out one after another from blocks of growing size; freed all at once.
/// Not thread-safe. Every allocation has HR_PADDING readable bytes after it.
class BumpArena {
public:
  explicit BumpArena(std::shared_ptr<MemoryAccount> account) : account_(std::move(account)) {}
  BumpArena(BumpArena &&) = default;
  BumpArena &operator=(BumpArena &&) = default;
  /// The blocks go before the account that they are charged to.
  ~BumpArena() { blocks_.clear(); }

  /// `align`: a power of two, at most 64.
  Expected<uint8_t *> allocate(uint64_t bytes, uint64_t align);
  /// Forgets all allocations; keeps the last block for the next ones.
  void reset();

private:
  std::shared_ptr<MemoryAccount> account_;
  std::vector<Block> blocks_;
  uint64_t used_ = 0; ///< of the last block
};

} // namespace headrace::exec
