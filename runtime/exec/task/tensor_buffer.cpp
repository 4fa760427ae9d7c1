// Local extents, allocation, and copying in of bound tensors.
#include "runtime/exec/task/tensor_buffer.h"

#include "model/plan/names.h"

#include <algorithm>
#include <cstring>

namespace headrace::exec {

Part evenPart(int64_t extent, plan::GroupPlace place) {
  auto bound = [&](uint32_t part) {
    return static_cast<int64_t>(static_cast<__int128>(extent) * part / place.count);
  };
  return Part{bound(place.index), bound(place.index + 1)};
}

ElementType elementTypeOf(plan::Element element) {
  return element == plan::Element::kF32   ? ElementType::kFloat32
         : element == plan::Element::kF64 ? ElementType::kFloat64
                                          : ElementType::kInt64;
}

ReduceOp reduceOpOf(plan::Reduction reduction) {
  return reduction == plan::Reduction::kMax   ? ReduceOp::kMax
         : reduction == plan::Reduction::kMin ? ReduceOp::kMin
                                              : ReduceOp::kSum;
}

namespace {

std::vector<int64_t> denseStrides(const TensorView &view) {
  std::vector<int64_t> strides(view.shape.size(), plan::bytesOf(view.element));
  for (size_t d = strides.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * view.shape[d];
  }
  return strides;
}

std::vector<int64_t> stridesOf(const TensorView &view) {
  return view.strideBytes.empty() ? denseStrides(view) : view.strideBytes;
}

} // namespace

Expected<std::unique_ptr<TensorBuffer>>
TensorBuffer::shaped(const plan::Buffer &buffer, const plan::MeshPosition &place, RowCount rows) {
  std::unique_ptr<TensorBuffer> made(new TensorBuffer());
  made->described_ = &buffer;
  made->localShape_ = buffer.shape;
  for (size_t d = 0; d < made->localShape_.size(); ++d) {
    if (buffer.shape[d] != plan::kUnknownExtent) {
      continue;
    }
    const plan::Split *split = buffer.splitOf(static_cast<int32_t>(d));
    made->localShape_[d] = split && split->ragged ? rows.here : rows.total;
    if (made->localShape_[d] < 0) {
      return makeError(ErrorKind::kInternal,
                       "rows are not counted yet that size tensor: ", buffer.name);
    }
  }
  made->first_.assign(made->localShape_.size(), 0);
  for (const plan::Split &split : buffer.splits) {
    if (!split.ragged) {
      int64_t &extent = made->localShape_[split.dimension];
      Part part = evenPart(extent, place.along(split.axes));
      extent = part.count();
      made->first_[split.dimension] = part.first;
    }
  }
  made->elements_ = 1;
  for (int64_t extent : made->localShape_) {
    if (__builtin_mul_overflow(made->elements_, extent, &made->elements_) ||
        made->elements_ > (int64_t(1) << 44)) {
      return makeError(ErrorKind::kMemory, "tensor is too large: ", buffer.name);
    }
  }
  return made;
}

Expected<std::unique_ptr<TensorBuffer>> TensorBuffer::create(const plan::Buffer &buffer,
                                                             const plan::MeshPosition &place,
                                                             std::shared_ptr<RankMemory> memory,
                                                             RowCount rows) {
  HR_ASSIGN_OR_RETURN(std::unique_ptr<TensorBuffer> made, shaped(buffer, place, rows));
  auto owned = std::make_shared<TensorMemory>();
  ReservationRequest request;
  request.operatorName = "tensor '" + buffer.name + "'";
  HR_ASSIGN_OR_RETURN(owned->account, MemoryAccount::open(std::move(memory), request));
  HR_ASSIGN_OR_RETURN(owned->block, owned->account->allocate(made->bytes() + HR_PADDING));
  made->memory_ = std::move(owned);
  made->data_ = reinterpret_cast<uint8_t *>(made->memory_->block.data());
  return made;
}

Expected<std::unique_ptr<TensorBuffer>> TensorBuffer::share(const plan::Buffer &buffer,
                                                            const plan::MeshPosition &place,
                                                            const TensorPart &part) {
  HR_ASSIGN_OR_RETURN(std::unique_ptr<TensorBuffer> made, shaped(buffer, place, {}));
  if (part.element != buffer.element || part.shape != made->localShape_) {
    return makeError(ErrorKind::kMismatch, "the rank's part of '", buffer.name,
                     "' has another shape or element than the program was compiled for, got ",
                     plan::nameOf(part.element));
  }
  made->memory_ = part.memory;
  made->data_ = reinterpret_cast<uint8_t *>(made->memory_->block.data());
  return made;
}

Expected<std::unique_ptr<TensorBuffer>> TensorBuffer::borrow(const plan::Buffer &buffer,
                                                             const plan::MeshPosition &place,
                                                             const TensorView &view) {
  HR_ASSIGN_OR_RETURN(std::unique_ptr<TensorBuffer> made, shaped(buffer, place, {}));
  HR_RETURN_IF_ERROR(made->check(view));
  const std::vector<int64_t> dense = denseStrides(view), strides = stridesOf(view);
  bool apart = made->elements_ == 0;
  int64_t outside = 1; // elements of the dimensions so far
  for (size_t d = 0; d < dense.size(); ++d) {
    apart |= made->localShape_[d] > 1 && strides[d] != dense[d];
    apart |= made->localShape_[d] != view.shape[d] && outside > 1;
    outside *= made->localShape_[d];
  }
  const uint8_t *data = made->beginOf(view, strides);
  if (apart || reinterpret_cast<uintptr_t>(data) % plan::bytesOf(view.element) != 0) {
    return std::unique_ptr<TensorBuffer>();
  }
  made->data_ = const_cast<uint8_t *>(data); // of an input: nothing writes to it
  return made;
}

const uint8_t *TensorBuffer::beginOf(const TensorView &view,
                                     const std::vector<int64_t> &strides) const {
  const auto *begin = static_cast<const uint8_t *>(view.data);
  for (size_t d = 0; d < strides.size(); ++d) {
    begin += first_[d] * strides[d];
  }
  return begin;
}

Status TensorBuffer::check(const TensorView &view) const {
  if (view.element != described_->element || view.shape != described_->shape) {
    return makeError(ErrorKind::kUser, "tensor bound to '", described_->name,
                     "' has another shape or element than the program was compiled for, got ",
                     plan::nameOf(view.element));
  }
  return {};
}

Status TensorBuffer::copyFrom(const TensorView &view) {
  HR_RETURN_IF_ERROR(check(view));
  size_t dimensions = view.shape.size();
  int64_t width = plan::bytesOf(view.element);
  const std::vector<int64_t> strides = stridesOf(view);
  const uint8_t *from = beginOf(view, strides);
  uint8_t *to = data();
  std::vector<int64_t> index(dimensions, 0);
  int64_t inner = dimensions == 0 ? 1 : localShape_.back();
  bool dense = dimensions == 0 || strides.back() == width;
  for (int64_t done = 0; done < elements_; done += inner) {
    const uint8_t *row = from;
    for (size_t d = 0; d + 1 < dimensions; ++d) {
      row += index[d] * strides[d];
    }
    if (dense) {
      std::memcpy(to, row, static_cast<size_t>(inner * width));
    } else {
      for (int64_t i = 0; i < inner; ++i) {
        std::memcpy(to + i * width, row + i * strides.back(), static_cast<size_t>(width));
      }
    }
    to += inner * width;
    for (size_t d = dimensions; d-- > 0;) {
      if (d + 1 < dimensions && ++index[d] < localShape_[d]) {
        break;
      }
      index[d] = 0;
    }
  }
  return {};
}

} // namespace headrace::exec
