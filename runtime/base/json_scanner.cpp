// Reads strings some bytes at once; nests without recursion.
#include "runtime/base/json_scanner.h"

#include "runtime/base/utf8.h"

#include <algorithm>
#include <string>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace headrace::json {
namespace {

// The bytes of a block that are a quote, a backslash or a control character.
#ifdef __SSE2__
constexpr size_t kBlock = 16, kBitsOfByte = 1;

/// A bit for each such byte, from the lowest on.
uint64_t specialBytes(const char *block) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(block));
  const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  const __m128i control =
      _mm_cmpeq_epi8(_mm_max_epu8(bytes, _mm_set1_epi8(0x1f)), _mm_set1_epi8(0x1f));
  return static_cast<uint64_t>(
      _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control)));
}
#else
static_assert(std::endian::native == std::endian::little, "the lowest byte of a word is the first");
constexpr size_t kBlock = 8, kBitsOfByte = 8;

/// The highest bits of some bytes, of which the lowest one is of the first such byte.
uint64_t specialBytes(const char *block) {
  constexpr uint64_t kEach = 0x0101010101010101, kHigh = 0x80 * kEach;
  uint64_t word;
  std::memcpy(&word, block, sizeof word);
  const uint64_t quote = word ^ '"' * kEach, backslash = word ^ '\\' * kEach;
  return (((quote - kEach) & ~quote) | ((backslash - kEach) & ~backslash) |
          ((word - ' ' * kEach) & ~word)) &
         kHigh;
}
#endif

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// The number of four hexadecimal digits; more than 0xffff if they are none.
uint32_t hexadecimal(const char *digits) {
  uint32_t code = 0;
  for (const char *digit = digits; digit != digits + 4; ++digit) {
    const char small = static_cast<char>(*digit | 0x20);
    const bool isLetter = small >= 'a' && small <= 'f';
    if (!isLetter && !isDigit(*digit)) {
      return UINT32_MAX;
    }
    code = code << 4 | static_cast<uint32_t>(isLetter ? small - 'a' + 10 : *digit - '0');
  }
  return code;
}

constexpr size_t kHexEscape = 6; ///< bytes of \u and four digits
bool isHigh(uint32_t code) { return code >= 0xd800 && code < 0xdc00; }
bool isLow(uint32_t code) { return code >= 0xdc00 && code < 0xe000; }

/// Behind an escape; null if it is malformed.
const char *escapeEnd(const char *at, const char *end) {
  constexpr std::string_view kShort = "\"\\/bfnrt";
  const auto left = static_cast<size_t>(end - at);
  if (left >= 2 && kShort.find(at[1]) != std::string_view::npos) {
    return at + 2;
  }
  if (left < kHexEscape || at[1] != 'u') {
    return nullptr;
  }
  const uint32_t code = hexadecimal(at + 2);
  if (!isHigh(code)) {
    return code <= 0xffff && !isLow(code) ? at + kHexEscape : nullptr;
  }
  const bool isPair = left >= 2 * kHexEscape && at[kHexEscape] == '\\' &&
                      at[kHexEscape + 1] == 'u' && isLow(hexadecimal(at + kHexEscape + 2));
  return isPair ? at + 2 * kHexEscape : nullptr;
}

/// Where the string ends whose inside begins here, behind its quote; null if it is malformed.
[[gnu::always_inline]] inline const char *stringEnd(const char *at, const char *end,
                                                    bool &isCompact) {
  while (true) {
    while (static_cast<size_t>(end - at) >= kBlock) {
      if (const uint64_t special = specialBytes(at)) {
        at += std::countr_zero(special) / kBitsOfByte;
        break;
      }
      at += kBlock;
    }
    while (at != end && *at != '"' && *at != '\\' && static_cast<uint8_t>(*at) >= ' ') {
      ++at;
    }
    if (at == end) {
      return nullptr;
    }
    if (*at == '"') {
      return at + 1;
    }
    at = *at == '\\' ? escapeEnd(at, end) : nullptr;
    if (!at) {
      return nullptr;
    }
    isCompact = false;
  }
}

[[gnu::always_inline]] inline const char *blanksEnd(const char *at, const char *end,
                                                    bool &isCompact) {
  while (at != end && static_cast<uint8_t>(*at) <= ' ' &&
         (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')) {
    ++at;
    isCompact = false;
  }
  return at;
}

[[gnu::always_inline]] inline const char *digitsEnd(const char *at, const char *end) {
  while (at != end && isDigit(*at)) {
    ++at;
  }
  return at;
}

/// Behind a word; null if it is not there.
const char *wordEnd(const char *at, const char *end, std::string_view word) {
  const bool isThere = std::string_view(at, static_cast<size_t>(end - at)).starts_with(word);
  return isThere ? at + word.size() : nullptr;
}

/// Likewise of NaN or an infinity, in capitals or not.
const char *notFiniteEnd(const char *at, const char *end) {
  const std::string_view rest(at, static_cast<size_t>(end - at));
  for (const std::string_view word : {"nan", "infinity", "inf"}) {
    if (rest.size() >= word.size() &&
        std::equal(word.begin(), word.end(), rest.begin(),
                   [](char small, char any) { return small == (any | 0x20); })) {
      return at + word.size();
    }
  }
  return nullptr;
}

/// Behind a number; null if it is malformed.
[[gnu::always_inline]] inline const char *numberEnd(const char *at, const char *end,
                                                    uint64_t &reals) {
  const bool isNegative = *at == '-';
  at += isNegative ? 1 : 0;
  if (at == end || !isDigit(*at)) {
    return notFiniteEnd(at, end);
  }
  const bool isZero = *at == '0';
  at = isZero ? at + 1 : digitsEnd(at, end);
  if (at == end) {
    reals += isZero && isNegative ? 1 : 0;
    return at;
  }
  bool isWhole = true;
  if (*at == '.') {
    isWhole = false;
    const char *const first = at + 1;
    at = digitsEnd(first, end);
    if (at == first) {
      return nullptr;
    }
  } else if (isZero && isDigit(*at)) {
    return nullptr;
  }
  if (at != end && (*at | 0x20) == 'e') {
    isWhole = false;
    ++at;
    at += at != end && (*at == '-' || *at == '+') ? 1 : 0;
    const char *const first = at;
    at = digitsEnd(first, end);
    if (at == first) {
      return nullptr;
    }
  }
  reals += !isWhole || (isZero && isNegative) ? 1 : 0;
  return at;
}

} // namespace

Kind kindOf(std::string_view value) {
  switch (value.front()) {
  case '"':
    return Kind::kString;
  case '{':
    return Kind::kObject;
  case '[':
    return Kind::kArray;
  case 't':
  case 'f':
    return Kind::kBoolean;
  case 'n':
    return value == "null" ? Kind::kNull : Kind::kNumber; // or nan
  default:
    return Kind::kNumber;
  }
}

void Scanner::skipBlanks() { at_ = blanksEnd(at_, end_, isCompact_); }

bool Scanner::readKey(std::string_view &key) {
  if (peek() != '"') {
    return false;
  }
  const char *const first = at_ + 1;
  const char *const last = stringEnd(first, end_, isCompact_);
  if (!last) {
    return false;
  }
  key = {first, static_cast<size_t>(last - 1 - first)};
  at_ = last;
  if (peek() != ':') {
    return false;
  }
  ++at_;
  return true;
}

Scanner::Behind Scanner::behind(size_t outer) {
  while (open_.depth() > outer) {
    const char close = open_.isInObject() ? '}' : ']';
    char next = peek();
    if (next == ',') {
      ++at_;
      next = peek();
      if (next != close) {
        return Behind::kMore;
      }
      isCompact_ = false;
    }
    if (next != close) {
      return Behind::kMalformed;
    }
    ++at_;
    open_.pop();
  }
  return Behind::kAll;
}

Scanner::Behind Scanner::enter() {
  const bool isObject = *at_ == '{';
  ++at_;
  if (peek() == (isObject ? '}' : ']')) {
    ++at_;
    return Behind::kAll;
  }
  open_.push(isObject);
  return Behind::kMore;
}

void Scanner::Nesting::keep() { outer_.push_back(bits_); }

void Scanner::Nesting::restore() {
  bits_ = outer_.back();
  outer_.pop_back();
}

/// Most of the time is spent here, so that what is known of the text is in registers.
template <bool watches>
Scanner::Search Scanner::run(size_t depth, Before before, std::string_view name) {
  const char *at = at_, *const end = end_;
  bool isCompact = isCompact_;
  uint64_t reals = reals_;
  const auto leave = [&](Search result) {
    at_ = at;
    isCompact_ = isCompact;
    reals_ = reals;
    return result;
  };
  while (true) {
    if (before == Before::kKey) {
      if (at == end || *at != '"') {
        return Search::kMalformed;
      }
      const char *const first = at + 1;
      bool isPlain = true;
      at = stringEnd(first, end, isPlain);
      if (!at) {
        return Search::kMalformed;
      }
      isCompact &= isPlain;
      const std::string_view key(first, static_cast<size_t>(at - 1 - first));
      at = blanksEnd(at, end, isCompact);
      if (at == end || *at != ':') {
        return Search::kMalformed;
      }
      ++at;
      if constexpr (watches) {
        if (open_.depth() == depth + 1 && (isPlain ? key == name : isNamed(key, name))) {
          return leave(Search::kThere);
        }
      }
    }
    if (before != Before::kRest) {
      at = blanksEnd(at, end, isCompact);
      if (at == end) {
        return Search::kMalformed;
      }
      switch (const char first = *at) {
      case '"':
        at = stringEnd(at + 1, end, isCompact);
        break;
      case '{':
      case '[': {
        const bool isObject = first == '{';
        at = blanksEnd(at + 1, end, isCompact);
        if (at == end || *at != (isObject ? '}' : ']')) {
          open_.push(isObject);
          before = isObject ? Before::kKey : Before::kValue;
          continue;
        }
        ++at;
        break;
      }
      case 't':
        at = wordEnd(at, end, "true");
        break;
      case 'f':
        at = wordEnd(at, end, "false");
        break;
      case 'n': {
        const char *const behind = wordEnd(at, end, "null");
        at = behind ? behind : notFiniteEnd(at, end);
        break;
      }
      default:
        at = numberEnd(at, end, reals);
      }
      if (!at) {
        return Search::kMalformed;
      }
    }
    before = Before::kRest;
    while (before == Before::kRest) {
      if (open_.depth() == depth) {
        return leave(Search::kNowhere);
      }
      const bool isObject = open_.isInObject();
      const char close = isObject ? '}' : ']';
      at = blanksEnd(at, end, isCompact);
      if (at != end && *at == ',') {
        at = blanksEnd(at + 1, end, isCompact);
        if (at == end || *at != close) {
          before = isObject ? Before::kKey : Before::kValue;
          break;
        }
        isCompact = false;
      }
      if (at == end || *at != close) {
        return Search::kMalformed;
      }
      ++at;
      open_.pop();
    }
  }
}

template Scanner::Search Scanner::run<false>(size_t, Before, std::string_view);

bool Scanner::readValue(Value &value) {
  if (peek() == '\0') {
    return false;
  }
  const char *const first = at_;
  isCompact_ = true;
  reals_ = 0;
  if (!skipValue()) {
    return false;
  }
  value = {{first, static_cast<size_t>(at_ - first)}, isCompact_, reals_};
  return true;
}

Scanner::Search Scanner::enterKey(std::string_view name) {
  const size_t depth = open_.depth();
  return enter() == Behind::kAll ? Search::kNowhere : run<true>(depth, Before::kKey, name);
}

Scanner::Search Scanner::enterPlace(int64_t place) {
  if (place < 0) {
    Scanner counting = *this;
    int64_t size = 0;
    for (Behind next = counting.enter(); next != Behind::kAll; next = counting.behind(), ++size) {
      if (next == Behind::kMalformed || !counting.skipValue()) {
        return Search::kMalformed;
      }
    }
    place = place + size < 0 ? size : place + size; // nowhere
  }
  for (Behind next = enter(); next != Behind::kAll; next = behind(), --place) {
    if (next == Behind::kMalformed) {
      return Search::kMalformed;
    }
    if (place == 0) {
      return Search::kThere;
    }
    if (!skipValue()) {
      return Search::kMalformed;
    }
  }
  return Search::kNowhere;
}

bool Scanner::finish() {
  return run<false>(0, Before::kRest) != Search::kMalformed && peek() == '\0' && at_ == end_;
}

bool read(std::string_view text, Value &value) {
  Scanner scanner(text);
  return scanner.readValue(value) && scanner.finish();
}

uint32_t escapedCode(std::string_view text, size_t &bytes) {
  constexpr std::string_view kLetters = "bfnrt", kMeant = "\b\f\n\r\t";
  bytes = 2;
  if (text[1] != 'u') {
    const size_t letter = kLetters.find(text[1]);
    return static_cast<uint8_t>(letter == std::string_view::npos ? text[1] : kMeant[letter]);
  }
  bytes = kHexEscape;
  const uint32_t code = hexadecimal(text.data() + 2);
  if (!isHigh(code)) {
    return code;
  }
  bytes = 2 * kHexEscape;
  return 0x10000 + ((code - 0xd800) << 10) + (hexadecimal(text.data() + kHexEscape + 2) - 0xdc00);
}

char *unescape(std::string_view written, char *to) {
  while (true) {
    const size_t plain = std::min(written.find('\\'), written.size());
    to = std::copy_n(written.data(), plain, to);
    written.remove_prefix(plain);
    if (written.empty()) {
      return to;
    }
    size_t bytes;
    to = utf8::encode(escapedCode(written, bytes), to);
    written.remove_prefix(bytes);
  }
}

bool isNamed(std::string_view key, std::string_view name) {
  if (key.size() <= name.size()) { // an escape is longer than what it means
    return key == name && key.find('\\') == std::string_view::npos;
  }
  if (key.find('\\') == std::string_view::npos) {
    return false;
  }
  std::string plain(key.size(), '\0');
  plain.resize(static_cast<size_t>(unescape(key, plain.data()) - plain.data()));
  return plain == name;
}

} // namespace headrace::json
