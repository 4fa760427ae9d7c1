// Level by level, numbers are divided by a bit and keep their order otherwise.
#include "runtime/exec/window/place_counts.h"

#include <bit>

namespace headrace::exec {

Status PlaceCounts::build(std::span<uint32_t> numbers) {
  count_ = static_cast<uint32_t>(numbers.size());
  levels_ = count_ > 1 ? static_cast<unsigned>(std::bit_width(count_ - 1)) : 0;
  wordsOfLevel_ = count_ / 64 + 1;
  HR_RETURN_IF_ERROR(words_.resize(levels_ * wordsOfLevel_));
  HR_RETURN_IF_ERROR(other_.resize(count_));
  std::span<uint32_t> from = numbers, to = other_.span();
  for (unsigned level = 0; level < levels_; ++level) {
    const unsigned bit = bitOf(level);
    auto isSet = [bit](uint32_t number) { return (number >> bit & 1) != 0; };
    uint32_t ones = 0;
    for (uint64_t index = 0; index < wordsOfLevel_; ++index) {
      Word &word = words_[level * wordsOfLevel_ + index];
      word = {0, ones};
      for (uint64_t i = 64 * index; i < std::min<uint64_t>(64 * (index + 1), count_); ++i) {
        word.bits |= static_cast<uint64_t>(isSet(from[i])) << i % 64;
      }
      ones += static_cast<uint32_t>(__builtin_popcountll(word.bits));
    }
    zeros_[level] = count_ - ones;
    uint32_t zeroAt = 0, oneAt = zeros_[level];
    for (uint32_t number : from) {
      to[isSet(number) ? oneAt++ : zeroAt++] = number;
    }
    std::swap(from, to);
  }
  return {};
}

uint32_t PlaceCounts::less(RowSpanOf piece, uint32_t number) const {
  if (number >= count_) {
    return piece.size();
  }
  uint32_t less = 0;
  for (unsigned level = 0; level < levels_; ++level) {
    const RowSpanOf without = withoutBit(level, piece);
    const bool isSet = (number >> bitOf(level) & 1) != 0;
    less += isSet ? without.size() : 0;
    piece = isSet ? withBit(level, piece) : without;
  }
  return less;
}

/// Nearly all frames are of one piece, and which way to go is a coin's toss: no branch.
uint32_t PlaceCounts::nth(RowSpanOf piece, uint32_t n) const {
  uint32_t number = 0;
  for (unsigned level = 0; level < levels_; ++level) {
    const uint32_t onesBegin = onesBefore(level, piece.begin),
                   onesEnd = onesBefore(level, piece.end);
    const uint32_t zeros = piece.size() - (onesEnd - onesBegin);
    const uint32_t isOne = n >= zeros ? UINT32_MAX : 0;
    n -= zeros & isOne;
    number |= (1u << bitOf(level)) & isOne;
    piece.begin = (isOne & (zeros_[level] + onesBegin)) | (~isOne & (piece.begin - onesBegin));
    piece.end = (isOne & (zeros_[level] + onesEnd)) | (~isOne & (piece.end - onesEnd));
  }
  return number;
}

uint32_t PlaceCounts::nth(Frames::Pieces pieces, uint32_t n) const {
  if (pieces.count == 1) {
    return nth(pieces.piece[0], n);
  }
  uint32_t number = 0;
  for (unsigned level = 0; level < levels_; ++level) {
    Frames::Pieces without = pieces;
    for (uint32_t i = 0; i < pieces.count; ++i) {
      without.piece[i] = withoutBit(level, pieces.piece[i]);
    }
    if (n < without.rows()) {
      pieces = without;
      continue;
    }
    n -= without.rows();
    number |= 1u << bitOf(level);
    for (uint32_t i = 0; i < pieces.count; ++i) {
      pieces.piece[i] = withBit(level, pieces.piece[i]);
    }
  }
  return number;
}

} // namespace headrace::exec
