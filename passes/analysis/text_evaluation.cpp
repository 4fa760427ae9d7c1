// String operations of `frame` on known values.
#include "passes/analysis/text_evaluation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ConvertUTF.h"

#include <clocale>
#include <cwctype>

using namespace headrace::analysis;
using llvm::StringRef;

/// The UTF-8 code points of `text`, each as its bytes.
static llvm::SmallVector<StringRef> charactersOf(StringRef text) {
  llvm::SmallVector<StringRef> characters;
  size_t begin = 0;
  for (size_t end = 1; end <= text.size(); ++end) {
    if (end == text.size() || (text[end] & 0xC0) != 0x80) {
      characters.push_back(text.slice(begin, end));
      begin = end;
    }
  }
  return characters;
}

namespace {
/// One element of a pattern: a literal character, `_` or `%`.
struct PatternElement {
  enum class Kind { kCharacter, kOne, kAny } kind;
  StringRef character;
};
} // namespace

bool headrace::analysis::matchesLike(StringRef text, StringRef pattern, StringRef escape) {
  using Kind = PatternElement::Kind;
  llvm::SmallVector<PatternElement> elements;
  llvm::SmallVector<StringRef> written = charactersOf(pattern);
  for (size_t i = 0; i < written.size(); ++i) {
    if (!escape.empty() && written[i] == escape && i + 1 < written.size()) {
      elements.push_back({Kind::kCharacter, written[++i]});
    } else {
      Kind kind = written[i] == "%"   ? Kind::kAny
                  : written[i] == "_" ? Kind::kOne
                                      : Kind::kCharacter;
      elements.push_back({kind, written[i]});
    }
  }
  // reached[i]: the elements so far can match the first i characters.
  llvm::SmallVector<StringRef> characters = charactersOf(text);
  std::vector<bool> reached(characters.size() + 1, false);
  reached[0] = true;
  for (const PatternElement &element : elements) {
    std::vector<bool> next(characters.size() + 1, false);
    for (size_t i = 0; i <= characters.size(); ++i) {
      if (element.kind == Kind::kAny) {
        next[i] = reached[i] || (i > 0 && next[i - 1]);
      } else if (i > 0 && reached[i - 1]) {
        next[i] = element.kind == Kind::kOne || characters[i - 1] == element.character;
      }
    }
    reached = std::move(next);
  }
  return reached.back();
}

std::string headrace::analysis::substringOf(StringRef text, int64_t start,
                                            std::optional<int64_t> length) {
  std::string result;
  __int128 end = length ? static_cast<__int128>(start) + *length : static_cast<__int128>(1) << 100;
  int64_t position = 1;
  for (StringRef character : charactersOf(text)) {
    if (position >= start && position < end) {
      result += character;
    }
    ++position;
  }
  return result;
}

static std::string mappedBy(StringRef text, wint_t (*map)(wint_t, locale_t)) {
  static const locale_t unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::string result;
  for (StringRef character : charactersOf(text)) {
    llvm::SmallVector<llvm::UTF32> code(1);
    const auto *from = reinterpret_cast<const llvm::UTF8 *>(character.begin());
    bool known = unicode && llvm::convertUTF8Sequence(
                                &from, reinterpret_cast<const llvm::UTF8 *>(character.end()),
                                code.data(), llvm::strictConversion) == llvm::conversionOK;
    char buffer[UNI_MAX_UTF8_BYTES_PER_CODE_POINT];
    char *end = buffer;
    if (known && llvm::ConvertCodePointToUTF8(map(code[0], unicode), end)) {
      result.append(buffer, end);
    } else {
      result += character;
    }
  }
  return result;
}

/// The tables leave out that ß has a capital, ẞ.
static wint_t capitalOf(wint_t code, locale_t locale) {
  return code == 0xDF ? 0x1E9E : towupper_l(code, locale);
}

std::string headrace::analysis::upperOf(StringRef text) { return mappedBy(text, capitalOf); }
std::string headrace::analysis::lowerOf(StringRef text) { return mappedBy(text, towlower_l); }

int64_t headrace::analysis::lengthOf(StringRef text) {
  return static_cast<int64_t>(charactersOf(text).size());
}

StringRef headrace::analysis::trimmedStart(StringRef text, StringRef set) {
  llvm::SmallVector<StringRef> characters = charactersOf(text), left = charactersOf(set);
  for (StringRef character : characters) {
    if (!llvm::is_contained(left, character)) {
      break;
    }
    text = text.drop_front(character.size());
  }
  return text;
}

StringRef headrace::analysis::trimmedEnd(StringRef text, StringRef set) {
  llvm::SmallVector<StringRef> characters = charactersOf(text), left = charactersOf(set);
  for (StringRef character : llvm::reverse(characters)) {
    if (!llvm::is_contained(left, character)) {
      break;
    }
    text = text.drop_back(character.size());
  }
  return text;
}

std::string headrace::analysis::replacedIn(StringRef text, StringRef part, StringRef by) {
  std::string result;
  while (!part.empty()) {
    size_t found = text.find(part);
    if (found == StringRef::npos) {
      break;
    }
    result += text.take_front(found);
    result += by;
    text = text.drop_front(found + part.size());
  }
  return result + text.str();
}
