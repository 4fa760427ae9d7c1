// Aggregates of window frames in DuckDB's plans.
#include "passes/import/Deviations.h"
#include "passes/import/MeasureParts.h"
#include "passes/import/QuantileFields.h"
#include "passes/import/duckdb/relations.h"
#include "runtime/base/text_functions.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using WindowKind = frame::WindowFunctionKind;

/// The value, NULL for rows for which a condition, which may be empty, is not true.
static Computed valueWhere(const Computed &value, const BuildExpression &condition, Location at) {
  if (!condition) {
    return value;
  }
  return {std::nullopt, value.name, [=](ExpressionBuilder &b) -> MaybeExpression {
            MaybeExpression given = value.build(b), counts = condition(b);
            return failed(given) || failed(counts) ? MaybeExpression(failure())
                                                   : b.choose(*counts, *given, nullptr, at);
          }};
}

/// Both values of a row, one behind the other, as doubles.
static Computed pairOf(const Computed &first, const Computed &second, Location at) {
  return {std::nullopt, "pair", [=](ExpressionBuilder &b) -> MaybeExpression {
            MaybeExpression one = first.build(b), other = second.build(b);
            return failed(one) || failed(other)
                       ? MaybeExpression(failure())
                       : b.list(Float64Type::get(b.getContext()), {*one, *other}, at);
          }};
}

static bool isOfPairs(const MeasureRequest &measure) {
  return measure.formula && measure.arguments.size() == 2;
}

/// A list of the value, or the values of a pair; NULL for rows that do not count.
static Computed listOf(const MeasureRequest &measure) {
  const Computed &value = measure.arguments.front();
  Location at = measure.at;
  if (isOfPairs(measure)) {
    const Computed &other = measure.arguments.back();
    return valueWhere(pairOf(value, other, at),
                      whereKnown(whereKnown(measure.condition, value, at), other, at), at);
  }
  const bool ofAll = measure.rows == MeasureRows::kCollected && !measure.fromList;
  return valueWhere(value.with(&ExpressionBuilder::listOfOne, at),
                    ofAll ? measure.condition : whereKnown(measure.condition, value, at), at);
}

/// What is equal where all arguments are.
static Computed keyOf(ArrayRef<Computed> arguments, Location at) {
  if (arguments.size() == 1) {
    return arguments.front().with(&ExpressionBuilder::orderOf, at);
  }
  const Computed first = arguments.front(), second = arguments.back();
  Computed both{std::nullopt, "pair", [=](ExpressionBuilder &b) -> MaybeExpression {
                  MaybeExpression one = first.build(b), other = second.build(b);
                  if (failed(one) || failed(other)) {
                    return failure();
                  }
                  StringAttr unnamed = StringAttr::get(b.getContext(), "");
                  auto type = frame::StructType::get(
                      b.getContext(), {unnamed, unnamed},
                      {frame::dropNullable(one->type()), frame::dropNullable(other->type())});
                  return b.structOf(type, {*one, *other}, at);
                }};
  return both.with(&ExpressionBuilder::orderOf, at);
}

/// A measure of the list of its values; NULL of none.
static MaybeExpression finished(ExpressionBuilder &b, const MeasureRequest &measure,
                                const headrace::TextFunction *ofDifferent, const Expression &list,
                                const Expression *more) {
  Location at = measure.at;
  Type type = frame::dropNullable(measure.type);
  if (isOfPairs(measure)) {
    MaybeExpression comoments = b.text(*headrace::textFunctionNamed("list_comoments"), list,
                                       frame::ListType::get(Float64Type::get(b.getContext())), at);
    return failed(comoments)
               ? comoments
               : valueOf(b, *measure.formula, Deviations(b, *comoments, at), measure.type, at);
  }
  if (ofDifferent) {
    return b.onlyElement(*ofDifferent, list, type, at);
  }
  if (measure.rows == MeasureRows::kMost) {
    return b.onlyElement(*headrace::textFunctionNamed("list_mode"), list, type, at);
  }
  MaybeExpression made = measure.fromList ? measure.fromList(b, list, more) : MaybeExpression(list);
  return failed(made) ? made : orValue(b, *made, measure.ofNone, at);
}

/// Whether every row sees all rows of its partition.
static bool seesAll(const WindowFunctionRequest::Frame &frame, bool hasOrder) {
  using Kind = frame::FrameBoundKind;
  const bool arePeers = !hasOrder && frame.unit != frame::FrameUnit::Rows;
  return frame.exclude == frame::FrameExclusion::None &&
         (frame.start == Kind::UnboundedPreceding ||
          (arePeers && frame.start == Kind::CurrentRow)) &&
         (frame.end == Kind::UnboundedFollowing || (arePeers && frame.end == Kind::CurrentRow));
}

/// The measure as that of a whole partition, whose rows are in an order.
static MeasureRequest ofWhole(MeasureRequest measure, ArrayRef<RelationBuilder::SortKey> order) {
  const bool seesOrder = measure.rows == MeasureRows::kCollected
                             ? !measure.sorted && !measure.different
                             : measure.rows == MeasureRows::kLeast ||
                                   measure.rows == MeasureRows::kGreatest ||
                                   measure.rows == MeasureRows::kMost;
  if (seesOrder) {
    measure.order.append(order.begin(), order.end());
  }
  return measure;
}

/// The other argument of the first row of a frame that counts, as a list of one, since it may be
/// NULL.
static WindowFunctionRequest firstOther(const MeasureRequest &measure,
                                        const WindowFunctionRequest &list, bool comesInOrder) {
  Location at = measure.at;
  WindowFunctionRequest first{
      .kind = WindowKind::FirstValue, .frame = list.frame, .ignoreNulls = true, .at = at};
  first.arguments.push_back(
      {std::nullopt, valueWhere(measure.more->with(&ExpressionBuilder::listOfOne, at),
                                whereKnown(measure.condition, measure.arguments.front(), at), at)});
  if (!comesInOrder) {
    first.order = measure.order;
  }
  return first;
}

/// The first value of a frame that counts; `arbitrary` also one that is NULL, which rows that do
/// not count then are not.
static Computed firstOfThoseThat(const Computed &value, bool mayBeNull,
                                 const BuildExpression &condition, Location at) {
  return valueWhere(mayBeNull && condition ? value.with(&ExpressionBuilder::listOfOne, at) : value,
                    condition, at);
}

void RelationImporter::addQuantiles(WindowFunctionRequest &request, const MeasureRequest &measure,
                                    FinishWindow &finish) {
  Location at = measure.at;
  auto add = [&](int64_t number) { request.arguments.push_back({number, {}}); };
  const Quantile &first = measure.quantiles.front();
  request.kind = measure.different ? WindowKind::QuantilesDistinct : WindowKind::Quantiles;
  request.arguments.push_back({std::nullopt, listOf(measure)});
  add(static_cast<int64_t>(first.kind));
  for (const Quantile &quantile : measure.quantiles) {
    add(quantile.share.part);
    add(quantile.share.whole);
  }
  request.order.push_back(
      {measure.arguments.front().with(&ExpressionBuilder::orderOf, at),
       first.descending ? frame::SortDirection::Desc : frame::SortDirection::Asc,
       frame::NullsOrder::Last});
  if (measure.rows == MeasureRows::kQuantile || !frame::isList(measure.type)) {
    finish = [at](ExpressionBuilder &b, ArrayRef<Expression> list) {
      return b.element(list.front(), b.integer(1, IntegerType::get(b.getContext(), 64), at), at);
    };
  }
}

/// Whether values are in the order of a function's arguments one by one if they are different.
static bool isOrderedByValue(const MeasureRequest &measure, ArrayRef<Node> given,
                             ArrayRef<Node> inFrame) {
  if (measure.order.size() != 1 || measure.arguments.size() != 1) {
    return false;
  }
  return inFrame.empty() || areAlike(inFrame.front().get("expression"), given.front());
}

FailureOr<RelationImporter::WindowRequests>
RelationImporter::importWindowAggregate(Node function, FinishWindow &finish, Location at) {
  const bool distinct = function.get("distinct").boolean().value_or(false);
  StringRef name = aggregateName(function, distinct);
  const SmallVector<Node> inFrame = function.get("arg_orders").elements(),
                          orders = function.get("orders").elements();
  FailureOr<MeasureRequest> measure =
      makeMeasure({function, name, distinct, function.get("filters"), inFrame}, at);
  FailureOr<WindowFunctionRequest::Frame> frame = importFrame(function, at);
  FailureOr<SmallVector<RelationBuilder::SortKey>> order = importSortKeys(orders, at),
                                                   own = importSortKeys(inFrame, at);
  if (failed(measure) || failed(frame) || failed(order) || failed(own)) {
    return failure();
  }
  WindowFunctionRequest request{.frame = *frame, .at = at};
  const Computed value = measure->arguments.empty() ? Computed() : measure->arguments.front();
  if (name == "any_value" || name == "arbitrary") {
    const bool mayBeNull = name == "arbitrary";
    request.kind = WindowKind::FirstValue;
    request.ignoreNulls = !mayBeNull || measure->condition;
    request.arguments.push_back(
        {std::nullopt, firstOfThoseThat(value, mayBeNull, measure->condition, at)});
    if (!isInOrder(function, request.kind)) {
      request.order.assign(own->begin(), own->end());
    }
    if (mayBeNull && measure->condition) {
      finish = [at](ExpressionBuilder &b, ArrayRef<Expression> first) {
        return b.element(first.front(), b.integer(1, IntegerType::get(b.getContext(), 64), at), at);
      };
    }
    return WindowRequests{std::move(request)};
  }
  if (measure->rows == MeasureRows::kAll) {
    request.measure = std::move(*measure);
    return WindowRequests{std::move(request)};
  }
  const bool isExtreme =
      measure->rows == MeasureRows::kLeast || measure->rows == MeasureRows::kGreatest;
  const bool isMode = measure->rows == MeasureRows::kMost && measure->order.empty() &&
                      !frame::isNested(measure->type) && !frame::hasIntervals(measure->type);
  const bool isList =
      measure->rows == MeasureRows::kCollected && !measure->fromList && !measure->different;
  const bool goesByRows = (isExtreme || isMode) && !function.get("partitions").elements().empty();
  if (seesAll(*frame, !orders.empty()) && !goesByRows && !isList) {
    request.measure = ofWhole(std::move(*measure), *order);
    return WindowRequests{std::move(request)};
  }
  if (isExtreme) {
    const Computed by = measure->arguments.back();
    request.kind = WindowKind::FirstValue;
    request.ignoreNulls = !measure->ofNull;
    request.arguments.push_back(
        {std::nullopt, valueWhere(value, whereKnown(measure->condition, by, at), at)});
    request.order.push_back({measure->ofNull ? valueWhere(by, measure->condition, at) : by,
                             measure->rows == MeasureRows::kLeast ? frame::SortDirection::Asc
                                                                  : frame::SortDirection::Desc,
                             frame::NullsOrder::Last});
    request.order.append(measure->order);
    return WindowRequests{std::move(request)};
  }
  if (isMode) {
    request.kind = WindowKind::Mode;
    request.arguments.push_back({std::nullopt, valueWhere(value, measure->condition, at)});
    return WindowRequests{std::move(request)};
  }
  if (!measure->quantiles.empty()) {
    addQuantiles(request, *measure, finish);
    return WindowRequests{std::move(request)};
  }
  return collect(function, *measure, std::move(request), finish);
}

FailureOr<RelationImporter::WindowRequests> RelationImporter::collect(Node function,
                                                                      const MeasureRequest &measure,
                                                                      WindowFunctionRequest request,
                                                                      FinishWindow &finish) {
  Location at = measure.at;
  const SmallVector<Node> inFrame = function.get("arg_orders").elements(),
                          given = function.get("children").elements();
  const bool isFolded = measure.rows == MeasureRows::kDifferent;
  const bool isDifferent = isFolded || (measure.different && measure.elementsMax != 1);
  const headrace::TextFunction *ofDifferent =
      isFolded ? aggregateOfLists(nameOf(function)) : nullptr;
  if (isFolded && !isOfPairs(measure) && (!ofDifferent || measure.meanOfIntervals)) {
    return context.fail(at, "unsupported " + nameOf(function) + " of distinct values in a window");
  }
  request.kind = isDifferent ? WindowKind::CollectDistinct : WindowKind::Collect;
  request.arguments.push_back({std::nullopt, listOf(measure)});
  if (measure.elementsMax > 0) {
    request.arguments.push_back({static_cast<int64_t>(measure.elementsMax), {}});
  }
  const bool comesInOrder =
      measure.order.size() == inFrame.size() && isInOrder(function, WindowKind::Collect);
  const bool hasOrder = !isFolded && !measure.sorted && (isDifferent || !comesInOrder);
  if (hasOrder) {
    request.order = measure.order;
  }
  if (isDifferent && !(hasOrder && isOrderedByValue(measure, given, inFrame))) {
    request.order.push_back(
        {keyOf(measure.arguments, at), frame::SortDirection::Asc, frame::NullsOrder::Last});
  }
  WindowRequests requests{std::move(request)};
  if (measure.more) {
    requests.push_back(firstOther(measure, requests.front(), comesInOrder));
  }
  finish = [=](ExpressionBuilder &b, ArrayRef<Expression> given) -> MaybeExpression {
    if (given.size() == 1) {
      return finished(b, measure, ofDifferent, given.front(), nullptr);
    }
    Type i64 = IntegerType::get(b.getContext(), 64);
    MaybeExpression more = b.element(given.back(), b.integer(1, i64, at), at);
    return failed(more) ? more : finished(b, measure, ofDifferent, given.front(), &*more);
  };
  return requests;
}
