// The flags that every tool of the compiler begins with.
#include "tools/compiler/tool_flags.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/Timing.h"
#include "runtime/base/settings.h"
#include "runtime/base/version.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace headrace;

namespace {

void applyLog(const char *tool, const Expected<Settings> &settings) {
  if (!settings.ok()) {
    llvm::errs() << tool << ": " << settings.status().toString() << "\n";
    std::exit(1);
  }
  settings->applyLog();
}

Expected<Settings> settingsWithLog(const std::string &level) {
  Settings settings;
  HR_RETURN_IF_ERROR(settings.set("--log", level));
  return settings;
}

} // namespace

void headrace::beginToolFlags(const char *tool, llvm::ArrayRef<llvm::StringRef> shown) {
  llvm::cl::SetVersionPrinter(
      [tool](llvm::raw_ostream &out) { out << tool << " " << headrace::version() << "\n"; });
  static llvm::cl::extrahelp others("\nFlags of MLIR and LLVM: --help-hidden\n");
  applyLog(tool, Settings::fromEnvironment());
  // What the mains of MLIR would register.
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
  for (auto &[name, option] : llvm::cl::getRegisteredOptions()) {
    // The list of passes has no name.
    if (!option->ArgStr.empty() && !llvm::is_contained({"help", "version"}, name) &&
        !llvm::is_contained(shown, name)) {
      option->setHiddenFlag(llvm::cl::Hidden);
    }
  }
  static llvm::cl::opt<std::string> log(
      "log", llvm::cl::value_desc("level"),
      llvm::cl::desc("off, error, warning, info or debug, to standard error (default: off; also "
                     "HEADRACE_LOG)"),
      llvm::cl::callback(
          [tool](const std::string &level) { applyLog(tool, settingsWithLog(level)); }));
}
