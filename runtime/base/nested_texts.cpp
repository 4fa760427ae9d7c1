// See nested_texts.h. Parts are found in the text as it is written, and only then freed of quotes.
#include "runtime/base/nested_texts.h"

#include "runtime/base/ascii.h"

#include <algorithm>

namespace headrace::nested_texts {
namespace {

using Text = std::string_view;

bool isQuote(char letter) { return letter == '\'' || letter == '"'; }

/// The bracket that ends what this one begins; 0 of other letters.
char closingOf(char letter) {
  return letter == '[' ? ']' : letter == '{' ? '}' : letter == '(' ? ')' : '\0';
}

/// What brackets do: what is between them is one part, or, in names of fields, nothing.
enum class Brackets { kNest, kLetters };

/// Purpose: a place in a text that moves on, part by part. A backslash outside of quotes says that
/// a quote behind it is a letter.
class Reader {
public:
  explicit Reader(Text text) : text_(text) {}

  /// Over the bracket that the text begins with; false if it is another.
  bool opens(char bracket) {
    skipBlanks();
    return goesOver(bracket);
  }
  /// Over this letter and the blanks behind it; false if another is here.
  bool goesOver(char letter) {
    if (isAtEnd() || text_[place_] != letter) {
      return false;
    }
    ++place_;
    skipBlanks();
    return true;
  }
  bool isAtEnd() const { return place_ == text_.size(); }

  /// What is up to one of these letters, which is here then; nothing if none comes.
  std::optional<Text> partUpTo(Text ends, Brackets brackets) {
    const bool isName = brackets == Brackets::kLetters;
    size_t first = Text::npos, behind = 0;
    for (; !isAtEnd() && ends.find(text_[place_]) == Text::npos; ++place_) {
      const char letter = text_[place_];
      const bool isEscaped = escaped_;
      if (!isAsciiBlank(letter) || (isName && isEscaped)) {
        first = std::min(first, place_);
        const bool isWhole = isQuote(letter) ? isEscaped || skipsQuoted()
                                             : isName || closingOf(letter) == 0 || skipsNested();
        if (!isWhole) {
          return std::nullopt;
        }
        behind = place_ + 1;
      }
      escaped_ = letter == '\\' && !(isName && isEscaped);
    }
    return isAtEnd()             ? std::nullopt
           : first == Text::npos ? std::optional(Text())
                                 : text_.substr(first, behind - first);
  }

private:
  /// To the quote that ends what the one here begins.
  bool skipsQuoted() {
    const char quote = text_[place_];
    bool escaped = false;
    for (++place_; !isAtEnd(); ++place_) {
      if (text_[place_] == quote && !escaped) {
        return true;
      }
      escaped = !escaped && text_[place_] == '\\';
    }
    return false;
  }

  /// To the bracket that closes the one here.
  bool skipsNested() {
    std::string open;
    bool escaped = false;
    for (; !isAtEnd(); ++place_) {
      const char letter = text_[place_];
      if (isQuote(letter)) {
        if (!escaped && !skipsQuoted()) {
          return false;
        }
      } else if (const char closing = closingOf(letter)) {
        open += closing;
      } else if (letter == open.back()) {
        open.pop_back();
        if (open.empty()) {
          return true;
        }
      }
      escaped = letter == '\\';
    }
    return false;
  }

  void skipBlanks() {
    for (; !isAtEnd() && isAsciiBlank(text_[place_]); ++place_) {
      escaped_ = false;
    }
  }

  Text text_;
  size_t place_ = 0;
  bool escaped_ = false; ///< the letter before is a backslash
};

bool isNull(Text part) { return equalsLower(part, "null"); }

/// Without the quotes and backslashes outside of brackets.
std::string unquoted(Text part, Brackets brackets) {
  std::string out, open;
  char quote = '\0';
  for (size_t place = 0; place < part.size(); ++place) {
    const char letter = part[place];
    const Text next = part.substr(place + 1, 1);
    const bool isFree = open.empty(), isInQuotes = quote != '\0';
    if (letter == '\\' && (isInQuotes || (isFree && !next.empty() && isQuote(next.front())))) {
      out += isFree ? next : part.substr(place, 2);
      ++place;
    } else if (isQuote(letter) && (!isInQuotes || quote == letter)) {
      quote = isInQuotes ? '\0' : letter;
      out += isFree ? Text() : part.substr(place, 1);
    } else {
      out += letter;
      const char closing = brackets == Brackets::kNest ? closingOf(letter) : '\0';
      if (!isInQuotes && !isFree && letter == open.back()) {
        open.pop_back();
      } else if (!isInQuotes && closing != '\0') {
        open += closing;
      }
    }
  }
  return out;
}

Part valueOf(Text part) {
  return isNull(part) ? std::nullopt : std::optional(unquoted(part, Brackets::kNest));
}

} // namespace

std::optional<std::vector<Part>> elements(Text text) {
  Reader reader(text);
  std::vector<Part> found;
  if (!reader.opens('[')) {
    return std::nullopt;
  }
  while (true) {
    const std::optional<Text> part = reader.partUpTo(",]", Brackets::kNest);
    if (!part) {
      return std::nullopt;
    }
    const bool goesOn = reader.goesOver(',');
    if (goesOn || !part->empty() || !found.empty()) { // [] has none
      found.push_back(valueOf(*part));
    }
    if (!goesOn) {
      return reader.goesOver(']') && reader.isAtEnd() ? std::optional(std::move(found))
                                                      : std::nullopt;
    }
  }
}

std::optional<std::vector<std::pair<std::string, Part>>> entries(Text text) {
  Reader reader(text);
  std::vector<std::pair<std::string, Part>> found;
  if (!reader.opens('{')) {
    return std::nullopt;
  }
  bool goesOn = !reader.goesOver('}');
  while (goesOn) {
    const std::optional<Text> key = reader.partUpTo("=", Brackets::kNest);
    const bool hasValue = key && !isNull(*key) && reader.goesOver('=');
    const std::optional<Text> value =
        hasValue ? reader.partUpTo(",}", Brackets::kNest) : std::nullopt;
    if (!value) {
      return std::nullopt;
    }
    found.emplace_back(unquoted(*key, Brackets::kNest), valueOf(*value));
    goesOn = reader.goesOver(',');
    if (!goesOn) {
      reader.goesOver('}');
    }
  }
  return reader.isAtEnd() ? std::optional(std::move(found)) : std::nullopt;
}

/// `{name: value, …}`, behind its first bracket.
static bool readNamed(Reader &reader, std::span<const Text> names, std::vector<Part> &found) {
  bool goesOn = !reader.goesOver('}');
  while (goesOn) {
    const std::optional<Text> name = reader.partUpTo(":", Brackets::kLetters);
    if (!name || name->empty() || isNull(*name)) {
      return false;
    }
    const auto field = std::find(names.begin(), names.end(), unquoted(*name, Brackets::kLetters));
    reader.goesOver(':');
    const std::optional<Text> value = reader.partUpTo(",}", Brackets::kNest);
    if (field == names.end() || !value) {
      return false;
    }
    found[static_cast<size_t>(field - names.begin())] = valueOf(*value);
    goesOn = reader.goesOver(',');
    if (!goesOn) {
      reader.goesOver('}');
    }
  }
  return reader.isAtEnd();
}

/// `(value, …)`, likewise.
static bool readInOrder(Reader &reader, std::vector<Part> &found) {
  size_t field = 0;
  while (!reader.goesOver(')')) { // also behind a comma
    const std::optional<Text> value = reader.partUpTo(",)", Brackets::kNest);
    if (!value || field == found.size()) {
      return false;
    }
    found[field++] = valueOf(*value);
    reader.goesOver(',');
  }
  return reader.isAtEnd();
}

std::optional<std::vector<Part>> fields(Text text, std::span<const Text> names) {
  Reader reader(text);
  std::vector<Part> found(names.size());
  const bool isWhole = reader.opens('(')   ? readInOrder(reader, found)
                       : reader.opens('{') ? readNamed(reader, names, found)
                                           : false;
  return isWhole ? std::optional(std::move(found)) : std::nullopt;
}

} // namespace headrace::nested_texts
