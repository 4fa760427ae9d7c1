// Element types and reductions of tensor collectives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace {

enum class ElementType : uint8_t { kUInt8, kInt32, kInt64, kFloat32, kFloat64 };
/// Max over kUInt8 serves as "or" of flags.
enum class ReduceOp : uint8_t { kSum, kMax, kMin };

int64_t elementBytes(ElementType type);
const char *elementTypeName(ElementType type);
const char *reduceOpName(ReduceOp op);

/// target[i] = op(target[i], source[i]) for `count` elements. Integer sums wrap. A NaN on either
/// side gives NaN in max and min too, on whichever side it is, so that all ranks get the same.
void reduceInto(void *target, const void *source, int64_t count, ElementType type, ReduceOp op);

} // namespace headrace
