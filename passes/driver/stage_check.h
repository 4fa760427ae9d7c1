// Runs a program in the reference interpreter after every stage of the compiler, under many layouts
// and meshes, and compares each result with that of the program as it was imported.
#pragma once

#include "passes/interpreter/interpreter.h"

#include <string>
#include <vector>

namespace headrace::driver {

struct StageCheckOptions {
  std::vector<std::string> meshes = {"ranks:1", "ranks:2", "ranks:3", "ranks:4"};
  /// Layouts drawn per mesh, besides the solver's choice, from this seed on.
  unsigned layouts = 5;
  uint64_t firstSeed = 1;
  /// A topology file's name or text; empty: this machine.
  std::string topology;
};

struct StageCheckReport {
  int comparisons = 0;
  /// The imported program fails on its data: nothing can be compared, later stages may leave out
  /// what fails.
  std::string dataError;
  /// Stage, mesh, seed and what differs, a line each. Errors of phases are among them.
  std::vector<std::string> differences;
  /// What the imported program returns, if it does.
  std::vector<interpreter::Value> results;
};

/// Leaves the module as it is. In the global view every table and tensor is also compared with the
/// same value of a run without layouts, so that the first op that goes wrong is named.
StageCheckReport checkStages(mlir::ModuleOp module, const interpreter::Inputs &inputs,
                             const StageCheckOptions &options);

} // namespace headrace::driver
