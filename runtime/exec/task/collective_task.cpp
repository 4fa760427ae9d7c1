// A collective task: one tensor collective over the ranks of a group.
//
// The wire carries each rank's part as one run of elements, so a split of another dimension than
// the first is packed before or unpacked after.
#include "runtime/exec/task/task.h"

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

std::vector<int64_t> evenParts(int64_t extent, uint32_t size) {
  std::vector<int64_t> parts;
  for (uint32_t r = 0; r < size; ++r) {
    parts.push_back(evenPart(extent, {r, size}).count());
  }
  return parts;
}

/// The dimension that a group divides in this buffer and not in the other.
const plan::Split &movedSplit(const plan::Buffer &buffer, const plan::Buffer &other) {
  for (const plan::Split &split : buffer.splits) {
    const plan::Split *there = other.splitOf(split.dimension);
    if (!there || there->axes.size() < split.axes.size()) {
      return split;
    }
  }
  return buffer.splits.front(); // no such plan is loaded
}

/// Elements of each rank's part.
std::vector<int64_t> elementCounts(const Split &split, std::vector<int64_t> parts) {
  for (int64_t &part : parts) {
    part *= split.outer * split.inner;
  }
  return parts;
}

class CollectiveTask final : public TaskRunnerOf<plan::CollectiveTask> {
public:
  using TaskRunnerOf::TaskRunnerOf;
  Status start() override;
  PollState poll() override;

private:
  enum class Direction : uint8_t { kPack, kUnpack };
  const plan::Buffer &described(int32_t buffer) const { return context_.plan->buffers[buffer]; }
  const plan::Split &gatheredSplit() const {
    return movedSplit(described(task_.input), described(task_.output));
  }
  const plan::Split &scatteredSplit() const {
    return movedSplit(described(task_.output), described(task_.input));
  }
  void reorder(uint8_t *whole, uint8_t *packed, Direction direction) const;
  Status move();
  Status startGather(ElementType type);
  Status startAllToAll(ElementType type);
  Status copyWhole();
  Expected<uint8_t *> scratch(int64_t bytes);

  TensorBuffer *input_ = nullptr;
  TensorBuffer *output_ = nullptr;
  plan::GroupPlace place_;        ///< of this rank in the group
  Communicator *group_ = nullptr; ///< null if this rank is alone in it
  std::shared_ptr<MemoryAccount> account_;
  Block scratch_;
  Split split_;                ///< of the whole that is packed or unpacked
  std::vector<int64_t> parts_; ///< extent of each rank's part of it
  std::vector<int64_t> counts_;
  uint8_t *packed_ = nullptr; ///< parts to be unpacked into the output, or none
  bool counting_ = false;     ///< the ranks are telling how many rows they have
  Collective collective_;
};

Expected<uint8_t *> CollectiveTask::scratch(int64_t bytes) {
  HR_ASSIGN_OR_RETURN(account_, context_.openAccount(index_));
  HR_ASSIGN_OR_RETURN(scratch_, account_->allocate(std::max<int64_t>(bytes, 1)));
  return reinterpret_cast<uint8_t *>(scratch_.data());
}

/// Between a whole tensor and its parts one after another.
void CollectiveTask::reorder(uint8_t *whole, uint8_t *packed, Direction direction) const {
  int64_t width = plan::bytesOf(input_->described().element);
  uint8_t *part = packed;
  int64_t first = 0;
  for (int64_t extent : parts_) {
    int64_t run = extent * split_.inner * width;
    for (int64_t o = 0; o < split_.outer; ++o) {
      uint8_t *at = whole + (o * split_.extent + first) * split_.inner * width;
      direction == Direction::kPack ? std::memcpy(part, at, run) : std::memcpy(at, part, run);
      part += run;
    }
    first += extent;
  }
}

Status CollectiveTask::start() {
  input_ = context_.buffers[task_.input].get();
  counters_.bytes += input_->bytes();
  place_ = context_.place.along(task_.axes);
  group_ = context_.communicatorOver(task_.axes);
  bool gathers = task_.operation == plan::CollectiveKind::kAllGather;
  if (gathers && gatheredSplit().ragged && group_) {
    counting_ = true;
    parts_.assign(place_.count, 0);
    parts_[place_.index] = input_->localShape()[gatheredSplit().dimension];
    collective_ =
        group_->allReduce(parts_.data(), place_.count, ElementType::kInt64, ReduceOp::kSum);
    return {};
  }
  return move();
}

Status CollectiveTask::copyWhole() {
  std::memmove(output_->data(), input_->data(), static_cast<size_t>(output_->bytes()));
  return {};
}

Status CollectiveTask::move() {
  HR_ASSIGN_OR_RETURN(output_, context_.writable(task_.output));
  if (!group_) {
    return copyWhole();
  }
  ElementType type = elementTypeOf(input_->described().element);
  ReduceOp op = reduceOpOf(task_.combine);
  switch (task_.operation) {
  case plan::CollectiveKind::kAllGather:
    return startGather(type);
  case plan::CollectiveKind::kAllToAll:
    return startAllToAll(type);
  case plan::CollectiveKind::kAllReduce:
    HR_RETURN_IF_ERROR(copyWhole());
    collective_ = group_->allReduce(output_->data(), output_->elements(), type, op);
    break;
  case plan::CollectiveKind::kReduceScatter: {
    split_ = splitOf(input_->localShape(), scatteredSplit().dimension);
    parts_ = evenParts(split_.extent, place_.count);
    counts_ = elementCounts(split_, parts_);
    // The reduction runs in place; the operand may be used again.
    HR_ASSIGN_OR_RETURN(uint8_t *parts, scratch(input_->bytes()));
    reorder(input_->data(), parts, Direction::kPack);
    collective_ = group_->reduceScatter(parts, output_->data(), counts_, type, op);
    break;
  }
  }
  return {};
}

Status CollectiveTask::startGather(ElementType type) {
  split_ = splitOf(output_->localShape(), gatheredSplit().dimension);
  if (!gatheredSplit().ragged) {
    parts_ = evenParts(split_.extent, place_.count);
  }
  counts_ = elementCounts(split_, parts_);
  uint8_t *target = output_->data();
  if (split_.outer != 1) {
    HR_ASSIGN_OR_RETURN(target, scratch(output_->bytes()));
    packed_ = target;
  }
  collective_ = group_->allGather(input_->data(), target, counts_, type);
  return {};
}

/// Parts of what the input has whole go out; the output's parts come in.
Status CollectiveTask::startAllToAll(ElementType type) {
  int32_t gathered = gatheredSplit().dimension;
  int32_t scattered = scatteredSplit().dimension;
  Split source = splitOf(input_->localShape(), scattered);
  Split target = splitOf(output_->localShape(), gathered);
  HR_ASSIGN_OR_RETURN(uint8_t *packed, scratch(input_->bytes() + output_->bytes()));
  split_ = source;
  parts_ = evenParts(source.extent, place_.count);
  std::vector<int64_t> sent = elementCounts(source, parts_);
  reorder(input_->data(), packed, Direction::kPack);
  split_ = target;
  parts_ = evenParts(target.extent, place_.count);
  counts_ = elementCounts(target, parts_);
  packed_ = packed + input_->bytes();
  collective_ = group_->allToAll(packed, packed_, sent, counts_, type);
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
  if (state == PollState::kDone && counting_) {
    counting_ = false;
    int32_t sizedBy = input_->described().sizedBy;
    context_.rowCounts[sizedBy].total = std::accumulate(parts_.begin(), parts_.end(), int64_t(0));
    collective_ = Collective();
    if (Status status = move(); !status.ok()) {
      return fail(status);
    }
    return poll();
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
