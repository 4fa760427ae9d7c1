// The different values of a column chunk, each with a code in the order of its first appearance.
#pragma once

#include "runtime/primitives/hash/hash.h"

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::storage {

/// Codes by hash: linear probing in a table at least twice as large as the entries. A slot has half
/// of the hash beside its code, so that hardly an entry is looked at in vain.
class CodeSlots {
public:
  /// The code of an entry with this hash for which `isIt(code)`, or `next`, which is then its code.
  template <typename IsIt> uint32_t find(uint64_t hash, uint32_t next, IsIt isIt) {
    if (2 * static_cast<uint64_t>(next) >= slots_.size()) {
      grow();
    }
    const uint64_t mask = slots_.size() - 1;
    const auto half = static_cast<uint32_t>(hash);
    for (uint64_t at = half & mask;; at = (at + 1) & mask) {
      Slot &slot = slots_[at];
      if (slot.code == kFree) {
        slot = {half, next};
        return next;
      }
      if (slot.hash == half && isIt(slot.code)) {
        return slot.code;
      }
    }
  }
  /// Gives its memory back.
  void clear() { std::vector<Slot>().swap(slots_); }

private:
  static constexpr uint32_t kFree = UINT32_MAX;
  struct Slot {
    uint32_t hash = 0;
    uint32_t code = kFree;
  };

  void grow() {
    std::vector<Slot> old(slots_.empty() ? 256 : 2 * slots_.size());
    old.swap(slots_);
    const uint64_t mask = slots_.size() - 1;
    for (const Slot &slot : old) {
      uint64_t at = slot.hash & mask;
      while (slot.code != kFree && slots_[at].code != kFree) {
        at = (at + 1) & mask;
      }
      if (slot.code != kFree) {
        slots_[at] = slot;
      }
    }
  }

  std::vector<Slot> slots_;
};

/// Numbers, told apart by their bits.
template <typename Number> class NumberDictionary {
public:
  uint32_t codeOf(Number value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    const uint32_t next = size();
    const uint32_t code =
        slots_.find(primitives::hashInteger(static_cast<int64_t>(bits)), next, [&](uint32_t code) {
          return std::memcmp(&entries_[code], &value, sizeof value) == 0;
        });
    if (code == next) {
      entries_.push_back(value);
    }
    return code;
  }
  Number at(uint32_t code) const { return entries_[code]; }
  uint32_t size() const { return static_cast<uint32_t>(entries_.size()); }
  /// Of the page that holds them.
  uint64_t bytes() const { return entries_.size() * sizeof(Number); }
  void clear() {
    slots_.clear();
    entries_.clear();
  }

private:
  CodeSlots slots_;
  std::vector<Number> entries_;
};

/// Texts and bytes.
class BytesDictionary {
public:
  uint32_t codeOf(std::string_view value) {
    const uint32_t next = size();
    const uint32_t code =
        slots_.find(hashOf(value), next, [&](uint32_t code) { return isAlike(at(code), value); });
    if (code == next) {
      bytes_.insert(bytes_.end(), value.begin(), value.end());
      ends_.push_back(bytes_.size());
    }
    return code;
  }
  std::string_view at(uint32_t code) const {
    return {bytes_.data() + ends_[code], ends_[code + 1] - ends_[code]};
  }
  uint32_t size() const { return static_cast<uint32_t>(ends_.size() - 1); }
  uint64_t bytes() const { return bytes_.size() + size() * sizeof(uint32_t); }
  void clear() {
    slots_.clear();
    bytes_.clear();
    ends_.assign(1, 0);
  }

private:
  template <typename Word> static uint64_t load(const char *at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
  }

  /// The first and the last bytes of at most 16, which may overlap.
  static std::pair<uint64_t, uint64_t> ends(const char *at, size_t length) {
    if (length >= 8) {
      return {load<uint64_t>(at), load<uint64_t>(at + length - 8)};
    }
    if (length >= 4) {
      return {load<uint32_t>(at), load<uint32_t>(at + length - 4)};
    }
    uint64_t word = 0;
    for (size_t i = 0; i < length; ++i) {
      word = word << 8 | static_cast<uint8_t>(at[i]);
    }
    return {word, 0};
  }

  /// Of all bytes.
  static uint64_t hashOf(std::string_view value) {
    const char *next = value.data();
    uint64_t hash = value.size() * primitives::kHashMultiplier2;
    size_t left = value.size();
    for (; left > 16; left -= 8, next += 8) {
      hash = primitives::hashCombine(hash, load<uint64_t>(next));
    }
    const auto [first, last] = ends(next, left);
    return primitives::hashCombine(primitives::hashCombine(hash, first), last);
  }

  static bool isAlike(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) {
      return false;
    }
    return a.size() > 16 ? std::memcmp(a.data(), b.data(), a.size()) == 0
                         : ends(a.data(), a.size()) == ends(b.data(), b.size());
  }

  CodeSlots slots_;
  std::vector<char> bytes_;
  std::vector<uint64_t> ends_{0}; ///< of the code before each
};

} // namespace headrace::storage
