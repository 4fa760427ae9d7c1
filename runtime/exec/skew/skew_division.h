// The rows of one side of a join on their way to the ranks: the first are looked at, then all go
// where the ranks agreed.
#pragma once

#include "model/plan/mesh.h"
#include "runtime/exec/chunk/chunk_stream.h"
#include "runtime/exec/skew/heavy_keys.h"
#include "runtime/exec/skew/key_hashes.h"
#include "runtime/memory/buffer_pool.h"

#include <array>
#include <deque>
#include <memory>
#include <mutex>

namespace headrace::exec {

/// Chunk::target of rows that all ranks of the group get.
inline constexpr int32_t kAllRanks = -1;

/// Purpose: what the two exchanges of a pair know together on one rank. Thread-safety: full.
/// Lifetime: as long as one of them.
class SkewPair {
public:
  explicit SkewPair(std::shared_ptr<const KeyShares> shares);

  /// Called once for each side, before anything of it is told.
  void open(size_t side, plan::HeavyRows heavy, bool exact);
  void tell(size_t side, size_t rank, KeySketch sketch);
  /// Whether a rank has told of this side.
  bool hasBegun(size_t side) const;
  /// Whether all ranks have told of both sides.
  bool complete() const;
  /// Once complete().
  const KeyRoutes &routes(size_t side);

private:
  const std::shared_ptr<const KeyShares> shares_;
  mutable std::mutex mutex_;
  std::array<SkewedSide, 2> sides_;
  bool exact_ = true;
  size_t untold_;
  std::array<bool, 2> begun_ = {};
  bool agreed_ = false;
  std::array<KeyRoutes, 2> routes_;
};

/// How many of the first rows are kept.
inline constexpr uint32_t kKeptRows = 32768;
/// A run begins with small chunks, so that what is kept has about as many rows for each target as
/// all rows have: those in chunks that are not full yet are few.
inline uint32_t firstChunkRows(uint32_t ranks) { return std::max(64u, 4096u / ranks); }

/// Purpose: keeps the first chunks of an exchange's input, says what their keys are, and with what
/// all ranks said gives the chunks on: those of other keys untouched, rows of heavy keys by their
/// routes.
/// Thread-safety: told(), hear() and mayGoOn() by the rank's thread between jobs, the others by one
/// job at a time.
///
///   kKeep --enough rows, or all, or urged--> kTell --told--> kAgree --both sides complete-->
///   kRoute
class SkewDivision {
public:
  enum class Step : uint8_t { kKeep, kTell, kAgree, kRoute };

  /// Where the input comes from. Rows that another exchange brings may be held up by ranks that
  /// have told and wait for this one.
  enum class Feed : uint8_t { kOwn, kExchange };

  SkewDivision(const plan::ExchangeTask &task, const plan::Stream &stream, plan::GroupPlace place,
               std::shared_ptr<SkewPair> pair, size_t side, Feed feed,
               std::shared_ptr<MemoryAccount> account);

  Step step() const { return step_; }
  /// kKeep: takes what is there.
  Status keep(ChunkStream &input);
  /// kTell: the sketch for the others, sealed into a buffer just taken.
  void tell(const BufferRef &body);
  /// What another rank's tell() wrote.
  Status hear(int peer, const BufferRef &body);
  bool complete() const { return pair_->complete(); }
  /// kKeep: others wait, and what they wait for may be what this rank waits for: it is to tell of
  /// the rows that are there.
  bool isUrged() const { return feed_ == Feed::kExchange && pair_->hasBegun(side_); }
  /// Whether chunks are left that were taken from the input.
  bool holds() const { return !kept_.empty() || !pieces_.empty(); }
  /// From kAgree on, once complete(): the next rows with their target; null if there are none at
  /// the moment.
  Expected<ChunkHandle> next(ChunkStream &input);

  uint64_t rowsTaken() const { return rowsTaken_; }
  size_t heavyKeys() const { return routes_ ? routes_->keys().size() + routes_->spreadsNulls : 0; }
  uint64_t heavyRows() const { return heavyRows_; }

private:
  KeySketch sketch();
  bool concerns(const Chunk &chunk) const;
  Status divide(ChunkHandle chunk);
  void place(uint32_t row, uint64_t hash, bool null);
  int32_t anyRank();
  Status addPiece(const Chunk &chunk, std::span<const uint32_t> rows, int32_t target);

  const plan::ExchangeTask &task_;
  const plan::Stream &stream_;
  const plan::GroupPlace place_;
  const std::shared_ptr<SkewPair> pair_;
  const size_t side_;
  const Feed feed_;
  const std::shared_ptr<MemoryAccount> account_;
  Step step_ = Step::kKeep;
  std::deque<ChunkHandle> kept_;
  uint64_t keptRows_ = 0;
  bool keptAll_ = false;
  uint64_t rowsTaken_ = 0;
  const KeyRoutes *routes_ = nullptr; ///< once agreed
  KeyHashes hashes_;
  std::vector<uint32_t> given_; ///< by key: how many rows of it went out, as far as that matters
  uint32_t nextRank_;           ///< that rows which may go anywhere go to
  std::vector<uint32_t> own_;   ///< rows of the chunk at hand: for its target
  std::vector<uint32_t> any_;   ///< for any rank
  std::vector<uint32_t> all_;   ///< for all
  std::vector<std::vector<uint32_t>> each_; ///< by rank: those that must go to it
  std::deque<ChunkHandle> pieces_;
  uint64_t heavyRows_ = 0;
};

} // namespace headrace::exec
