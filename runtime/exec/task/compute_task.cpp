// Compute tasks over tensor buffers: library calls, generated kernels, and moves within a rank; and
// loading of bound tensors, but for those whose parts lie on the ranks.
//
// "matmul": inputs A and B, output C (see matmul_job.h).
//   parameters: [A is stored transposed, B is stored transposed, dimensions of the batch].
// "kernel": the kernel sees a column with one segment per input, then per output: the whole local
//   buffers. Its literal block is the local extents of all of them, one after another.
//   parameters: [buffer, dimension] whose local extent is cut into morsels; none: the kernel is
//   called once. [buffer, dimension, reduction]: morsels are parts of a reduction, so each has an
//   output of its own, but for the first; a second phase combines them in their order. How many
//   there are follows from the extents alone, and so do the bits of a sum.
// "reshape": the elements of the input in the same order.
// "slice", "concat", "gather": elements of the inputs as model/plan/task.h says.
#include "runtime/exec/task/box_copy.h"
#include "runtime/exec/task/matmul_job.h"
#include "runtime/exec/task/row_gather.h"
#include "runtime/exec/task/task.h"

#include <algorithm>

namespace headrace::exec {
namespace {

/// What a kernel is called with, shared by all morsels. Not moved: columns point to segments.
struct KernelOperands {
  std::vector<HrSegment> segments;
  std::vector<HrColumn> columns;
  std::vector<int64_t> extents;
};

class ComputeTask final : public TaskRunnerOf<plan::ComputeTask> {
public:
  using TaskRunnerOf::TaskRunnerOf;
  ~ComputeTask() override { job_.reset(); }
  Status start() override;
  PollState poll() override;

private:
  Status startMatmul();
  Status startKernel();
  Status startReshape();
  Status startSlice();
  Status startConcat();
  Status startGather();
  Status copy(JobPhase phase);
  void addPhase(PhasedJob::MakePhase phase);
  Status runMorsel(int64_t first, int64_t rows, const std::vector<HrColumn> &columns);
  Status runPart(int64_t part, int64_t rows, int64_t total);
  Status startParts(int64_t total, int64_t rows);
  uint8_t *outputOf(int64_t part) const;
  void combineParts(int64_t parts);
  TensorBuffer &buffer(int32_t index) const { return *context_.buffers[index]; }

  std::shared_ptr<MemoryAccount> account_;
  KernelOperands operands_;
  Block parts_; ///< of a reduction in parts the outputs behind the first
  std::unique_ptr<PhasedJob> job_;
};

Status ComputeTask::start() {
  for (int32_t output : task_.outputs) {
    HR_RETURN_IF_ERROR(context_.writable(output).status());
  }
  switch (task_.operation) {
  case plan::ComputeKind::kMatmul:
    return startMatmul();
  case plan::ComputeKind::kKernel:
    return startKernel();
  case plan::ComputeKind::kReshape:
    return startReshape();
  case plan::ComputeKind::kSlice:
    return startSlice();
  case plan::ComputeKind::kConcat:
    return startConcat();
  case plan::ComputeKind::kGather:
    return startGather();
  }
  return {};
}

void ComputeTask::addPhase(PhasedJob::MakePhase phase) {
  if (!job_) {
    job_ = std::make_unique<PhasedJob>(*context_.pool, context_.jobOf(index_));
  }
  job_->add([=, this]() -> Expected<JobPhase> {
    HR_ASSIGN_OR_RETURN(JobPhase made, phase());
    MorselBody body = std::move(made.body);
    made.body = [body, this](int worker, int64_t morsel) {
      ScopedSpan span(context_.workerTrack(worker), SpanKind::kTask, described_.name.c_str(),
                      TaskId(static_cast<uint32_t>(index_)));
      int64_t begin = context_.clock->nowNanoseconds();
      Status status = body(worker, morsel);
      ++counters_.morsels;
      counters_.busyNanoseconds += context_.clock->nowNanoseconds() - begin;
      return status;
    };
    return made;
  });
}

Status ComputeTask::startMatmul() {
  MatmulOperands operands{&buffer(task_.inputs[0]),  &buffer(task_.inputs[1]),
                          &buffer(task_.outputs[0]), task_.parameters[0] != 0,
                          task_.parameters[1] != 0,  static_cast<size_t>(task_.parameters[2])};
  addPhase([=, this] { return matmulPhase(operands, context_.lanes); });
  return {};
}

Status ComputeTask::startKernel() {
  int64_t largest = 1;
  std::vector<const std::vector<int64_t> *> shapes;
  for (const std::vector<int32_t> *list : {&task_.inputs, &task_.outputs}) {
    for (int32_t index : *list) {
      TensorBuffer &operand = buffer(index);
      HrSegment segment{};
      segment.rows = static_cast<uint32_t>(std::min<int64_t>(operand.elements(), UINT32_MAX));
      segment.encoding = HR_VALUES;
      segment.bytes = static_cast<uint64_t>(operand.bytes());
      segment.data = operand.data();
      operands_.segments.push_back(segment);
      largest = std::max(largest, operand.elements());
      shapes.push_back(&operand.localShape());
      operands_.extents.insert(operands_.extents.end(), operand.localShape().begin(),
                               operand.localShape().end());
    }
  }
  for (HrSegment &segment : operands_.segments) {
    operands_.columns.push_back(HrColumn{&segment, 1, 0, nullptr, 0, 0});
  }
  HR_ASSIGN_OR_RETURN(account_, context_.openAccount(index_));
  int64_t total =
      task_.parameters.empty() ? 1 : (*shapes[task_.parameters[0]])[task_.parameters[1]];
  // About as many elements a morsel as a worker's cache holds.
  constexpr int64_t kElements = 65536;
  int64_t rows =
      task_.parameters.empty() ? 1 : std::clamp<int64_t>(kElements * total / largest, 1, kElements);
  if (task_.parameters.size() > 2) {
    return startParts(total, rows);
  }
  addPhase([=, this]() -> Expected<JobPhase> {
    return JobPhase{(total + rows - 1) / rows, [=, this](int, int64_t morsel) {
                      int64_t first = morsel * rows;
                      return runMorsel(first, std::min(rows, total - first), operands_.columns);
                    }};
  });
  return {};
}

/// Of `rows` each, or more where there would be too many outputs.
Status ComputeTask::startParts(int64_t total, int64_t rows) {
  constexpr int64_t kParts = 1024, kBytes = 4 << 20;
  int64_t bytes = buffer(task_.outputs.front()).bytes();
  int64_t parts = std::clamp<int64_t>(kBytes / std::max<int64_t>(bytes, 1), 1, kParts);
  rows = std::max(rows, (total + parts - 1) / parts);
  parts = std::max<int64_t>(1, (total + rows - 1) / rows); // of nothing the start is the result
  if (parts > 1) {
    HR_ASSIGN_OR_RETURN(parts_, account_->allocate((parts - 1) * bytes));
  }
  addPhase([=, this]() -> Expected<JobPhase> {
    return JobPhase{parts, [=, this](int, int64_t part) { return runPart(part, rows, total); }};
  });
  if (parts > 1) {
    addPhase([=, this]() -> Expected<JobPhase> {
      return JobPhase{1, [=, this](int, int64_t) {
                        combineParts(parts);
                        return Status();
                      }};
    });
  }
  return {};
}

uint8_t *ComputeTask::outputOf(int64_t part) const {
  const TensorBuffer &output = buffer(task_.outputs.front());
  return part == 0 ? output.data()
                   : reinterpret_cast<uint8_t *>(parts_.data()) + (part - 1) * output.bytes();
}

Status ComputeTask::runPart(int64_t part, int64_t rows, int64_t total) {
  HrSegment segment = operands_.segments.back();
  segment.data = outputOf(part);
  std::vector<HrColumn> columns = operands_.columns;
  columns.back().segments = &segment;
  int64_t first = part * rows;
  return runMorsel(first, std::min(rows, total - first), columns);
}

void ComputeTask::combineParts(int64_t parts) {
  const TensorBuffer &output = buffer(task_.outputs.front());
  for (int64_t part = 1; part < parts; ++part) {
    reduceInto(output.data(), outputOf(part), output.elements(),
               elementTypeOf(output.described().element),
               reduceOpOf(static_cast<plan::Reduction>(task_.parameters[2])));
  }
}

Status ComputeTask::runMorsel(int64_t first, int64_t rows, const std::vector<HrColumn> &columns) {
  const KernelCall &kernel = *(*context_.kernels)[task_.kernel];
  HR_ASSIGN_OR_RETURN(auto frame,
                      KernelFrame::create(kernel, account_, context_.rank, context_.size));
  HrMorsel morsel{};
  morsel.firstRow = static_cast<uint64_t>(first);
  morsel.rows = static_cast<uint32_t>(rows);
  morsel.columns = columns.data();
  morsel.columnCount = static_cast<uint32_t>(columns.size());
  frame->beginMorsel();
  HrResult result = frame->run(HrArgs{&morsel, operands_.extents.data(), nullptr});
  return result == HR_DONE ? Status() : frame->error();
}

/// What is one morsel takes less time than a worker to come to it.
Status ComputeTask::copy(JobPhase phase) {
  if (phase.morsels > 1) {
    addPhase([phase = std::move(phase)] { return Expected<JobPhase>(phase); });
    return {};
  }
  return phase.morsels == 0 ? Status() : phase.body(0, 0);
}

Status ComputeTask::startReshape() {
  TensorBuffer &from = buffer(task_.inputs[0]);
  TensorBuffer &to = buffer(task_.outputs[0]);
  if (from.bytes() != to.bytes()) {
    return makeError(ErrorKind::kInternal,
                     "a reshape changes the number of elements: ", to.described().name);
  }
  return copy(copyPhase({wholeBox(from, to)}));
}

Status ComputeTask::startSlice() {
  return copy(
      copyPhase({sliceBox(buffer(task_.inputs[0]), buffer(task_.outputs[0]), task_.parameters)}));
}

Status ComputeTask::startConcat() {
  TensorBuffer &to = buffer(task_.outputs[0]);
  auto dimension = static_cast<size_t>(task_.parameters[0]);
  std::vector<BoxCopy> boxes;
  int64_t offset = 0;
  for (int32_t input : task_.inputs) {
    boxes.push_back(concatBox(buffer(input), to, dimension, offset));
    offset += buffer(input).localShape()[dimension];
  }
  return copy(copyPhase(std::move(boxes)));
}

Status ComputeTask::startGather() {
  return copy(
      gatherPhase(buffer(task_.inputs[0]), buffer(task_.inputs[1]), buffer(task_.outputs[0])));
}

PollState ComputeTask::poll() {
  if (!job_) {
    return PollState::kDone;
  }
  PollState state = job_->poll();
  return state == PollState::kFailed ? fail(job_->status()) : state;
}

/// Short enough to run on the rank's thread.
class InputTask final : public TaskRunnerOf<plan::InputTask> {
public:
  using TaskRunnerOf::TaskRunnerOf;
  Status start() override {
    const plan::Slot &slot = context_.plan->slots[task_.slot];
    if (slot.resident) {
      return share(slot);
    }
    auto bound = context_.tensors->find(slot.name);
    if (bound == context_.tensors->end()) {
      return makeError(ErrorKind::kUser, "no input is bound to tensor: ", slot.name);
    }
    const plan::Buffer &described = context_.plan->buffers[task_.output];
    if (!isResult()) {
      HR_ASSIGN_OR_RETURN(context_.buffers[task_.output],
                          TensorBuffer::borrow(described, context_.place, bound->second));
    }
    if (context_.buffers[task_.output]) {
      return {};
    }
    HR_ASSIGN_OR_RETURN(TensorBuffer * made, context_.writable(task_.output));
    return made->copyFrom(bound->second);
  }
  PollState poll() override { return PollState::kDone; }

private:
  /// Whether the caller gets it back, which then outlives what it was given.
  bool isResult() const {
    return std::ranges::any_of(context_.plan->tasks, [this](const plan::Task &task) {
      const auto *result = task.as<plan::TensorResultTask>();
      return result && result->buffer == task_.output;
    });
  }
  /// The rank has its part, and reads it where it is.
  Status share(const plan::Slot &slot) {
    auto bound = context_.parts->find(slot.name);
    if (bound == context_.parts->end() || bound->second.size() <= context_.rankHere) {
      return makeError(ErrorKind::kUser, "no part of this rank is bound to tensor: ", slot.name);
    }
    HR_ASSIGN_OR_RETURN(context_.buffers[task_.output],
                        TensorBuffer::share(context_.plan->buffers[task_.output], context_.place,
                                            bound->second[context_.rankHere]));
    return {};
  }
};

} // namespace

std::unique_ptr<TaskRunner> makeComputeTask(RankContext &context, int32_t task) {
  return std::make_unique<ComputeTask>(context, task);
}

std::unique_ptr<TaskRunner> makeInputTask(RankContext &context, int32_t task) {
  return std::make_unique<InputTask>(context, task);
}

} // namespace headrace::exec
