// Filling of a bit vector and of its ranks.
#include "runtime/exec/join/key_ranks.h"

#include <algorithm>
#include <atomic>

namespace headrace::exec {

Status KeyRanks::resize(uint64_t extent) {
  const uint64_t words = (extent + kSlots - 1) / kSlots;
  HR_RETURN_IF_ERROR(words_.resize(words));
  return chunks_.resize((words + kChunkWords - 1) / kChunkWords);
}

std::span<uint64_t> KeyRanks::wordsOf(uint64_t chunk) const {
  const uint64_t first = chunk * kChunkWords;
  return words_.span().subspan(first, std::min(kChunkWords, words_.size() - first));
}

void KeyRanks::clear(uint64_t chunk) { std::ranges::fill(wordsOf(chunk), 0); }

void KeyRanks::Adder::flush() {
  if (bits_) {
    std::atomic_ref<uint64_t> word(ranks_->words_[word_]);
    if ((word.load(std::memory_order_relaxed) & bits_) != bits_) {
      word.fetch_or(bits_, std::memory_order_relaxed);
    }
    bits_ = 0;
  }
}

void KeyRanks::count(uint64_t chunk) {
  uint64_t slots = 0;
  for (const uint64_t word : wordsOf(chunk)) {
    slots += static_cast<uint64_t>(std::popcount(word));
  }
  chunks_[chunk] = slots;
}

uint64_t KeyRanks::sumChunks() {
  slots_ = 0;
  for (uint64_t &chunk : chunks_.span()) {
    slots_ += std::exchange(chunk, slots_);
  }
  return slots_;
}

void KeyRanks::rank(uint64_t chunk) {
  uint64_t next = chunks_[chunk];
  for (uint64_t &word : wordsOf(chunk)) {
    const auto slots = static_cast<uint64_t>(std::popcount(word & kBits));
    word |= next << kSlots;
    next += slots;
  }
}

} // namespace headrace::exec
