// headrace-translate: other formats to MLIR (--duckdb-to-mlir, --substrait-to-mlir), programs after
// the phase schedule to plans (--sched-to-plan), and kernels
// shaped for threads out of programs after the phase form (--kernel-to-ptx; --kernel-to-emulation
// and --kernel-to-manifest for running them on the CPU).
#include "tools/compiler/tool_flags.h"
#include "tools/compiler/tools.h"

#include "dialects/AllDialects.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "model/plan/check.h"
#include "model/plan/json.h"
#include "passes/form/verify_states.h"
#include "passes/import/ImportDuckdb.h"
#include "passes/import/ImportSubstrait.h"
#include "passes/lower/gpu/lower_gpu.h"
#include "passes/lower/machine/compile.h"
#include "passes/schedule/schedule.h"
#include "passes/schedule/verify_schedule.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace headrace;

/// Of translateTool: a flag that is made when the library is loaded would be every tool's.
static const std::vector<std::string> *statisticsFiles;

static const std::string *now;

/// Reads the files of --statistics.
static mlir::LogicalResult readStatistics(import::ImportOptions &options, std::string &error) {
  for (const std::string &entry : *statisticsFiles) {
    auto [table, path] = llvm::StringRef(entry).split('=');
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file) {
      error = ("cannot read the statistics of table " + table + ": " + path).str();
      return mlir::failure();
    }
    options.statistics[table] = (*file)->getBuffer().str();
  }
  return mlir::success();
}

/// A plan in JSON by the front end's `import`.
template <typename Import>
static mlir::OwningOpRef<mlir::Operation *>
translatePlan(llvm::SourceMgr &sources, mlir::MLIRContext *context, Import import) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  import::ImportOptions options;
  std::string message;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  int64_t microseconds = 0;
  if (!now->empty() && llvm::StringRef(*now).getAsInteger(10, microseconds)) {
    message = "expected microseconds since 1970-01-01, got " + *now;
  } else if (succeeded(readStatistics(options, message))) {
    if (!now->empty()) {
      options.nowMicroseconds = microseconds;
    }
    import::ImportError error;
    module = import(context, buffer->getBuffer(), options, error);
    message = error.text();
  }
  if (!module) {
    mlir::Location file = mlir::FileLineColLoc::get(context, buffer->getBufferIdentifier(), 0, 0);
    mlir::emitError(file) << message;
    return {};
  }
  return module.release().getOperation();
}

/// Writes what `lower` makes of a program.
template <typename Lower>
static mlir::LogicalResult writeLowered(mlir::Operation *op, llvm::raw_ostream &out, Lower lower) {
  auto program = mlir::cast<mlir::ModuleOp>(op);
  if (failed(form::verifyStateUses(program))) {
    return mlir::failure();
  }
  auto result = lower(program);
  if (failed(result)) {
    return mlir::failure();
  }
  out.write(result->data(), result->size());
  return mlir::success();
}

static mlir::LogicalResult writePlan(mlir::Operation *op, llvm::raw_ostream &out) {
  auto module = mlir::cast<mlir::ModuleOp>(op);
  if (failed(schedule::verifySchedule(module))) {
    return mlir::failure();
  }
  mlir::FailureOr<plan::Plan> plan = schedule::emitPlan(*module.getOps<sched::ProgramOp>().begin());
  if (failed(plan)) {
    return mlir::failure();
  }
  if (Status status = plan::check(*plan); !status.ok()) {
    return module.emitError(status.message());
  }
  out << plan::toJson(*plan, plan::JsonLayout::kIndented) << "\n";
  return mlir::success();
}

static void registerKernelDialects(mlir::DialectRegistry &registry) {
  registerAllDialects(registry);
  lower::registerCompileDialects(registry);
}

int headrace::translateTool(int argc, char **argv) {
  beginToolFlags("headrace-translate");
  llvm::cl::list<std::string> statistics(
      "statistics", llvm::cl::value_desc("table=file.json"),
      llvm::cl::desc("statistics of a table, for plans; may be repeated (default: none)"));
  statisticsFiles = &statistics;
  llvm::cl::opt<std::string> nowOption(
      "now", llvm::cl::value_desc("microseconds"),
      llvm::cl::desc("what now() means in a plan, since 1970-01-01 in UTC (default: such a plan "
                     "is refused)"));
  now = &nowOption;
  mlir::TranslateToMLIRRegistration substrait(
      "substrait-to-mlir", "a Substrait plan in JSON to frame",
      [](llvm::SourceMgr &sources, mlir::MLIRContext *context) {
        return translatePlan(sources, context, import::importSubstrait);
      },
      [](mlir::DialectRegistry &registry) { registerAllDialects(registry); });
  mlir::TranslateToMLIRRegistration duckdb(
      "duckdb-to-mlir", "a plan of DuckDB's json_serialize_plan to frame",
      [](llvm::SourceMgr &sources, mlir::MLIRContext *context) {
        return translatePlan(sources, context, import::importDuckdb);
      },
      [](mlir::DialectRegistry &registry) { registerAllDialects(registry); });
  mlir::TranslateFromMLIRRegistration plan(
      "sched-to-plan", "the plan of a program after schedule, as JSON", writePlan,
      [](mlir::DialectRegistry &registry) { registerAllDialects(registry); });
  mlir::TranslateFromMLIRRegistration ptx(
      "kernel-to-ptx", "kernels of a program after form, shaped for threads, as PTX (sm_80)",
      [](mlir::Operation *op, llvm::raw_ostream &out) {
        return writeLowered(op, out, lower::lowerToPtx);
      },
      registerKernelDialects);
  mlir::TranslateFromMLIRRegistration emulation(
      "kernel-to-emulation", "the same as a shared object that emulates threads on this machine",
      [](mlir::Operation *op, llvm::raw_ostream &out) {
        return writeLowered(op, out, lower::lowerToEmulation);
      },
      registerKernelDialects);
  mlir::TranslateFromMLIRRegistration manifest(
      "kernel-to-manifest", "what a launcher of these kernels must know, as JSON",
      [](mlir::Operation *op, llvm::raw_ostream &out) {
        return writeLowered(op, out, lower::deviceManifest);
      },
      registerKernelDialects);
  return failed(mlir::mlirTranslateMain(argc, argv, "headrace translation driver\n"));
}
