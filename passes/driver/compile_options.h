// What a compilation is told: the phases, and for which ranks and machines it is.
#pragma once

#include "passes/lower/machine/kernel_objects.h"
#include "runtime/base/status.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>
#include <optional>
#include <string>

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

/// Why a program was refused.
struct CompileError {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;              ///< with its place, if that is not below
  std::optional<uint64_t> position; ///< in bytes of the query's text
  uint64_t length = 0;
};

} // namespace headrace::driver
