// Whether the output of a slice, or of a concat, is what the task says of its inputs.
#include "model/plan/check_rules.h"
#include "runtime/base/strided_range.h"

namespace headrace::plan {
namespace {

bool isDivided(const Buffer &buffer, size_t d) {
  return buffer.splitOf(static_cast<int32_t>(d)) != nullptr;
}

bool isRagged(const Buffer &buffer, size_t d) {
  const Split *split = buffer.splitOf(static_cast<int32_t>(d));
  return split && split->ragged;
}

bool areDividedAlike(const Buffer &a, size_t inA, const Buffer &b, size_t inB) {
  const Split *one = a.splitOf(static_cast<int32_t>(inA));
  const Split *other = b.splitOf(static_cast<int32_t>(inB));
  return (!one && !other) ||
         (one && other && one->axes == other->axes && one->ragged == other->ragged);
}

/// Whether each rank has what its part of a slice is taken of.
bool hasParts(const Buffer &from, size_t d, const Buffer &to, size_t target) {
  return areDividedAlike(from, d, to, target) || (!isDivided(from, d) && !isRagged(to, target));
}

} // namespace

bool isSlice(const Buffer &from, const Buffer &to, const std::vector<int64_t> &numbers) {
  size_t rank = from.shape.size(), next = 0;
  if (numbers.size() != 3 * rank || from.element != to.element) {
    return false;
  }
  for (size_t d = 0; d < rank; ++d) {
    StridedRange taken{numbers[d], numbers[rank + d], numbers[2 * rank + d]};
    bool open = from.shape[d] == kUnknownExtent;
    if (!taken.isAllOf(from.shape[d]) &&
        (open || isDivided(from, d) || !taken.isWithin(from.shape[d]))) {
      return false;
    }
    // Dimensions are matched from the first on.
    if (next < to.shape.size() && to.shape[next] == taken.size) {
      if (!hasParts(from, d, to, next++) || (open && from.sizedBy != to.sizedBy)) {
        return false;
      }
    } else if (taken.size != 1 || isDivided(from, d)) {
      return false;
    }
  }
  return next == to.shape.size();
}

bool isConcat(const std::vector<const Buffer *> &inputs, const Buffer &to, int64_t dimension) {
  auto along = static_cast<size_t>(dimension);
  int64_t extent = 0;
  if (dimension < 0 || along >= to.shape.size() || isDivided(to, along)) {
    return false;
  }
  for (const Buffer *from : inputs) {
    if (from->element != to.element || from->sizedBy != to.sizedBy ||
        from->shape.size() != to.shape.size() || from->shape[along] < 0 ||
        __builtin_add_overflow(extent, from->shape[along], &extent)) {
      return false;
    }
    for (size_t d = 0; d < to.shape.size(); ++d) {
      if (!areDividedAlike(*from, d, to, d) || (d != along && from->shape[d] != to.shape[d])) {
        return false;
      }
    }
  }
  return extent == to.shape[along];
}

} // namespace headrace::plan
