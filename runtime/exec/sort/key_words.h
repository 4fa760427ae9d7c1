// The keys of a row as words of 64 bits, which are made one after the other as they are needed.
#pragma once

#include "model/plan/plan.h"

#include <optional>
#include <span>
#include <vector>

namespace headrace::exec {

/// Purpose: of two rows whose words up to some place are equal and then differ, the one with the
/// lesser word comes first; rows whose words are all equal are peers. Thread-safe after
/// construction.
///
/// Numbers that follow each other share words, each behind a bit for NULL if it may be NULL. A text
/// has words of its own: seven bytes, and how many of them are its own, or 8 if there are more.
class KeyWords {
public:
  KeyWords(const plan::State &state, std::span<const plan::OrderKey> keys);

  /// Which word.
  struct Place {
    uint32_t step = 0;
    uint32_t offset = 0; ///< in a text
  };
  uint64_t word(const uint8_t *row, Place place) const;
  /// So that a word of a row somewhere need not be waited for: ask for the row some words before,
  /// and, when it has come, for the text that it points to.
  void askForRow(const uint8_t *row, Place place) const;
  void askForText(const uint8_t *row, Place place) const;
  /// The next one of rows that have this word in common, if there is one.
  std::optional<Place> after(Place place, uint64_t word) const;
  /// Where in a row the next one would be, whatever this word is; none behind the last.
  std::optional<Place> mayFollow(Place place) const;

private:
  /// Some bits of a key.
  struct Piece {
    HrType type;
    uint32_t offset;
    bool nullable;
    uint32_t validOffset;
    bool descending;
    bool nullsFirst;
    bool isFlag; ///< whether it is NULL
    uint8_t shift, bits;
  };
  using Step = std::vector<Piece>; ///< a text is alone

  static uint64_t textWord(const Piece &piece, const uint8_t *row, uint32_t offset);
  static uint64_t valueOf(const Piece &piece, const uint8_t *row);
  static bool isText(const Step &step) {
    return step.front().type == HR_STRING && !step.front().isFlag;
  }

  std::vector<Step> steps_;
};

} // namespace headrace::exec
