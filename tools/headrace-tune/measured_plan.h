// A plan directory run a few times on this machine: seconds and rows of its tasks.
#pragma once

#include "model/cost/task_time.h"
#include "runtime/exec/plan_directory.h"
#include "runtime/exec/program.h"
#include "runtime/storage/storage.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::tune {

/// One task, over all ranks, in the quickest run of its plan. Not its least over all runs: those do
/// not come together, and a plan made of them would be quicker than any run.
struct MeasuredTask {
  double busySeconds = 0;   ///< of all workers together, without loading
  double loadSeconds = 0;   ///< likewise, getting morsels
  double finishSeconds = 0; ///< of cores, on the rank with most
  double passedSeconds = 0; ///< from start to end; likewise
  cost::TaskRows sum;       ///< over ranks; `states` of one rank
  cost::TaskRows most;      ///< of the rank with most rows
};

struct MeasuredPlan {
  std::string name; ///< of the directory, without ".plan"
  std::shared_ptr<const exec::Program> program;
  int64_t ranks = 1;
  double seconds = 0; ///< the least of the runs
  std::vector<double> allSeconds;
  std::map<int32_t, MeasuredTask> tasks;
  plan::Plan counted; ///< the program's, with what a run counted in place of estimates

  const plan::Plan &plan() const { return counted; }
  /// Further runs of the same plan.
  void add(const MeasuredPlan &more);
};

/// Purpose: runs plans, each in a session of its own, with files kept open between them. Not
/// thread-safe.
class Measurer {
public:
  explicit Measurer(int threads);
  int threads() const { return threads_; }
  /// Tables are the files that the plan was compiled against; tensors are filled with small
  /// numbers.
  /// So many runs after one that is not counted: of every plan as many, since the least of few is
  /// more than that of many.
  Expected<MeasuredPlan> measure(const std::string &directory, int runs);

private:
  int threads_;
  std::shared_ptr<storage::Storage> storage_;
};

/// A plan with its name, its program and its estimates, not run yet.
Expected<MeasuredPlan> unmeasuredPlan(const std::string &directory);
/// The directories NAME.plan in a directory, by name; a directory that is a plan itself is alone.
Expected<std::vector<std::string>> planDirectories(const std::string &path);

} // namespace headrace::tune
