// The report of the solver: as a table for people, as JSON for programs.
#include "passes/shard/passes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace headrace::shard {

std::string ShardReport::toText() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "layouts on " << ranks << " ranks, topology " << topology << ": "
         << llvm::format("%.3e s, ", totalSeconds);
  if (layouts > 1) {
    stream << "the quickest of " << layouts << " layouts, "
           << llvm::format("sum %.3e s, ", sumSeconds);
  }
  stream << llvm::format("bound %.3e s, ", boundSeconds);
  if (nodes > 0) { // a forced layout has no bound
    stream << (gap() <= 1e-6 ? "optimal, " : llvm::formatv("gap {0:P}, ", gap()).str());
  }
  stream << reshards << " reshards, solved in " << llvm::format("%.1f ms\n", solveSeconds * 1e3);
  if (memoryBytes > memoryBytesMax) {
    stream << llvm::format("  memory: %.3g bytes on a rank, limit %.3g", memoryBytes,
                           memoryBytesMax)
           << (whyNothingFits.empty() ? "; nothing that fits was found" : "; " + whyNothingFits)
           << "\n";
  }
  for (const ShardChoice &choice : choices) {
    stream << "  " << choice.op << ": " << choice.strategy
           << llvm::format(" (%.2e s", choice.seconds);
    if (choice.reshardSeconds > 0) {
      stream << llvm::format(" + %.2e s moving %.3g bytes", choice.reshardSeconds,
                             choice.reshardBytes);
    }
    stream << ")";
    if (!choice.layout.empty()) {
      stream << " -> " << choice.layout;
    }
    if (!choice.runnerUp.empty()) {
      stream << "; next best: " << choice.runnerUp
             << llvm::format(", total %.3e s", choice.runnerUpTotalSeconds);
    }
    stream << "\n";
  }
  return text;
}

llvm::json::Value ShardReport::toJson() const {
  llvm::json::Array list;
  for (const ShardChoice &choice : choices) {
    llvm::json::Object object{{"op", choice.op},
                              {"place", choice.place},
                              {"strategy", choice.strategy},
                              {"layout", choice.layout},
                              {"seconds", choice.seconds},
                              {"reshard_bytes", choice.reshardBytes},
                              {"reshard_seconds", choice.reshardSeconds}};
    if (!choice.runnerUp.empty()) {
      object["runner_up"] = choice.runnerUp;
      object["runner_up_total_seconds"] = choice.runnerUpTotalSeconds;
    }
    list.push_back(std::move(object));
  }
  return llvm::json::Object{{"topology", topology},
                            {"ranks", ranks},
                            {"total_seconds", totalSeconds},
                            {"sum_seconds", sumSeconds},
                            {"layouts", layouts},
                            {"bound_seconds", boundSeconds},
                            {"gap", gap()},
                            {"solve_seconds", solveSeconds},
                            {"solve_rounds", solveRounds},
                            {"solver_nodes", nodes},
                            {"solver_nodes_left", nodesLeft},
                            {"memory_bytes", memoryBytes},
                            {"memory_bytes_max", memoryBytesMax},
                            {"why_nothing_fits", whyNothingFits},
                            {"reshards", reshards},
                            {"choices", std::move(list)}};
}

} // namespace headrace::shard
