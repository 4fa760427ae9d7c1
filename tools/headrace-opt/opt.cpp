// headrace-opt: parses, verifies, transforms and prints programs of every level. Beside MLIR's
// flags, --start-from=PHASE and --stop-after=PHASE run whole phases.
#include "tools/compiler/tool_flags.h"
#include "tools/compiler/tools.h"

#include "dialects/AllDialects.h"
#include "mlir/Debug/Counter.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/driver/phase_passes.h"
#include "llvm/Support/CommandLine.h"

int headrace::optTool(int argc, char **argv) {
  mlir::DialectRegistry registry;
  headrace::registerAllDialects(registry);
  headrace::driver::registerAllPasses();
  // What MlirOptMain would register.
  mlir::MlirOptMainConfig::registerCLOptions(registry);
  mlir::registerPassManagerCLOptions();
  mlir::tracing::DebugCounter::registerCLOptions();
  beginToolFlags("headrace-opt",
                 {"o", "pass-pipeline", "list-passes", "split-input-file", "verify-diagnostics"});
  static const std::string phases = headrace::driver::phaseFlagsHelp();
  llvm::cl::extrahelp help(phases); // keeps a reference
  std::vector<std::string> arguments(argv, argv + argc);
  std::string error = headrace::driver::expandPhaseFlags(arguments);
  if (!error.empty()) {
    llvm::errs() << "headrace-opt: " << error << "\n";
    return 1;
  }
  std::vector<char *> pointers;
  for (std::string &argument : arguments) {
    pointers.push_back(argument.data());
  }
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      static_cast<int>(pointers.size()), pointers.data(), "headrace compiler driver\n", registry));
}
