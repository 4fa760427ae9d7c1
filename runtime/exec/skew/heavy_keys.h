// What ranks tell each other of the keys of a join's two sides, and which keys are heavy by that:
// the same on all ranks.
#pragma once

#include "model/plan/task.h"
#include "runtime/base/status.h"
#include "runtime/exec/skew/key_shares.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headrace::exec {

/// Of one side of a join on one rank: of the first rows that it sends, or all.
struct KeySketch {
  struct Entry {
    uint64_t hash = 0;
    uint64_t count = 0; ///< in the sample; at least so many rows have it
  };
  uint64_t rows = 0;    ///< that the rank is expected to send
  uint64_t sampled = 0; ///< whose keys were looked at
  uint64_t nulls = 0;   ///< of these, with a NULL among the keys
  /// By the key's rank, for how many rows that were seen.
  std::vector<uint64_t> loads;
  /// The most frequent keys, the first most; none that is rare in the sample.
  std::vector<Entry> heaviest;

  /// As 64-bit words, in at most `bytes`: the last entries are left out.
  std::vector<uint64_t> encode(int64_t bytes) const;
  /// Errors: kCorrupt for what encode() with so many ranks does not give.
  static Expected<KeySketch> decode(std::span<const uint64_t> words, size_t ranks);
};

/// What happens to the rows of one side with a key.
enum class KeyRoute : uint8_t {
  kOwn,      ///< they go to the key's rank
  kSpread,   ///< they go to any rank
  kCover,    ///< the same, and each rank that has enough of them gives one to every rank
  kCopy,     ///< they go to all ranks
  kOnce,     ///< one goes to the key's rank, the others nowhere
  kOnceCopy, ///< one goes to all ranks, the others nowhere
};

/// Purpose: the agreed routes of one side. Thread-safe after construction.
class KeyRoutes {
public:
  struct Key {
    uint64_t hash = 0;
    KeyRoute route = KeyRoute::kOwn;
  };

  KeyRoutes() = default;
  KeyRoutes(std::vector<Key> keys, const KeyShares &shares);

  const std::vector<Key> &keys() const { return keys_; }
  /// The position of a key, or -1 if its rows go to its rank.
  int32_t find(uint64_t hash) const {
    for (size_t slot = hash & (kSlots - 1); slots_[slot] >= 0; slot = (slot + 1) & (kSlots - 1)) {
      if (keys_[static_cast<size_t>(slots_[slot])].hash == hash) {
        return slots_[slot];
      }
    }
    return -1;
  }
  /// Whether rows of this rank have a key with a route of its own.
  bool concerns(uint32_t rank) const { return !keys_.empty() && concerned_[rank] != 0; }

  bool spreadsNulls = false; ///< rows with a NULL among the keys go to any rank
  bool stays = false; ///< the rows that go to any rank stay where they are: ranks have as many

private:
  static constexpr size_t kSlots = 256;
  std::vector<Key> keys_;
  std::array<int16_t, kSlots> slots_ = emptySlots();
  std::vector<uint8_t> concerned_; ///< by rank

  static std::array<int16_t, kSlots> emptySlots() {
    std::array<int16_t, kSlots> slots;
    slots.fill(-1);
    return slots;
  }
};

/// One side of a join, as all ranks told it, in their order.
struct SkewedSide {
  plan::HeavyRows heavy = plan::HeavyRows::kStay;
  std::vector<KeySketch> sketches;
};

/// The heaviest keys of ranks that would have more to do than the others, one after another, as
/// long as what is copied for it is less than what leaves the rank. `exact`: rows of equal hashes
/// have equal keys. `shares`: of all keys, that ranks are to have.
std::array<KeyRoutes, 2> agreeOnRoutes(const std::array<SkewedSide, 2> &sides, bool exact,
                                       const KeyShares &shares);

} // namespace headrace::exec
