// headrace-translate: other formats to MLIR and back (--substrait-to-mlir).
#include "dialects/AllDialects.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "passes/import/ImportSubstrait.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace headrace;

static llvm::cl::list<std::string>
    statisticsFiles("statistics", llvm::cl::value_desc("table=file.json"),
                    llvm::cl::desc("statistics document of a table, for --substrait-to-mlir"));

/// Reads the files of --statistics.
static mlir::LogicalResult readStatistics(import::SubstraitImportOptions &options,
                                          std::string &error) {
  for (const std::string &entry : statisticsFiles) {
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

static mlir::OwningOpRef<mlir::Operation *> translateSubstrait(llvm::SourceMgr &sources,
                                                               mlir::MLIRContext *context) {
  const llvm::MemoryBuffer *buffer = sources.getMemoryBuffer(sources.getMainFileID());
  import::SubstraitImportOptions options;
  std::string error;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (succeeded(readStatistics(options, error))) {
    module = import::importSubstrait(context, buffer->getBuffer(), options, error);
  }
  if (!module) {
    mlir::Location file = mlir::FileLineColLoc::get(context, buffer->getBufferIdentifier(), 0, 0);
    mlir::emitError(file) << error;
    return {};
  }
  return module.release().getOperation();
}

int main(int argc, char **argv) {
  mlir::TranslateToMLIRRegistration substrait(
      "substrait-to-mlir", "a Substrait plan in JSON, as DataFusion writes it, to frame",
      translateSubstrait, [](mlir::DialectRegistry &registry) { registerAllDialects(registry); });
  return failed(mlir::mlirTranslateMain(argc, argv, "headrace translation driver\n"));
}
