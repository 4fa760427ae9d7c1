// Rules over single tasks of a plan: ids, operands, the tiers that their devices reach, groups of a
// choice.
#include "model/plan/check_rules.h"
#include "model/plan/mesh.h"

#include <algorithm>
#include <limits>

namespace headrace::plan {
namespace {

/// What the rules over one task share.
class TaskChecker {
public:
  TaskChecker(const Plan &plan, int32_t index)
      : plan_(plan), index_(index), task_(plan.tasks[index]) {}

  /// Every id that is set; ids that the kind needs are asked for by checkOperands.
  Status checkIds() const {
    HR_RETURN_IF_ERROR(one("place", task_.place, plan_.places.size()));
    HR_RETURN_IF_ERROR(one("slot", task_.slot(), plan_.slots.size()));
    HR_RETURN_IF_ERROR(one("kernel", task_.kernel(), plan_.kernels.size()));
    if (const auto *run = task_.as<RunTask>()) {
      HR_RETURN_IF_ERROR(one("kernel", run->deviceKernel, plan_.kernels.size()));
    }
    HR_RETURN_IF_ERROR(one("stream", task_.inputStream(), plan_.streams.size()));
    HR_RETURN_IF_ERROR(one("stream", task_.outputStream(), plan_.streams.size()));
    HR_RETURN_IF_ERROR(one("state", task_.sourceState(), plan_.states.size()));
    HR_RETURN_IF_ERROR(all("task", task_.after, plan_.tasks.size()));
    HR_RETURN_IF_ERROR(all("task", task_.body(), plan_.tasks.size()));
    HR_RETURN_IF_ERROR(all("buffer", task_.inputs(), plan_.buffers.size()));
    HR_RETURN_IF_ERROR(all("buffer", task_.outputs(), plan_.buffers.size()));
    for (const StateArgument &argument : task_.states()) {
      HR_RETURN_IF_ERROR(all("state", {&argument.state, 1}, plan_.states.size()));
    }
    if (const auto *reserve = task_.as<ReserveTask>()) {
      return one("state", reserve->state, plan_.states.size());
    }
    if (const auto *release = task_.as<ReleaseTask>()) {
      return one("task", release->reservation, plan_.tasks.size());
    }
    if (const auto *choose = task_.as<ChooseTask>()) {
      return one("hole", choose->hole, plan_.holes.size());
    }
    if (const auto *result = task_.as<TensorResultTask>()) {
      return one("buffer", result->buffer, plan_.buffers.size());
    }
    return {};
  }

  Status checkOperands() const {
    return std::visit([&](const auto &work) { return check(work); }, task_.work);
  }

  /// Memory that the device cannot use is no operand of the task.
  Status checkTiers() const {
    if (const auto *run = task_.as<RunTask>(); run && task_.device == Device::kGpu) {
      return checkTiersOnGpu(*run);
    }
    for (int32_t stream : {task_.inputStream(), task_.outputStream()}) {
      if (stream != kNone) {
        HR_RETURN_IF_ERROR(reached("stream", plan_.streams[stream]));
      }
    }
    if (task_.sourceState() != kNone) {
      HR_RETURN_IF_ERROR(reached("state", plan_.states[task_.sourceState()]));
    }
    for (const StateArgument &argument : task_.states()) {
      HR_RETURN_IF_ERROR(reached("state", plan_.states[argument.state]));
    }
    for (std::span<const int32_t> buffers : {task_.inputs(), task_.outputs()}) {
      for (int32_t buffer : buffers) {
        HR_RETURN_IF_ERROR(reached("buffer", plan_.buffers[buffer]));
      }
    }
    return {};
  }

private:
  Status one(const char *what, int32_t id, size_t count) const {
    return id == kNone ? Status() : all(what, {&id, 1}, count);
  }
  Status all(const char *what, std::span<const int32_t> ids, size_t count) const {
    for (int32_t id : ids) {
      if (!inRange(id, count)) {
        return ruleBroken(plan_, "range", index_, "no such ", what, ": ", id);
      }
    }
    return {};
  }
  Status need(bool condition, const char *what) const {
    return condition ? Status() : ruleBroken(plan_, "operands", index_, "needs ", what);
  }
  template <typename Memory> Status reached(const char *what, const Memory &memory) const {
    return reaches(task_.device, memory.tier)
               ? Status()
               : ruleBroken(plan_, "tiers", index_, "is a task of a device of kind ",
                            nameOf(task_.device), ", which does not reach the memory of ", what,
                            " '", memory.name, "': ", nameOf(memory.tier));
  }

  /// What comes from a stream of the host is copied to the GPU, and what it fills for the host is
  /// copied back; the rest must be there.
  Status checkTiersOnGpu(const RunTask &run) const {
    if (run.sourceState != kNone) {
      HR_RETURN_IF_ERROR(reached("state", plan_.states[run.sourceState]));
    }
    for (const StateArgument &argument : run.states) {
      const State &state = plan_.states[argument.state];
      if (argument.use == StateUse::kShared || state.tier != Tier::kHost) {
        HR_RETURN_IF_ERROR(reached("state", state));
      }
    }
    return run.outputStream == kNone ? Status()
                                     : reached("stream", plan_.streams[run.outputStream]);
  }

  /// Of a task of a GPU, and of the join states that it fills there.
  Status checkOnGpu(const RunTask &run) const {
    auto isForGpus = [&](int32_t kernel) {
      return kernel != kNone && plan_.kernels[kernel].threads > 0;
    };
    HR_RETURN_IF_ERROR(need(isForGpus(run.deviceKernel) == (task_.device == Device::kGpu),
                            "a kernel for GPUs if it is a task of one, and only then"));
    for (const StateArgument &argument : run.states) {
      const State &state = plan_.states[argument.state];
      bool linked = task_.device == Device::kGpu && state.kind == StateKind::kJoinTable &&
                    state.tier == Tier::kDevice;
      HR_RETURN_IF_ERROR(need(!linked || isForGpus(state.linkKernel),
                              "a kernel that links the rows of its joins"));
    }
    return {};
  }

  Status check(const LoadTask &load) const {
    HR_RETURN_IF_ERROR(need(load.slot != kNone, "a slot"));
    const Slot &slot = plan_.slots[load.slot];
    HR_RETURN_IF_ERROR(need(slot.kind != SlotKind::kTensor, "a slot of rows"));
    if (slot.kind == SlotKind::kValues) {
      bool whole = !slot.columns.empty() && slot.cells.size() % slot.columns.size() == 0 &&
                   slot.cells.size() / slot.columns.size() <= std::numeric_limits<uint32_t>::max();
      HR_RETURN_IF_ERROR(need(whole, "one cell per column in every row of its values"));
    }
    HR_RETURN_IF_ERROR(need(areAxes(plan_, load.split), "axes of the mesh that it is split over"));
    const Stretches &own = slot.stretches;
    HR_RETURN_IF_ERROR(need(own.column.empty()
                                ? own.cycle == 0 && own.axes.empty()
                                : own.cycle >= 1 && !own.axes.empty() && areAxes(plan_, own.axes),
                            "stretches of a key in a cycle, over axes of the mesh"));
    HR_RETURN_IF_ERROR(need(slot.pieceRows >= HR_TILE_ROWS, "pieces of at least 1024 rows"));
    return need(load.outputStream != kNone, "an output stream");
  }

  /// The slot of a tensor that lies on the ranks says what the buffer is.
  Status check(const InputTask &input) const {
    HR_RETURN_IF_ERROR(
        need(input.slot != kNone && plan_.slots[input.slot].kind == SlotKind::kTensor,
             "a slot of a tensor"));
    HR_RETURN_IF_ERROR(need(input.output != kNone, "an output buffer"));
    const Slot &slot = plan_.slots[input.slot];
    const Buffer &buffer = plan_.buffers[input.output];
    return need(!slot.resident || (slot.shape == buffer.shape && slot.element == buffer.element &&
                                   buffer.sizedBy == kNone),
                "a buffer that is what each rank has of its slot");
  }

  Status check(const RunTask &run) const {
    HR_RETURN_IF_ERROR(need(run.kernel != kNone, "a kernel"));
    HR_RETURN_IF_ERROR(need((run.inputStream != kNone) != (run.sourceState != kNone),
                            "exactly one source: a stream or a state"));
    HR_RETURN_IF_ERROR(
        need(run.outputStream != kNone || !run.states.empty(), "a state or an output stream"));
    HR_RETURN_IF_ERROR(
        need(!run.partitioned || run.outputStream != kNone, "an output stream, being partitioned"));
    return checkOnGpu(run);
  }

  Status checkGroup(const std::vector<int32_t> &axes) const {
    return need(!axes.empty() && areAxes(plan_, axes) && std::is_sorted(axes.begin(), axes.end()),
                "axes of the mesh that it goes over, in their order");
  }

  Status check(const ExchangeTask &exchange) const {
    HR_RETURN_IF_ERROR(need(exchange.inputStream != kNone && exchange.outputStream != kNone &&
                                exchange.channel >= 0,
                            "an input stream, an output stream and a channel"));
    HR_RETURN_IF_ERROR(need((exchange.exchange == ExchangeKind::kRange) != exchange.order.empty(),
                            "an order if it is by range, and only then"));
    size_t columns = plan_.streams[exchange.inputStream].schema.columns.size();
    for (const OrderKey &key : exchange.order) {
      HR_RETURN_IF_ERROR(need(inRange(key.field, columns), "an order by columns of its stream"));
    }
    for (int32_t key : exchange.keys) {
      HR_RETURN_IF_ERROR(need(inRange(key, columns), "keys among the columns of its stream"));
    }
    bool paired = exchange.pair != kNone;
    HR_RETURN_IF_ERROR(need(exchange.keys.empty() || exchange.exchange == ExchangeKind::kHash,
                            "an exchange by hash if it has keys"));
    HR_RETURN_IF_ERROR(need(paired ? exchange.pair >= 0 && !exchange.keys.empty()
                                   : exchange.heavy == HeavyRows::kStay,
                            "keys if it is one of a pair, and heavy rows only then"));
    HR_RETURN_IF_ERROR(need(!plan_.movableKeys || exchange.exchange != ExchangeKind::kHash ||
                                exchange.axes == allAxes(plan_),
                            "to go over all ranks where keys are movable"));
    return checkGroup(exchange.axes);
  }

  Status check(const CollectiveTask &collective) const {
    HR_RETURN_IF_ERROR(need(collective.input != kNone && collective.output != kNone,
                            "an input and an output buffer"));
    const Buffer &from = plan_.buffers[collective.input];
    const Buffer &to = plan_.buffers[collective.output];
    HR_RETURN_IF_ERROR(need(from.element == to.element && from.shape == to.shape,
                            "buffers of the same shape and element"));
    HR_RETURN_IF_ERROR(checkGroup(collective.axes));
    // Dimensions that become whole over the group, and that it divides.
    std::vector<int32_t> gathered;
    std::vector<int32_t> scattered;
    for (int32_t d = 0; d < static_cast<int32_t>(from.shape.size()); ++d) {
      const Split *before = from.splitOf(d);
      const Split *after = to.splitOf(d);
      std::vector<int32_t> had = before ? before->axes : std::vector<int32_t>();
      std::vector<int32_t> has = after ? after->axes : std::vector<int32_t>();
      if (had == has) {
        continue;
      }
      std::vector<int32_t> &longer = had.size() > has.size() ? had : has;
      std::vector<int32_t> &shorter = had.size() > has.size() ? has : had;
      (&longer == &had ? gathered : scattered).push_back(d);
      shorter.insert(shorter.end(), collective.axes.begin(), collective.axes.end());
      HR_RETURN_IF_ERROR(
          need(shorter == longer, "dimensions whose split differs by the axes of its group"));
      bool ragged = (before && before->ragged) || (after && after->ragged);
      HR_RETURN_IF_ERROR(need(!ragged || collective.operation == CollectiveKind::kAllGather,
                              "parts of equal size, being no all_gather"));
    }
    auto moves = [&](size_t gathers, size_t scatters) {
      return gathered.size() == gathers && scattered.size() == scatters;
    };
    switch (collective.operation) {
    case CollectiveKind::kAllReduce:
      return need(moves(0, 0), "buffers that are split alike");
    case CollectiveKind::kAllGather:
      return need(moves(1, 0), "a dimension to gather, and no more");
    case CollectiveKind::kReduceScatter:
      return need(moves(0, 1), "a dimension to scatter, and no more");
    case CollectiveKind::kAllToAll:
      return need(moves(1, 1), "a dimension to gather and one to scatter");
    }
    return {};
  }

  Status check(const ComputeTask &compute) const {
    const std::vector<int64_t> &parameters = compute.parameters;
    HR_RETURN_IF_ERROR(need(!compute.outputs.empty(), "an output buffer"));
    HR_RETURN_IF_ERROR(
        need((compute.kernel != kNone) == (compute.operation == ComputeKind::kKernel),
             "a kernel if it is kernel, and only then"));
    bool oneToOne = compute.inputs.size() == 1 && compute.outputs.size() == 1;
    switch (compute.operation) {
    case ComputeKind::kMatmul: {
      HR_RETURN_IF_ERROR(need(compute.inputs.size() == 2 && compute.outputs.size() == 1,
                              "two input buffers and one output buffer"));
      HR_RETURN_IF_ERROR(need(parameters.size() == 3 && parameters[2] >= 0,
                              "to know of each input whether it is transposed, and its batch"));
      size_t batch = static_cast<size_t>(parameters[2]);
      auto dimensions = [&](int32_t buffer) { return plan_.buffers[buffer].shape.size(); };
      size_t left = dimensions(compute.inputs[0]), right = dimensions(compute.inputs[1]);
      return need(left >= batch + 2 && right == batch + 2 &&
                      dimensions(compute.outputs[0]) == left &&
                      (parameters[0] == 0 || left == batch + 2),
                  "matrices behind the dimensions of the batch");
    }
    case ComputeKind::kKernel:
      return need(parameters.empty() || cutsRows(compute),
                  "an operand and its dimension to cut into morsels");
    case ComputeKind::kReshape:
      return need(oneToOne && parameters.empty(), "one input and one output buffer");
    case ComputeKind::kSlice:
      HR_RETURN_IF_ERROR(need(oneToOne, "one input and one output buffer"));
      return need(
          isSlice(plan_.buffers[compute.inputs[0]], plan_.buffers[compute.outputs[0]], parameters),
          "an output that is what its offsets, sizes and strides take of the input");
    case ComputeKind::kConcat: {
      std::vector<const Buffer *> inputs;
      for (int32_t input : compute.inputs) {
        inputs.push_back(&plan_.buffers[input]);
      }
      return need(!inputs.empty() && compute.outputs.size() == 1 && parameters.size() == 1 &&
                      isConcat(inputs, plan_.buffers[compute.outputs[0]], parameters[0]),
                  "an output that is its inputs, one after another along its dimension");
    }
    case ComputeKind::kGather:
      return need(compute.inputs.size() == 2 && compute.outputs.size() == 1 && parameters.empty() &&
                      isGather(plan_.buffers[compute.inputs[0]], plan_.buffers[compute.inputs[1]],
                               plan_.buffers[compute.outputs[0]]),
                  "an output that has for each of its places what its source has there");
    }
    return {};
  }

  bool cutsRows(const ComputeTask &compute) const {
    std::vector<int32_t> operands = compute.inputs;
    operands.insert(operands.end(), compute.outputs.begin(), compute.outputs.end());
    const std::vector<int64_t> &parameters = compute.parameters;
    bool combines = parameters.size() == 3 && compute.outputs.size() == 1 && parameters[2] >= 0 &&
                    parameters[2] <= static_cast<int64_t>(Reduction::kMin);
    if ((parameters.size() != 2 && !combines) || parameters[0] < 0 ||
        parameters[0] >= static_cast<int64_t>(operands.size())) {
      return false;
    }
    size_t dimensions = plan_.buffers[operands[parameters[0]]].shape.size();
    return parameters[1] >= 0 && parameters[1] < static_cast<int64_t>(dimensions);
  }

  Status check(const ToTensorTask &rows) const {
    HR_RETURN_IF_ERROR(need(rows.inputStream != kNone, "an input stream"));
    HR_RETURN_IF_ERROR(need(!rows.outputs.empty(), "an output buffer"));
    for (int32_t column : rows.columns) {
      HR_RETURN_IF_ERROR(
          need(inRange(column, plan_.streams[rows.inputStream].schema.columns.size()),
               "columns of its stream"));
    }
    size_t columns = 0;
    for (int32_t output : rows.outputs) {
      const std::vector<int64_t> &shape = plan_.buffers[output].shape;
      HR_RETURN_IF_ERROR(need(shape.size() == 1 || (shape.size() == 2 && shape[1] >= 0),
                              "buffers of rows, and of columns that are known"));
      columns += shape.size() == 1 ? 1 : static_cast<size_t>(shape[1]);
    }
    return need(columns == rows.columns.size(), "as many columns as its buffers have");
  }

  Status check(const ReserveTask &reserve) const { return need(reserve.state != kNone, "a state"); }

  Status check(const ReleaseTask &release) const {
    return need(release.reservation != kNone && plan_.tasks[release.reservation].as<ReserveTask>(),
                "the reserve task that it ends");
  }

  Status check(const ChooseTask &choose) const { return need(choose.hole != kNone, "a hole"); }

  Status check(const RepeatTask &repeat) const {
    HR_RETURN_IF_ERROR(need(!repeat.tasks.empty(), "tasks"));
    for (int32_t inner : repeat.tasks) {
      const Task &task = plan_.tasks[inner];
      bool local = task.as<RunTask>() || task.as<ReserveTask>() || task.as<ReleaseTask>();
      HR_RETURN_IF_ERROR(need(local, "runs and reservations only"));
    }
    return {};
  }

  Status check(const ResultTask &result) const {
    return need(result.inputStream != kNone, "an input stream");
  }

  Status check(const TensorResultTask &result) const {
    HR_RETURN_IF_ERROR(need(result.buffer != kNone, "a buffer"));
    const std::vector<Split> &splits = plan_.buffers[result.buffer].splits;
    bool even = std::ranges::none_of(splits, [](const Split &split) { return split.ragged; });
    return need(splits.empty() || (plan_.resident && even),
                "a buffer that is whole on each rank, or in even parts if the result stays there");
  }

  const Plan &plan_;
  const int32_t index_;
  const Task &task_;
};

Status checkRegions(const Plan &plan) {
  std::vector<int32_t> owner(plan.tasks.size(), kNone);
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    auto index = static_cast<int32_t>(t);
    for (int32_t inner : plan.tasks[t].body()) {
      if (inner == index || owner[inner] != kNone) {
        return ruleBroken(plan, "region", index,
                          "a task of its body is in another body too: ", describeTask(plan, inner));
      }
      owner[inner] = index;
    }
  }
  return {};
}

} // namespace

Status checkTasks(const Plan &plan) {
  auto count = static_cast<int32_t>(plan.tasks.size());
  for (int32_t t = 0; t < count; ++t) {
    HR_RETURN_IF_ERROR(TaskChecker(plan, t).checkIds());
  }
  for (int32_t t = 0; t < count; ++t) {
    HR_RETURN_IF_ERROR(TaskChecker(plan, t).checkOperands());
  }
  for (int32_t t = 0; t < count; ++t) {
    HR_RETURN_IF_ERROR(TaskChecker(plan, t).checkTiers());
  }
  return checkRegions(plan);
}

} // namespace headrace::plan
