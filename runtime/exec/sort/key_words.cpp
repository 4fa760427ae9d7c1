// Pieces of keys are laid out one behind the other when the order is known; words are made of them
// row by row.
#include "runtime/exec/sort/key_words.h"

#include "runtime/exec/rows/ordered_bits.h"

#include <algorithm>

namespace headrace::exec {
namespace {
constexpr unsigned kWordBits = 64;
constexpr uint32_t kTextBytes = 7; ///< of a word
constexpr uint64_t kMoreText = 8;
} // namespace

KeyWords::KeyWords(const plan::State &state, std::span<const plan::OrderKey> keys) {
  unsigned left = 0;
  auto append = [&](const Piece &piece) {
    if (left == 0) {
      steps_.emplace_back();
      left = kWordBits;
    }
    left -= piece.bits;
    steps_.back().push_back(piece);
  };
  for (const plan::OrderKey &key : keys) {
    const plan::StateField &field = state.fields[key.field];
    Piece piece{field.type,
                field.offset,
                field.nullable,
                field.validOffset,
                key.descending,
                key.nullsFirst,
                false,
                0,
                1};
    if (field.nullable) {
      piece.isFlag = true;
      append(piece);
      piece.isFlag = false;
    }
    if (field.type == HR_STRING) {
      steps_.push_back({piece});
      left = 0;
      continue;
    }
    for (unsigned rest = orderedBitsOf(field.type); rest > 0; rest -= piece.bits) {
      piece.bits = static_cast<uint8_t>(std::min(rest, left == 0 ? kWordBits : left));
      piece.shift = static_cast<uint8_t>(rest - piece.bits);
      append(piece);
    }
  }
}

uint64_t KeyWords::textWord(const Piece &piece, const uint8_t *row, uint32_t offset) {
  const auto text = loadAs<HrString>(row + piece.offset);
  if ((piece.nullable && row[piece.validOffset] == 0) || text.length <= offset) {
    return 0;
  }
  const uint32_t rest = text.length - offset;
  const uint32_t own = std::min(rest, kTextBytes);
  // There are readable bytes behind a text.
  uint64_t bytes = __builtin_bswap64(loadAs<uint64_t>(text.data + offset));
  bytes &= UINT64_MAX << (kWordBits - 8 * own);
  return bytes | (rest > kTextBytes ? kMoreText : own);
}

uint64_t KeyWords::valueOf(const Piece &piece, const uint8_t *row) {
  const bool valid = !piece.nullable || row[piece.validOffset] != 0;
  if (piece.isFlag) {
    return valid == piece.nullsFirst ? 1 : 0;
  }
  if (!valid) {
    return 0;
  }
  uint64_t value = piece.type == HR_I128
                       ? static_cast<uint64_t>(orderedI128(row + piece.offset) >> piece.shift)
                       : orderedNumber(piece.type, row + piece.offset) >> piece.shift;
  if (piece.descending) {
    value = ~value;
  }
  return piece.bits == kWordBits ? value : value & ((uint64_t(1) << piece.bits) - 1);
}

uint64_t KeyWords::word(const uint8_t *row, Place place) const {
  if (place.step == steps_.size()) {
    return 0;
  }
  const Step &step = steps_[place.step];
  if (isText(step)) {
    const uint64_t word = textWord(step.front(), row, place.offset);
    return step.front().descending ? ~word : word;
  }
  uint64_t word = 0;
  for (const Piece &piece : step) {
    const uint64_t value = valueOf(piece, row);
    word = piece.bits == kWordBits ? value : word << piece.bits | value;
  }
  return word;
}

void KeyWords::askForRow(const uint8_t *row, Place place) const {
  if (place.step < steps_.size()) {
    __builtin_prefetch(row + steps_[place.step].front().offset);
  }
}

void KeyWords::askForText(const uint8_t *row, Place place) const {
  if (place.step < steps_.size() && isText(steps_[place.step])) {
    const auto text = loadAs<HrString>(row + steps_[place.step].front().offset);
    __builtin_prefetch(text.data + place.offset);
  }
}

std::optional<KeyWords::Place> KeyWords::after(Place place, uint64_t word) const {
  if (place.step == steps_.size()) {
    return std::nullopt;
  }
  const Step &step = steps_[place.step];
  if (isText(step)) {
    if (((step.front().descending ? ~word : word) & 0xff) == kMoreText) {
      return Place{place.step, place.offset + kTextBytes};
    }
  }
  if (place.step + 1 == steps_.size()) {
    return std::nullopt;
  }
  return Place{place.step + 1, 0};
}

std::optional<KeyWords::Place> KeyWords::mayFollow(Place place) const {
  if (place.step < steps_.size() && isText(steps_[place.step])) {
    return place;
  }
  return place.step + 1 < steps_.size() ? std::optional(Place{place.step + 1, 0}) : std::nullopt;
}

} // namespace headrace::exec
