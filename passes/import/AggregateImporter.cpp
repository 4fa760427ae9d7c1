// Substrait aggregates: keys and inputs become columns, functions become measures.
#include "mlir/IR/Builders.h"
#include "passes/import/RelationImporter.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

/// The key expressions of the only grouping.
static FailureOr<SmallVector<Node>> groupingKeys(Node aggregate) {
  SmallVector<Node> groupings = aggregate.get("groupings").elements();
  if (groupings.empty()) {
    return SmallVector<Node>();
  }
  if (groupings.size() > 1) {
    return aggregate.fail("GROUPING SETS, ROLLUP and CUBE are not supported; write one query per "
                          "grouping and UNION ALL "
                          "them");
  }
  SmallVector<Node> shared = aggregate.get("groupingExpressions").elements();
  SmallVector<Node> references = groupings.front().get("expressionReferences").elements();
  if (references.empty()) { // the older form
    return SmallVector<Node>(groupings.front().get("groupingExpressions").elements());
  }
  SmallVector<Node> keys;
  for (Node reference : references) {
    std::optional<int64_t> index = reference.integer();
    if (!index || *index < 0 || *index >= static_cast<int64_t>(shared.size())) {
      return reference.fail("reference to a grouping expression that does not exist");
    }
    keys.push_back(shared[*index]);
  }
  return keys;
}

static std::optional<frame::AggregateFunction> aggregateFunction(StringRef name) {
  return llvm::StringSwitch<std::optional<frame::AggregateFunction>>(name)
      .Case("sum", frame::AggregateFunction::Sum)
      .Case("count", frame::AggregateFunction::Count)
      .Case("min", frame::AggregateFunction::Min)
      .Case("max", frame::AggregateFunction::Max)
      .Case("avg", frame::AggregateFunction::Avg)
      .Default(std::nullopt);
}

/// The function of a measure with the DISTINCT and the constant input of count taken in; `input` is
/// its argument, or absent for count_star.
static FailureOr<frame::AggregateFunction> measureFunction(const ExpressionEnvironment &environment,
                                                           Node call, Node &input) {
  using frame::AggregateFunction;
  FailureOr<StringRef> name = functionName(environment, call);
  if (failed(name)) {
    return failure();
  }
  std::optional<AggregateFunction> function = aggregateFunction(*name);
  if (!function) {
    return call.fail("unsupported aggregate function: " + *name);
  }
  SmallVector<Node> arguments = callArguments(call);
  bool distinct = call.get("invocation").string() == StringRef("AGGREGATION_INVOCATION_DISTINCT");
  if (*function == AggregateFunction::Count) {
    Node literal = arguments.size() == 1 ? arguments.front().get("literal") : call.get("literal");
    bool counts = arguments.empty() || (literal && !literal.get("null"));
    if (counts && !distinct) {
      return AggregateFunction::CountStar;
    }
  }
  if (arguments.size() != 1) {
    return call.fail("wrong number of arguments of " + *name + ": " + Twine(arguments.size()));
  }
  input = arguments.front();
  if (!distinct || *function == AggregateFunction::Min || *function == AggregateFunction::Max) {
    return *function;
  }
  if (*function == AggregateFunction::Count) {
    return AggregateFunction::CountDistinct;
  }
  if (*function == AggregateFunction::Sum) {
    return AggregateFunction::SumDistinct;
  }
  return call.fail("unsupported " + *name +
                   "(DISTINCT …); aggregate over a subquery with SELECT DISTINCT");
}

namespace {

/// A variance or standard deviation, which is made of sums: of x, of its square, and the count.
struct Spread {
  bool root = false;   ///< standard deviation
  bool sample = false; ///< divides by n - 1
  size_t measure = 0;  ///< among the aggregate's
  StringAttr sum = {}, squares = {}, count = {};
};

} // namespace

static std::optional<Spread> spreadNamed(StringRef name) {
  return llvm::StringSwitch<std::optional<Spread>>(name)
      .Cases({"stddev", "stddev_samp"}, Spread{true, true})
      .Case("stddev_pop", Spread{true, false})
      .Cases({"var", "variance", "var_samp", "var_sample"}, Spread{false, true})
      .Cases({"var_pop", "var_population"}, Spread{false, false})
      .Default(std::nullopt);
}

namespace {
/// All columns of a table, and some that are computed from them.
class AddedColumns {
public:
  AddedColumns(OpBuilder &builder, Location location, Value table)
      : builder_(builder), inside_(builder.getContext()), location_(location), table_(table),
        type_(cast<frame::TableType>(table.getType())), columns_(type_.getColumns()),
        block_(inside_.createBlock(&region_)) {}

  /// Where what is computed is made.
  OpBuilder &inside() { return inside_; }
  /// A column of the table, in there.
  Value column(StringAttr name) {
    auto known = llvm::find(used_, Attribute(name));
    if (known != used_.end()) {
      return block_->getArgument(known - used_.begin());
    }
    used_.push_back(name);
    return block_->addArgument(type_.getColumnType(name), location_);
  }
  void add(StringAttr name, Value value) {
    computed_.push_back(name);
    columns_.push_back({name, value.getType()});
    values_.push_back(value);
  }
  Value finish() {
    frame::YieldOp::create(inside_, location_, values_);
    auto op = frame::ProjectOp::create(
        builder_, location_, frame::TableType::get(builder_.getContext(), columns_), table_,
        builder_.getArrayAttr(llvm::to_vector_of<Attribute>(type_.getNames())),
        builder_.getArrayAttr(computed_), builder_.getArrayAttr(used_));
    op.getExpressions().takeBody(region_);
    return op.getResult();
  }

private:
  OpBuilder &builder_;
  OpBuilder inside_;
  Location location_;
  Value table_;
  frame::TableType type_;
  SmallVector<frame::Column> columns_;
  SmallVector<Attribute> computed_, used_;
  SmallVector<Value> values_;
  Region region_;
  Block *block_; // of the region
};
} // namespace

/// Adds each column as a double and its square, under the names in `spreads`.
static Value withSquares(OpBuilder &builder, Location location, Value table,
                         ArrayRef<Spread> spreads, ArrayRef<StringAttr> inputs) {
  AddedColumns added(builder, location, table);
  OpBuilder &b = added.inside();
  for (auto [spread, input] : llvm::zip_equal(spreads, inputs)) {
    Value argument = added.column(input);
    Type real =
        frame::withNullability(builder.getF64Type(), frame::nullabilityOf(argument.getType()));
    Value x = argument.getType() == real
                  ? argument
                  : frame::CastOp::create(b, location, real, argument).getResult();
    Value square = frame::MultiplyOp::create(b, location, real, x, x);
    added.add(spread.sum, x);
    added.add(spread.squares, square);
  }
  return added.finish();
}

/// Turns the sums of each spread into its value, a column called `results`.
static Value withSpreads(OpBuilder &builder, Location location, Value table,
                         ArrayRef<Spread> spreads, ArrayRef<StringAttr> results) {
  AddedColumns added(builder, location, table);
  OpBuilder &b = added.inside();
  Type f64 = builder.getF64Type(), maybe = frame::addNullable(f64), i64 = builder.getI64Type();
  for (auto [spread, result] : llvm::zip_equal(spreads, results)) {
    Value sum = added.column(spread.sum), squares = added.column(spread.squares),
          count = added.column(spread.count);
    Type real =
        frame::withNullability(f64, frame::nullabilityOf({sum.getType(), squares.getType()}));
    Value n = frame::CastOp::create(b, location, f64, count);
    Value square = frame::MultiplyOp::create(b, location, real, sum, sum);
    Value mean = frame::DivideOp::create(b, location, real, square, n);
    Value around = frame::SubtractOp::create(b, location, real, squares, mean);
    // Rounding must not make it negative.
    Value zero = frame::ConstantOp::create(b, location, f64, builder.getF64FloatAttr(0));
    Type truth = frame::withNullability(builder.getI1Type(), frame::nullabilityOf(real));
    Value below =
        frame::CompareOp::create(b, location, truth, frame::CompareKind::Lt, around, zero);
    around = frame::CaseOp::create(b, location, real, ValueRange{below}, ValueRange{zero}, around);
    Value divisor = n;
    if (spread.sample) {
      Value one = frame::ConstantOp::create(b, location, f64, builder.getF64FloatAttr(1));
      divisor = frame::SubtractOp::create(b, location, f64, n, one);
    }
    Value value = frame::DivideOp::create(b, location, real, around, divisor);
    if (spread.root) {
      value = frame::NumberOp::create(b, location, real, frame::NumberFunction::Sqrt, value,
                                      IntegerAttr());
    }
    // Too few values have none.
    Value least = frame::ConstantOp::create(b, location, i64,
                                            builder.getI64IntegerAttr(spread.sample ? 2 : 1));
    Value enough = frame::CompareOp::create(b, location, builder.getI1Type(),
                                            frame::CompareKind::Ge, count, least);
    added.add(result, frame::CaseOp::create(b, location, maybe, ValueRange{enough},
                                            ValueRange{value}, Value()));
  }
  return added.finish();
}

FailureOr<Relation> RelationImporter::importAggregate(Node aggregate) {
  FailureOr<Relation> input = importInput(aggregate, "input");
  FailureOr<SmallVector<Node>> keyNodes = groupingKeys(aggregate);
  if (failed(input) || failed(keyNodes)) {
    return failure();
  }
  SmallVector<Node> expressions = *keyNodes;
  SmallVector<frame::AggregateFunction> functions;
  SmallVector<Node> measureNodes;
  SmallVector<Spread> spreads;
  SmallVector<Node> conditions(expressions.size(), aggregate.get("none"));
  for (Node measure : aggregate.get("measures").elements()) {
    Node filter = measure.get("filter");
    Node argument = measure.get("none");
    FailureOr<frame::AggregateFunction> function = frame::AggregateFunction::Sum;
    Node call = measure.get("measure");
    FailureOr<StringRef> called = functionName(environment, call);
    std::optional<Spread> spread = failed(called) ? std::nullopt : spreadNamed(*called);
    if (spread) {
      SmallVector<Node> arguments = callArguments(call);
      if (arguments.size() != 1 ||
          call.get("invocation").string() == StringRef("AGGREGATION_INVOCATION_DISTINCT")) {
        return call.fail("unsupported arguments of " + *called);
      }
      argument = arguments.front();
      spread->measure = functions.size();
      spread->sum = uniqueName("value");
      spread->squares = uniqueName("square");
      spread->count = uniqueName("count");
      spreads.push_back(*spread);
    } else {
      function = measureFunction(environment, call, argument);
    }
    if (failed(function)) {
      return failure();
    }
    if (filter && *function == frame::AggregateFunction::CountStar) {
      *function = frame::AggregateFunction::Count; // of a 1 where the filter is true
    }
    functions.push_back(*function);
    measureNodes.push_back(measure);
    if (*function != frame::AggregateFunction::CountStar) {
      expressions.push_back(argument);
      conditions.push_back(filter);
    }
  }
  SmallVector<StringAttr> names;
  FailureOr<Relation> source =
      addColumns(*input, input->columns(), expressions, aggregate, names, conditions);
  if (failed(source)) {
    return failure();
  }
  Relation result;
  SmallVector<frame::Column> columns;
  SmallVector<Attribute> keys;
  std::string text = "aggregate";
  if (!spreads.empty()) {
    // The arguments' columns stand behind the keys, one a measure that has an argument.
    SmallVector<StringAttr> inputs;
    size_t position = keyNodes->size();
    for (auto [index, function] : llvm::enumerate(functions)) {
      bool counts = function == frame::AggregateFunction::CountStar;
      if (llvm::any_of(spreads,
                       [&, at = index](const Spread &spread) { return spread.measure == at; })) {
        inputs.push_back(names[position]);
        if (!frame::isNumeric(source->typeOf(names[position]))) {
          return measureNodes[index].fail("a variance needs numbers");
        }
      }
      position += counts ? 0 : 1;
    }
    source->table =
        withSquares(builder, locate(aggregate, "squares"), source->table, spreads, inputs);
  }
  for (StringAttr name : ArrayRef(names).take_front(keyNodes->size())) {
    result.fields.push_back(name);
    if (!llvm::is_contained(keys, name)) { // GROUP BY a, a
      keys.push_back(name);
      columns.push_back({name, source->typeOf(name)});
      text += (keys.size() == 1 ? " by " : ", ") + name.str();
    }
  }
  auto grouping = keys.empty() ? frame::Grouping::kGlobal : frame::Grouping::kByKeys;
  SmallVector<Attribute> measures;
  auto next = names.begin() + keyNodes->size();
  SmallVector<StringAttr> spreadNames;
  for (auto [index, function, node] : llvm::enumerate(functions, measureNodes)) {
    const Spread *spread =
        llvm::find_if(spreads, [&, at = index](const Spread &s) { return s.measure == at; });
    if (spread != spreads.end()) {
      ++next; // its argument
      auto add = [&](frame::AggregateFunction what, StringAttr input, StringAttr name) {
        Type type = frame::measureType(what, source->typeOf(input), grouping, environment.context);
        measures.push_back(frame::MeasureAttr::get(environment.context, what, input, name));
        columns.push_back({name, type});
        return name;
      };
      Spread &sums = spreads[spread - spreads.begin()];
      StringAttr x = sums.sum, square = sums.squares;
      sums.sum = add(frame::AggregateFunction::Sum, x, uniqueName("sum"));
      sums.squares = add(frame::AggregateFunction::Sum, square, uniqueName("sum_of_squares"));
      sums.count = add(frame::AggregateFunction::Count, x, sums.count);
      spreadNames.push_back(uniqueName(sums.root ? "stddev" : "variance"));
      result.fields.push_back(spreadNames.back());
      continue;
    }
    bool star = function == frame::AggregateFunction::CountStar;
    StringAttr column = star ? StringAttr() : *next++;
    Type type = frame::measureType(function, column ? source->typeOf(column) : Type(), grouping,
                                   environment.context);
    StringRef functionName = frame::stringifyAggregateFunction(function);
    if (!type) {
      return node.fail("unsupported input type of " + functionName);
    }
    StringAttr name =
        uniqueName(column ? (functionName + "_" + column.getValue()).str() : functionName.str());
    measures.push_back(frame::MeasureAttr::get(environment.context, function, column, name));
    columns.push_back({name, type});
    result.fields.push_back(name);
  }
  result.table = frame::AggregateOp::create(
      builder, locate(aggregate, text), frame::TableType::get(environment.context, columns),
      source->table, builder.getArrayAttr(keys), builder.getArrayAttr(measures));
  if (!spreads.empty()) {
    result.table =
        withSpreads(builder, locate(aggregate, text), result.table, spreads, spreadNames);
  }
  return result;
}
