// The whole compiler in one call: a user's program to a plan and its kernels. The only place that
// knows all phases.
#pragma once

#include "model/plan/plan.h"
#include "passes/import/ImportContext.h"
#include "passes/lower/kernel_objects.h"
#include "runtime/base/status.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/StringSet.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::driver {

/// The phases, in order. `lower` makes kernels, which are a module of their own; `schedule` goes on
/// with that of `form`.
enum class Phase { kImport, kOptimize, kShard, kForm, kLower, kSchedule };
inline constexpr Phase kPhases[] = {Phase::kImport, Phase::kOptimize, Phase::kShard,
                                    Phase::kForm,   Phase::kLower,    Phase::kSchedule};
/// As in --stop-after.
llvm::StringRef phaseName(Phase phase);
/// "import, optimize, …" from the phase `first` on.
std::string phaseNames(Phase first);
bool parsePhase(llvm::StringRef name, Phase *phase);

struct CompileOptions {
  /// Table name -> statistics document (JSON text), as storage writes it.
  std::map<std::string, std::string> statistics;
  unsigned ranks = 1;
  /// The ranks along several axes, "node:2,gpu:4", the last the fastest; empty: as defaultMesh
  /// says.
  std::string mesh;
  /// Topology file as JSON text; empty: this machine with `ranks` ranks.
  std::string topology;
  /// Forces a random feasible layout by this seed; -1: the solver's choice.
  int64_t layoutSeed = -1;
  /// Not 0: a layout that is nearly the cheapest, by this number; see shard::ShardOptions.
  uint64_t layoutAlternative = 0;
  /// Not 0: of a rank, for which the plan is made: states that do not fit are divided.
  int64_t memoryBytes = 0;
  /// Not 0: rows of the chunks that kernels make.
  uint32_t chunkRows = 0;
  std::string note;      ///< put in front of the explanation
  bool planOnly = false; ///< the plan has no kernels: it can be priced, not run
  lower::Backend backend;
  std::string isa; ///< empty: this machine's best
  /// For which pipelines are compiled beside the CPU, and tasks placed; none: the CPU alone.
  std::optional<lower::DeviceTarget> gpu;
  /// Called with the module after each phase; after `lower` with another, of all kernels.
  std::function<void(Phase, mlir::ModuleOp)> observe;
  /// A program in MLIR is what `observe` showed after this phase (not `lower`, whose module is
  /// another), and the compilation goes on from there.
  Phase resumeAfter = Phase::kImport;
  /// The compilation ends there, without a plan.
  std::optional<Phase> stopAfter;
};

struct CompiledProgram {
  plan::Plan plan;
  std::vector<char> kernels; ///< a shared object for plan.isa
  std::vector<std::pair<std::string, double>> phaseSeconds;
  int kernelsCompiled = 0, kernelsCached = 0;
};

/// A context with every dialect the compiler uses. One per thread; reuse it: making one costs
/// milliseconds.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Why a program was refused.
struct CompileError {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;              ///< with its place, if that is not below
  std::optional<uint64_t> position; ///< in bytes of the query's text
  uint64_t length = 0;
};

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

/// Runs the phases from `from` to `to` on a module, in place.
bool runPhases(mlir::ModuleOp module, Phase from, Phase to, const CompileOptions &options,
               CompileError &error);

/// The whole way. False and `error` on failure.
bool compileSql(mlir::MLIRContext *context, const SqlQuery &query, const CompileOptions &options,
                CompiledProgram &out, CompileError &error);

/// The error of an import as one of the compiler.
CompileError compileError(const import::ImportError &error);

} // namespace headrace::driver
