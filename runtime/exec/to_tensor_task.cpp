// The rows of a stream become tensors: chunks are kept until the stream ends, then their columns
// are converted into buffers, which are only then of known size.
//
// "to_tensor": inputStream; outputs: one buffer per group of columns, rows first; parameters: the
// columns of all groups, one after another. Decimals (by their logical type) are divided by
// 10^scale.
#include "runtime/exec/task.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace headrace::exec {
namespace {

/// Digits behind the point of "decimal<precision, scale>"; 0 of any other type.
int decimalScale(const std::string &logical) {
  int precision = 0, scale = 0;
  return std::sscanf(logical.c_str(), "decimal<%d,%d>", &precision, &scale) == 2 ? scale : 0;
}

/// One column of a chunk into one column of a row-major tensor.
template <typename Source, typename Element>
void convert(const void *from, uint32_t rows, double divisor, Element *to, int64_t stride) {
  const auto *values = static_cast<const uint8_t *>(from);
  for (uint32_t i = 0; i < rows; ++i) {
    Source value;
    std::memcpy(&value, values + i * sizeof(Source), sizeof value);
    to[i * stride] = divisor == 1 ? static_cast<Element>(value)
                                  : static_cast<Element>(static_cast<double>(value) / divisor);
  }
}

template <typename Element>
bool convertColumn(HrType type, const void *from, uint32_t rows, double divisor, Element *to,
                   int64_t stride) {
  switch (type) {
  case HR_I8:
    convert<int8_t>(from, rows, divisor, to, stride);
    return true;
  case HR_I16:
    convert<int16_t>(from, rows, divisor, to, stride);
    return true;
  case HR_I32:
    convert<int32_t>(from, rows, divisor, to, stride);
    return true;
  case HR_I64:
    convert<int64_t>(from, rows, divisor, to, stride);
    return true;
  case HR_I128:
    convert<__int128>(from, rows, divisor, to, stride);
    return true;
  case HR_F32:
    convert<float>(from, rows, divisor, to, stride);
    return true;
  case HR_F64:
    convert<double>(from, rows, divisor, to, stride);
    return true;
  default:
    return false;
  }
}

class ToTensorTask final : public TaskRunner {
public:
  using TaskRunner::TaskRunner;
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
  for (int64_t column : task_.parameters) {
    if (column < 0 || column >= static_cast<int64_t>(schema().columns.size())) {
      return makeError(ErrorKind::kInternal,
                       "to_tensor reads a column that is not there: ", column);
    }
  }
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
      if (next >= task_.parameters.size()) {
        return makeError(ErrorKind::kInternal,
                         "to_tensor has fewer columns than its tensors: ", next);
      }
      HR_RETURN_IF_ERROR(fill(static_cast<int32_t>(task_.parameters[next]), *tensor, position));
    }
  }
  return {};
}

Status ToTensorTask::fill(int32_t column, TensorBuffer &tensor, int64_t position) {
  const plan::Column &described = schema().columns[column];
  int64_t stride = tensor.localShape().size() == 1 ? 1 : tensor.localShape()[1];
  const std::string &element = tensor.described().element;
  int64_t at = position;
  double divisor = std::pow(10.0, decimalScale(described.logical));
  for (const ChunkHandle &chunk : chunks_) {
    const HrSegment &segment = chunk->segments[column];
    for (uint32_t row = 0; segment.validity && row < chunk->rows; ++row) {
      if (!(segment.validity[row / 8] >> row % 8 & 1)) {
        return makeError(ErrorKind::kData,
                         "NULL cannot become an element of a tensor, column: ", described.name);
      }
    }
    uint8_t *to = tensor.data() + at * elementBytesOf(element);
    bool known = segment.encoding == HR_VALUES;
    if (element == "f32") {
      known = known && convertColumn(described.type, segment.data, chunk->rows, divisor,
                                     reinterpret_cast<float *>(to), stride);
    } else if (element == "f64") {
      known = known && convertColumn(described.type, segment.data, chunk->rows, divisor,
                                     reinterpret_cast<double *>(to), stride);
    } else {
      known = known && convertColumn(described.type, segment.data, chunk->rows, 1,
                                     reinterpret_cast<int64_t *>(to), stride);
    }
    if (!known) {
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
    int64_t extent = 0;
    if (described.sizedBy != plan::kNone) {
      const RowCount &count = rowCounts[described.sizedBy];
      extent = described.ragged ? count.here : count.total;
      if (extent < 0) {
        return makeError(ErrorKind::kInternal,
                         "rows are not counted yet that size tensor: ", described.name);
      }
    }
    HR_ASSIGN_OR_RETURN(made, TensorBuffer::create(described, rank, size, memory, extent));
  }
  return made.get();
}

std::unique_ptr<TaskRunner> makeToTensorTask(RankContext &context, int32_t task) {
  return std::make_unique<ToTensorTask>(context, task);
}

} // namespace headrace::exec
