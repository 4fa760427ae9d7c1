// The reference interpreter of `frame` and tensor programs: whole, or on the ranks of a mesh in
// lock step, as layouts (the global view) or exchanges and collectives (the local view) say.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/interpreter/placement.h"

#include <functional>

namespace headrace::interpreter {

struct Inputs {
  /// The whole table of a scan, with the columns and types of its result.
  std::function<llvm::Expected<TablePtr>(frame::ScanOp)> scan;
  /// The whole values of the function's arguments.
  std::vector<Value> arguments;
};

enum class View {
  kWhole, ///< one rank; layouts and reshards mean nothing
  kRanks, ///< every rank of the module's mesh has its part
};

/// Sees the parts (one if whole) of every table and tensor as it is made; an error ends the run.
using Observer = std::function<llvm::Error(mlir::Value, llvm::ArrayRef<Value>)>;

/// Runs a function of one block and gives what it returns. On ranks: of the first one, after
/// checking that the other ranks return the same, or no rows. Errors: DataError (see value.h) where
/// the program's data is to blame, others where the program or its layouts are.
llvm::Expected<std::vector<Value>> interpret(mlir::func::FuncOp function, const Inputs &inputs,
                                             View view, const Observer &observer = {});

/// The layout of a table or tensor in the global view; null if the program says none.
dist::LayoutAttr layoutOf(mlir::Value value);

} // namespace headrace::interpreter
