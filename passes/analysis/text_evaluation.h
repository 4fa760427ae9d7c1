// String operations of `frame` on known values: LIKE, SUBSTRING, casts of bytes.
#ifndef HEADRACE_PASSES_ANALYSIS_TEXTEVALUATION_H
#define HEADRACE_PASSES_ANALYSIS_TEXTEVALUATION_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace headrace::analysis {

/// Whether `text` matches the SQL pattern; `escape` is one character or empty.
bool matchesLike(llvm::StringRef text, llvm::StringRef pattern, llvm::StringRef escape);

/// The characters (code points) from `start` (1 is the first), at most `length`. Positions before
/// the first count toward the length.
std::string substringOf(llvm::StringRef text, int64_t start, std::optional<int64_t> length);

/// As the function `lower` makes it.
std::string inSmallLetters(llvm::StringRef text);

/// The bytes of a type that is held as such which a text says; nothing if it says none.
std::optional<std::string> bytesOfText(llvm::StringRef text, mlir::Type type);
/// The text of such bytes.
std::string textOfBytes(llvm::StringRef bytes, mlir::Type type);

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_TEXTEVALUATION_H
