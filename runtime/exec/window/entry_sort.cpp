// The highest bits in which entries differ tell most of them apart: entries are distributed by
// these, digit by digit from the lowest, and compared only where all of them are equal.
#include "runtime/exec/window/entry_sort.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace headrace::exec {
namespace {

constexpr size_t kWorthDistributing = 128;
constexpr unsigned kDigits = 2;
static_assert(kDigits % 2 == 0, "the last pass ends where the entries were");
constexpr unsigned kDigitBitsMax = 11;

unsigned bitWidth(unsigned __int128 value) {
  auto high = static_cast<uint64_t>(value >> 64);
  return static_cast<unsigned>(high != 0 ? 64 + std::bit_width(high)
                                         : std::bit_width(static_cast<uint64_t>(value)));
}

/// The bits of a key that entries are distributed by.
struct Digits {
  unsigned shift, bits; ///< how many each digit has

  uint32_t all(const Entry &entry) const {
    return static_cast<uint32_t>(entry.key() >> shift) & ((1u << kDigits * bits) - 1);
  }
  uint32_t one(const Entry &entry, unsigned number) const {
    return all(entry) >> number * bits & ((1u << bits) - 1);
  }
};

/// Entries end in order of their digits.
void distribute(std::span<Entry> entries, Entry *other, Digits digits) {
  uint32_t places[kDigits][1 << kDigitBitsMax];
  for (auto &ofDigit : places) {
    std::fill_n(ofDigit, 1u << digits.bits, 0);
  }
  for (const Entry &entry : entries) {
    for (unsigned number = 0; number < kDigits; ++number) {
      ++places[number][digits.one(entry, number)];
    }
  }
  Entry *from = entries.data(), *to = other;
  for (unsigned number = 0; number < kDigits; ++number) {
    uint32_t place = 0;
    for (uint32_t value = 0; value < 1u << digits.bits; ++value) {
      place += std::exchange(places[number][value], place);
    }
    for (size_t i = 0; i < entries.size(); ++i) {
      to[places[number][digits.one(from[i], number)]++] = from[i];
    }
    std::swap(from, to);
  }
}

} // namespace

Status EntrySort::sort(std::span<Entry> entries) {
  if (entries.size() >= kWorthDistributing) {
    HR_RETURN_IF_ERROR(other_.resize(entries.size()));
  }
  sortRun(entries);
  return {};
}

void EntrySort::sortRun(std::span<Entry> entries) {
  auto before = [this](const Entry &a, const Entry &b) { return order_.isBefore(a, b); };
  if (entries.size() < kWorthDistributing) {
    std::sort(entries.begin(), entries.end(), before);
    return;
  }
  unsigned __int128 least = entries.front().key(), most = least;
  for (const Entry &entry : entries) {
    least = std::min(least, entry.key());
    most = std::max(most, entry.key());
  }
  unsigned width = bitWidth(least ^ most);
  if (width == 0) {
    if (!order_.isDecidedByKey()) {
      std::sort(entries.begin(), entries.end(), before);
    }
    return;
  }
  unsigned bits = entries.size() < 4096 ? 8 : kDigitBitsMax;
  Digits digits{width - std::min(width, kDigits * bits), bits};
  distribute(entries, other_.data(), digits);
  for (size_t run = 0, next = 1; run < entries.size(); run = next++) {
    uint32_t same = digits.all(entries[run]);
    while (next < entries.size() && digits.all(entries[next]) == same) {
      ++next;
    }
    if (next - run > 1) {
      sortRun(entries.subspan(run, next - run));
    }
  }
}

} // namespace headrace::exec
