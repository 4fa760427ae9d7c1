// A collective task: one tensor collective over all ranks.
//
// The wire carries each rank's part as one run of elements, so a split of another dimension than
// the first is packed before or unpacked after.
#include "runtime/exec/task.h"

#include <cstring>
#include <numeric>

namespace headrace::exec {
namespace {

/// A tensor seen as outer x extent x inner around one dimension.
struct Split {
  int64_t outer = 1;
  int64_t extent = 1;
  int64_t inner = 1;
};

Split splitOf(const std::vector<int64_t> &shape, int32_t dimension) {
  Split split;
  for (int32_t d = 0; d < static_cast<int32_t>(shape.size()); ++d) {
    (d < dimension ? split.outer : d == dimension ? split.extent : split.inner) *= shape[d];
  }
  return split;
}

/// Elements of each rank's part.
std::vector<int64_t> partCounts(const Split &split, uint32_t size) {
  std::vector<int64_t> counts;
  for (uint32_t r = 0; r < size; ++r) {
    counts.push_back(split.outer * evenPart(split.extent, r, size).count() * split.inner);
  }
  return counts;
}

class CollectiveTask final : public TaskRunner {
public:
  using TaskRunner::TaskRunner;
  Status start() override;
  PollState poll() override;

private:
  enum class Direction : uint8_t { kPack, kUnpack };
  void reorder(uint8_t *whole, uint8_t *parts, Direction direction) const;
  Status startAllToAll(ElementType type);
  Expected<uint8_t *> scratch(int64_t bytes);

  TensorBuffer *input_ = nullptr;
  TensorBuffer *output_ = nullptr;
  std::shared_ptr<MemoryAccount> account_;
  Block scratch_;
  Split split_; ///< of the whole that is packed or unpacked
  std::vector<int64_t> counts_;
  uint8_t *packed_ = nullptr; ///< parts to be unpacked into the output, or none
  Collective collective_;
};

Expected<uint8_t *> CollectiveTask::scratch(int64_t bytes) {
  HR_ASSIGN_OR_RETURN(account_, context_.openAccount(index_));
  HR_ASSIGN_OR_RETURN(scratch_, account_->allocate(std::max<int64_t>(bytes, 1)));
  return reinterpret_cast<uint8_t *>(scratch_.data());
}

/// Between a whole tensor and its parts one after another.
void CollectiveTask::reorder(uint8_t *whole, uint8_t *parts, Direction direction) const {
  int64_t width = elementBytesOf(output_->described().element);
  uint8_t *part = parts;
  for (uint32_t r = 0; r < context_.size; ++r) {
    Part range = evenPart(split_.extent, r, context_.size);
    int64_t run = range.count() * split_.inner * width;
    for (int64_t o = 0; o < split_.outer; ++o) {
      uint8_t *at = whole + (o * split_.extent + range.first) * split_.inner * width;
      direction == Direction::kPack ? std::memcpy(part, at, run) : std::memcpy(at, part, run);
      part += run;
    }
  }
}

Status CollectiveTask::start() {
  input_ = context_.buffers[task_.inputs[0]].get();
  output_ = context_.buffers[task_.outputs[0]].get();
  const plan::Buffer &from = input_->described();
  const plan::Buffer &to = output_->described();
  if (from.element != to.element || from.shape != to.shape) {
    return makeError(ErrorKind::kInternal, "operands of a collective differ in shape: ", from.name);
  }
  ElementType type = elementTypeOf(from.element);
  if (task_.combine != "sum" && task_.combine != "max" && task_.combine != "min") {
    return makeError(ErrorKind::kUnsupported, "combination is not built yet: ", task_.combine);
  }
  ReduceOp op = task_.combine == "max"   ? ReduceOp::kMax
                : task_.combine == "min" ? ReduceOp::kMin
                                         : ReduceOp::kSum;
  counters_.bytes += input_->bytes();
  if (context_.size == 1) {
    std::memmove(output_->data(), input_->data(), static_cast<size_t>(output_->bytes()));
    return {};
  }
  if (task_.operation == "all_to_all") {
    return startAllToAll(type);
  }
  bool gather = task_.operation == "all_gather";
  split_ = splitOf(from.shape, gather ? from.splitDimension : to.splitDimension);
  counts_ = partCounts(split_, context_.size);
  Communicator &ranks = *context_.communicator;
  if (task_.operation == "all_reduce") {
    if (input_ != output_) {
      std::memcpy(output_->data(), input_->data(), static_cast<size_t>(output_->bytes()));
    }
    collective_ = ranks.allReduce(output_->data(), output_->elements(), type, op);
  } else if (gather) {
    uint8_t *target = output_->data();
    if (split_.outer != 1) {
      HR_ASSIGN_OR_RETURN(target, scratch(output_->bytes()));
      packed_ = target;
    }
    collective_ = ranks.allGather(input_->data(), target, counts_, type);
  } else if (task_.operation == "reduce_scatter") {
    // The reduction runs in place; the operand may be used again.
    HR_ASSIGN_OR_RETURN(uint8_t *parts, scratch(input_->bytes()));
    reorder(input_->data(), parts, Direction::kPack);
    collective_ = ranks.reduceScatter(parts, output_->data(), counts_, type, op);
  } else {
    return makeError(ErrorKind::kUnsupported, "collective is not built yet: ", task_.operation);
  }
  return {};
}

/// Parts of what the input has whole go out; the output's parts come in.
Status CollectiveTask::startAllToAll(ElementType type) {
  int32_t gathered = input_->described().splitDimension;
  int32_t scattered = output_->described().splitDimension;
  if (gathered == plan::kNone || scattered == plan::kNone || gathered == scattered) {
    return makeError(ErrorKind::kInternal,
                     "all_to_all needs two different split dimensions: ", output_->described().name);
  }
  Split source = splitOf(input_->localShape(), scattered);
  Split target = splitOf(output_->localShape(), gathered);
  std::vector<int64_t> sent = partCounts(source, context_.size);
  counts_ = partCounts(target, context_.size);
  HR_ASSIGN_OR_RETURN(uint8_t *parts, scratch(input_->bytes() + output_->bytes()));
  split_ = source;
  reorder(input_->data(), parts, Direction::kPack);
  split_ = target;
  packed_ = parts + input_->bytes();
  collective_ = context_.communicator->allToAll(parts, packed_, sent, counts_, type);
  return {};
}

PollState CollectiveTask::poll() {
  if (!collective_.valid()) {
    return PollState::kDone;
  }
  PollState state = collective_.poll();
  if (state == PollState::kFailed) {
    return fail(collective_.status());
  }
  if (state == PollState::kDone && packed_) {
    reorder(output_->data(), packed_, Direction::kUnpack);
  }
  return state;
}

} // namespace

std::unique_ptr<TaskRunner> makeCollectiveTask(RankContext &context, int32_t task) {
  return std::make_unique<CollectiveTask>(context, task);
}

} // namespace headrace::exec
