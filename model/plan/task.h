// A task of a plan: what all have, and one struct of fields for each kind. Ids are indices into the
// vectors of Plan; kNone where there is nothing.
#pragma once

#include "model/plan/cardinality.h"

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace headrace::plan {

inline constexpr int32_t kNone = -1;

/// A key of an order: a field of a state, or a column of a stream.
struct OrderKey {
  int32_t field = kNone;
  bool descending = false;
  bool nullsFirst = false;
};

/// How a run task uses a state, in the order of the kernel's HrArgs.states.
enum class StateUse : uint8_t {
  kPerWorker, ///< each worker fills its own copy; merged (finished) when the task's input has ended
  kShared,    ///< finished earlier, read only (join table to probe)
};
struct StateArgument {
  int32_t state = kNone;
  StateUse use = StateUse::kPerWorker;
};

/// A table or literal rows to a stream of morsels; the stream's schema names the slot's columns.
struct LoadTask {
  int32_t slot = kNone;
  std::vector<int32_t> split = {}; ///< axes along which each rank reads its share; none: all of it
  int32_t outputStream = kNone;
  /// Ranks along `split` that have read their shares may take morsels from those that are behind.
  bool shared = false;
};

/// A tensor of the caller, each rank its part.
struct InputTask {
  int32_t slot = kNone;
  int32_t output = kNone; ///< buffer
};

/// A kernel over exactly one source: a stream, or the rows of a finished state.
struct RunTask {
  int32_t kernel = kNone;
  int32_t inputStream = kNone;
  int32_t sourceState = kNone;
  std::vector<StateArgument> states = {};
  int32_t outputStream = kNone; ///< none: the sink is a state
  bool partitioned = false; ///< the kernel fills an output for each part of its stream, or for each
                            ///< rank of the group of the hash exchange that reads them
  uint32_t part = 0; ///< its place among the writers of the stream, whose rows are in this order
  int32_t deviceKernel = kNone; ///< of a task that may run on a GPU: the kernel for that
};

enum class ExchangeKind : uint8_t {
  kHash,      ///< output i of the producing kernel goes to rank i of the group
  kBroadcast, ///< every chunk to every rank of it
  kGather,    ///< every chunk to its rank 0
  kRange,     ///< when all rows are there, each to the rank of its range of the order
};

/// What an exchange may do with the rows of a key that many rows have.
enum class HeavyRows : uint8_t {
  kStay,   ///< they go to the key's rank, like all others
  kSpread, ///< they go to any rank
  kCover,  ///< they go to any rank, and some to each
  kOnce,   ///< one of them is enough
};

/// A stream to other ranks of a group, and what comes from them.
struct ExchangeTask {
  ExchangeKind exchange = ExchangeKind::kHash;
  int32_t channel = kNone;        ///< of its own
  std::vector<int32_t> axes = {}; ///< of Plan.mesh: ranks that differ in these alone are its group
  int32_t inputStream = kNone;
  int32_t outputStream = kNone;
  std::vector<OrderKey> order = {}; ///< of kRange: by columns of the input stream
  /// Two exchanges by hash with the same number bring the sides of a join together; they agree on
  /// heavy keys. Where one spreads a key's rows, the other gives all of its rows to every rank.
  int32_t pair = kNone;
  HeavyRows heavy = HeavyRows::kStay; ///< of a pair
  std::vector<int32_t> keys = {};     ///< of kHash: the columns of the input stream that it is by
};

enum class CollectiveKind : uint8_t { kAllReduce, kAllGather, kReduceScatter, kAllToAll };
/// How elements are reduced.
enum class Reduction : uint8_t { kSum, kMax, kMin };

/// A buffer over the ranks of a group; what is gathered and scattered follows from how the buffers
/// are split.
struct CollectiveTask {
  CollectiveKind operation = CollectiveKind::kAllReduce;
  Reduction combine = Reduction::kSum; ///< of all_reduce and reduce_scatter
  std::vector<int32_t> axes = {};      ///< as of an exchange
  int32_t input = kNone;
  int32_t output = kNone;
};

/// With the meaning of ComputeTask.parameters.
enum class ComputeKind : uint8_t {
  kMatmul, ///< [left is transposed, right is transposed, dimensions of the batch], see matmul_job.h
  kKernel, ///< [operand, dimension] of the rows that morsels cut, counted from the inputs on;
           ///< none: one morsel. A Reduction behind them: each morsel writes an output of its own,
           ///< which are then combined
  kReshape, ///< none
  kSlice,   ///< of each dimension of the input the offset, then all sizes, then all strides; of the
            ///< whole tensors. Of an unknown extent all is taken. The output may lack dimensions of
            ///< one element, and have parts of those that are whole in the input
  kConcat,  ///< [dimension] along which the inputs follow each other
  kGather,  ///< none; of the first input, along its first dimension, what is at the places of the
            ///< second
};

/// A library call or a kernel over this rank's parts of buffers.
struct ComputeTask {
  ComputeKind operation = ComputeKind::kKernel;
  int32_t kernel = kNone; ///< of kKernel
  std::vector<int32_t> inputs = {};
  std::vector<int32_t> outputs = {};
  std::vector<int64_t> parameters = {};
};

/// Rows of a stream as buffers, aligned: their columns are those of the stream at `columns`, in
/// order.
struct ToTensorTask {
  int32_t inputStream = kNone;
  std::vector<int32_t> columns = {};
  std::vector<int32_t> outputs = {};
};

/// Memory for a state, in the state's tier, before it is filled.
struct ReserveTask {
  int32_t state = kNone;
  Cardinality bytes = {}; ///< minimum is static; expected p95
};

struct ReleaseTask {
  int32_t reservation = kNone; ///< the reserve task
};

/// One of two groups of tasks, by a hole.
struct ChooseTask {
  int32_t hole = kNone;
  uint64_t threshold = 0;
  std::vector<int32_t> thenTasks = {}; ///< hole <= threshold
  std::vector<int32_t> elseTasks = {};
};

/// A group of tasks that runs in rounds, each over some parts of the streams that are kept in
/// parts. States that only they use are new in each round, streams that only they read too; what
/// others read is complete after the last round.
struct RepeatTask {
  std::vector<int32_t> tasks = {};
  uint64_t roomBytes = UINT64_MAX; ///< for the states of a round, unless one part needs more
};

/// The chunks of a stream to the caller, on rank 0.
struct ResultTask {
  int32_t inputStream = kNone;
};

/// A buffer to the caller; it is kept to the end.
struct TensorResultTask {
  int32_t buffer = kNone;
};

/// In the order of TaskWork.
enum class TaskKind : uint8_t {
  kLoad,
  kInput,
  kRun,
  kExchange,
  kCollective,
  kCompute,
  kToTensor,
  kReserve,
  kRelease,
  kChoose,
  kRepeat,
  kResult,
  kTensorResult,
};
using TaskWork = std::variant<LoadTask, InputTask, RunTask, ExchangeTask, CollectiveTask,
                              ComputeTask, ToTensorTask, ReserveTask, ReleaseTask, ChooseTask,
                              RepeatTask, ResultTask, TensorResultTask>;

/// Where a task is worked on, which says what memory it can use (reaches in check_rules.h). A task
/// of a GPU is worked on by the CPU where the run has no GPU.
enum class Device : uint8_t { kCpu, kGpu };

/// Stages of a Step beside those of the kernel.
inline constexpr int32_t kStepSource = -1; ///< what comes in
inline constexpr int32_t kStepSink = -2;   ///< where it ends
inline constexpr int32_t kStepUncounted = -3;

/// An operator that a task works on or begins with: its rows are those that a selecting stage lets
/// through.
struct Step {
  int32_t op = kNone;
  int32_t stage = kStepSource;
};

struct Task {
  std::string name;
  TaskWork work;
  Device device = Device::kCpu;
  int32_t place = kNone;
  std::vector<int32_t> after; ///< tasks whose end this one waits for (tokens)
  std::vector<Step> steps;    ///< operators of the explanation, in the order of the rows

  TaskKind kind() const { return static_cast<TaskKind>(work.index()); }
  /// The fields of the kind, or null if it is another.
  template <typename Work> const Work *as() const { return std::get_if<Work>(&work); }
  template <typename Work> Work *as() { return std::get_if<Work>(&work); }

  // Its edges, whatever the kind; kNone or empty where it has none.
  int32_t slot() const;
  int32_t kernel() const;
  int32_t inputStream() const;
  int32_t outputStream() const;
  /// The state whose rows a run takes.
  int32_t sourceState() const;
  const std::vector<StateArgument> &states() const;
  /// Buffers that it computes with and writes. That of a tensor result is neither.
  std::span<const int32_t> inputs() const;
  std::span<const int32_t> outputs() const;
  /// Of a choose its two groups, of a repeat its tasks.
  std::vector<int32_t> body() const;
  /// Of a run that fills an output a rank.
  bool partitioned() const;
};

} // namespace headrace::plan
