// A range is found by a table of the leading bits, and by halving where splitters are close
// together.
#include "runtime/exec/window/range_divider.h"

#include <algorithm>
#include <bit>

namespace headrace::exec {

RangeDivider::RangeDivider(std::vector<unsigned __int128> samples, size_t samplesOfRange,
                           bool hashed)
    : hashed_(hashed) {
  std::sort(samples.begin(), samples.end());
  auto hashOf = [](unsigned __int128 key) { return static_cast<uint64_t>(key >> 64); };
  for (size_t i = samplesOfRange; i < samples.size(); i += samplesOfRange) {
    bool isFirstOfHash =
        hashed && (splitters_.empty() || hashOf(splitters_.back()) != hashOf(samples[i]));
    unsigned __int128 splitter =
        isFirstOfHash ? static_cast<unsigned __int128>(hashOf(samples[i])) << 64 : samples[i];
    if (splitters_.empty() || splitters_.back() < splitter) {
      splitters_.push_back(splitter);
      cut_.push_back(!isFirstOfHash);
    }
  }
  if (splitters_.empty()) {
    return;
  }
  least_ = leading(splitters_.front());
  most_ = leading(splitters_.back());
  constexpr int kSlotBits = 2; // slots of a splitter, as a power of two
  auto wanted = static_cast<int>(std::bit_width(splitters_.size())) + kSlotBits;
  shift_ =
      static_cast<unsigned>(std::max(static_cast<int>(std::bit_width(most_ - least_)) - wanted, 0));
  slots_.assign(slotOf(most_) + 2, 0);
  for (unsigned __int128 splitter : splitters_) {
    ++slots_[slotOf(leading(splitter)) + 1];
  }
  for (size_t slot = 1; slot < slots_.size(); ++slot) {
    slots_[slot] += slots_[slot - 1];
  }
}

size_t RangeDivider::slotOf(uint64_t leading) const {
  return (std::clamp(leading, least_, most_) - least_) >> shift_;
}

uint32_t RangeDivider::rangeOf(const Entry &entry) const {
  unsigned __int128 key = entry.key();
  size_t slot = slotOf(leading(key));
  uint32_t below = slots_[slot], count = slots_[slot + 1] - below;
  while (count > 0) { // how many of the slot's splitters are not above the key
    uint32_t half = (count + 1) / 2;
    bool isReached = splitters_[below + half - 1] <= key;
    below += isReached ? half : 0;
    count = isReached ? count - half : half - 1;
  }
  return below;
}

} // namespace headrace::exec
