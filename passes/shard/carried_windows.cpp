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

/// Whether the kind of a function, which has a frame, is about places in it by the window's order.
bool looksAtPeersOfFrame(WindowFunctionAttr function) {
  return !function.getOrder() &&
         (function.getKind() == Kind::Rank || function.getKind() == Kind::PercentRank ||
          function.getKind() == Kind::CumeDist);
}

bool hasDistance(WindowFrameAttr frame) {
  return frame.getStartDistance() || frame.getEndDistance();
}

/// Whether a frame goes from a row, or the first, to a row, or the last, and not from row to row.
bool goesFarFrom(WindowFrameAttr frame, ArrayAttr order) {
  if (hasDistance(frame) || frame.getExclude() != FrameExclusion::None) {
    return false;
  }
  const bool isWhole =
      frame.getStart() == Bound::UnboundedPreceding && frame.getEnd() == Bound::UnboundedFollowing;
  const bool isOfRow = frame.getStart() == Bound::CurrentRow && frame.getEnd() == Bound::CurrentRow;
  // Without an order all rows are peers, wherever they are.
  const bool hasPeersHere = !order.empty() || frame.getUnit() == FrameUnit::Rows;
  return isWhole || (hasPeersHere && !isOfRow);
}

/// A count that is the same for all rows, from 1 to what each rank may send.
std::optional<int64_t> constantCount(Attribute count) {
  auto number = dyn_cast_or_null<IntegerAttr>(count);
  return number && number.getInt() >= 1 && number.getInt() <= kNearRowsMax
             ? std::optional(number.getInt())
             : std::nullopt;
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

static NearRows reachOf(int64_t start, int64_t end) {
  return {std::max<int64_t>(0, -std::min(start, end)), std::max<int64_t>(0, std::max(start, end))};
}

NearRows nearRowsOf(WindowFunctionAttr function) {
  auto [start, end] = *constantShifts(function);
  return reachOf(start, end);
}

std::optional<Halo> haloOf(WindowFunctionAttr function, ArrayAttr order) {
  WindowFrameAttr frame = function.getFrame();
  ArrayRef<Attribute> arguments = function.getArgumentRange();
  if (!frame) {
    const bool moves = function.getKind() == Kind::Lag || function.getKind() == Kind::Lead;
    auto number = moves ? dyn_cast<IntegerAttr>(arguments[1]) : IntegerAttr();
    const bool isNear =
        number && std::clamp(number.getInt(), -kNearRowsMax, kNearRowsMax) == number.getInt();
    return isNear && function.getIgnoreNulls() ? std::optional(Halo::kKnown) : std::nullopt;
  }
  if (hasDistance(frame)) {
    const bool goesFar = frame.getStart() == Bound::UnboundedPreceding ||
                         frame.getEnd() == Bound::UnboundedFollowing;
    if (frame.getUnit() == FrameUnit::Range) {
      return goesFar ? std::nullopt : std::optional(Halo::kRange);
    }
    auto start = constantShift(frame.getStart(), frame.getStartDistance());
    auto end = constantShift(frame.getEnd(), frame.getEndDistance());
    const bool isNear = start && end && std::abs(*start) + std::abs(*end) <= kNearRowsMax;
    return isNear && frame.getUnit() == FrameUnit::Groups ? std::optional(Halo::kGroups)
                                                          : std::nullopt;
  }
  if (function.getOrder() || !goesFarFrom(frame, order)) {
    return std::nullopt;
  }
  if (function.getKind() == Kind::NthValue && constantCount(arguments[1])) {
    return Halo::kFirst;
  }
  const bool isDistinct =
      function.getKind() == Kind::Aggregate && ruleOf(*function.getAggregate()).isDistinct();
  return isDistinct ? std::optional(Halo::kDistinct) : std::nullopt;
}

NearRows haloRowsOf(WindowFunctionAttr function, Halo halo) {
  ArrayRef<Attribute> arguments = function.getArgumentRange();
  if (halo == Halo::kGroups) {
    WindowFrameAttr frame = function.getFrame();
    return reachOf(*constantShift(frame.getStart(), frame.getStartDistance()),
                   *constantShift(frame.getEnd(), frame.getEndDistance()));
  }
  const int64_t count = cast<IntegerAttr>(arguments[1]).getInt();
  const int64_t shift = function.getKind() == Kind::Lag ? -count : count;
  return reachOf(shift, shift);
}

std::optional<Carry> carryOf(WindowFunctionAttr function, ArrayAttr order, Type result) {
  const bool isPlaceInFrame = function.getFrame() && function.getKind() < Kind::FirstValue;
  auto halo = [&] { return haloOf(function, order) ? std::optional(Carry::kHalo) : std::nullopt; };
  if (!isPlaceInFrame && !function.getOrder()) {
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
    default:
      break;
    }
  }
  if (constantShifts(function) && !(isPlaceInFrame && looksAtPeersOfFrame(function))) {
    NearRows near = nearRowsOf(function);
    int64_t reach = near.before + near.after;
    return reach == 0              ? std::optional(Carry::kNothing)
           : reach <= kNearRowsMax ? std::optional(Carry::kNear)
                                   : std::nullopt;
  }
  WindowFrameAttr frame = function.getFrame();
  const bool isFolded = function.getKind() == Kind::Aggregate ||
                        function.getKind() == Kind::FirstValue ||
                        function.getKind() == Kind::LastValue;
  if (!frame || frame.getExclude() != FrameExclusion::None || function.getOrder() || !isFolded) {
    return halo();
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
      return halo();
    }
    return fromFirst && toLast  ? std::optional(Carry::kAll)
           : fromFirst && toRow ? std::optional(Carry::kBefore)
           : fromRow && toLast  ? std::optional(Carry::kAfter)
                                : halo();
  default: // the first value, or the last
    break;
  }
  const bool isFirst = function.getKind() == Kind::FirstValue;
  if ((!fromFirst && !fromRow) || (!toLast && !toRow)) {
    return halo();
  }
  if (fromRow && toRow) {
    return Carry::kNothing;
  }
  if (function.getIgnoreNulls()) {
    return Carry::kKnown;
  }
  return isFirst ? (fromFirst ? Carry::kFirst : Carry::kNothing)
                 : (toLast ? Carry::kLast : Carry::kNothing);
}

bool isComputedTwice(WindowOp window) {
  TableType type = window.getType();
  bool hasHalo = false, hasOwn = false;
  for (WindowFunctionAttr function : window.getFunctionRange()) {
    Type result = type.getColumnType(function.getName());
    const bool isHalo = carryOf(function, window.getOrder(), result) == Carry::kHalo;
    hasHalo |= isHalo;
    // What is sent for a frame by values takes no function of the own rows.
    hasOwn |= !isHalo || haloOf(function, window.getOrder()) != Halo::kRange;
  }
  return hasHalo && hasOwn;
}

bool canBeCarried(WindowOp window) {
  TableType type = window.getType();
  return window.getPartition().empty() && !window.getFirst() &&
         llvm::all_of(window.getFunctionRange(), [&](WindowFunctionAttr function) {
           return carryOf(function, window.getOrder(), type.getColumnType(function.getName()));
         });
}

} // namespace headrace::shard
