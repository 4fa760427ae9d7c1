// The whole compiler in one call: a user's program to a plan and its kernels. The only place that
// knows all phases.
#pragma once

#include "model/plan/plan.h"
#include "passes/driver/import_program.h"
#include "passes/driver/mixed.h"

#include <string>
#include <utility>
#include <vector>

namespace headrace::driver {

struct CompiledProgram {
  plan::Plan plan;
  std::vector<char> kernels; ///< a shared object for plan.isa
  std::vector<std::pair<std::string, double>> phaseSeconds;
  int kernelsCompiled = 0, kernelsCached = 0;
};

/// A context with every dialect the compiler uses. One per thread; reuse it: making one costs
/// milliseconds.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Runs the phases from `from` to `to` on a module, in place.
bool runPhases(mlir::ModuleOp module, Phase from, Phase to, const CompileOptions &options,
               CompileError &error);

/// The whole way. False and `error` on failure.
bool compileSql(mlir::MLIRContext *context, const SqlQuery &query, const CompileOptions &options,
                CompiledProgram &out, CompileError &error);

/// The whole way from importMixed on. False and `error` on failure.
bool compileMixed(mlir::MLIRContext *context, const std::string &text,
                  const std::vector<QueryInput> &queries, const CompileOptions &options,
                  CompiledProgram &out, CompileError &error);

} // namespace headrace::driver
