// Rules over single elements of a plan: versions, ranges, layouts, operands, regions.
#include "model/plan/check.h"

#include "runtime/abi/type_bytes.h"
#include "model/plan/check_rules.h"

#include <algorithm>
#include <cmath>

namespace headrace::plan {
namespace {

Status checkVersion(const Plan &plan) {
  if (plan.schemaMajor != kSchemaMajor) {
    return makeError(ErrorKind::kMismatch, "rule version: plan schema: this build runs version ",
                     kSchemaMajor, ", recompile the program; got ", plan.schemaMajor);
  }
  if (plan.abiVersion != HR_ABI_VERSION) {
    return makeError(ErrorKind::kMismatch, "rule version: kernel ABI: this build runs version ",
                     HR_ABI_VERSION, ", recompile the program; got ", plan.abiVersion);
  }
  if (!plan.kernels.empty() && plan.importsHash != importsHashText()) {
    return makeError(ErrorKind::kMismatch, "rule version: imports: this build offers catalogue ",
                     importsHashText(), ", recompile the program; got \"", plan.importsHash, "\"");
  }
  for (const char *known : {"x86-64", "x86-64-v3", "x86-64-v4"}) {
    if (plan.isa == known) {
      return {};
    }
  }
  return makeError(ErrorKind::kMismatch, "rule version: unknown instruction set: ", plan.isa);
}

Status checkSizes(const Plan &plan) {
  for (size_t count :
       {plan.slots.size(), plan.states.size(), plan.streams.size(), plan.kernels.size(),
        plan.buffers.size(), plan.holes.size(), plan.tasks.size()}) {
    if (count > kElementsMax) {
      return ruleBroken(plan, "range", kNone, "a table of the plan has more than ", kElementsMax,
                        " elements, got ", count);
    }
  }
  for (const MeshAxis &axis : plan.mesh) {
    if (axis.size == 0) {
      return ruleBroken(plan, "range", kNone, "mesh axis is empty: ", axis.name);
    }
  }
  return {};
}

uint32_t headerBytes(StateKind kind) {
  switch (kind) {
  case StateKind::kGroupTable:
    return 8;
  case StateKind::kJoinTable:
    return 16;
  default:
    return 0;
  }
}

Status checkFields(const Plan &plan, const State &state, const std::string &subject) {
  std::vector<bool> used(state.rowBytes, false);
  std::fill_n(used.begin(), headerBytes(state.kind), true);
  auto take = [&](const StateField &field, uint64_t offset, uint32_t width) -> Status {
    if (offset + width > state.rowBytes) {
      return ruleBroken(plan, "layout", kNone, subject, "field '", field.name, "' ends at byte ",
                        offset + width, " of a row of ", state.rowBytes);
    }
    for (uint64_t i = offset; i < offset + width; ++i) {
      if (used[i]) {
        return ruleBroken(plan, "layout", kNone, subject, "field '", field.name,
                          "' overlaps another field or the header at byte ", i);
      }
      used[i] = true;
    }
    return {};
  };
  for (const StateField &field : state.fields) {
    HR_RETURN_IF_ERROR(take(field, field.offset, abi::bytesOf(field.type)));
    if (field.nullable) {
      HR_RETURN_IF_ERROR(take(field, field.validOffset, 1));
    }
  }
  return {};
}

Status checkState(const Plan &plan, size_t index) {
  const State &state = plan.states[index];
  std::string subject = detail::joinText("state ", index, " '", state.name, "': ");
  auto broken = [&](const char *rule, const auto &...parts) {
    return ruleBroken(plan, rule, kNone, subject, parts...);
  };
  if (state.kind == StateKind::kDictionary) {
    return {};
  }
  if (state.rowBytes > (1u << 20)) {
    return broken("layout", "a row of more than 1 MiB, got ", state.rowBytes);
  }
  if (state.rowBytes < std::max(headerBytes(state.kind), 1u)) {
    return broken("layout", "row too short for its header, got ", state.rowBytes);
  }
  if (!state.identity.empty() && state.identity.size() != state.rowBytes) {
    return broken("layout", "identity of ", state.rowBytes, " bytes expected, got ",
                  state.identity.size());
  }
  for (int32_t kernel : {state.mergeKernel, state.compareKernel}) {
    if (kernel != kNone && !inRange(kernel, plan.kernels.size())) {
      return broken("range", "no such kernel: ", kernel);
    }
  }
  if (state.kind == StateKind::kSortBuffer && state.compareKernel == kNone) {
    return broken("operands", "a sort buffer needs a compareKernel");
  }
  if (state.direct) {
    bool integral = state.directKeyType >= HR_I8 && state.directKeyType <= HR_I64;
    if (state.kind != StateKind::kJoinTable || !integral ||
        uint64_t(state.directKeyOffset) + abi::bytesOf(state.directKeyType) > state.rowBytes) {
      return broken("layout",
                    "direct addressing needs a join table and an integer key inside the row");
    }
    if (state.extent == 0 || state.extent > (uint64_t(1) << 34)) {
      return broken("range", "extent of a direct join table, got ", state.extent);
    }
  }
  return checkFields(plan, state, subject);
}

Status checkKernel(const Plan &plan, size_t index) {
  const Kernel &kernel = plan.kernels[index];
  std::string subject = detail::joinText("kernel ", index, " '", kernel.symbol, "': ");
  auto broken = [&](const char *rule, const auto &...parts) {
    return ruleBroken(plan, rule, kNone, subject, parts...);
  };
  if (kernel.symbol.empty()) {
    return broken("operands", "no symbol");
  }
  if (kernel.scratchBytes > (1u << 30) || kernel.literalBytes > (1u << 30)) {
    return broken("range", "scratch or literal block above 1 GiB");
  }
  std::vector<std::pair<uint64_t, uint64_t>> spans;
  for (const Literal &literal : kernel.literals) {
    uint64_t width =
        literal.kind == LiteralKind::kI128 || literal.kind == LiteralKind::kString ? 16 : 8;
    if (literal.offset + width > kernel.literalBytes || literal.offset % 8 != 0) {
      return broken("layout", "literal outside its block of ", kernel.literalBytes,
                    " bytes or unaligned, at offset ", literal.offset);
    }
    spans.emplace_back(literal.offset, literal.offset + width);
  }
  std::sort(spans.begin(), spans.end());
  for (size_t i = 1; i < spans.size(); ++i) {
    if (spans[i].first < spans[i - 1].second) {
      return broken("layout", "literals overlap at offset ", spans[i].first);
    }
  }
  for (double selectivity : kernel.selectivity) {
    if (!(selectivity >= 0) || !std::isfinite(selectivity)) {
      return broken("range", "selectivity: ", selectivity);
    }
  }
  for (int32_t place : kernel.places) {
    if (place != kNone && !inRange(place, plan.places.size())) {
      return broken("range", "no such place: ", place);
    }
  }
  return {};
}

Status checkTensors(const Plan &plan) {
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    const Buffer &buffer = plan.buffers[i];
    auto broken = [&](const char *rule, const auto &...parts) {
      return ruleBroken(plan, rule, kNone, "buffer ", i, " '", buffer.name, "': ", parts...);
    };
    if (buffer.element != "f32" && buffer.element != "f64" && buffer.element != "i64") {
      return broken("range", "unknown element: ", buffer.element);
    }
    if (buffer.splitDimension != kNone && !inRange(buffer.splitDimension, buffer.shape.size())) {
      return broken("range", "no such dimension: ", buffer.splitDimension);
    }
    bool unknown = std::count(buffer.shape.begin(), buffer.shape.end(), kUnknownExtent) > 0;
    if (unknown != inRange(buffer.sizedBy, plan.buffers.size())) {
      return broken("range", "exactly a buffer with an unknown extent has one that sizes it, got ",
                    buffer.sizedBy);
    }
    if (buffer.ragged &&
        (buffer.splitDimension == kNone || buffer.shape[buffer.splitDimension] != kUnknownExtent)) {
      return broken("range", "only a split of unknown extent is ragged");
    }
    for (int64_t extent : buffer.shape) {
      if (extent == kUnknownExtent) {
        continue;
      }
      if (extent < 0 || extent > (int64_t(1) << 40)) {
        return broken("range", "extent, got ", extent);
      }
    }
  }
  return {};
}

/// Every id in a task that is set; ids that its kind needs are asked for by checkOperands.
Status checkIds(const Plan &plan, int32_t index) {
  const Task &task = plan.tasks[index];
  auto one = [&](const char *what, int32_t id, size_t count) {
    return id == kNone || inRange(id, count)
               ? Status()
               : ruleBroken(plan, "range", index, "no such ", what, ": ", id);
  };
  auto all = [&](const char *what, const std::vector<int32_t> &ids, size_t count) -> Status {
    for (int32_t id : ids) {
      if (!inRange(id, count)) {
        return ruleBroken(plan, "range", index, "no such ", what, ": ", id);
      }
    }
    return {};
  };
  HR_RETURN_IF_ERROR(one("place", task.place, plan.places.size()));
  HR_RETURN_IF_ERROR(one("slot", task.slot, plan.slots.size()));
  HR_RETURN_IF_ERROR(one("kernel", task.kernel, plan.kernels.size()));
  HR_RETURN_IF_ERROR(one("stream", task.inputStream, plan.streams.size()));
  HR_RETURN_IF_ERROR(one("stream", task.outputStream, plan.streams.size()));
  HR_RETURN_IF_ERROR(one("state", task.sourceState, plan.states.size()));
  HR_RETURN_IF_ERROR(one("buffer", task.buffer, plan.buffers.size()));
  HR_RETURN_IF_ERROR(one("hole", task.hole, plan.holes.size()));
  HR_RETURN_IF_ERROR(one("task", task.reservation, plan.tasks.size()));
  HR_RETURN_IF_ERROR(all("task", task.after, plan.tasks.size()));
  HR_RETURN_IF_ERROR(all("task", task.thenTasks, plan.tasks.size()));
  HR_RETURN_IF_ERROR(all("task", task.elseTasks, plan.tasks.size()));
  HR_RETURN_IF_ERROR(all("task", task.body, plan.tasks.size()));
  HR_RETURN_IF_ERROR(all("buffer", task.inputs, plan.buffers.size()));
  HR_RETURN_IF_ERROR(all("buffer", task.outputs, plan.buffers.size()));
  for (const StateArgument &argument : task.states) {
    if (!inRange(argument.state, plan.states.size())) {
      return ruleBroken(plan, "range", index, "no such state: ", argument.state);
    }
  }
  return {};
}

Status checkOperands(const Plan &plan, int32_t index) {
  const Task &task = plan.tasks[index];
  auto need = [&](bool condition, const char *what) {
    return condition ? Status() : ruleBroken(plan, "operands", index, "needs ", what);
  };
  bool input = task.inputStream != kNone;
  bool output = task.outputStream != kNone;
  switch (task.kind) {
  case TaskKind::kLoad:
    HR_RETURN_IF_ERROR(need(task.slot != kNone, "a slot"));
    if (const Slot &slot = plan.slots[task.slot]; slot.kind == "values") {
      bool whole = !slot.columns.empty() && slot.cells.size() % slot.columns.size() == 0 &&
                   slot.cells.size() / slot.columns.size() <= UINT32_MAX;
      HR_RETURN_IF_ERROR(need(whole, "one cell per column in every row of its values"));
    }
    return plan.slots[task.slot].kind == "tensor"
               ? need(task.outputs.size() == 1 && !output, "one output buffer for a tensor")
               : need(output, "an output stream");
  case TaskKind::kRun:
    HR_RETURN_IF_ERROR(need(task.kernel != kNone, "a kernel"));
    HR_RETURN_IF_ERROR(
        need(input != (task.sourceState != kNone), "exactly one source: a stream or a state"));
    HR_RETURN_IF_ERROR(need(output || !task.states.empty(), "a state or an output stream"));
    return need(!task.partitioned || output, "an output stream, being partitioned");
  case TaskKind::kExchange:
    return need(input && output && task.channel >= 0,
                "an input stream, an output stream and a channel");
  case TaskKind::kCollective:
    return need(task.inputs.size() == 1 && task.outputs.size() == 1,
                "one input and one output buffer");
  case TaskKind::kCompute:
    HR_RETURN_IF_ERROR(need(!task.outputs.empty(), "an output buffer"));
    HR_RETURN_IF_ERROR(need(input == (task.operation == "to_tensor"),
                            "an input stream if it is to_tensor, and only then"));
    return need(task.operation != "matmul" || (task.inputs.size() == 2 && task.outputs.size() == 1),
                "two input buffers and one output buffer");
  case TaskKind::kCopy:
    return need(task.inputs.size() == 1 && task.outputs.size() == 1,
                "one input and one output buffer");
  case TaskKind::kReserve:
    return need(!task.tier.empty(), "a tier");
  case TaskKind::kRelease:
    return need(task.reservation != kNone &&
                    plan.tasks[task.reservation].kind == TaskKind::kReserve,
                "the reserve task that it ends");
  case TaskKind::kChoose:
    return need(task.hole != kNone, "a hole");
  case TaskKind::kRepeat:
    return need(!task.body.empty(), "a body");
  case TaskKind::kCommit:
    return {};
  case TaskKind::kResult:
    return need(input != (task.buffer != kNone), "exactly one of a stream and a buffer");
  }
  return ruleBroken(plan, "range", index, "unknown kind of task");
}

Status checkRegions(const Plan &plan) {
  std::vector<int32_t> owner(plan.tasks.size(), kNone);
  for (size_t t = 0; t < plan.tasks.size(); ++t) {
    const Task &task = plan.tasks[t];
    auto index = static_cast<int32_t>(t);
    bool choose = task.kind == TaskKind::kChoose;
    bool repeat = task.kind == TaskKind::kRepeat;
    if ((!choose && !(task.thenTasks.empty() && task.elseTasks.empty())) ||
        (!repeat && !task.body.empty())) {
      return ruleBroken(plan, "region", index, "only choose and repeat tasks have bodies");
    }
    if (repeat && (task.tripsMax == 0 || task.tripsMax > (uint64_t(1) << 32))) {
      return ruleBroken(plan, "region", index, "a repeat needs a bound of at most 2^32 trips, got ",
                        task.tripsMax);
    }
    for (const std::vector<int32_t> *body : {&task.thenTasks, &task.elseTasks, &task.body}) {
      for (int32_t inner : *body) {
        if (inner == index || owner[inner] != kNone) {
          return ruleBroken(plan, "region", index, "a task of its body is in another body too: ",
                            describeTask(plan, inner));
        }
        owner[inner] = index;
      }
    }
  }
  return {};
}

} // namespace

Status check(const Plan &plan, const CheckOptions &options) {
  HR_RETURN_IF_ERROR(checkVersion(plan));
  HR_RETURN_IF_ERROR(checkSizes(plan));
  for (size_t i = 0; i < plan.states.size(); ++i) {
    HR_RETURN_IF_ERROR(checkState(plan, i));
  }
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    HR_RETURN_IF_ERROR(checkKernel(plan, i));
  }
  HR_RETURN_IF_ERROR(checkTensors(plan));
  for (size_t i = 0; i < plan.tasks.size(); ++i) {
    HR_RETURN_IF_ERROR(checkIds(plan, static_cast<int32_t>(i)));
  }
  for (size_t i = 0; i < plan.tasks.size(); ++i) {
    HR_RETURN_IF_ERROR(checkOperands(plan, static_cast<int32_t>(i)));
  }
  HR_RETURN_IF_ERROR(checkRegions(plan));
  return checkGraph(plan, options);
}

} // namespace headrace::plan
