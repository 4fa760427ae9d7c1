// Grapheme clusters, by Unicode's Standard Annex 29.
#include "runtime/base/graphemes.h"

#include "runtime/base/ascii.h"
#include "runtime/base/utf8.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

namespace headrace {
namespace {

enum class Kind : uint8_t {
  kOther,
  kControl,
  kMark,         ///< Extend
  kConjunctMark, ///< likewise, also between the consonants of a conjunct
  kLinker,       ///< likewise, which joins those
  kJoiner,       ///< ZWJ
  kSpacingMark,
  kPrefix, ///< Prepend
  kConsonant,
  kPicture,
  kRegion, ///< of two letters that make a flag
  kLeading,
  kVowel,
  kTrailing,
  kSyllable,       ///< LV
  kClosedSyllable, ///< LVT
};

struct KindRange {
  uint32_t first, last;
  Kind kind;
};

constexpr KindRange kRanges[] = {
#define HR_GRAPHEMES(first, last, kind) {first, last, Kind::kind},
#include "runtime/base/grapheme_kinds.def"
#undef HR_GRAPHEMES
};

Kind kindOf(uint32_t code) {
  constexpr uint32_t kSyllables = 0xac00, kSyllablesEnd = 0xd7a4, kTrailingCount = 28;
  if (code >= kSyllables && code < kSyllablesEnd) {
    return (code - kSyllables) % kTrailingCount == 0 ? Kind::kSyllable : Kind::kClosedSyllable;
  }
  const auto *range = std::ranges::lower_bound(kRanges, code, {}, &KindRange::last);
  return range != std::end(kRanges) && range->first <= code ? range->kind : Kind::kOther;
}

bool isOneOf(Kind kind, std::initializer_list<Kind> kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

/// Whether it goes with whatever stands in front of it, but a control.
bool goesOn(Kind kind) {
  return isOneOf(
      kind, {Kind::kMark, Kind::kConjunctMark, Kind::kLinker, Kind::kJoiner, Kind::kSpacingMark});
}

bool isOfSyllable(Kind last, Kind next) {
  const bool endsInVowel = last == Kind::kVowel || last == Kind::kSyllable;
  switch (next) {
  case Kind::kLeading:
  case Kind::kSyllable:
  case Kind::kClosedSyllable:
    return last == Kind::kLeading;
  case Kind::kVowel:
    return last == Kind::kLeading || endsInVowel;
  case Kind::kTrailing:
    return endsInVowel || last == Kind::kTrailing || last == Kind::kClosedSyllable;
  default:
    return false;
  }
}

/// What rules ask of the code points of a cluster so far.
class Cluster {
public:
  explicit Cluster(uint32_t first) { add(first, kindOf(first)); }

  /// Whether a code point goes with them; then it is one of them.
  bool takes(uint32_t code) {
    const Kind next = kindOf(code);
    const bool goes = joins(code, next);
    if (goes) {
      add(code, next);
    }
    return goes;
  }

private:
  bool joins(uint32_t code, Kind next) const {
    if (last_ == Kind::kControl || next == Kind::kControl) {
      return lastCode_ == '\r' && code == '\n';
    }
    return goesOn(next) || last_ == Kind::kPrefix || isOfSyllable(last_, next) ||
           (next == Kind::kConsonant && conjunct_ == Link::kJoined) ||
           (next == Kind::kPicture && picture_ == Link::kJoined) ||
           (next == Kind::kRegion && oddRegions_);
  }

  void add(uint32_t code, Kind next) {
    const bool isMark = isOneOf(next, {Kind::kMark, Kind::kConjunctMark, Kind::kLinker});
    const bool ofConjunct = isOneOf(next, {Kind::kConjunctMark, Kind::kJoiner, Kind::kLinker});
    if (next == Kind::kConsonant) {
      conjunct_ = Link::kOpen;
    } else if (!ofConjunct) {
      conjunct_ = Link::kNone;
    } else if (next == Kind::kLinker && conjunct_ == Link::kOpen) {
      conjunct_ = Link::kJoined;
    }
    if (next == Kind::kPicture) {
      picture_ = Link::kOpen;
    } else if (next == Kind::kJoiner && picture_ == Link::kOpen) {
      picture_ = Link::kJoined;
    } else if (!isMark || picture_ == Link::kJoined) {
      picture_ = Link::kNone;
    }
    oddRegions_ = next == Kind::kRegion && !oddRegions_;
    last_ = next;
    lastCode_ = code;
  }

  enum class Link : uint8_t { kNone, kOpen, kJoined };

  Kind last_ = Kind::kOther;
  uint32_t lastCode_ = 0;
  Link conjunct_ = Link::kNone, picture_ = Link::kNone;
  bool oddRegions_ = false;
};

/// Bytes of the first one of a text that is not empty.
size_t firstBytes(std::string_view text, bool ascii) {
  size_t bytes = utf8::firstBytes(text);
  if (ascii) {
    return bytes;
  }
  Cluster cluster(utf8::decode(text.substr(0, bytes)));
  while (bytes < text.size()) {
    const std::string_view next = utf8::first(text.substr(bytes));
    if (!cluster.takes(utf8::decode(next))) {
      break;
    }
    bytes += next.size();
  }
  return bytes;
}

/// Calls each(cluster), from the first to the last, while it returns true.
template <typename Each> void eachGrapheme(std::string_view text, Each each) {
  const bool ascii = isAscii(text);
  while (!text.empty()) {
    const size_t bytes = firstBytes(text, ascii);
    if (!each(text.substr(0, bytes))) {
      return;
    }
    text.remove_prefix(bytes);
  }
}

/// Those from one place to another, counted from 0; places in front of it have none.
std::string_view graphemesAt(std::string_view text, int64_t first, int64_t end) {
  int64_t place = 0;
  first = std::max<int64_t>(first, 0);
  if (end <= first) {
    return {};
  }
  size_t start = text.size(), stop = text.size();
  size_t bytes = 0;
  eachGrapheme(text, [&](std::string_view cluster) {
    start = place == first ? bytes : start;
    stop = place == end ? bytes : stop;
    bytes += cluster.size();
    return place++ < end;
  });
  return text.substr(start, stop - start);
}

} // namespace

int64_t graphemeCount(std::string_view text) {
  int64_t count = 0;
  eachGrapheme(text, [&](std::string_view) { return ++count > 0; });
  return count;
}

std::optional<std::string_view> graphemeSlice(std::string_view text, int64_t from, int64_t count) {
  constexpr int64_t kMost = UINT32_MAX;
  auto fits = [&](int64_t number) { return number >= -kMost - 1 && number <= kMost; };
  if (!fits(from) || !fits(count)) {
    return std::nullopt;
  }
  const int64_t place = from >= 0 ? from - 1 : graphemeCount(text) + from;
  return graphemesAt(text, std::min(place, place + count), std::max(place, place + count));
}

std::optional<std::string_view> leftGraphemes(std::string_view text, int64_t count) {
  return graphemeSlice(text, 1,
                       count < 0 ? std::max<int64_t>(graphemeCount(text) + count, 0) : count);
}

std::string_view rightGraphemes(std::string_view text, int64_t count) {
  const int64_t all = graphemeCount(text);
  const int64_t first = count >= 0 ? all - std::min(all, count) : count < -all ? all : -count;
  return graphemesAt(text, first, all);
}

char *reverseGraphemes(std::string_view text, char *to) {
  char *at = to + text.size();
  eachGrapheme(text, [&](std::string_view cluster) {
    at -= cluster.size();
    std::copy(cluster.begin(), cluster.end(), at);
    return true;
  });
  return to + text.size();
}

} // namespace headrace
