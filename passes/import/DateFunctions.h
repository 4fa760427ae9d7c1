// Functions of dates and times by their names, for any front end: a table (date_functions.def).
#ifndef HEADRACE_PASSES_IMPORT_DATEFUNCTIONS_H
#define HEADRACE_PASSES_IMPORT_DATEFUNCTIONS_H

#include "passes/import/ExpressionBuilder.h"

namespace headrace::import {

/// A call as a `type`; nothing if no function of this name has such arguments.
std::optional<MaybeExpression> dateFunction(ExpressionBuilder &builder, llvm::StringRef name,
                                            llvm::ArrayRef<Expression> arguments, mlir::Type type,
                                            mlir::Location at);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_DATEFUNCTIONS_H
