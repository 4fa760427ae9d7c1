// Aggregates of any front end: keys and arguments become columns, functions become measures.
#include "passes/import/RelationBuilder.h"

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

/// The columns of a variance or standard deviation while it is made: x and its square, then their
/// sums and the count.
struct RelationBuilder::SpreadColumns {
  MeasureRequest::Spread spread;
  int64_t sum, squares, count; ///< fields of the aggregate
};

/// `value` where the condition is true, else NULL; an absent value is 1.
static BuildExpression guarded(const BuildExpression &condition,
                               const std::optional<Computed> &value, Location at) {
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression guard = condition(b);
    if (failed(guard)) {
      return failure();
    }
    MaybeExpression counted =
        value ? value->build(b) : b.integer(1, IntegerType::get(b.getContext(), 64), at);
    return failed(counted) ? counted : b.choose(*guard, *counted, nullptr, at);
  };
}

/// A number as a double (by 1.0), or its square, with all digits.
static BuildExpression exactly(const BuildExpression &build, bool squared, Location at) {
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression value = build(b);
    if (failed(value)) {
      return failure();
    }
    if (!frame::isNumeric(value->type())) {
      return b.fail(at, "a variance needs numbers");
    }
    Type f64 = Float64Type::get(b.getContext());
    MaybeExpression real = b.cast(*value, f64, at);
    if (failed(real)) {
      return failure();
    }
    return b.exactProduct(*real, squared ? *real : b.constant(FloatAttr::get(f64, 1.0), f64, at),
                          at);
  };
}

/// The value of a spread from its sums.
static MaybeExpression spreadOf(ExpressionBuilder &b, MeasureRequest::Spread spread,
                                const Expression &sum, const Expression &squares,
                                const Expression &count, Location at) {
  using Arithmetic = ExpressionBuilder::Arithmetic;
  Type f64 = Float64Type::get(b.getContext()), i64 = IntegerType::get(b.getContext(), 64);
  auto real = [&](double value) { return b.constant(FloatAttr::get(f64, value), f64, at); };
  auto compute = [&](Arithmetic op, const Expression &lhs, const Expression &rhs) {
    return *b.arithmetic(op, lhs, rhs, f64, at); // numbers both
  };
  Expression around = b.squaredDeviations(sum, squares, count, at);
  Expression n = *b.cast(count, f64, at);
  Expression divisor = spread.sample ? compute(Arithmetic::kSubtract, n, real(1)) : n;
  Expression value = compute(Arithmetic::kDivide, around, divisor);
  if (spread.root) {
    value = *b.number(frame::NumberFunction::Sqrt, value, std::nullopt, f64, at);
  }
  // Too few values have none.
  MaybeExpression enough =
      b.compare(frame::CompareKind::Ge, count, b.integer(spread.sample ? 2 : 1, i64, at), at);
  return b.choose(*enough, value, nullptr, at);
}

MaybeRelation RelationBuilder::aggregate(const Relation &input, ArrayRef<Computed> keys,
                                         ArrayRef<MeasureRequest> measures, Location at) {
  /// A measure of the op that is made: its function, and which of `inputs` it takes.
  struct Plain {
    frame::AggregateFunction function;
    std::optional<size_t> input;
    Type type; // null: as `frame` has it
  };
  SmallVector<Computed> inputs(keys);
  SmallVector<Plain> plain;
  SmallVector<int64_t> outputs; // per measure its field of the op, or of the projection behind
  SmallVector<SpreadColumns> spreads; // numbered behind the op's fields
  auto add = [&](frame::AggregateFunction function, std::optional<Computed> argument, Type type) {
    std::optional<size_t> position;
    if (argument) {
      position = inputs.size();
      inputs.push_back(std::move(*argument));
    }
    plain.push_back({function, position, type});
    return static_cast<int64_t>(keys.size() + plain.size() - 1);
  };
  for (const MeasureRequest &measure : measures) {
    frame::AggregateFunction function = measure.function;
    std::optional<Computed> argument = measure.argument;
    if (measure.condition) {
      argument = Computed{std::nullopt, "filtered",
                          guarded(measure.condition, measure.argument, measure.at)};
      if (function == frame::AggregateFunction::CountStar) {
        function = frame::AggregateFunction::Count; // of a 1 where the condition is true
      }
    }
    if (!measure.spread) {
      outputs.push_back(add(function, argument, measure.type));
      continue;
    }
    Computed value{std::nullopt, "value", exactly(argument->build, /*squared=*/false, measure.at)};
    Computed square{std::nullopt, "square", exactly(argument->build, /*squared=*/true, measure.at)};
    SpreadColumns columns{*measure.spread, 0, 0, 0};
    columns.sum = add(frame::AggregateFunction::Sum, value, Type());
    columns.squares = add(frame::AggregateFunction::Sum, square, Type());
    plain.push_back({frame::AggregateFunction::Count, plain[plain.size() - 2].input, Type()});
    columns.count = keys.size() + plain.size() - 1;
    outputs.push_back(-1);
    spreads.push_back(columns);
  }
  SmallVector<StringAttr> names;
  MaybeRelation source = addColumns(input, input.columns(), inputs, names, at);
  if (failed(source)) {
    return failure();
  }
  Relation result;
  SmallVector<frame::Column> columns;
  SmallVector<Attribute> keyNames;
  std::string text = "aggregate";
  for (StringAttr name : ArrayRef(names).take_front(keys.size())) {
    result.fields.push_back(name);
    if (!llvm::is_contained(keyNames, name)) { // GROUP BY a, a
      keyNames.push_back(name);
      columns.push_back({name, source->typeOf(name)});
      text += (keyNames.size() == 1 ? " by " : ", ") + name.str();
    }
  }
  auto grouping = keyNames.empty() ? frame::Grouping::kGlobal : frame::Grouping::kByKeys;
  SmallVector<Attribute> attributes;
  for (const Plain &measure : plain) {
    StringAttr column = measure.input ? names[*measure.input] : StringAttr();
    Type type = frame::measureType(measure.function, column ? source->typeOf(column) : Type(),
                                   grouping, context.getContext());
    StringRef functionName = frame::stringifyAggregateFunction(measure.function);
    if (!type) {
      return context.fail(at, "unsupported input type of " + functionName);
    }
    if (measure.type) {
      type = frame::withNullability(frame::dropNullable(measure.type), frame::nullabilityOf(type));
    }
    StringAttr name =
        uniqueName(column ? (functionName + "_" + column.getValue()).str() : functionName.str());
    attributes.push_back(
        frame::MeasureAttr::get(context.getContext(), measure.function, column, name));
    columns.push_back({name, type});
    result.fields.push_back(name);
  }
  Location location = locate(text, at);
  result.table = frame::AggregateOp::create(
      builder, location, frame::TableType::get(context.getContext(), columns), source->table,
      builder.getArrayAttr(keyNames), builder.getArrayAttr(attributes));
  if (spreads.empty()) {
    return result;
  }
  SmallVector<Computed> finished;
  for (int64_t key = 0; key < static_cast<int64_t>(keys.size()); ++key) {
    finished.push_back({key, {}, {}});
  }
  const SpreadColumns *next = spreads.begin();
  for (int64_t output : outputs) {
    if (output >= 0) {
      finished.push_back({output, {}, {}});
      continue;
    }
    SpreadColumns sums = *next++;
    finished.push_back({std::nullopt, sums.spread.root ? "stddev" : "variance",
                        [sums, location](ExpressionBuilder &b) -> MaybeExpression {
                          return spreadOf(b, sums.spread, *b.field(sums.sum, location),
                                          *b.field(sums.squares, location),
                                          *b.field(sums.count, location), location);
                        }});
  }
  return project(result, finished, location);
}
