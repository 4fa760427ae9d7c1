// Normalization by Unicode's Standard Annex 15: taken apart, marks in order, put together again.
#include "runtime/base/canonical_forms.h"

#include "runtime/base/ascii.h"
#include "runtime/base/utf8.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace headrace {
namespace {

struct Composition {
  uint32_t code, first, second;
  bool isWritten; ///< as the one code point
};

constexpr Composition kCompositions[] = {
#define HR_COMPOSED(code, first, second) {code, first, second, true},
#define HR_DECOMPOSED(code, first, second) {code, first, second, false},
#include "runtime/base/canonical_forms.def"
#undef HR_DECOMPOSED
#undef HR_COMPOSED
};

struct MarkRange {
  uint32_t first, last;
  uint8_t order; ///< 0: it stays where it stands
};

constexpr MarkRange kMarks[] = {
#define HR_MARKS(first, last, order) {first, last, order},
#include "runtime/base/mark_classes.def"
#undef HR_MARKS
};

/// The syllables of Hangul are numbers of three digits: a leading consonant, a vowel and what
/// trails.
namespace hangul {
constexpr uint32_t kSyllables = 0xac00, kLeading = 0x1100, kVowels = 0x1161, kTrailing = 0x11a7;
constexpr uint32_t kLeadingCount = 19, kVowelCount = 21, kTrailingCount = 28;
constexpr uint32_t kCount = kLeadingCount * kVowelCount * kTrailingCount;

bool isSyllable(uint32_t code) { return code - kSyllables < kCount; }
/// Whether nothing trails yet.
bool isOpen(uint32_t code) { return isSyllable(code) && (code - kSyllables) % kTrailingCount == 0; }
} // namespace hangul

struct Letter {
  uint32_t code;
  uint8_t order;
};

const MarkRange *markOf(uint32_t code) {
  const auto *range = std::ranges::lower_bound(kMarks, code, {}, &MarkRange::last);
  return range != std::end(kMarks) && range->first <= code ? range : nullptr;
}

/// Appends what a code point is composed of.
void takeApart(uint32_t code, Marks marks, std::vector<Letter> &letters) {
  if (hangul::isSyllable(code)) {
    const uint32_t number = code - hangul::kSyllables, open = number / hangul::kTrailingCount;
    letters.push_back({hangul::kLeading + open / hangul::kVowelCount, 0});
    letters.push_back({hangul::kVowels + open % hangul::kVowelCount, 0});
    if (const uint32_t trailing = number % hangul::kTrailingCount) {
      letters.push_back({hangul::kTrailing + trailing, 0});
    }
    return;
  }
  const MarkRange *mark = markOf(code);
  if (mark && marks == Marks::kDropped) {
    return;
  }
  const auto *found = std::ranges::lower_bound(kCompositions, code, {}, &Composition::code);
  if (found == std::end(kCompositions) || found->code != code) {
    letters.push_back({code, mark ? mark->order : uint8_t{0}});
    return;
  }
  takeApart(found->first, marks, letters);
  if (found->second) {
    takeApart(found->second, marks, letters);
  }
}

/// Marks behind a letter stand by their orders.
void putInOrder(std::span<Letter> letters) {
  auto isMark = [](const Letter &letter) { return letter.order > 0; };
  for (auto at = letters.begin(); at != letters.end();) {
    const auto first = std::find_if(at, letters.end(), isMark);
    at = std::find_if_not(first, letters.end(), isMark);
    std::stable_sort(first, at, [](const Letter &a, const Letter &b) { return a.order < b.order; });
  }
}

/// The one code point of two; 0 if there is none.
uint32_t together(uint32_t first, uint32_t second) {
  if (first - hangul::kLeading < hangul::kLeadingCount &&
      second - hangul::kVowels < hangul::kVowelCount) {
    const uint32_t open =
        (first - hangul::kLeading) * hangul::kVowelCount + second - hangul::kVowels;
    return hangul::kSyllables + open * hangul::kTrailingCount;
  }
  if (hangul::isOpen(first) && second > hangul::kTrailing &&
      second < hangul::kTrailing + hangul::kTrailingCount) {
    return first + second - hangul::kTrailing;
  }
  auto parts = [](const Composition &pair) { return std::pair(pair.first, pair.second); };
  static const std::vector<Composition> pairs = [&] {
    std::vector<Composition> written;
    std::ranges::copy_if(kCompositions, std::back_inserter(written), &Composition::isWritten);
    std::ranges::sort(written, {}, parts);
    return written;
  }();
  const auto found = std::ranges::lower_bound(pairs, std::pair(first, second), {}, parts);
  return found != pairs.end() && parts(*found) == std::pair(first, second) ? found->code : 0;
}

/// Puts each letter together with what follows it, unless a mark of the same order, or another
/// letter, stands between them.
void putTogether(std::vector<Letter> &letters) {
  size_t end = 0;
  Letter *starter = nullptr;
  for (const Letter &next : letters) {
    const bool isNext =
        starter && (starter + 1 == letters.data() + end || letters[end - 1].order < next.order);
    const uint32_t one = isNext ? together(starter->code, next.code) : 0;
    if (one) {
      starter->code = one;
      continue;
    }
    letters[end] = next;
    starter = next.order == 0 ? &letters[end] : starter;
    ++end;
  }
  letters.resize(end);
}

} // namespace

std::string_view canonicalForm(TextRoom &room, std::string_view text, Marks marks) {
  if (isAscii(text)) {
    return text;
  }
  std::vector<Letter> letters;
  letters.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view character = utf8::first(rest);
    rest.remove_prefix(character.size());
    takeApart(utf8::decode(character), marks, letters);
  }
  putInOrder(letters);
  putTogether(letters);
  constexpr uint64_t kBytesMax = 4; // of a code point
  return room.make(kBytesMax * letters.size(), [&](char *to) {
    for (const Letter &letter : letters) {
      to = utf8::encode(letter.code, to);
    }
    return to;
  });
}

} // namespace headrace
