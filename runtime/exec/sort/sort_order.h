// Rows as they are sorted: most pairs are told apart without a look at the rows.
#pragma once

#include "runtime/exec/rows/row_order.h"
#include "runtime/exec/sort/key_words.h"

namespace headrace::exec {

struct SortEntry {
  uint64_t word; ///< the first
  const uint8_t *row;

  uint64_t key() const { return word; }
};

/// What the rows of a state are sorted by: those of a window by their partition first.
std::vector<plan::OrderKey> sortKeysOf(const plan::State &state);

/// Purpose: makes, compares and sorts entries of a state that is sorted. Thread-safe.
class SortOrder {
public:
  explicit SortOrder(const plan::State &state) : SortOrder(state, sortKeysOf(state)) {}

  SortEntry entryOf(const uint8_t *row) const { return {words_.word(row, {}), row}; }
  bool isBefore(const SortEntry &a, const SortEntry &b) const {
    return a.word != b.word ? a.word < b.word
                            : words_.after({}, a.word) && rows_.compare(a.row, b.row) < 0;
  }
  /// Of entries whose words are equal: one with a lesser next word comes first.
  uint64_t nextWord(const SortEntry &entry) const {
    const std::optional<KeyWords::Place> next = words_.after({}, entry.word);
    return next ? words_.word(entry.row, *next) : 0;
  }
  /// Afterwards only the entries' rows mean anything. `other` has room for as many entries; null:
  /// there is no such room, and it takes several times as long. Returns how many words of keys it
  /// took beyond the entries' own.
  uint64_t sort(std::span<SortEntry> entries, SortEntry *other) const {
    return sort(entries, other, {}, 0);
  }

private:
  SortOrder(const plan::State &state, const std::vector<plan::OrderKey> &keys)
      : words_(state, keys), rows_(state, keys) {}
  uint64_t sort(std::span<SortEntry> entries, SortEntry *other, KeyWords::Place place,
                int depth) const;
  /// The entries get their word at this place.
  void makeWords(std::span<SortEntry> entries, KeyWords::Place place) const;
  /// Entries that have this word in common.
  uint64_t sortEqual(std::span<SortEntry> entries, SortEntry *other, KeyWords::Place place,
                     int depth) const;

  KeyWords words_;
  RowOrder rows_;
};

} // namespace headrace::exec
