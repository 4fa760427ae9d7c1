// The rows of a stream become tensors: chunks are kept until the stream ends, then their columns
// are converted into buffers, which are only then of known size.
//
// "to_tensor": inputStream; outputs: one buffer per group of columns, rows first; parameters: the
// columns of all groups, one after another. Decimals (by their logical type) are divided by
// 10^scale.
#include "runtime/exec/task/task.h"

#include <cmath>
#include <cstring>
#include <type_traits>

namespace headrace::exec {
namespace {

/// One column of a chunk into one column of a row-major tensor; false if an integer does not fit.
template <typename Source, typename Element>
bool convert(const void *from, uint32_t rows, double divisor, Element *to, int64_t stride) {
  const auto *values = static_cast<const uint8_t *>(from);
  for (uint32_t i = 0; i < rows; ++i) {
    Source value;
    std::memcpy(&value, values + i * sizeof(Source), sizeof value);
    if constexpr (std::is_same_v<Element, int64_t> && sizeof(Source) > sizeof(Element)) {
      if (value != static_cast<Source>(static_cast<Element>(value))) {
        return false;
      }
    }
    to[i * stride] = divisor == 1 ? static_cast<Element>(value)
                                  : static_cast<Element>(static_cast<double>(value) / divisor);
  }
  return true;
}

enum class Conversion : uint8_t { kDone, kTooLarge, kNoNumber };

template <typename Element>
Conversion convertColumn(HrType type, const void *from, uint32_t rows, double divisor, Element *to,
                         int64_t stride) {
  auto as = [&]<typename Source>(Source) {
    return convert<Source>(from, rows, divisor, to, stride) ? Conversion::kDone
                                                            : Conversion::kTooLarge;
  };
  switch (type) {
  case HR_I8:
    return as(int8_t());
  case HR_I16:
    return as(int16_t());
  case HR_I32:
    return as(int32_t());
  case HR_I64:
    return as(int64_t());
  case HR_I128:
    return as(static_cast<__int128>(0));
  default:
    break;
  }
  if constexpr (std::is_floating_point_v<Element>) {
    if (type == HR_F32) {
      return as(float());
    }
    if (type == HR_F64) {
      return as(double());
    }
  }
  return Conversion::kNoNumber;
}

class ToTensorTask final : public TaskRunnerOf<plan::ToTensorTask> {
public:
  using TaskRunnerOf::TaskRunnerOf;
  Status start() override;
  PollState poll() override;

private:
  Status keep(ChunkHandle chunk);
  Status makeTensors();
  Status fill(int32_t column, TensorBuffer &tensor, int64_t position);
  const plan::Schema &schema() const { return context_.plan->streams[task_.inputStream].schema; }

  std::shared_ptr<ChunkStream> input_;
  std::shared_ptr<MemoryAccount> account_;
  std::vector<ChunkHandle> chunks_;
};

Status ToTensorTask::start() {
  input_ = context_.streams[task_.inputStream];
  HR_ASSIGN_OR_RETURN(account_, context_.openAccount(index_));
  return {};
}

Status ToTensorTask::keep(ChunkHandle chunk) {
  counters_.rowsIn += chunk->rows;
  if (chunk->pooled) { // The exchange needs its buffers back.
    HR_ASSIGN_OR_RETURN(chunk, copyChunk(*chunk, schema(), account_));
  }
  chunks_.push_back(std::move(chunk));
  return {};
}

PollState ToTensorTask::poll() {
  while (ChunkHandle chunk = input_->tryPop()) {
    if (Status status = keep(std::move(chunk)); !status.ok()) {
      return fail(status);
    }
  }
  if (!input_->ended()) {
    return PollState::kPending;
  }
  putInOrder(chunks_);
  Status status = makeTensors();
  chunks_.clear();
  return status.ok() ? PollState::kDone : fail(status);
}

Status ToTensorTask::makeTensors() {
  int64_t rows = 0;
  for (const ChunkHandle &chunk : chunks_) {
    rows += chunk->rows;
  }
  RowCount &count = context_.rowCounts[task_.outputs.front()];
  count.here = rows;
  if (context_.size == 1) {
    count.total = rows;
  }
  size_t next = 0;
  for (int32_t output : task_.outputs) {
    HR_ASSIGN_OR_RETURN(TensorBuffer * tensor, context_.writable(output));
    int64_t columns = tensor->localShape().size() == 1 ? 1 : tensor->localShape()[1];
    for (int64_t position = 0; position < columns; ++position, ++next) {
      HR_RETURN_IF_ERROR(fill(task_.columns[next], *tensor, position));
    }
  }
  return {};
}

Status ToTensorTask::fill(int32_t column, TensorBuffer &tensor, int64_t position) {
  const plan::Column &described = schema().columns[column];
  int64_t stride = tensor.localShape().size() == 1 ? 1 : tensor.localShape()[1];
  plan::Element element = tensor.described().element;
  int64_t at = position;
  double divisor = std::pow(10.0, described.logical.scale);
  for (const ChunkHandle &chunk : chunks_) {
    const HrSegment &segment = chunk->segments[column];
    for (uint32_t row = 0; segment.validity && row < chunk->rows; ++row) {
      if (!(segment.validity[row / 8] >> row % 8 & 1)) {
        return makeError(ErrorKind::kData,
                         "NULL cannot become an element of a tensor, column: ", described.name);
      }
    }
    uint8_t *to = tensor.data() + at * plan::bytesOf(element);
    auto convertTo = [&]<typename Element>(Element *elements, double by) {
      return segment.encoding == HR_VALUES
                 ? convertColumn(described.type, segment.data, chunk->rows, by, elements, stride)
                 : Conversion::kNoNumber;
    };
    Conversion done =
        element == plan::Element::kF32   ? convertTo(reinterpret_cast<float *>(to), divisor)
        : element == plan::Element::kF64 ? convertTo(reinterpret_cast<double *>(to), divisor)
                                         : convertTo(reinterpret_cast<int64_t *>(to), 1);
    if (done == Conversion::kTooLarge) {
      return makeError(ErrorKind::kData,
                       "number does not fit an element of i64, column: ", described.name);
    }
    if (done == Conversion::kNoNumber) {
      return makeError(ErrorKind::kUnsupported, "column cannot become a tensor: ", described.name);
    }
    at += static_cast<int64_t>(chunk->rows) * stride;
  }
  return {};
}

} // namespace

Expected<TensorBuffer *> RankContext::writable(int32_t buffer) {
  std::unique_ptr<TensorBuffer> &made = buffers[buffer];
  if (!made) {
    const plan::Buffer &described = plan->buffers[buffer];
    RowCount rows = described.sizedBy != plan::kNone ? rowCounts[described.sizedBy] : RowCount();
    HR_ASSIGN_OR_RETURN(made, TensorBuffer::create(described, place, memory, rows));
  }
  return made.get();
}

std::unique_ptr<TaskRunner> makeToTensorTask(RankContext &context, int32_t task) {
  return std::make_unique<ToTensorTask>(context, task);
}

} // namespace headrace::exec
