// Compute tasks over tensor buffers: matmul by the BLAS, tiled over the workers; generated kernels;
// copies; and loading of bound tensors.
//
// "matmul": inputs A (m x k) and B (k x n), output C (m x n), f32 or f64, all local extents.
//   parameters: [A is stored transposed, B is stored transposed], 0 or 1; missing = 0.
// "kernel": the kernel sees one morsel with a column per input, then per output; all have the same
// number of
//   local elements, and morsels are ranges of them. It writes through the columns of the outputs.
#include "runtime/exec/task.h"

#include <cblas.h>

#include <algorithm>
#include <cstring>
#include <mutex>

extern "C" void openblas_set_num_threads(int threads);

namespace headrace::exec {
namespace {

/// One thread each: the parallelism is ours.
void useOneBlasThread() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
}

class ComputeTask final : public TaskRunner {
public:
  using TaskRunner::TaskRunner;
  ~ComputeTask() override { job_.reset(); }
  Status start() override;
  PollState poll() override;

private:
  Status startMatmul();
  Status startKernel();
  int64_t parameter(size_t index) const {
    return index < task_.parameters.size() ? task_.parameters[index] : 0;
  }
  TensorBuffer &buffer(int32_t index) const { return *context_.buffers[index]; }

  std::shared_ptr<MemoryAccount> account_;
  std::unique_ptr<PhasedJob> job_;
};

Status ComputeTask::start() {
  job_ = std::make_unique<PhasedJob>(task_.name, *context_.pool, context_.doorbell);
  if (task_.operation == "matmul") {
    return startMatmul();
  }
  if (task_.operation == "kernel" && task_.kernel != plan::kNone) {
    return startKernel();
  }
  return makeError(ErrorKind::kUnsupported, "tensor operation is not built yet: ", task_.operation);
}

Status ComputeTask::startMatmul() {
  useOneBlasThread();
  TensorBuffer &a = buffer(task_.inputs[0]);
  TensorBuffer &b = buffer(task_.inputs[1]);
  TensorBuffer &c = buffer(task_.outputs[0]);
  bool transposeA = parameter(0) != 0;
  bool transposeB = parameter(1) != 0;
  const std::vector<int64_t> &sa = a.localShape();
  const std::vector<int64_t> &sb = b.localShape();
  const std::vector<int64_t> &sc = c.localShape();
  bool shaped = sa.size() == 2 && sb.size() == 2 && sc.size() == 2;
  if (!shaped || sa[transposeA ? 1 : 0] != sc[0] || sb[transposeB ? 0 : 1] != sc[1] ||
      sa[transposeA ? 0 : 1] != sb[transposeB ? 1 : 0] ||
      a.described().element != b.described().element ||
      a.described().element != c.described().element || a.described().element == "i64" ||
      *std::max_element(sc.begin(), sc.end()) > INT32_MAX || sa[0] > INT32_MAX ||
      sa[1] > INT32_MAX) {
    return makeError(ErrorKind::kUnsupported,
                     "operands of matmul do not fit together: ", a.described().name, ", ",
                     b.described().name);
  }
  auto m = static_cast<int>(sc[0]);
  auto n = static_cast<int>(sc[1]);
  auto k = static_cast<int>(sa[transposeA ? 0 : 1]);
  if (m == 0 || n == 0 || k == 0) {
    return {}; // C is zero already
  }
  auto workers = static_cast<int64_t>(context_.lanes);
  // Enough rows that the library packs B worthwhile; a few tiles a worker for balance.
  int rows = static_cast<int>(std::clamp<int64_t>((m + 4 * workers - 1) / (4 * workers), 64, 1024));
  job_->add([=, this, &a, &b, &c]() -> Expected<JobPhase> {
    return JobPhase{
        (m + rows - 1) / rows, [=, this, &a, &b, &c](int, int64_t tile) {
          int64_t begin = context_.clock->nowNanoseconds();
          int first = static_cast<int>(tile) * rows;
          int count = std::min(rows, m - first);
          int lda = static_cast<int>(a.localShape()[1]);
          int ldb = static_cast<int>(b.localShape()[1]);
          int64_t offset = transposeA ? first : static_cast<int64_t>(first) * lda;
          CBLAS_TRANSPOSE ta = transposeA ? CblasTrans : CblasNoTrans;
          CBLAS_TRANSPOSE tb = transposeB ? CblasTrans : CblasNoTrans;
          if (a.described().element == "f32") {
            cblas_sgemm(CblasRowMajor, ta, tb, count, n, k, 1.0f,
                        reinterpret_cast<const float *>(a.data()) + offset, lda,
                        reinterpret_cast<const float *>(b.data()), ldb, 0.0f,
                        reinterpret_cast<float *>(c.data()) + static_cast<int64_t>(first) * n, n);
          } else {
            cblas_dgemm(CblasRowMajor, ta, tb, count, n, k, 1.0,
                        reinterpret_cast<const double *>(a.data()) + offset, lda,
                        reinterpret_cast<const double *>(b.data()), ldb, 0.0,
                        reinterpret_cast<double *>(c.data()) + static_cast<int64_t>(first) * n, n);
          }
          ++counters_.morsels;
          counters_.busyNanoseconds += context_.clock->nowNanoseconds() - begin;
          return Status();
        }};
  });
  return {};
}

Status ComputeTask::startKernel() {
  std::vector<TensorBuffer *> operands;
  for (const std::vector<int32_t> *list : {&task_.inputs, &task_.outputs}) {
    for (int32_t index : *list) {
      operands.push_back(&buffer(index));
      if (operands.back()->elements() != operands.front()->elements()) {
        return makeError(ErrorKind::kUnsupported, "operands of a tensor kernel differ in size: ",
                         operands.back()->described().name);
      }
    }
  }
  HR_ASSIGN_OR_RETURN(account_, context_.openAccount(index_));
  constexpr int64_t kElements = 65536;
  int64_t total = operands.front()->elements();
  const KernelCall *kernel = (*context_.kernels)[task_.kernel].get();
  job_->add([=, this]() -> Expected<JobPhase> {
    return JobPhase{
        (total + kElements - 1) / kElements, [=, this](int, int64_t tile) -> Status {
          int64_t begin = context_.clock->nowNanoseconds();
          HR_ASSIGN_OR_RETURN(auto frame,
                              KernelFrame::create(*kernel, account_, context_.rank, context_.size));
          HrMorsel morsel{};
          morsel.firstRow = static_cast<uint64_t>(tile * kElements);
          morsel.rows = static_cast<uint32_t>(std::min(kElements, total - tile * kElements));
          std::vector<HrSegment> segments;
          std::vector<HrColumn> columns;
          segments.reserve(operands.size());
          for (TensorBuffer *operand : operands) {
            int64_t width = elementBytesOf(operand->described().element);
            HrSegment segment{};
            segment.rows = morsel.rows;
            segment.encoding = HR_VALUES;
            segment.bytes = static_cast<uint64_t>(morsel.rows * width);
            segment.data = operand->data() + tile * kElements * width;
            segments.push_back(segment);
            columns.push_back(HrColumn{&segments.back(), 1, 0, nullptr});
          }
          morsel.columns = columns.data();
          morsel.columnCount = static_cast<uint32_t>(columns.size());
          frame->beginMorsel();
          HrResult result = frame->run(morsel, nullptr);
          ++counters_.morsels;
          counters_.busyNanoseconds += context_.clock->nowNanoseconds() - begin;
          return result == HR_DONE ? Status() : frame->error();
        }};
  });
  return {};
}

PollState ComputeTask::poll() {
  PollState state = job_->poll();
  return state == PollState::kFailed ? fail(job_->status()) : state;
}

/// kCopy and loads of tensors: short enough to run on the rank's thread.
class CopyTask final : public TaskRunner {
public:
  using TaskRunner::TaskRunner;
  Status start() override {
    TensorBuffer &to = *context_.buffers[task_.outputs[0]];
    if (task_.kind == plan::TaskKind::kCopy) {
      TensorBuffer &from = *context_.buffers[task_.inputs[0]];
      if (from.bytes() != to.bytes()) {
        return makeError(ErrorKind::kInternal,
                         "copy between tensors of different size: ", to.described().name);
      }
      std::memmove(to.data(), from.data(), static_cast<size_t>(to.bytes()));
      return {};
    }
    const plan::Slot &slot = context_.plan->slots[task_.slot];
    auto bound = context_.tensors->find(slot.name);
    if (bound == context_.tensors->end()) {
      return makeError(ErrorKind::kUser, "no input is bound to tensor: ", slot.name);
    }
    return to.copyFrom(bound->second, context_.rank, context_.size);
  }
  PollState poll() override { return PollState::kDone; }
};

} // namespace

std::unique_ptr<TaskRunner> makeComputeTask(RankContext &context, int32_t task) {
  return std::make_unique<ComputeTask>(context, task);
}

std::unique_ptr<TaskRunner> makeCopyTask(RankContext &context, int32_t task) {
  return std::make_unique<CopyTask>(context, task);
}

} // namespace headrace::exec
