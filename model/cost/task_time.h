// Units of work of the tasks of a plan by term: what its kernels say that they do, and the
// functions of row_work.h and tensor_work.h.
#pragma once

#include "model/cost/row_work.h"
#include "model/cost/terms.h"
#include "model/plan/mesh.h"
#include "model/plan/plan.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace headrace::cost {

/// What one rank's part of a task handles. Counts of a run, or estimates.
struct TaskRows {
  double source = 0;
  std::vector<double>
      stages; ///< let through by each selecting stage; missing ones: as the one before
  std::vector<double> states; ///< rows of each of the task's states, in their order
  double bytes = 0;           ///< loaded or sent
  double pieces = 0;          ///< morsels or chunks
  double lanes = 1;           ///< copies that a state is filled in
  double ranks = 1;           ///< whose rows these are
  double copies = 1;          ///< ranks of the process, each with such states and rows
  RowOrder order = RowOrder::kNone;
  double orderExtent = 0; ///< of the column that they are in the order of: its range of values

  /// All ranks' rows, as a multiple of these.
  double sharing() const { return copies / ranks; }
};

/// What lanes do for a run task with the morsels that they have, to sealing its chunks. Empty if
/// the plan does not say what its kernel does.
Terms runTerms(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows);
/// Loading of its morsels, where its rows come from files.
Terms loadTerms(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows);
/// What ends the states that a task fills, which all lanes share: merging, building the directory,
/// sorting.
Terms finishTerms(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows);
/// Taking, encoding and decoding of an exchange's rows.
Terms exchangeTerms(const plan::Plan &plan, const plan::Task &task, const TaskRows &rows,
                    int64_t ranks);
/// One rank's part of a tensor task, library call or kernel.
Terms computeTerms(const plan::Plan &plan, const plan::Task &task, int64_t ranks);
/// The same, of a device with its own memory.
KernelWork computeWork(const plan::Plan &plan, const plan::Task &task, int64_t ranks);
/// One rank's part of a tensor that the caller bound, copied if it lies in several pieces.
Terms tensorLoadTerms(const plan::Plan &plan, const plan::Task &task, int64_t ranks);
/// Which collective a collective task is.
topology::CollectiveKind collectiveOf(const plan::Task &task);
/// One rank's part of a collective between ranks of one process.
Terms collectiveTerms(const plan::Plan &plan, const plan::Task &task, int64_t ranks);

/// The bytes of a buffer that one of `ranks` ranks has, on average.
double localBytes(const plan::Plan &plan, const plan::Buffer &buffer, int64_t ranks);
/// Of several buffers, by their numbers.
double localBytes(const plan::Plan &plan, std::span<const int32_t> buffers, int64_t ranks);

/// Streams whose rows come in the order of an integer column, by and large: the range of its
/// values. Kernels and exchanges keep the order of the slot that their rows come from.
std::map<int32_t, double> orderedStreams(const plan::Plan &plan);

/// Something measured that takes the sum of its units times what each takes: a part of a task.
struct TaskSample {
  Terms terms;
  double seconds = 0;
  double weight = 1; ///< samples that it counts for
};

/// Seconds a unit that explain the samples: not negative, least mean error of the logarithm
/// (samples weigh as the root of their seconds), leaning to `prior` (relative to it, with this
/// strength: how many samples it is worth).
std::map<std::string, double> fitTerms(const std::vector<TaskSample> &samples,
                                       const std::map<std::string, double> &prior,
                                       double priorStrength);

} // namespace headrace::cost
