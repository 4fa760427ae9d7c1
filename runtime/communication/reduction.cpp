// Reductions over two buffers; loops that the compiler makes vectors of.
#include "runtime/communication/reduction.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/base/check.h"

namespace headrace {

namespace {

template <typename T> struct Sum {
  static T apply(T left, T right) {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Unsigned>(left) + static_cast<Unsigned>(right));
    } else {
      return left + right;
    }
  }
};

/// The extreme of two that depends on neither their order nor on which NaN came: +0 is above −0.
template <typename T, bool kMax> struct Extreme {
  static T apply(T left, T right) {
    if constexpr (std::is_integral_v<T>) {
      return (left < right) == kMax ? right : left;
    } else {
      T unordered = left + right; // NaN if either is
      T ordered = (left < right) == kMax ? right : left;
      if (left == right) {
        ordered = std::signbit(left) == kMax ? right : left;
      }
      return std::isnan(unordered) && (std::isnan(left) || std::isnan(right))
                 ? std::numeric_limits<T>::quiet_NaN()
                 : ordered;
    }
  }
};

template <typename T, typename Op> void reduceAll(void *target, const void *source, int64_t count) {
  auto *__restrict to = static_cast<T *>(target);
  const auto *__restrict from = static_cast<const T *>(source);
  for (int64_t index = 0; index < count; ++index) {
    to[index] = Op::apply(to[index], from[index]);
  }
}

template <typename T>
void reduceTyped(void *target, const void *source, int64_t count, ReduceOp op) {
  switch (op) {
  case ReduceOp::kSum:
    return reduceAll<T, Sum<T>>(target, source, count);
  case ReduceOp::kMax:
    return reduceAll<T, Extreme<T, true>>(target, source, count);
  case ReduceOp::kMin:
    return reduceAll<T, Extreme<T, false>>(target, source, count);
  }
}

} // namespace

int64_t elementBytes(ElementType type) {
  switch (type) {
  case ElementType::kUInt8:
    return 1;
  case ElementType::kInt32:
  case ElementType::kFloat32:
    return 4;
  case ElementType::kInt64:
  case ElementType::kFloat64:
    return 8;
  }
  return 0;
}

const char *elementTypeName(ElementType type) {
  constexpr const char *kNames[] = {"uint8", "int32", "int64", "float32", "float64"};
  return kNames[static_cast<size_t>(type)];
}

const char *reduceOpName(ReduceOp op) {
  constexpr const char *kNames[] = {"sum", "max", "min"};
  return kNames[static_cast<size_t>(op)];
}

void reduceInto(void *target, const void *source, int64_t count, ElementType type, ReduceOp op) {
  HR_CHECK(count >= 0);
  switch (type) {
  case ElementType::kUInt8:
    return reduceTyped<uint8_t>(target, source, count, op);
  case ElementType::kInt32:
    return reduceTyped<int32_t>(target, source, count, op);
  case ElementType::kInt64:
    return reduceTyped<int64_t>(target, source, count, op);
  case ElementType::kFloat32:
    return reduceTyped<float>(target, source, count, op);
  case ElementType::kFloat64:
    return reduceTyped<double>(target, source, count, op);
  }
}

} // namespace headrace
