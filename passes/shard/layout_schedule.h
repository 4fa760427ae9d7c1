// How long a program takes under a choice of layouts if what need not wait for each other passes at
// the same time, as in a run. The solver's cost is a sum, in which nothing overlaps.
#ifndef HEADRACE_PASSES_SHARD_LAYOUT_SCHEDULE_H
#define HEADRACE_PASSES_SHARD_LAYOUT_SCHEDULE_H

#include "passes/shard/run_time_choices.h"
#include "passes/shard/shard_program.h"

#include <algorithm>
#include <map>

namespace headrace::shard {

/// Ops and reshards as stages of pipelines, whose rows come in chunks: the first of them a stage
/// hands on when it has worked on it, the last when it has worked on all. What fills a state (the
/// right side of a join, groups, an order) hands nothing on before its end. A scan reads only some
/// chunks ahead of a join that still waits for its table, and the rest when that has begun. Storage
/// is shared by scans, messages and links by reshards in the order in which they are ready.
///
/// Keeps a reference to the program and what reshards cost; one thread at a time.
class LayoutSchedule {
public:
  explicit LayoutSchedule(ShardProgram &program);

  /// Whether anything overlaps: not where ranks share the cores of one machine.
  bool overlaps() const { return !program_.context().model.workers().shared(); }
  /// Whether a join may decide at run time between a broadcast and a shuffle.
  enum class Ways : uint8_t { kOpen, kFixed };
  /// Seconds of the program under a choice without forbidden parts; the sum if nothing overlaps.
  double secondsOf(const solve::Choice &choice, Ways ways = Ways::kOpen);

private:
  /// When rows of a value are there, in seconds from the start.
  struct Arrival {
    double first = 0;
    double last = 0;
    double lastAhead = 0; ///< of those that come before a reader that is late has begun
    double chunks = 1;
    int32_t pipeline = -1; ///< of the device that makes them; -1 if none has begun with them
    double supply = 0;     ///< seconds of the storage or links before that take longest
    double ahead = 0;      ///< chunks by which those are ahead of a reader that has not begun
    int32_t scan = -1;     ///< its work among that of the storage; -1 if they come from no file
    double scanAhead = 0;  ///< chunks by which that is ahead

    static Arrival atOnce(double time, double chunks) { return {time, time, time, chunks}; }
    /// What is left of the supply when its reader begins, if that is late.
    double behind() const { return supply * std::max(0.0, chunks - ahead) / chunks; }
  };
  class Run;

  const ReshardCost &reshard(size_t edge, const solve::Choice &choice);

  ShardProgram &program_;
  RunTimeChoices runTimeChoices_;
  std::vector<llvm::SmallVector<int32_t, 2>> edgesInto_; ///< by node
  std::vector<llvm::SmallVector<int32_t, 1>> waitsFor_;  ///< by node: nodes of other operands
  std::map<std::tuple<size_t, int32_t, int32_t>, ReshardCost> reshards_;
};

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_LAYOUT_SCHEDULE_H
