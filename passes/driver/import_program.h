// A query as a front end bound it, or the text of a program, to a module.
#pragma once

#include "passes/driver/compile_options.h"
#include "passes/import/ImportContext.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

namespace headrace::driver {

/// A query as a front end bound it.
struct SqlQuery {
  enum class Format { kSubstrait, kDuckdb };
  Format format = Format::kDuckdb;
  std::string json;
  std::string text;                       ///< of the query, for places; may be empty
  std::vector<std::string> resultNames;   ///< empty: those of the plan
  std::optional<int64_t> nowMicroseconds; ///< what now() means, since 1970-01-01 (UTC)
  std::string timeZone;                   ///< of the session; empty: UTC
  std::string zoneFolder;                 ///< with files of zones; empty: the system's
  std::optional<std::vector<std::string>> residentKeys; ///< as import::ImportOptions has them
  std::vector<std::string> adjacentKeys;                ///< the same
};

/// A query to the program of phase `import`, whose columns get none of `takenNames`. Null and
/// `error` on failure.
mlir::OwningOpRef<mlir::ModuleOp> importSql(mlir::MLIRContext *context, const SqlQuery &query,
                                            const CompileOptions &options,
                                            import::ImportError &error,
                                            const llvm::StringSet<> &takenNames = {});

/// The text of a program, at first of phase `import`: a function @main or the only one. Its scans
/// without statistics get those of the options. Null and `error` on failure.
mlir::OwningOpRef<mlir::ModuleOp> importMlir(mlir::MLIRContext *context, const std::string &text,
                                             const CompileOptions &options, CompileError &error);

/// The error of an import as one of the compiler.
CompileError compileError(const import::ImportError &error);

} // namespace headrace::driver
