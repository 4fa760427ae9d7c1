// The rule: which functions of windows without partition keys go by range of the order.
#include "passes/shard/carried_windows.h"

#include <cstdlib>

using namespace mlir;
using namespace headrace::frame;

namespace headrace::shard {
namespace {

using Kind = WindowFunctionKind;
using Bound = FrameBoundKind;

/// Further than this rows do not look: every rank sends so many to all others.
constexpr int64_t kNearRowsMax = 4096;

/// How far behind the row a bound is: less than 0 before it. Nothing if that differs from row to
/// row.
std::optional<int64_t> constantShift(Bound bound, Attribute distance) {
  auto number = dyn_cast_or_null<IntegerAttr>(distance);
  int64_t rows = number ? std::min(number.getInt(), kNearRowsMax + 1) : 0;
  switch (bound) {
  case Bound::CurrentRow:
    return 0;
  case Bound::Preceding:
    return number ? std::optional(-rows) : std::nullopt;
  case Bound::Following:
    return number ? std::optional(rows) : std::nullopt;
  case Bound::UnboundedPreceding:
  case Bound::UnboundedFollowing:
    return std::nullopt;
  }
  llvm_unreachable("unknown bound");
}

/// Between which shifts a row looks, if they are always the same.
std::optional<std::pair<int64_t, int64_t>> constantShifts(WindowFunctionAttr function) {
  if (WindowFrameAttr frame = function.getFrame()) {
    bool looksAtPeers = frame.getUnit() != FrameUnit::Rows ||
                        frame.getExclude() == FrameExclusion::Group ||
                        frame.getExclude() == FrameExclusion::Ties;
    auto start = constantShift(frame.getStart(), frame.getStartDistance());
    auto end = constantShift(frame.getEnd(), frame.getEndDistance());
    return looksAtPeers || !start || !end ? std::nullopt : std::optional(std::pair(*start, *end));
  }
  ArrayRef<Attribute> arguments = function.getArgumentRange();
  auto number = arguments.size() > 1 ? dyn_cast<IntegerAttr>(arguments[1]) : IntegerAttr();
  bool moves = function.getKind() == Kind::Lag || function.getKind() == Kind::Lead;
  if (!moves || !number || function.getIgnoreNulls()) {
    return std::nullopt;
  }
  int64_t distance = std::clamp(number.getInt(), -kNearRowsMax - 1, kNearRowsMax + 1);
  int64_t shift = function.getKind() == Kind::Lag ? -distance : distance;
  return std::pair(shift, shift);
}

/// Whether parts of the rows fold to values that fold to that of all.
bool foldsInParts(WindowFunctionAttr function, Type result) {
  using Function = AggregateFunction;
  switch (*function.getAggregate()) {
  case Function::Sum:
    return !isDoubleDouble(dropNullable(result));
  case Function::Count:
  case Function::CountStar:
  case Function::Min:
  case Function::Max:
    return true;
  default:
    return false;
  }
}

} // namespace

NearRows nearRowsOf(WindowFunctionAttr function) {
  auto [start, end] = *constantShifts(function);
  return {std::max<int64_t>(0, -std::min(start, end)), std::max<int64_t>(0, std::max(start, end))};
}

std::optional<Carry> carryOf(WindowFunctionAttr function, ArrayAttr order, Type result) {
  const bool isPlaceInFrame = function.getFrame() && function.getKind() < Kind::FirstValue;
  if (isPlaceInFrame || function.getOrder()) {
    return std::nullopt;
  }
  switch (function.getKind()) {
  case Kind::RowNumber:
    return Carry::kPlaces;
  case Kind::Ntile: {
    auto parts = dyn_cast<IntegerAttr>(function.getArgumentRange()[0]);
    return parts && parts.getInt() > 0 ? std::optional(Carry::kPlaces) : std::nullopt;
  }
  case Kind::Rank:
  case Kind::DenseRank:
  case Kind::PercentRank:
  case Kind::CumeDist: // without an order all rows are peers, wherever they are
    return order.empty() ? std::nullopt : std::optional(Carry::kPlaces);
  case Kind::Collect:
    return std::nullopt;
  default:
    break;
  }
  if (constantShifts(function)) {
    NearRows near = nearRowsOf(function);
    int64_t reach = near.before + near.after;
    return reach == 0              ? std::optional(Carry::kNothing)
           : reach <= kNearRowsMax ? std::optional(Carry::kNear)
                                   : std::nullopt;
  }
  WindowFrameAttr frame = function.getFrame();
  if (!frame || frame.getExclude() != FrameExclusion::None || function.getIgnoreNulls()) {
    return std::nullopt;
  }
  bool fromFirst = frame.getStart() == Bound::UnboundedPreceding;
  bool toLast = frame.getEnd() == Bound::UnboundedFollowing;
  // Without an order all rows are peers, wherever they are.
  bool hasPeersHere = !order.empty() || frame.getUnit() == FrameUnit::Rows;
  bool fromRow = hasPeersHere && frame.getStart() == Bound::CurrentRow;
  bool toRow = hasPeersHere && frame.getEnd() == Bound::CurrentRow;
  switch (function.getKind()) {
  case Kind::Aggregate:
    if (fromRow && toRow) {
      return Carry::kNothing;
    }
    if (!foldsInParts(function, result)) {
      return std::nullopt;
    }
    return fromFirst && toLast  ? std::optional(Carry::kAll)
           : fromFirst && toRow ? std::optional(Carry::kBefore)
           : fromRow && toLast  ? std::optional(Carry::kAfter)
                                : std::nullopt;
  case Kind::FirstValue:
    return fromFirst && (toRow || toLast) ? std::optional(Carry::kFirst)
           : fromRow && (toRow || toLast) ? std::optional(Carry::kNothing)
                                          : std::nullopt;
  case Kind::LastValue:
    return toLast && (fromRow || fromFirst)  ? std::optional(Carry::kLast)
           : toRow && (fromRow || fromFirst) ? std::optional(Carry::kNothing)
                                             : std::nullopt;
  default:
    return std::nullopt;
  }
}

bool canBeCarried(WindowOp window) {
  TableType type = window.getType();
  return window.getPartition().empty() && !window.getFirst() &&
         llvm::all_of(window.getFunctionRange(), [&](WindowFunctionAttr function) {
           return carryOf(function, window.getOrder(), type.getColumnType(function.getName()));
         });
}

} // namespace headrace::shard
