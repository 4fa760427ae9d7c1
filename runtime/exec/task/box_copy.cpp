// Dimensions that follow each other without gaps become one; runs without gaps are memcpy.
#include "runtime/exec/task/box_copy.h"

#include "runtime/base/strided_range.h"

#include <algorithm>
#include <cstring>

namespace headrace::exec {
namespace {

std::vector<int64_t> rowMajorStrides(const std::vector<int64_t> &shape, int64_t width) {
  std::vector<int64_t> strides(shape.size(), width);
  for (size_t d = shape.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * shape[d];
  }
  return strides;
}

BoxCopy emptyBox(const TensorBuffer &from, const TensorBuffer &to) {
  return BoxCopy{from.data(), to.data(), plan::bytesOf(to.described().element), {}};
}

/// The same elements with the fewest dimensions, at least one.
void joinDimensions(BoxCopy &box) {
  std::vector<BoxCopy::Dimension> joined;
  for (const BoxCopy::Dimension &next : box.dimensions) {
    if (next.extent == 1) {
      continue;
    }
    BoxCopy::Dimension *last = joined.empty() ? nullptr : &joined.back();
    if (last && last->fromStride == next.extent * next.fromStride &&
        last->toStride == next.extent * next.toStride) {
      *last = {last->extent * next.extent, next.fromStride, next.toStride};
    } else {
      joined.push_back(next);
    }
  }
  if (joined.empty()) {
    joined.push_back({1, box.width, box.width});
  }
  box.dimensions = std::move(joined);
}

int64_t elementsOf(const BoxCopy &box) {
  int64_t elements = 1;
  for (const BoxCopy::Dimension &dimension : box.dimensions) {
    elements *= dimension.extent;
  }
  return elements;
}

template <typename Element>
void copyApart(uint8_t *to, int64_t toStride, const uint8_t *from, int64_t fromStride,
               int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * toStride, from + i * fromStride, sizeof(Element));
  }
}

void copyRun(const BoxCopy &box, uint8_t *to, const uint8_t *from, int64_t count) {
  const BoxCopy::Dimension &run = box.dimensions.back();
  if (run.fromStride == box.width && run.toStride == box.width) {
    std::memcpy(to, from, static_cast<size_t>(count * box.width));
  } else if (box.width == 4) {
    copyApart<uint32_t>(to, run.toStride, from, run.fromStride, count);
  } else {
    copyApart<uint64_t>(to, run.toStride, from, run.fromStride, count);
  }
}

/// Elements [first, end) of the box, in its order.
void copyElements(const BoxCopy &box, int64_t first, int64_t end) {
  size_t outer = box.dimensions.size() - 1;
  const BoxCopy::Dimension &run = box.dimensions[outer];
  int64_t row = first / run.extent, at = first % run.extent;
  const uint8_t *from = box.from;
  uint8_t *to = box.to;
  std::vector<int64_t> position(outer, 0);
  for (size_t d = outer; d-- > 0;) {
    const BoxCopy::Dimension &dimension = box.dimensions[d];
    position[d] = row % dimension.extent;
    row /= dimension.extent;
    from += position[d] * dimension.fromStride;
    to += position[d] * dimension.toStride;
  }
  while (true) {
    int64_t count = std::min(run.extent - at, end - first);
    copyRun(box, to + at * run.toStride, from + at * run.fromStride, count);
    first += count;
    if (first == end) {
      return;
    }
    at = 0;
    for (size_t d = outer; d-- > 0;) {
      const BoxCopy::Dimension &dimension = box.dimensions[d];
      from += dimension.fromStride;
      to += dimension.toStride;
      if (++position[d] < dimension.extent) {
        break;
      }
      from -= dimension.extent * dimension.fromStride;
      to -= dimension.extent * dimension.toStride;
      position[d] = 0;
    }
  }
}

} // namespace

BoxCopy wholeBox(const TensorBuffer &from, const TensorBuffer &to) {
  BoxCopy box = emptyBox(from, to);
  box.dimensions = {{to.elements(), box.width, box.width}};
  return box;
}

BoxCopy sliceBox(const TensorBuffer &from, const TensorBuffer &to,
                 const std::vector<int64_t> &numbers) {
  BoxCopy box = emptyBox(from, to);
  const std::vector<int64_t> strides = rowMajorStrides(from.localShape(), box.width);
  const std::vector<int64_t> toStrides = rowMajorStrides(to.localShape(), box.width);
  const std::vector<int64_t> &shape = to.described().shape;
  size_t rank = strides.size(), next = 0;
  for (size_t d = 0; d < rank; ++d) {
    StridedRange taken{numbers[d], numbers[rank + d], numbers[2 * rank + d]};
    taken.stride = taken.size > 1 ? taken.stride : 1; // any would do
    int64_t before = 0;
    if (next < shape.size() && shape[next] == taken.size) { // as the check of plans matches them
      before = to.first()[next];
      box.dimensions.push_back({to.localShape()[next], taken.stride * strides[d], toStrides[next]});
      ++next;
    }
    box.from += (taken.offset + taken.stride * before - from.first()[d]) * strides[d];
  }
  return box;
}

BoxCopy concatBox(const TensorBuffer &from, const TensorBuffer &to, size_t dimension,
                  int64_t offset) {
  BoxCopy box = emptyBox(from, to);
  const std::vector<int64_t> strides = rowMajorStrides(from.localShape(), box.width);
  const std::vector<int64_t> toStrides = rowMajorStrides(to.localShape(), box.width);
  for (size_t d = 0; d < strides.size(); ++d) {
    box.dimensions.push_back({from.localShape()[d], strides[d], toStrides[d]});
  }
  box.to += offset * toStrides[dimension];
  return box;
}

JobPhase copyPhase(std::vector<BoxCopy> boxes) {
  // About as many elements a morsel as a worker's cache holds.
  constexpr int64_t kElements = 65536;
  std::vector<int64_t> ends; // of the boxes' morsels
  int64_t morsels = 0;
  for (BoxCopy &box : boxes) {
    joinDimensions(box);
    morsels += (elementsOf(box) + kElements - 1) / kElements;
    ends.push_back(morsels);
  }
  return JobPhase{morsels, [boxes = std::move(boxes), ends](int, int64_t morsel) {
                    auto number = static_cast<size_t>(
                        std::upper_bound(ends.begin(), ends.end(), morsel) - ends.begin());
                    int64_t first = (morsel - (number ? ends[number - 1] : 0)) * kElements;
                    const BoxCopy &box = boxes[number];
                    copyElements(box, first, std::min(first + kElements, elementsOf(box)));
                    return Status();
                  }};
}

} // namespace headrace::exec
