// Whether the output of a slice, a concat or a gather is what the task says of its inputs.
#include "model/plan/check_rules.h"
#include "runtime/base/divided_tensors.h"

namespace headrace::plan {
namespace {

/// A buffer as runtime/base/divided_tensors.h asks for it.
struct DividedBuffer {
  const Buffer *buffer;

  const Split *splitOf(int64_t d) const { return buffer->splitOf(static_cast<int32_t>(d)); }
  int64_t rank() const { return static_cast<int64_t>(buffer->shape.size()); }
  int64_t extent(int64_t d) const { return buffer->shape[static_cast<size_t>(d)]; }
  bool isDivided(int64_t d) const { return splitOf(d) != nullptr; }
  bool isRagged(int64_t d) const { return isDivided(d) && splitOf(d)->ragged; }
  bool isDividedLike(int64_t d, const DividedBuffer &other, int64_t inOther) const {
    const Split *here = splitOf(d), *there = other.splitOf(inOther);
    return (!here && !there) ||
           (here && there && here->axes == there->axes && here->ragged == there->ragged);
  }
  bool hasElementsOf(const DividedBuffer &other) const {
    return buffer->element == other.buffer->element;
  }
  bool hasRowsOf(const DividedBuffer &other) const {
    return buffer->sizedBy == other.buffer->sizedBy;
  }
};

} // namespace

bool isSlice(const Buffer &from, const Buffer &to, const std::vector<int64_t> &numbers) {
  return isSliceOf(DividedBuffer{&to}, DividedBuffer{&from}, numbers);
}

bool isConcat(const std::vector<const Buffer *> &inputs, const Buffer &to, int64_t dimension) {
  const std::vector<DividedBuffer> divided(inputs.begin(), inputs.end());
  return isConcatOf<DividedBuffer>(DividedBuffer{&to}, divided, dimension);
}


bool isGather(const Buffer &from, const Buffer &places, const Buffer &to) {
  return places.element == Element::kI64 &&
         isGatherOf(DividedBuffer{&to}, DividedBuffer{&from}, DividedBuffer{&places});
}

} // namespace headrace::plan
