// Rules over single elements of a plan but its tasks: versions, ranges, layouts.
#include "model/plan/check.h"

#include "model/plan/check_rules.h"
#include "runtime/abi/type_bytes.h"

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
  case StateKind::kWindow:
    return 8;
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

/// Whether a field has the type that a window function sets, whose input has another or none.
bool canSet(WindowFunction function, HrType result) {
  switch (function) {
  case WindowFunction::kRowNumber:
  case WindowFunction::kRank:
  case WindowFunction::kDenseRank:
  case WindowFunction::kNtile:
  case WindowFunction::kCount:
    return result == HR_I64;
  case WindowFunction::kPercentRank:
  case WindowFunction::kCumeDist:
    return result == HR_F64;
  default:
    return true;
  }
}

/// The fields that a window's order and functions name.
Status checkWindows(const Plan &plan, const State &state, const std::string &subject) {
  auto known = [&](int32_t field) -> Status {
    if (field != kNone && !inRange(field, state.fields.size())) {
      return ruleBroken(plan, "range", kNone, subject, "no such field: ", field);
    }
    return {};
  };
  for (const OrderKey &key : state.order) {
    HR_RETURN_IF_ERROR(known(key.field == kNone ? INT32_MAX : key.field));
  }
  for (const WindowColumn &window : state.windows) {
    for (int32_t field : {window.input, window.otherwise, window.count.field,
                          window.start.distance.field, window.end.distance.field}) {
      HR_RETURN_IF_ERROR(known(field));
    }
    for (const OrderKey &key : window.order) {
      HR_RETURN_IF_ERROR(known(key.field == kNone ? INT32_MAX : key.field));
    }
    HR_RETURN_IF_ERROR(known(window.result == kNone ? INT32_MAX : window.result));
    const StateField &result = state.fields[window.result];
    bool modes = window.function == WindowFunction::kMode;
    bool copies = modes || (window.function >= WindowFunction::kLag &&
                            window.function <= WindowFunction::kNthValue);
    bool isQuantiles = window.function == WindowFunction::kQuantiles;
    bool collects = isQuantiles || window.function == WindowFunction::kCollect;
    bool wantsInput = copies || collects || window.function == WindowFunction::kFold;
    if (wantsInput && window.input == kNone) {
      return ruleBroken(plan, "operands", kNone, subject, "a window function lacks its input");
    }
    bool foldsText = window.function == WindowFunction::kFold &&
                     (state.fields[window.input].type == HR_STRING) != (result.type == HR_STRING);
    if (!canSet(window.function, result.type) || foldsText) {
      return ruleBroken(plan, "operands", kNone, subject,
                        "a window function cannot set a field of type: ", nameOf(result.type));
    }
    bool counts = window.function == WindowFunction::kFold ||
                  (window.function == WindowFunction::kCount && window.input != kNone);
    bool sums = counts || window.function == WindowFunction::kCount;
    if (!window.order.empty() && (!window.hasFrame() || sums || modes)) {
      return ruleBroken(plan, "operands", kNone, subject,
                        "only what takes rows of a frame one by one has an order, got ",
                        nameOf(window.function));
    }
    if (!window.hasFrame() && window.function >= WindowFunction::kFirstValue &&
        window.function != WindowFunction::kCollect) {
      return ruleBroken(plan, "operands", kNone, subject, "a window function lacks its frame");
    }
    if (window.distinct && !counts && !(collects && !window.order.empty())) {
      return ruleBroken(plan, "operands", kNone, subject,
                        "only a count or a fold of an input, or lists in an order, can be "
                        "distinct, got ",
                        nameOf(window.function));
    }
    if (collects && result.type != HR_STRING) {
      return ruleBroken(
          plan, "operands", kNone, subject,
          "lists are collected into a text, got a field of type: ", nameOf(result.type));
    }
    if ((copies || collects) &&
        (state.fields[window.input].type != result.type || !result.nullable)) {
      return ruleBroken(plan, "operands", kNone, subject,
                        "a window function has a result of another type than its input");
    }
    bool hasShares =
        !window.shares.empty() && std::ranges::all_of(window.shares, &QuantileShare::isInside);
    if (isQuantiles && (window.order.empty() || !hasShares)) {
      return ruleBroken(plan, "operands", kNone, subject,
                        "quantiles need an order, and shares from 0 to 1");
    }
    bool byValue = window.unit == FrameUnit::kRange &&
                   (window.start.distance.field != kNone || window.end.distance.field != kNone);
    if (window.unit == FrameUnit::kGroups && state.order.empty()) {
      return ruleBroken(plan, "operands", kNone, subject,
                        "a frame of groups of peers needs an order");
    }
    if (byValue && state.order.size() != 1) {
      return ruleBroken(plan, "operands", kNone, subject,
                        "a frame by values needs one order key, got ", state.order.size());
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
  for (int32_t kernel : {state.mergeKernel, state.linkKernel}) {
    if (kernel != kNone && !inRange(kernel, plan.kernels.size())) {
      return broken("range", "no such kernel: ", kernel);
    }
  }
  HR_RETURN_IF_ERROR(checkWindows(plan, state, subject));
  if (state.direct()) {
    bool integral = state.directKeyType >= HR_I8 && state.directKeyType <= HR_I64;
    bool nullable = std::ranges::any_of(state.fields, [&](const StateField &field) {
      return field.nullable && field.offset == state.directKeyOffset;
    });
    if (state.kind != StateKind::kJoinTable || !integral || nullable ||
        uint64_t(state.directKeyOffset) + abi::bytesOf(state.directKeyType) > state.rowBytes) {
      return broken("layout",
                    "a directory by key needs a join table, and an integer key inside the row that "
                    "is never NULL");
    }
    if (state.extent == 0 || state.extent > (uint64_t(1) << 32)) {
      return broken("range", "extent of a directory by key, got ", state.extent);
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
    bool unknown = std::count(buffer.shape.begin(), buffer.shape.end(), kUnknownExtent) > 0;
    if (unknown != inRange(buffer.sizedBy, plan.buffers.size())) {
      return broken("range", "exactly a buffer with an unknown extent has one that sizes it, got ",
                    buffer.sizedBy);
    }
    std::vector<int32_t> dimensions;
    std::vector<int32_t> axes;
    for (const Split &split : buffer.splits) {
      if (!inRange(split.dimension, buffer.shape.size())) {
        return broken("range", "no such dimension: ", split.dimension);
      }
      if (split.ragged && buffer.shape[split.dimension] != kUnknownExtent) {
        return broken("range", "only a split of unknown extent is ragged");
      }
      if (split.axes.empty()) {
        return broken("range", "a dimension is split over no axis: ", split.dimension);
      }
      dimensions.push_back(split.dimension);
      axes.insert(axes.end(), split.axes.begin(), split.axes.end());
    }
    if (!areDifferent(dimensions)) {
      return broken("range", "a dimension is split twice");
    }
    if (!areAxes(plan, axes)) {
      return broken("range",
                    "it is split over axes that the mesh does not have, or over one twice");
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
  HR_RETURN_IF_ERROR(checkTasks(plan));
  return checkGraph(plan, options);
}

} // namespace headrace::plan
