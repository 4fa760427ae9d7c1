// The class that makes a graph of a plan, for the files that it is written in: plan_graph.cpp
// (tasks in order, edges), plan_streams.cpp (writers, credits), plan_table_tasks.cpp,
// plan_exchanges.cpp, plan_tensor_tasks.cpp, plan_worker_tasks.cpp, plan_spills.cpp.
#pragma once

#include "model/cost/movement.h"
#include "model/plan/precedence.h"
#include "model/simulate/graph.h"
#include "model/simulate/rank_class.h"
#include "model/simulate/workload.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace headrace::simulate {

using plan::Task;
using plan::TaskKind;
using topology::CollectiveKind;
using topology::Level;

/// Where the rows of a stream are.
enum class Distribution : uint8_t { kEven, kReplicated, kFirstRank };

constexpr double kNotKnown = -1;

/// Of a row in memory, with its texts; at least 1.
double rowBytes(const plan::Stream &stream);
/// Likewise, in a message.
double wireBytes(const plan::Stream &stream);

/// A task that writes a stream, and in how many chunks.
struct StreamWriter {
  int32_t task = kNone;
  int64_t chunks = 0; ///< 0: not added yet
};

struct StreamState {
  double rows = 0; ///< over all ranks; of a replicated one, of each
  Distribution distribution = Distribution::kEven;
  double copies = 1;             ///< ranks that have the same rows; only if kEven
  Weight weight = Weight::kEven; ///< which ranks have more of it; only if kEven
  double fullest =
      1; ///< rows of the fullest rank against the mean, if it is not known which; only if kEven
  int64_t chunks = 1; ///< as who reads it takes them
  std::vector<StreamWriter>
      writers; ///< their chunks come one writer after the other, in this order
};

class PlanGraph {
public:
  PlanGraph(const plan::Plan &plan, const topology::Topology &topology, const Workload &workload)
      : plan_(plan), topology_(topology), workload_(workload), streams_(plan.streams.size()),
        consumer_(plan.streams.size(), kNone), ordered_(cost::orderedStreams(plan)),
        precedences_(plan::precedences(plan)), skipped_(plan.tasks.size(), false),
        waits_(plan.tasks.size()) {}

  Expected<Graph> make();

private:
  using Chunks = std::vector<int32_t>;  // activities of one task on one class
  using PerClass = std::vector<Chunks>; // of one task
  void decideBranches();
  std::vector<int32_t> order() const;
  /// Those that wait for fewer pipelines come first.
  void sortWriters(const std::vector<int32_t> &sorted);
  Status addTask(int32_t id);
  Status addLoad(int32_t id);
  void addRun(int32_t id);
  // plan_exchanges.cpp
  void addExchange(int32_t id);
  /// A part of a movement of all ranks.
  Activity moved(int32_t id, size_t chunk, size_t chunks, const cost::Movement &movement) const;
  /// The groups of ranks that differ along these axes alone.
  const cost::RankGroups &groupsOver(const std::vector<int32_t> &axes);
  /// All of a movement, in so many chunks.
  void addMovement(int32_t id, size_t chunks, const cost::Movement &movement, double rowsError);
  void addCollective(int32_t id);
  void addCompute(int32_t id);
  void addMarker(int32_t id);
  void addTensorLoad(int32_t id);

  Activity activityOf(int32_t id, size_t chunk, size_t chunks) const;
  /// Appends; adds the edges to `after`, to the chunk before and to the chunks of the input.
  int32_t append(Activity activity, int32_t id, size_t rankClass, size_t chunk);
  /// The activity in the graph; nothing waits for it yet.
  int32_t place(Activity activity);
  /// Waits for the tasks before.
  void waitForTasks(int32_t id, Activity &activity) const;
  /// Of what the state of a reservation needs, the part that its tier has no room for, 0 to 1.
  double spilledPart(const plan::ReserveTask &reserve, const RankClass &on) const;
  /// Behind the chunks of a task that fills states: what does not fit is written away.
  void addSpillWrites(int32_t id);
  /// Before the chunks of a task that reads states: what was written away comes back.
  void addSpillReads(int32_t id, size_t rankClass, Activity &firstChunk);
  const plan::ReserveTask *reservationOf(int32_t state) const;
  // plan_streams.cpp: streams between tasks.
  /// Sets what a task writes into its stream, or adds it to what others write there.
  void write(int32_t id, const StreamState &made);
  /// The part of a stream's rows that a task is thought to write, 0 to 1.
  double writtenPart(int32_t id) const;
  /// The activities of a class that fill a stream, in the order in which they are taken to arrive.
  Chunks arrivals(const StreamState &stream, size_t rankClass) const;
  /// What a chunk of a task waits for of its input stream.
  void waitForInput(int32_t id, size_t rankClass, size_t chunk, Activity &activity) const;
  /// Writers wait until the reader has taken what was a credit before.
  void addBackPressure(int32_t stream);

  /// One activity for all classes.
  void appendCommon(Activity activity, int32_t id, size_t chunk);
  void kernel(int32_t id, size_t rankClass, size_t chunk, size_t chunks,
              const cost::KernelWork &work, double perDevice);
  // plan_worker_tasks.cpp: tasks of CPU ranks in one process (Workload::threads).
  cost::Workers workers() const { return {workload_.threads, workload_.ranks}; }
  bool hasWorkers() const { return workers().shared(); }
  const topology::DeviceType &device(size_t rankClass) const {
    return *classes_[rankClass].deviceType;
  }
  double overhead(size_t rankClass, const char *term) const {
    return cost::secondsOf(device(rankClass), {{term, 1}});
  }
  /// Seconds of what the thread that polls all ranks does for each of them.
  double polledSeconds(size_t rankClass, const cost::Terms &terms) const {
    return cost::secondsOf(device(rankClass), terms) * static_cast<double>(workload_.ranks);
  }
  using Others = cost::Workers::Others;
  /// Seconds of one core, on at most `parallel` of them at once.
  Activity onCores(int32_t id, size_t rankClass, size_t chunk, size_t chunks, double coreSeconds,
                   double parallel, Others others) const;
  /// Of `source` rows those that each selecting stage of a run task is estimated to let through.
  std::vector<double> throughStages(const Task &task, double source) const;
  /// The same, with what is known of the rows that it makes or keeps in place of the last.
  std::vector<double> stageRows(const Task &task, double source, double outRows) const;
  /// Bytes of a row that a run task takes in: of pages, or of a chunk.
  double sourceBytes(const Task &task) const;
  cost::TaskRows taskRows(int32_t id, const StreamState &source, double outRows) const;
  /// Rows that a task without an output lets through, if it was not run: those that its state
  /// keeps.
  double rowsThrough(const Task &task, double otherwise) const;
  void addWorkerLoad(int32_t id, StreamState stream);
  void addWorkerRun(int32_t id, const StreamState &source, double outRows);
  void addWorkerExchange(int32_t id, const StreamState &source);
  void addWorkerCollective(int32_t id);
  void addWorkerCompute(int32_t id);
  void addWorkerTensorLoad(int32_t id);
  /// What a run takes before its first tasks.
  void addRunOverhead();

  /// Rows of one rank.
  double share(const StreamState &stream) const {
    return stream.distribution == Distribution::kEven
               ? stream.fullest * stream.rows * stream.copies / static_cast<double>(workload_.ranks)
               : stream.rows;
  }
  int64_t chunksFor(double rowsOfRank, uint32_t chunkRows) const {
    double real = std::ceil(rowsOfRank / std::max<uint32_t>(chunkRows, 1));
    return std::clamp<int64_t>(static_cast<int64_t>(std::min(real, 1e9)), 1, workload_.chunksMax);
  }
  /// Rows over all ranks (of a stream that is not even, of each): given, else as the compiler
  /// estimated, else `otherwise`.
  double rowsOf(int32_t stream, const StreamState &like, double otherwise) const;
  /// Into how many parts a table is divided for the ranks that load it. Of its stretches of a key a
  /// rank reads hardly more than a part.
  double partsOf(const plan::LoadTask &load, int64_t ranks) const;
  /// The given rows of slots over those that the plan was made for; 1 where it does not say.
  double rowsScale() const;
  /// Of one rank of a class.
  double shareOf(const StreamState &stream, const RankClass &on) const {
    return share(stream) *
           (stream.distribution == Distribution::kEven ? on.weight(stream.weight) : 1);
  }
  /// Classes that run a task whose input is distributed so: all, or the first alone.
  size_t classCount(Distribution distribution) const {
    return distribution == Distribution::kFirstRank ? 1 : classes_.size();
  }

  const plan::Plan &plan_;
  const topology::Topology &topology_;
  const Workload &workload_;
  Graph graph_;
  std::vector<RankClass> classes_;
  std::vector<cost::NodeRun> runs_;
  std::vector<int32_t> links_; ///< as Classes::links
  int32_t messages_ = kNone;   ///< what sends messages on the rank with most of them, as a resource
  std::map<std::vector<int32_t>, cost::RankGroups> groups_; ///< by axes
  double doublingBytesMax_ = cost::doublingBytesMax();
  std::vector<StreamState> streams_;
  std::vector<int32_t> consumer_;
  std::map<int32_t, double> ordered_; ///< cost::orderedStreams
  std::vector<int32_t> precedences_;  ///< by task
  std::vector<bool> skipped_;
  std::vector<std::vector<int32_t>> waits_; // `after`, and the choose whose body it is in
  std::vector<PerClass> chunksOf_;
  double rowsScale_ = 1;
  double planRanks_ = 1;
};

} // namespace headrace::simulate
