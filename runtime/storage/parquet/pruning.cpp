// Minimum and maximum against a literal.
#include "runtime/storage/parquet/pruning.h"

#include "runtime/primitives/hash/hash.h"

namespace headrace::storage {
namespace {

template <typename T>
bool canSatisfyOp(plan::BoundKind op, const T *min, const T *max, const T &literal) {
  switch (op) {
  case plan::BoundKind::kEq:
    return !(min && literal < *min) && !(max && *max < literal);
  case plan::BoundKind::kLt:
    return !(min && !(*min < literal));
  case plan::BoundKind::kLe:
    return !(min && literal < *min);
  case plan::BoundKind::kGt:
    return !(max && !(literal < *max));
  case plan::BoundKind::kGe:
    return !(max && *max < literal);
  }
  return true;
}

template <typename T>
const T *member(const std::optional<StatisticsValue> &value, T StatisticsValue::*field) {
  return value ? &((*value).*field) : nullptr;
}

} // namespace

bool canSatisfy(const plan::Bound &bound, const ParquetColumn &column, const ParquetChunk &chunk,
                uint64_t rows) {
  if (chunk.nulls && *chunk.nulls == rows) {
    return false; // a comparison with NULL is never true
  }
  switch (column.type.kind) {
  case LogicalKind::kString:
  case LogicalKind::kBinary:
  case LogicalKind::kUuid:
    return canSatisfyOp(bound.op, member(chunk.min, &StatisticsValue::text),
                        member(chunk.max, &StatisticsValue::text), bound.text);
  case LogicalKind::kF32:
  case LogicalKind::kF64:
    // NaN is above everything and not in the statistics: the maximum says nothing.
    return canSatisfyOp(bound.op, member(chunk.min, &StatisticsValue::real),
                        static_cast<const double *>(nullptr), bound.real);
  default:
    return canSatisfyOp(bound.op, member(chunk.min, &StatisticsValue::integer),
                        member(chunk.max, &StatisticsValue::integer),
                        static_cast<__int128>(bound.integer));
  }
}

bool canHaveStretches(int64_t cycle, primitives::KeyInterval places, const ParquetChunk &chunk) {
  if (!chunk.min || !chunk.max || chunk.nulls != 0 || chunk.min->integer < INT64_MIN ||
      chunk.max->integer > INT64_MAX || chunk.max->integer < chunk.min->integer) {
    return true;
  }
  const uint64_t scale = primitives::scaleOfCycle(cycle);
  const auto min = static_cast<int64_t>(chunk.min->integer),
             max = static_cast<int64_t>(chunk.max->integer);
  const auto way =
      static_cast<unsigned __int128>(static_cast<uint64_t>(max) - static_cast<uint64_t>(min)) *
      scale;
  // From the place of the least key on, places go up round the line, so many further.
  constexpr uint64_t kMask = primitives::kKeyPlaces - 1;
  const uint64_t first = primitives::placeInCycle(min, scale),
                 behind = primitives::positionInCycle(min, scale) & kMask;
  return places.has(first) || ((places.first - first) & kMask) <= (behind + way) >> 32;
}

} // namespace headrace::storage
