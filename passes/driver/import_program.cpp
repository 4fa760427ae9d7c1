// The importers of the formats, and their errors; statistics for scans that were written by hand.
#include "passes/driver/import_program.h"

#include "dialects/frame/FrameOps.h"
#include "passes/driver/diagnostic_text.h"
#include "passes/import/ImportDuckdb.h"
#include "passes/import/ImportSubstrait.h"
#include "passes/import/Statistics.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace headrace::driver {

OwningOpRef<ModuleOp> importSql(MLIRContext *context, const SqlQuery &query,
                                const CompileOptions &options, import::ImportError &error,
                                const llvm::StringSet<> &takenNames) {
  import::ImportOptions importOptions;
  importOptions.text = query.text;
  importOptions.resultNames = query.resultNames;
  importOptions.nowMicroseconds = query.nowMicroseconds;
  importOptions.timeZone = query.timeZone;
  if (!query.zoneFolder.empty()) {
    importOptions.zoneFolder = query.zoneFolder;
  }
  importOptions.residentKeys = query.residentKeys;
  importOptions.adjacentKeys = query.adjacentKeys;
  importOptions.takenNames = takenNames;
  for (const auto &[table, document] : options.statistics) {
    importOptions.statistics[table] = document;
  }
  return query.format == SqlQuery::Format::kDuckdb
             ? import::importDuckdb(context, query.json, importOptions, error)
             : import::importSubstrait(context, query.json, importOptions, error);
}

CompileError compileError(const import::ImportError &error) {
  using Kind = import::ImportError::Kind;
  ErrorKind kind = error.kind == Kind::kUser          ? ErrorKind::kUser
                   : error.kind == Kind::kUnsupported ? ErrorKind::kUnsupported
                                                      : ErrorKind::kInternal;
  return {kind, error.position ? error.message : error.text(), error.position, error.length};
}

/// What storage says of the tables goes to the scans of a program that was written by hand.
static void addStatistics(ModuleOp module, const CompileOptions &options) {
  module.walk([&](frame::ScanOp scan) {
    auto document = options.statistics.find(scan.getTableName().str());
    if (scan.getStatistics() || document == options.statistics.end()) {
      return;
    }
    if (DictionaryAttr known =
            import::TableDocument(document->second)
                .statistics(module.getContext(), scan.getFileColumns().getValue(),
                            scan.getFileTypes())) {
      scan.setStatisticsAttr(known);
    }
  });
}

OwningOpRef<ModuleOp> importMlir(MLIRContext *context, const std::string &text,
                                 const CompileOptions &options, CompileError &error) {
  DiagnosticText diagnostics(context, error);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, context);
  if (!module) {
    error.kind = ErrorKind::kUser;
    error.message = error.message.empty() ? "the text is not a module" : error.message;
  } else {
    addStatistics(*module, options);
  }
  return module;
}

} // namespace headrace::driver
