// Where in a user's program an op comes from, as its location says it, for messages.
#ifndef HEADRACE_DIALECTS_INTERFACES_SOURCEPLACE_H
#define HEADRACE_DIALECTS_INTERFACES_SOURCEPLACE_H

#include "mlir/IR/Location.h"

#include <string>

namespace headrace {

/// The file name of places in the text of a query.
inline constexpr llvm::StringLiteral kQueryFile = "query";

/// "l_quantity < 24, 1:30" (an expression of a query, with line and column if they are known),
/// "program.py:12", or nothing.
std::string sourcePlace(mlir::Location location);

} // namespace headrace

#endif // HEADRACE_DIALECTS_INTERFACES_SOURCEPLACE_H
