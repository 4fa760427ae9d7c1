// Whether two results are the same, as the semantics has it: tables as bags, floats with a
// tolerance.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/interpreter/value.h"

#include <optional>
#include <string>

namespace headrace::interpreter {

/// The columns, by position, in whose order rows come; empty if they have none.
using RowOrder = llvm::SmallVector<unsigned>;

/// The order that a returned table has from a sort or topk behind it.
RowOrder orderOf(mlir::Value table);

/// Relative to the largest element of a tensor, or to a column's value.
inline constexpr double kRealTolerance = 1e-5;

/// What the first difference is; nothing if the values are the same. Columns go by position. Rows
/// of equal order keys may come in any order.
std::optional<std::string> differenceOf(const Value &expected, const Value &found,
                                        const RowOrder &order);

} // namespace headrace::interpreter
