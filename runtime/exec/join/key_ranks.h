// Which integers of a range occur, and how many smaller ones do: two bits for each of the range.
#pragma once

#include "runtime/exec/memory/scratch_array.h"

#include <bit>
#include <cstdint>

namespace headrace::exec {

/// Purpose: a bit vector with ranks, as HrJoinTable describes its words. In this order, each step
/// by any number of threads: clear all chunks, add slots, count all chunks; then, by one thread,
/// `sumChunks`; then rank all chunks. From then on it is read.
/// Ownership: owns its words, charged to the account.
class KeyRanks {
public:
  explicit KeyRanks(std::shared_ptr<MemoryAccount> account)
      : words_(account), chunks_(std::move(account)) {}

  /// For slots [0, extent).
  Status resize(uint64_t extent);
  uint64_t chunks() const { return chunks_.size(); }

  void clear(uint64_t chunk);

  /// Adds slots; those of one word that come after each other cost one exchange with memory.
  class Adder {
  public:
    explicit Adder(KeyRanks &ranks) : ranks_(&ranks) {}
    Adder(const Adder &) = delete;
    Adder &operator=(const Adder &) = delete;
    ~Adder() { flush(); }

    void add(uint64_t slot) {
      if (slot / kSlots != word_) {
        flush();
        word_ = slot / kSlots;
      }
      bits_ |= uint64_t(1) << slot % kSlots;
    }

  private:
    void flush();

    KeyRanks *ranks_;
    uint64_t word_ = 0;
    uint64_t bits_ = 0;
  };

  void count(uint64_t chunk);
  /// How many slots were added, each counted once.
  uint64_t sumChunks();
  /// What the chunk's slots rank from; `chunk` may be chunks().
  uint64_t firstRank(uint64_t chunk) const { return chunk < chunks() ? chunks_[chunk] : slots_; }
  void rank(uint64_t chunk);

  /// Of a slot that was added.
  uint64_t rankOf(uint64_t slot) const {
    const uint64_t word = words_[slot / kSlots];
    const uint64_t before = word & ((uint64_t(1) << slot % kSlots) - 1);
    return (word >> kSlots) + static_cast<uint64_t>(std::popcount(before));
  }
  /// As HrJoinTable.ranks.
  const uint64_t *words() const { return words_.data(); }
  const uint64_t *wordOf(uint64_t slot) const { return &words_[slot / kSlots]; }

private:
  /// In a word, below the rank of its first.
  static constexpr uint64_t kSlots = 32;
  static constexpr uint64_t kBits = (uint64_t(1) << kSlots) - 1;
  /// Words that one morsel takes.
  static constexpr uint64_t kChunkWords = 1 << 14;

  std::span<uint64_t> wordsOf(uint64_t chunk) const;

  ScratchArray<uint64_t> words_;
  ScratchArray<uint64_t> chunks_; ///< how many slots are there, then the rank of the first
  uint64_t slots_ = 0;
};

} // namespace headrace::exec
