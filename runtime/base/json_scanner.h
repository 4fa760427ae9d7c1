// A strict reader of JSON that builds nothing: it finds where values begin and end, and whether all
// is well-formed. As DuckDB it takes commas behind a last element, and NaN and Infinity.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace headrace::json {

enum class Kind : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };

/// By the first letter of a well-formed value.
Kind kindOf(std::string_view value);

/// A well-formed value in a text.
struct Value {
  std::string_view text;
  bool isCompact = false; ///< has no blanks, escapes or commas that mean nothing
  uint64_t reals = 0;     ///< numbers that may be written in another way

  Kind kind() const { return kindOf(text); }
};

/// Purpose: goes over a text from the left, once. Ownership: borrows the text. Lifetime: a method
/// that says false has met what is not well-formed; then the scanner is of no more use.
class Scanner {
public:
  /// Where a scanner stands behind a value: before the next key or element, or behind the whole.
  enum class Behind : uint8_t { kMore, kAll, kMalformed };
  enum class Search : uint8_t { kThere, kNowhere, kMalformed };

  explicit Scanner(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  /// The first letter of what comes next, behind blanks; 0 at the end.
  char peek() {
    skipBlanks();
    return at_ == end_ ? '\0' : *at_;
  }
  /// Reads a value.
  bool readValue(Value &value);
  bool skipValue() { return run<false>(open_.depth(), Before::kValue) != Search::kMalformed; }
  /// Into an object, before the value of its first key of this name, or an array, before the
  /// element at this place, negative ones from the end. Nowhere: behind it.
  Search enterKey(std::string_view name);
  Search enterPlace(int64_t place);
  /// Into an object or an array, before what is first in it.
  Behind enter();
  /// Reads a key with its colon; it still has its escapes.
  bool readKey(std::string_view &key);
  /// Behind a value of what was entered last.
  Behind behind() { return behind(open_.depth() - 1); }
  /// Behind a value: whether the rest is well-formed.
  bool finish();

private:
  /// Which of the entered are objects.
  class Nesting {
  public:
    size_t depth() const { return depth_; }
    bool isInObject() const { return (bits_ & 1) != 0; }
    void push(bool isObject) {
      if (depth_ % 64 == 0 && depth_ > 0) [[unlikely]] {
        keep();
      }
      bits_ = bits_ << 1 | (isObject ? 1 : 0);
      ++depth_;
    }
    void pop() {
      --depth_;
      bits_ >>= 1;
      if (depth_ % 64 == 0 && depth_ > 0) [[unlikely]] {
        restore();
      }
    }

  private:
    void keep();
    void restore();

    uint64_t bits_ = 0; ///< the innermost, up to 64
    size_t depth_ = 0;
    std::vector<uint64_t> outer_;
  };

  /// Before what a run over the text begins.
  enum class Before : uint8_t { kValue, kKey, kRest };

  /// On until so many are entered. Watching: until a key of this name in the outermost of those
  /// that were entered in between.
  template <bool watches> Search run(size_t depth, Before before, std::string_view name = {});
  void skipBlanks();
  Behind behind(size_t outer);

  const char *at_, *end_;
  bool isCompact_ = true;
  uint64_t reals_ = 0;
  Nesting open_;
};

/// Whether a text is one well-formed value, which it gives.
bool read(std::string_view text, Value &value);

/// Whether a key as it is written is this name.
bool isNamed(std::string_view key, std::string_view name);
/// Writes what is between the quotes of a string without its escapes, which is no longer, and
/// returns the end.
char *unescape(std::string_view written, char *to);
/// The code point of the escape that a text begins with, and its bytes.
uint32_t escapedCode(std::string_view text, size_t &bytes);

} // namespace headrace::json
