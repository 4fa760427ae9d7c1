// String operations of `frame` on known values.
#include "passes/analysis/text_evaluation.h"
#include "dialects/frame/FrameTypes.h"
#include "dialects/frame/LogicalTypes.h"
#include "runtime/base/byte_types.h"
#include "runtime/base/text_functions.h"
#include "llvm/ADT/SmallVector.h"

using namespace headrace;
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

namespace {
/// As much room for a text as it wants.
class AnyRoom final : public TextRoom {
  char *take(uint64_t bytes) override {
    memory_.resize(bytes);
    return memory_.data();
  }

  std::string memory_;
};
} // namespace

std::string headrace::analysis::inSmallLetters(StringRef text) {
  AnyRoom room;
  TextValue made;
  const TextValue given{.text = text};
  textFunctionNamed("lower")->evaluate(room, {&given, 1}, made);
  return std::string(made.text);
}

static const ByteType &byteType(mlir::Type type) {
  return *byteTypeOf(logicalType(frame::dropNullable(type)).kind);
}

std::optional<std::string> headrace::analysis::bytesOfText(StringRef text, mlir::Type type) {
  return byteType(type).parse(text);
}

std::string headrace::analysis::textOfBytes(StringRef bytes, mlir::Type type) {
  return byteType(type).text(bytes);
}
