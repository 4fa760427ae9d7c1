// How many of some numbers in a list are less than another one, and which is the n-th of them.
#pragma once

#include "runtime/exec/window/frames.h"

namespace headrace::exec {

/// Purpose: answers about any pieces of a list of the numbers 0 to n − 1, each of which is in it
/// once, in O(log n) a piece and n · log n bits: a wavelet matrix. For each bit of the numbers,
/// from the highest on, it has that bit of each number, those in order by the bits above; so what
/// lies together in the list lies together, in two pieces, one bit further down. Thread-safe when
/// it is built.
class PlaceCounts {
public:
  explicit PlaceCounts(const std::shared_ptr<MemoryAccount> &account)
      : words_(account), other_(account) {}

  /// Of this list, which is put in another order.
  Status build(std::span<uint32_t> numbers);

  /// How many numbers of a piece are less than `number`.
  uint32_t less(RowSpanOf piece, uint32_t number) const;
  /// The n-th least (from 0) of the numbers of some pieces, which have as many.
  uint32_t nth(Frames::Pieces pieces, uint32_t n) const;

private:
  uint32_t nth(RowSpanOf piece, uint32_t n) const;

  /// Bits of 64 numbers, and how many bits of their level before them are set.
  struct Word {
    uint64_t bits;
    uint32_t before;
  };
  unsigned bitOf(unsigned level) const { return levels_ - 1 - level; }
  uint32_t onesBefore(unsigned level, uint32_t index) const {
    const Word &word = words_[level * wordsOfLevel_ + index / 64];
    const uint64_t below = (uint64_t(1) << index % 64) - 1;
    return word.before + static_cast<uint32_t>(__builtin_popcountll(word.bits & below));
  }
  /// Where the numbers of a piece without the level's bit are in the next level, and those with it.
  RowSpanOf withoutBit(unsigned level, RowSpanOf piece) const {
    return {piece.begin - onesBefore(level, piece.begin), piece.end - onesBefore(level, piece.end)};
  }
  RowSpanOf withBit(unsigned level, RowSpanOf piece) const {
    return {zeros_[level] + onesBefore(level, piece.begin),
            zeros_[level] + onesBefore(level, piece.end)};
  }

  uint32_t count_ = 0;
  unsigned levels_ = 0;
  uint64_t wordsOfLevel_ = 0;
  uint32_t zeros_[32] = {}; ///< of each level: numbers without its bit
  ScratchArray<Word> words_;
  ScratchArray<uint32_t> other_;
};

} // namespace headrace::exec
