// String operations of `frame` on known values: LIKE, SUBSTRING, case.
#ifndef HEADRACE_PASSES_ANALYSIS_TEXTEVALUATION_H
#define HEADRACE_PASSES_ANALYSIS_TEXTEVALUATION_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace headrace::analysis {

/// Whether `text` matches the SQL pattern; `escape` is one character or empty.
bool matchesLike(llvm::StringRef text, llvm::StringRef pattern, llvm::StringRef escape);

/// The characters (code points) from `start` (1 is the first), at most `length`. Positions before
/// the first count toward the length.
std::string substringOf(llvm::StringRef text, int64_t start, std::optional<int64_t> length);

/// Every character in its other case, by Unicode's simple mapping.
std::string upperOf(llvm::StringRef text);
std::string lowerOf(llvm::StringRef text);
/// The number of characters.
int64_t lengthOf(llvm::StringRef text);
/// Without the characters of `set` at the start (end).
llvm::StringRef trimmedStart(llvm::StringRef text, llvm::StringRef set);
llvm::StringRef trimmedEnd(llvm::StringRef text, llvm::StringRef set);
/// With `by` for every `part`, from the left; unchanged for an empty part.
std::string replacedIn(llvm::StringRef text, llvm::StringRef part, llvm::StringRef by);

} // namespace headrace::analysis

#endif // HEADRACE_PASSES_ANALYSIS_TEXTEVALUATION_H
