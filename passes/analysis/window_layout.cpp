// Window functions of `frame` as a plan has them: columns are fields by number.
#include "passes/analysis/window_layout.h"

using namespace mlir;

namespace headrace {
namespace {

int32_t fieldOf(const plan::State &state, StringAttr name) {
  auto found =
      llvm::find_if(state.fields, [&](const plan::StateField &f) { return f.name == name; });
  return static_cast<int32_t>(found - state.fields.begin());
}

plan::RowCount rowCount(const plan::State &state, Attribute value) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(value)) {
    return {plan::kNone, number.getInt()};
  }
  return value ? plan::RowCount{fieldOf(state, cast<StringAttr>(value)), 0} : plan::RowCount();
}

plan::WindowFunction planFunction(frame::WindowFunctionAttr function) {
  using Kind = frame::WindowFunctionKind;
  switch (function.getKind()) {
  case Kind::RowNumber:
    return plan::WindowFunction::kRowNumber;
  case Kind::Rank:
    return plan::WindowFunction::kRank;
  case Kind::DenseRank:
    return plan::WindowFunction::kDenseRank;
  case Kind::PercentRank:
    return plan::WindowFunction::kPercentRank;
  case Kind::CumeDist:
    return plan::WindowFunction::kCumeDist;
  case Kind::Ntile:
    return plan::WindowFunction::kNtile;
  case Kind::Lag:
    return plan::WindowFunction::kLag;
  case Kind::Lead:
    return plan::WindowFunction::kLead;
  case Kind::FirstValue:
    return plan::WindowFunction::kFirstValue;
  case Kind::LastValue:
    return plan::WindowFunction::kLastValue;
  case Kind::NthValue:
    return plan::WindowFunction::kNthValue;
  case Kind::Collect:
  case Kind::CollectDistinct:
    return plan::WindowFunction::kCollect;
  case Kind::Mode:
    return plan::WindowFunction::kMode;
  case Kind::Quantiles:
  case Kind::QuantilesDistinct:
    return plan::WindowFunction::kQuantiles;
  case Kind::Aggregate:
    return frame::ruleOf(*function.getAggregate()).result == frame::AggregateResult::kCount
               ? plan::WindowFunction::kCount
               : plan::WindowFunction::kFold;
  }
  llvm_unreachable("unknown window function");
}

plan::FrameBound planBound(const plan::State &state, frame::FrameBoundKind kind,
                           Attribute distance) {
  using Kind = frame::FrameBoundKind;
  auto edge = [&] {
    switch (kind) {
    case Kind::UnboundedPreceding:
      return plan::FrameEdge::kUnboundedPreceding;
    case Kind::Preceding:
      return plan::FrameEdge::kPreceding;
    case Kind::CurrentRow:
      return plan::FrameEdge::kCurrentRow;
    case Kind::Following:
      return plan::FrameEdge::kFollowing;
    case Kind::UnboundedFollowing:
      return plan::FrameEdge::kUnboundedFollowing;
    }
    llvm_unreachable("unknown bound");
  };
  return {edge(), rowCount(state, distance)};
}

plan::FrameUnit planUnit(frame::FrameUnit unit) {
  switch (unit) {
  case frame::FrameUnit::Rows:
    return plan::FrameUnit::kRows;
  case frame::FrameUnit::Range:
    return plan::FrameUnit::kRange;
  case frame::FrameUnit::Groups:
    return plan::FrameUnit::kGroups;
  }
  llvm_unreachable("unknown unit");
}

plan::FrameExclusion planExclusion(frame::FrameExclusion exclude) {
  switch (exclude) {
  case frame::FrameExclusion::None:
    return plan::FrameExclusion::kNone;
  case frame::FrameExclusion::CurrentRow:
    return plan::FrameExclusion::kCurrentRow;
  case frame::FrameExclusion::Group:
    return plan::FrameExclusion::kGroup;
  case frame::FrameExclusion::Ties:
    return plan::FrameExclusion::kTies;
  }
  llvm_unreachable("unknown exclusion");
}

plan::WindowColumn windowColumn(const plan::State &state, frame::WindowFunctionAttr function) {
  plan::WindowColumn out;
  out.function = planFunction(function);
  out.result = fieldOf(state, function.getName());
  ArrayRef<Attribute> arguments = function.getArgumentRange();
  bool isNtile = out.function == plan::WindowFunction::kNtile;
  if (isNtile) {
    out.count = rowCount(state, arguments[0]);
  } else if (out.function == plan::WindowFunction::kQuantiles) {
    out.input = fieldOf(state, function.getColumn(0));
    out.quantileKind = function.getQuantileKind();
    llvm::append_range(out.shares, function.getShares());
  } else if (!arguments.empty()) {
    out.input = fieldOf(state, function.getColumn(0));
    out.count = rowCount(state, arguments.size() > 1 ? arguments[1] : Attribute());
  }
  if (StringAttr otherwise = function.getColumn(2)) {
    out.otherwise = fieldOf(state, otherwise);
  }
  out.ignoreNulls = function.getIgnoreNulls();
  out.distinct = function.getKind() == frame::WindowFunctionKind::CollectDistinct ||
                 function.getKind() == frame::WindowFunctionKind::QuantilesDistinct ||
                 (function.getAggregate() && frame::ruleOf(*function.getAggregate()).isDistinct());
  if (frame::WindowFrameAttr frame = function.getFrame()) {
    out.unit = planUnit(frame.getUnit());
    out.start = planBound(state, frame.getStart(), frame.getStartDistance());
    out.end = planBound(state, frame.getEnd(), frame.getEndDistance());
    out.exclude = planExclusion(frame.getExclude());
  }
  if (ArrayAttr order = function.getOrder()) {
    for (auto key : order.getAsRange<frame::SortKeyAttr>()) {
      out.order.push_back({fieldOf(state, key.getColumn()),
                           key.getDirection() == frame::SortDirection::Desc,
                           key.getNulls() == frame::NullsOrder::First});
    }
  }
  return out;
}

} // namespace

void addWindows(pipe::StateOp op, plan::State &state) {
  auto none = ArrayAttr::get(op.getContext(), {});
  for (auto key : op.getSortKeys().value_or(none).getAsRange<pipe::SortKeyAttr>()) {
    state.order.push_back(
        {fieldOf(state, key.getField()), key.getDescending(), key.getNullsFirst()});
  }
  for (auto function : op.getFunctions().value_or(none).getAsRange<frame::WindowFunctionAttr>()) {
    state.windows.push_back(windowColumn(state, function));
  }
}

} // namespace headrace
