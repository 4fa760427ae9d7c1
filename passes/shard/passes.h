// The phase `shard` for its callers: the passes, the pipeline, and the report.
#ifndef HEADRACE_PASSES_SHARD_PASSES_H
#define HEADRACE_PASSES_SHARD_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "model/cost/cost.h"
#include "llvm/Support/JSON.h"

#include <memory>
#include <string>

namespace headrace::shard {

#define GEN_PASS_DECL
#include "passes/shard/Passes.h.inc"

struct ShardOptions {
  /// "ranks:4" or "node:2,gpu:8"; empty: the module's topo.mesh, else one rank.
  std::string mesh;
  /// A topology file or its text, the name of a shipped topology, or empty: this machine divided
  /// among the ranks.
  std::string topology;
  /// For the built-in topology: bytes that all ranks together may use; 0 = the machine's memory.
  double memoryBytes = 0;
  /// Not 0: a random layout among those that the rules allow.
  uint64_t seed = 0;
  /// Not 0, and no seed: of the layouts that are nearly the cheapest, the one of this number (see
  /// nearLayout).
  uint64_t alternative = 0;
  /// The solver stops at a proven optimum, after this time, or after 5 % of the time that the
  /// program is estimated to run.
  double secondsMax = 0.2;
  /// Fill `runnerUp` in the report: solves once more for each of the ops that take longest.
  enum class Explain : uint8_t { kNo, kYes } explain = Explain::kNo;
};

/// What was chosen for one op, and what was not.
struct ShardChoice {
  std::string op;       ///< "frame.join inner"
  std::string place;    ///< source location
  std::string strategy; ///< "shuffle on o_orderkey = l_orderkey"
  std::string layout;   ///< of the result
  double seconds = 0;   ///< its work under the layout
  /// Bytes that all ranks send for this op's operands, and the seconds that takes.
  double reshardBytes = 0;
  double reshardSeconds = 0;
  std::string runnerUp;            ///< the cheapest other strategy, or empty
  double runnerUpTotalSeconds = 0; ///< of the whole program with it
};

/// What goes between ranks from one op to another.
struct ShardMove {
  int32_t source = 0; ///< choices of the report
  int32_t target = 0;
  double bytes = 0; ///< that all ranks send
  double seconds = 0;
};

struct ShardReport {
  std::string topology;
  int64_t ranks = 1;
  double totalSeconds = 0; ///< see LayoutSchedule
  double sumSeconds = 0;   ///< of the solver's own layout: what all its parts take together
  double boundSeconds = 0; ///< no layout has a smaller sum
  int32_t layouts = 0;     ///< that were compared, where parts overlap; the solver's own among them
  double solveSeconds = 0;
  int32_t solveRounds = 0; ///< pricing rounds; 1 if the first proved the optimum
  int32_t nodes = 0;       ///< of the solver's problem, and what exact reductions left of it
  int32_t nodesLeft = 0;
  double memoryBytes = 0;     ///< most that one rank holds at a time, by estimates
  double memoryBytesMax = 0;  ///< of the rank with least
  std::string whyNothingFits; ///< the solver's reason if no choice fits into memory, else empty
  int32_t reshards = 0;
  int32_t strategies = 0;

  /// By how much the choice may miss the optimum, as a share of its cost; 0 if proven.
  double gap() const { return sumSeconds > 0 ? 1 - boundSeconds / sumSeconds : 0; }
  std::vector<ShardChoice> choices;
  std::vector<ShardMove> moves;

  std::string toText() const;
  llvm::json::Value toJson() const;
};

/// Chooses layouts for every function of the module and annotates it (the pass shard-solve as a
/// function). `report` may be null. Emits errors on the module and fails for unknown topologies and
/// meshes that do not fit.
mlir::LogicalResult solveLayouts(mlir::ModuleOp module, const ShardOptions &options,
                                 ShardReport *report);

/// All of `shard` behind the solve: reshards, collectives, the local view, the check.
void addShardLoweringPasses(mlir::OpPassManager &manager);

/// What `form` may rely on: one rank's view, without reshards and layouts, where partial aggregates
/// are finished (the pass verify-shard).
mlir::LogicalResult verifyShard(mlir::ModuleOp module);

#define GEN_PASS_REGISTRATION
#include "passes/shard/Passes.h.inc"

/// Registers the passes and the pipeline "shard" (options of shard-solve).
void registerShardPasses();

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_PASSES_H
