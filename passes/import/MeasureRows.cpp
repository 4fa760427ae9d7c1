// Measures of some rows of their groups: what tells these rows becomes a column, which the
// measure's condition asks.
#include "passes/import/QuantileFields.h"
#include "passes/import/RelationBuilder.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

/// Both conditions; the first may be empty.
static BuildExpression both(const BuildExpression &first, const BuildExpression &second,
                            Location at) {
  if (!first) {
    return second;
  }
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression one = first(b), other = second(b);
    if (failed(one) || failed(other)) {
      return failure();
    }
    return b.connect(ExpressionBuilder::Connective::kAnd, {*one, *other}, at);
  };
}

static BuildExpression isKnown(const Computed &value, Location at) {
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression known = value.build(b);
    return failed(known) ? known : b.isNotNull(*known, at);
  };
}

/// The groups, in each of which the rows that the measure's condition keeps are for themselves.
static SmallVector<Computed> partitionOf(ArrayRef<Computed> keys, const MeasureRequest &measure) {
  SmallVector<Computed> partition(keys);
  if (measure.condition) {
    partition.push_back({std::nullopt, "filtered", measure.condition});
  }
  return partition;
}

/// Of all rows of the partition.
static WindowFunctionRequest countOver(MeasureRequest count, Location at) {
  WindowFunctionRequest function{.at = at};
  function.measure = std::move(count);
  function.frame = {.unit = frame::FrameUnit::Rows,
                    .end = frame::FrameBoundKind::UnboundedFollowing};
  return function;
}

/// Numbers the rows of a group, or those with the same arguments; those that the condition keeps
/// for themselves.
MaybeRelation RelationBuilder::numberRows(const Relation &input, ArrayRef<Computed> keys,
                                          MeasureRequest &measure, Location at) {
  SmallVector<Computed> partition = partitionOf(keys, measure);
  if (measure.rows == MeasureRows::kDifferent || measure.different) {
    llvm::append_range(partition, measure.arguments);
  }
  WindowFunctionRequest number{.kind = frame::WindowFunctionKind::RowNumber, .at = at};
  auto field = static_cast<int64_t>(input.fields.size());
  measure.condition = both(
      measure.condition,
      [=](ExpressionBuilder &b) -> MaybeExpression {
        Type i64 = IntegerType::get(b.getContext(), 64);
        return b.compare(frame::CompareKind::Eq, *b.field(field, at), b.integer(1, i64, at), at);
      },
      at);
  return window(input, partition, measure.order, number, at);
}

/// Joins the groups' extremes: of the last argument, where no argument is NULL.
MaybeRelation RelationBuilder::addExtremes(const Relation &input, ArrayRef<Computed> keys,
                                           MutableArrayRef<MeasureRequest> measures, Location at) {
  std::vector<MeasureRequest> extremes;
  auto field = static_cast<int64_t>(input.fields.size() + keys.size());
  for (MeasureRequest &measure : measures) {
    if (measure.rows != MeasureRows::kLeast && measure.rows != MeasureRows::kGreatest) {
      continue;
    }
    Computed value = measure.arguments.front(), order = measure.arguments.back();
    MeasureRequest extreme{.function = measure.rows == MeasureRows::kLeast
                                           ? frame::AggregateFunction::Min
                                           : frame::AggregateFunction::Max,
                           .at = measure.at};
    extreme.arguments.push_back(order);
    extreme.condition =
        measure.ofNull ? measure.condition : both(measure.condition, isKnown(value, at), at);
    extremes.push_back(std::move(extreme));
    measure.arguments.pop_back();
    measure.condition = both(
        measure.condition,
        [=](ExpressionBuilder &b) -> MaybeExpression {
          MaybeExpression known = order.build(b);
          return failed(known) ? known
                               : b.compare(frame::CompareKind::Eq, *known, *b.field(field, at), at);
        },
        at);
    ++field;
  }
  if (extremes.empty()) {
    return input;
  }
  MaybeRelation groups = aggregate(input, keys, extremes, at);
  if (failed(groups)) {
    return failure();
  }
  JoinRequest request;
  for (auto [number, key] : llvm::enumerate(keys)) {
    auto group = static_cast<int64_t>(input.fields.size() + number);
    request.conditions.push_back(
        {JoinCondition::Kind::kNullSafe, key, Computed::ofField(group, at), at});
  }
  return join(input, rename(*groups, at), request, at);
}

/// Gives each row how many of its group have the same argument: the greatest counts.
MaybeRelation RelationBuilder::countEqual(const Relation &input, ArrayRef<Computed> keys,
                                          MeasureRequest &measure, Location at) {
  SmallVector<Computed> partition = partitionOf(keys, measure);
  partition.push_back(measure.arguments.front());
  WindowFunctionRequest count =
      countOver({.function = frame::AggregateFunction::CountStar, .at = at}, at);
  auto field = static_cast<int64_t>(input.fields.size());
  measure.arguments.push_back(
      {std::nullopt, "count", [=](ExpressionBuilder &b) { return b.field(field, at); }});
  measure.rows = MeasureRows::kGreatest;
  if (measure.order.empty() && measure.type && frame::isNested(measure.type)) { // of several
    measure.order.push_back({measure.arguments.front().with(&ExpressionBuilder::orderOf, at),
                             frame::SortDirection::Asc, frame::NullsOrder::Last});
  }
  return window(input, partition, {}, count, at);
}

/// If each value counts once, numbers the rows with the same.
MaybeRelation RelationBuilder::oneOfEach(const Relation &input, ArrayRef<Computed> keys,
                                         MeasureRequest &measure, Location at) {
  return measure.different ? numberRows(input, keys, measure, at) : MaybeRelation(input);
}

/// Numbers the rows of a group in the argument's order, and gives each the number of values and the
/// next value.
MaybeRelation RelationBuilder::addQuantile(const Relation &input, ArrayRef<Computed> keys,
                                           MeasureRequest &measure, Location at) {
  const Quantile quantile = measure.quantiles.front();
  const Computed value = measure.arguments.front();
  const bool isNested = measure.type && frame::isNested(measure.type);
  const SortKey order{isNested ? value.with(&ExpressionBuilder::orderOf, at) : value,
                      quantile.descending ? frame::SortDirection::Desc : frame::SortDirection::Asc,
                      frame::NullsOrder::Last};
  using Kind = frame::WindowFunctionKind;
  WindowFunctionRequest number{.kind = Kind::RowNumber, .at = at};
  WindowFunctionRequest count =
      countOver({.function = frame::AggregateFunction::Count, .arguments = {value}, .at = at}, at);
  WindowFunctionRequest next{
      .kind = Kind::Lead, .arguments = {{std::nullopt, value}, {1, {}}}, .at = at};
  SmallVector<WindowFunctionRequest, 0> functions{number, count};
  if (quantile.isBetween()) {
    functions.push_back(next);
  }
  const MaybeRelation source = oneOfEach(input, keys, measure, at);
  if (failed(source)) {
    return failure();
  }
  const SmallVector<Computed> partition = partitionOf(keys, measure);
  const QuantileFields fields(quantile, static_cast<int64_t>(source->fields.size()), at);
  measure.condition =
      both(measure.condition, [=](ExpressionBuilder &b) { return fields.isAt(b); }, at);
  if (quantile.isBetween()) {
    measure.arguments.front() = {std::nullopt, value.name,
                                 [=, type = measure.type](ExpressionBuilder &b) -> MaybeExpression {
                                   MaybeExpression known = value.build(b);
                                   return failed(known) ? known : fields.between(b, *known, type);
                                 }};
  }
  return window(*source, partition, order, functions, at);
}

/// Gives one row of each group all arguments as a list.
MaybeRelation RelationBuilder::collect(const Relation &input, ArrayRef<Computed> keys,
                                       MeasureRequest &measure, Location at) {
  const Computed value = measure.arguments.front();
  const MaybeRelation source = oneOfEach(input, keys, measure, at);
  if (failed(source)) {
    return failure();
  }
  BuildExpression isKnown = [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression known = value.build(b);
    return failed(known) ? known : b.isNotNull(*known, at);
  };
  BuildExpression counts =
      measure.fromList ? both(measure.condition, isKnown, at) : measure.condition;
  BuildExpression list = [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression element = value.build(b);
    MaybeExpression one = failed(element) ? element : b.list(element->type(), *element, at);
    if (failed(one) || !counts) {
      return one;
    }
    MaybeExpression condition = counts(b);
    return failed(condition) ? condition : b.choose(*condition, *one, nullptr, at);
  };
  SmallVector<SortKey, 0> order(measure.order.begin(), measure.order.end());
  if (measure.more) { // the first row is one that counts
    SortKey known{{std::nullopt, "counts",
                   [=](ExpressionBuilder &b) -> MaybeExpression {
                     MaybeExpression one = list(b);
                     return failed(one) ? one : b.isNotNull(*one, at);
                   }},
                  frame::SortDirection::Desc,
                  frame::NullsOrder::Last};
    order.insert(order.begin(), std::move(known));
  }
  order.push_back({{std::nullopt, value.name,
                    [=](ExpressionBuilder &b) -> MaybeExpression {
                      MaybeExpression known = value.build(b);
                      return failed(known) ? known : b.orderOf(*known, at);
                    }},
                   frame::SortDirection::Asc,
                   frame::NullsOrder::Last});
  WindowFunctionRequest all{.kind = frame::WindowFunctionKind::Collect,
                            .arguments = {{std::nullopt, {std::nullopt, "list", list}}},
                            .at = at};
  auto field = static_cast<int64_t>(source->fields.size());
  measure.arguments = {
      {std::nullopt, "list",
       [=, made = measure.fromList, more = measure.more](ExpressionBuilder &b) -> MaybeExpression {
         MaybeExpression values = b.field(field, at);
         if (failed(values) || !made || !more) {
           return failed(values) || !made ? values : made(b, *values, nullptr);
         }
         MaybeExpression other = more->build(b);
         return failed(other) ? other : made(b, *values, &*other);
       }}};
  measure.condition = {};
  measure.order.clear();
  return window(*source, keys, order, all, at);
}

/// Gives measures that see the order of the rows that order, for which fields are added behind the
/// input's.
void RelationBuilder::chooseByPlace(Relation &input, MutableArrayRef<MeasureRequest> measures,
                                    Location at) {
  auto isByPlace = [](const MeasureRequest &measure) {
    return measure.rows == MeasureRows::kEarliest || measure.rows == MeasureRows::kLatest ||
           (measure.rows == MeasureRows::kCollected && measure.order.empty() &&
            !measure.different && !measure.sorted);
  };
  SmallVector<SortKey> order;
  if (llvm::any_of(measures, isByPlace)) {
    order = showOrder(input, at);
  }
  const bool isOneNumber =
      order.size() == 1 && order.front().direction == frame::SortDirection::Asc;
  for (MeasureRequest &measure : llvm::make_filter_range(measures, isByPlace)) {
    if (isOneNumber && measure.rows != MeasureRows::kCollected) { // without sorting rows
      measure.rows =
          measure.rows == MeasureRows::kEarliest ? MeasureRows::kLeast : MeasureRows::kGreatest;
      measure.arguments.push_back(order.front().expression);
      measure.ofNull = true;
      continue;
    }
    measure.order.assign(order.begin(), order.end());
    if (measure.rows == MeasureRows::kLatest) {
      llvm::for_each(measure.order, turn);
    }
    if (measure.rows != MeasureRows::kCollected) {
      measure.rows = order.empty() ? MeasureRows::kAll : MeasureRows::kFirst;
    }
  }
}

MaybeRelation RelationBuilder::chooseRows(const Relation &input, ArrayRef<Computed> keys,
                                          MutableArrayRef<MeasureRequest> measures, Location at) {
  Relation source = input;
  chooseByPlace(source, measures, at);
  MaybeRelation result = std::move(source);
  for (MeasureRequest &measure : measures) {
    if (succeeded(result) && measure.rows == MeasureRows::kMost) {
      result = countEqual(*result, keys, measure, at);
    }
  }
  result = failed(result) ? result : addExtremes(*result, keys, measures, at);
  for (MeasureRequest &measure : measures) {
    bool isOneOfSeveral =
        measure.rows == MeasureRows::kLeast || measure.rows == MeasureRows::kGreatest;
    if (isOneOfSeveral && !measure.order.empty()) {
      measure.rows = MeasureRows::kFirst;
      if (!measure.ofNull) {
        measure.condition = both(measure.condition, isKnown(measure.arguments.front(), at), at);
      }
    }
    bool numbers = measure.rows == MeasureRows::kFirst || measure.rows == MeasureRows::kDifferent;
    if (succeeded(result) && numbers) {
      result = numberRows(*result, keys, measure, at);
    }
    if (succeeded(result) && measure.rows == MeasureRows::kCollected) {
      result = collect(*result, keys, measure, at);
    }
    if (succeeded(result) && measure.rows == MeasureRows::kQuantile) {
      result = addQuantile(*result, keys, measure, at);
    }
    measure.rows = MeasureRows::kAll;
  }
  return result;
}
