// Mixed programs: a tensor function some of whose arguments are columns of queries.
#pragma once

#include "passes/driver/import_program.h"

namespace headrace::driver {

/// A query in front of a tensor function.
struct QueryInput {
  SqlQuery query;
  std::vector<unsigned> arguments;               ///< of the function, whose rows align
  std::vector<std::vector<std::string>> columns; ///< per argument: names in the query's result
};

/// Imports the text of the function and the queries and puts them into one function, where a
/// frame.to_tensor takes the place of the arguments. Null, with `error`, if something of it does
/// not import.
mlir::OwningOpRef<mlir::ModuleOp> importMixed(mlir::MLIRContext *context, const std::string &text,
                                              const std::vector<QueryInput> &queries,
                                              const CompileOptions &options, CompileError &error);

} // namespace headrace::driver
