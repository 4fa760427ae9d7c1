// Layouts near the cheapest, found by ruling out what was found before, in the order of the time
// that they are thought to take.
#ifndef HEADRACE_PASSES_SHARD_NEAR_LAYOUTS_H
#define HEADRACE_PASSES_SHARD_NEAR_LAYOUTS_H

#include "passes/shard/layout_schedule.h"

#include <set>

namespace headrace::shard {

/// The solver adds up what may pass at the same time, so a layout that it finds dearer may be
/// quicker. From its solution on, the quickest layout not looked at, and then the cheapest, is
/// solved again without the strategy (all with that label) of one of its ops, for each of those
/// that take longest.
class NearLayouts {
public:
  struct Layouts {
    solve::Choice choice;
    double seconds = 0; ///< LayoutSchedule::secondsOf
  };

  /// Keeps a reference to the program. `options` as of solve::solve.
  NearLayouts(ShardProgram &program, solve::SolveOptions options);

  /// Begins with the solver's own; looks for a fixed number of solutions (where nothing overlaps,
  /// for those next to it), and until `count` others are known or no more are found.
  void search(const solve::Choice &solved, size_t count);

  /// Those found, the quickest first. A layout that is not clearly quicker than the solver's comes
  /// after it.
  llvm::ArrayRef<Layouts> found() const { return found_; }
  /// The quickest that was found in which a node has none of these labels; null if there is none.
  const Layouts *without(int32_t node, llvm::StringRef label) const;

private:
  /// A node and the label that it must not have.
  using Exclusion = std::pair<int32_t, std::string>;
  struct Open {
    solve::Choice choice;
    double seconds = 0;
    double sum = 0;
    std::set<Exclusion> without;
  };

  llvm::SmallVector<int32_t> longest(const solve::Choice &choice);
  void branch(const Open &from);
  void add(solve::Choice choice, std::set<Exclusion> without);
  solve::Problem restricted(const std::set<Exclusion> &without) const;

  ShardProgram &program_;
  LayoutSchedule schedule_;
  solve::SolveOptions options_;
  size_t solutions_ = 0;
  std::vector<Open> open_;
  std::set<solve::Choice> known_;
  std::vector<Layouts> found_;
};

} // namespace headrace::shard

#endif // HEADRACE_PASSES_SHARD_NEAR_LAYOUTS_H
