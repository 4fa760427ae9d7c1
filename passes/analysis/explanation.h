// The name under which a module keeps what was decided, for people.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace headrace::analysis {

/// Of a module: plan::Explanation as JSON, from `shard` on.
inline constexpr llvm::StringLiteral kExplanationAttr = "headrace.explanation";

} // namespace headrace::analysis
