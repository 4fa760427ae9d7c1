// Rows of one rank, kept until all are there, then divided by ranges of an order that all ranks
// agree on.
#pragma once

#include "model/plan/mesh.h"
#include "runtime/exec/chunk/chunk_stream.h"
#include "runtime/exec/chunk/kept_chunks.h"
#include "runtime/exec/range/order_keys.h"

#include <memory>
#include <vector>

namespace headrace::exec {

/// Samples of one rank's rows: their keys alone.
struct RangeSamples {
  std::vector<ChunkHandle> chunks;
  uint64_t rows = 0; ///< that they stand for
  bool complete = false;
};

/// Purpose: keeps the chunks of a stream, on disk where memory has no room, says what the other
/// ranks must know of their keys, and with what they said cuts the chunks: range i goes to rank i
/// of the group. Ranges ascend in the order, equal keys are in one range, and ranges have about as
/// many rows.
/// Thread-safety: addSamples() and hasAllSamples() by the rank's thread; the others by one job at a
/// time, which is begun after hasAllSamples() where it goes on from Step::kAgree.
///
///   kKeep --input ended--> kTell --samples given--> kAgree --all samples--> kDivide --> kDone
class RangeDivision {
public:
  enum class Step : uint8_t { kKeep, kTell, kAgree, kDivide, kDone };

  RangeDivision(const plan::Schema &schema, const std::vector<plan::OrderKey> &order,
                plan::GroupPlace place, std::shared_ptr<MemoryAccount> account);

  Step step() const { return step_; }
  const OrderKeys &keys() const { return keys_; }

  /// kKeep: takes what is there.
  Status keep(ChunkStream &input);
  /// kTell: the next samples, of key columns alone; null when there are no more. They stand for
  /// rows() rows.
  Expected<ChunkHandle> tell();
  uint64_t rows() const { return rows_; }
  /// What another member of the group told, and that it has told all.
  Status addSamples(int member, const Chunk &samples);
  void endSamples(int member, uint64_t rows);
  bool hasAllSamples() const;
  /// kAgree, kDivide: the next rows, with their target; null when there are no more.
  Expected<ChunkHandle> next();

private:
  void agree();
  void cut();
  void findRanges();
  void listRows();
  uint32_t rangeOfTie(uint32_t row, uint32_t range, uint8_t *key) const;

  const plan::Schema &schema_;
  OrderKeys keys_;
  std::shared_ptr<MemoryAccount> account_;
  size_t self_;
  size_t nextTold_ = 0; ///< of the chunks
  uint64_t passed_ = 0; ///< rows of those that samples were taken of
  Step step_ = Step::kKeep;
  KeptChunks kept_;
  uint64_t rows_ = 0;
  std::vector<RangeSamples> samples_; ///< by member
  /// The least key of each range but the first.
  std::vector<uint8_t> bounds_;
  std::vector<uint64_t> boundPrefixes_;
  ChunkHandle divided_;            ///< the one that is divided: the last are first
  std::vector<uint64_t> prefixes_; ///< of its rows
  std::vector<uint32_t> ranges_;   ///< likewise
  std::vector<uint32_t> rowsBy_;   ///< its rows, range by range
  std::vector<uint32_t> ends_;     ///< of each range in rowsBy_
  size_t nextRange_ = 0;
};

} // namespace headrace::exec
