// What slices, concatenations and gathers make of tensors that are divided over ranks: one rule for the
// dialect that lists such tasks and for the checker of plans.
//
// A `Tensor` has rank(); of a dimension extent(d), negative where only the run knows it,
// isDivided(d), isRagged(d), and isDividedLike(d, other, inOther); hasElementsOf(other), and
// hasRowsOf(other): extents that only the run knows are the same.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/base/strided_range.h"

namespace headrace {

/// Whether `to` is what offsets, sizes and strides, one after another, take of `from`, and each
/// rank has what its part is taken of. Of an extent that only the run knows all is taken, by size
/// -1. Dimensions of `to` are matched from the first on: those of size 1 may be missing.
template <typename Tensor>
bool isSliceOf(const Tensor &to, const Tensor &from, std::span<const int64_t> numbers) {
  const int64_t rank = from.rank();
  if (static_cast<int64_t>(numbers.size()) != 3 * rank || !to.hasElementsOf(from)) {
    return false;
  }
  int64_t next = 0;
  for (int64_t d = 0; d < rank; ++d) {
    const StridedRange taken{numbers[d], numbers[rank + d], numbers[2 * rank + d]};
    const bool open = from.extent(d) < 0;
    if (!taken.isAllOf(from.extent(d)) &&
        (open || from.isDivided(d) || !taken.isWithin(from.extent(d)))) {
      return false;
    }
    if (next < to.rank() && to.extent(next) == taken.size) {
      const bool isCut = !from.isDivided(d) && !to.isRagged(next);
      if (!(isCut || from.isDividedLike(d, to, next)) || (open && !to.hasRowsOf(from))) {
        return false;
      }
      ++next;
    } else if (taken.size != 1 || from.isDivided(d)) {
      return false;
    }
  }
  return next == to.rank();
}

/// Whether `to` is the inputs, divided alike, one after another along the dimension.
template <typename Tensor>
bool isConcatOf(const Tensor &to, std::span<const Tensor> inputs, int64_t along) {
  if (along < 0 || along >= to.rank() || to.isDivided(along)) {
    return false;
  }
  int64_t extent = 0;
  for (const Tensor &from : inputs) {
    if (!to.hasElementsOf(from) || !to.hasRowsOf(from) || from.rank() != to.rank() ||
        from.extent(along) < 0 || __builtin_add_overflow(extent, from.extent(along), &extent)) {
      return false;
    }
    for (int64_t d = 0; d < to.rank(); ++d) {
      if (!from.isDividedLike(d, to, d) || (d != along && from.extent(d) != to.extent(d))) {
        return false;
      }
    }
  }
  return extent == to.extent(along);
}


/// Whether `to` has the dimensions of `places` but the last, which has one element, then those of
/// `from` but the first, which is whole.
template <typename Tensor>
bool isGatherOf(const Tensor &to, const Tensor &from, const Tensor &places) {
  const int64_t last = places.rank() - 1;
  if (last < 0 || from.rank() == 0 || to.rank() != last + from.rank() - 1 ||
      !to.hasElementsOf(from) || places.extent(last) != 1 || places.isDivided(last) ||
      from.isDivided(0)) {
    return false;
  }
  auto follows = [&](int64_t d, const Tensor &source, int64_t inSource) {
    return to.extent(d) == source.extent(inSource) && to.isDividedLike(d, source, inSource) &&
           (to.extent(d) >= 0 || to.hasRowsOf(source));
  };
  for (int64_t d = 0; d < to.rank(); ++d) {
    if (!(d < last ? follows(d, places, d) : follows(d, from, d - last + 1))) {
      return false;
    }
  }
  return true;
}

} // namespace headrace
