// Aggregates of any front end: keys and arguments become columns, functions become measures.
#include "passes/import/RelationBuilder.h"

#include "llvm/ADT/Sequence.h"

#include <variant>

using namespace mlir;
using namespace headrace::import;
namespace frame = headrace::frame;

/// What an aggregate's measures are made of, whatever its keys are.
struct RelationBuilder::Measures {
  /// A measure of the op: its function, and which of `inputs` it takes.
  struct Plain {
    frame::AggregateFunction function;
    std::optional<size_t> input;
    Type type; ///< null: as `frame` has it
  };
  /// A variance or standard deviation: measures of x, of its square, and their number.
  struct SpreadSums {
    MeasureRequest::Spread spread;
    size_t sum, squares, count; ///< positions in `plain`
  };

  size_t add(frame::AggregateFunction function, std::optional<size_t> input, Type type) {
    plain.push_back({function, input, type});
    return plain.size() - 1;
  }
  size_t addInput(Computed input) {
    inputs.push_back(std::move(input));
    return inputs.size() - 1;
  }

  SmallVector<Computed> inputs;
  SmallVector<Plain> plain;
  /// Per measure that was asked for.
  SmallVector<std::variant<size_t, SpreadSums>> results;
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

RelationBuilder::Measures RelationBuilder::prepare(ArrayRef<MeasureRequest> requests) {
  Measures measures;
  for (const MeasureRequest &request : requests) {
    frame::AggregateFunction function = request.function;
    std::optional<Computed> argument = request.argument;
    if (request.condition) {
      argument = Computed{std::nullopt, "filtered",
                          guarded(request.condition, request.argument, request.at)};
      if (function == frame::AggregateFunction::CountStar) {
        function = frame::AggregateFunction::Count; // of a 1 where the condition is true
      }
    }
    if (!request.spread) {
      std::optional<size_t> input;
      if (argument) {
        input = measures.addInput(std::move(*argument));
      }
      measures.results.emplace_back(measures.add(function, input, request.type));
      continue;
    }
    size_t value = measures.addInput(
        {std::nullopt, "value", exactly(argument->build, /*squared=*/false, request.at)});
    size_t square = measures.addInput(
        {std::nullopt, "square", exactly(argument->build, /*squared=*/true, request.at)});
    Measures::SpreadSums sums{*request.spread, 0, 0, 0};
    sums.sum = measures.add(frame::AggregateFunction::Sum, value, Type());
    sums.squares = measures.add(frame::AggregateFunction::Sum, square, Type());
    sums.count = measures.add(frame::AggregateFunction::Count, value, Type());
    measures.results.emplace_back(sums);
  }
  return measures;
}

MaybeRelation RelationBuilder::aggregateBy(const Relation &source, ArrayRef<StringAttr> keys,
                                           const Measures &measures, ArrayRef<StringAttr> inputs,
                                           Location at) {
  Relation result;
  SmallVector<frame::Column> columns;
  SmallVector<Attribute> keyNames;
  std::string text = "aggregate";
  for (StringAttr name : keys) {
    result.fields.push_back(name);
    if (!llvm::is_contained(keyNames, name)) { // GROUP BY a, a
      keyNames.push_back(name);
      columns.push_back({name, source.typeOf(name)});
      text += (keyNames.size() == 1 ? " by " : ", ") + name.str();
    }
  }
  auto grouping = keyNames.empty() ? frame::Grouping::kGlobal : frame::Grouping::kByKeys;
  SmallVector<Attribute> attributes;
  for (const Measures::Plain &measure : measures.plain) {
    StringAttr column = measure.input ? inputs[*measure.input] : StringAttr();
    Type type = frame::measureType(measure.function, column ? source.typeOf(column) : Type(),
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
      builder, location, frame::TableType::get(context.getContext(), columns), source.table,
      builder.getArrayAttr(keyNames), builder.getArrayAttr(attributes));
  auto isPlain = [](const auto &measure) { return std::holds_alternative<size_t>(measure); };
  if (llvm::all_of(measures.results, isPlain)) {
    return result;
  }
  SmallVector<Computed> finished;
  for (int64_t key = 0; key < static_cast<int64_t>(keys.size()); ++key) {
    finished.push_back({key, {}, {}});
  }
  auto field = [&](size_t measure) { return static_cast<int64_t>(keys.size() + measure); };
  for (const auto &measure : measures.results) {
    if (const size_t *plain = std::get_if<size_t>(&measure)) {
      finished.push_back({field(*plain), {}, {}});
      continue;
    }
    const auto &sums = std::get<Measures::SpreadSums>(measure);
    int64_t sum = field(sums.sum), squares = field(sums.squares), count = field(sums.count);
    finished.push_back({std::nullopt, sums.spread.root ? "stddev" : "variance",
                        [=, spread = sums.spread](ExpressionBuilder &b) -> MaybeExpression {
                          return spreadOf(b, spread, *b.field(sum, location),
                                          *b.field(squares, location), *b.field(count, location),
                                          location);
                        }});
  }
  return project(result, finished, location);
}

MaybeRelation RelationBuilder::aggregate(const Relation &input, ArrayRef<Computed> keys,
                                         ArrayRef<MeasureRequest> measures, Location at) {
  GroupingSets all;
  all.sets.emplace_back(llvm::to_vector(llvm::seq<int64_t>(0, keys.size())));
  return aggregate(input, keys, measures, all, at);
}

/// The value of grouping(…) of `arguments` for rows of one set: a bit for each, the first the
/// highest, that is 1 where the key is not in the set.
static int64_t groupingValue(ArrayRef<int64_t> arguments, ArrayRef<int64_t> set) {
  int64_t value = 0;
  for (int64_t key : arguments) {
    value = value * 2 + (llvm::is_contained(set, key) ? 0 : 1);
  }
  return value;
}

MaybeRelation RelationBuilder::aggregate(const Relation &input, ArrayRef<Computed> keys,
                                         ArrayRef<MeasureRequest> requests,
                                         const GroupingSets &grouping, Location at) {
  Measures measures = prepare(requests);
  SmallVector<Computed> inputs(keys);
  inputs.append(measures.inputs);
  SmallVector<StringAttr> names;
  MaybeRelation source = addColumns(input, input.columns(), inputs, names, at);
  if (failed(source)) {
    return failure();
  }
  ArrayRef<StringAttr> keyNames = ArrayRef(names).take_front(keys.size());
  ArrayRef<StringAttr> inputNames = ArrayRef(names).drop_front(keys.size());
  auto count = static_cast<int64_t>(keys.size());
  if (grouping.sets.size() == 1 && grouping.functions.empty() && !grouping.numbered &&
      static_cast<int64_t>(grouping.sets.front().size()) == count) {
    return aggregateBy(*source, keyNames, measures, inputNames, at);
  }
  // A query for each set, all over the same rows: optimize-roll-up makes the coarse from the fine.
  SmallVector<Relation> parts;
  for (auto [number, set] : llvm::enumerate(grouping.sets)) {
    SmallVector<StringAttr> own;
    SmallVector<std::optional<int64_t>> place(keys.size()); // of a key among its own
    for (int64_t key : set) {
      place[key] = static_cast<int64_t>(own.size());
      own.push_back(keyNames[key]);
    }
    MaybeRelation part = aggregateBy(*source, own, measures, inputNames, at);
    if (failed(part)) {
      return failure();
    }
    SmallVector<Computed> columns;
    for (int64_t key = 0; key < count; ++key) {
      Type type = source->typeOf(keyNames[key]);
      columns.push_back(
          {place[key], keyNames[key].str(),
           [=](ExpressionBuilder &b) -> MaybeExpression { return b.null(type, at); }});
    }
    for (size_t measure = 0; measure < measures.results.size(); ++measure) {
      columns.push_back({static_cast<int64_t>(own.size() + measure), {}, {}});
    }
    auto addConstant = [&](StringRef name, int64_t value, unsigned bits) {
      columns.push_back({std::nullopt, name.str(), [=](ExpressionBuilder &b) -> MaybeExpression {
                           return b.integer(value, IntegerType::get(b.getContext(), bits), at);
                         }});
    };
    for (ArrayRef<int64_t> arguments : grouping.functions) {
      addConstant("grouping", groupingValue(arguments, set), 64);
    }
    if (grouping.numbered) {
      addConstant("grouping_set", static_cast<int64_t>(number), 32);
    }
    part = project(*part, columns, at);
    if (failed(part)) {
      return failure();
    }
    parts.push_back(std::move(*part));
  }
  return unite(parts, at);
}
