// Sorting by distributing: the highest bits in which keys differ tell most entries apart, and
// entries are distributed by these, digit by digit from the lowest.
#pragma once

#include "runtime/base/stop.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace headrace::exec {

/// Fewer entries are compared.
inline constexpr size_t kWorthDistributing = 128;

/// The bits of a key that entries are distributed by.
template <typename Entry> class Digits {
public:
  static constexpr unsigned kCount = 2;
  static constexpr unsigned kBitsMax = 11;

  /// Of entries whose keys differ in no bit from the `width`-th on.
  Digits(unsigned width, size_t entries)
      : bits_(entries < kFew ? 8 : kBitsMax), shift_(width - std::min(width, kCount * bits_)) {}

  uint32_t all(const Entry &entry) const {
    return static_cast<uint32_t>(entry.key() >> shift_) & ((1u << kCount * bits_) - 1);
  }
  uint32_t one(const Entry &entry, unsigned number) const {
    return all(entry) >> number * bits_ & (values() - 1);
  }
  /// Of a digit.
  uint32_t values() const { return 1u << bits_; }

private:
  static constexpr size_t kFew = 4096;

  unsigned bits_, shift_;
};

/// Entries end in order of their digits. `other` has room for as many.
template <typename Entry>
void distribute(std::span<Entry> entries, Entry *other, const Digits<Entry> &digits) {
  constexpr unsigned kCount = Digits<Entry>::kCount;
  static_assert(kCount % 2 == 0, "the last pass ends where the entries were");
  uint32_t places[kCount][1 << Digits<Entry>::kBitsMax];
  for (auto &ofDigit : places) {
    std::fill_n(ofDigit, digits.values(), 0);
  }
  for (const Entry &entry : entries) {
    for (unsigned number = 0; number < kCount; ++number) {
      ++places[number][digits.one(entry, number)];
    }
  }
  Entry *from = entries.data(), *to = other;
  for (unsigned number = 0; number < kCount; ++number) {
    uint32_t place = 0;
    for (uint32_t value = 0; value < digits.values(); ++value) {
      place += std::exchange(places[number][value], place);
    }
    for (size_t i = 0; i < entries.size(); ++i) {
      to[places[number][digits.one(from[i], number)]++] = from[i];
    }
    std::swap(from, to);
  }
}

/// The bits from the lowest to the highest in which keys differ.
template <typename Key> unsigned bitWidth(Key differing) {
  if constexpr (sizeof(Key) > 8) {
    const auto high = static_cast<uint64_t>(differing >> 64);
    if (high != 0) {
      return static_cast<unsigned>(64 + std::bit_width(high));
    }
  }
  return static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(differing)));
}

/// Sorts by `key()`, an unsigned number. `few(run)` sorts runs of less than kWorthDistributing
/// entries, `equal(run)` those of one key, by what else there is; `ask(entry)` is called some
/// entries before, so that these need not wait for it. `other` has room for as many entries; null:
/// all are few.
template <typename Entry, typename Few, typename Equal, typename Ask>
void sortByDigits(std::span<Entry> entries, Entry *other, const Few &few, const Equal &equal,
                  const Ask &ask) {
  if (entries.size() < kWorthDistributing || !other) {
    few(entries);
    return;
  }
  if (stopRequested()) {
    return;
  }
  auto least = entries.front().key(), most = least;
  for (const Entry &entry : entries) {
    least = std::min(least, entry.key());
    most = std::max(most, entry.key());
  }
  if (least == most) {
    equal(entries);
    return;
  }
  const Digits<Entry> digits(bitWidth(least ^ most), entries.size());
  distribute(entries, other, digits);
  std::span<Entry> asked; // a run is sorted when the next one has been asked for
  for (size_t begin = 0, end = 1; begin < entries.size(); begin = end++) {
    const uint32_t same = digits.all(entries[begin]);
    while (end < entries.size() && digits.all(entries[end]) == same) {
      ++end;
    }
    if (end - begin > 1) {
      const auto run = entries.subspan(begin, end - begin);
      // Many ask themselves, and those with different keys need nothing else.
      if (run.size() < kWorthDistributing && run[0].key() == run[1].key()) {
        std::for_each(run.begin(), run.end(), ask);
      }
      sortByDigits(asked, other, few, equal, ask);
      asked = run;
    }
  }
  sortByDigits(asked, other, few, equal, ask);
}

} // namespace headrace::exec
