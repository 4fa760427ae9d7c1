// headrace-opt: parses, verifies, transforms and prints programs of every level. Beside MLIR's
// flags:
// --start-from=PHASE and --stop-after=PHASE run whole phases.
#include "tools/compiler/tools.h"

#include "dialects/AllDialects.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "passes/driver/phase_passes.h"
#include "runtime/base/version.h"
#include "llvm/Support/CommandLine.h"

int headrace::optTool(int argc, char **argv) {
  llvm::cl::SetVersionPrinter(
      [](llvm::raw_ostream &out) { out << "headrace-opt " << headrace::version() << "\n"; });
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
  mlir::DialectRegistry registry;
  headrace::registerAllDialects(registry);
  headrace::driver::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      static_cast<int>(pointers.size()), pointers.data(), "headrace compiler driver\n", registry));
}
