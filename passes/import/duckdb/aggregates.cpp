// Aggregates of DuckDB's plans.
#include "passes/import/QuantileFields.h"
#include "passes/import/duckdb/relations.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Use = Field::Use;

/// Decimals of so many digits are exact as doubles, in their units.
static constexpr unsigned kDoubleDigits = 15;

StringRef RelationImporter::aggregateName(Node call, bool distinct) {
  StringRef name = nameOf(call);
  return distinct && name == "mode" ? StringRef("any_value") : name;
}

FailureOr<MeasureRequest> RelationImporter::importMeasure(Node measure, Location at) {
  StringRef name = nameOf(measure);
  at = expressions.locate(measure, at);
  if (measure.get("type").string() != StringRef("BOUND_AGGREGATE")) {
    return measure.fail("expected an aggregate");
  }
  if (failed(expectExpression(measure, name,
                              {{"children", Use::kRead},
                               {"arguments", Use::kHarmless},
                               {"qname", Use::kRead},
                               {"has_serialize", Use::kHarmless},
                               {"function_data", Use::kRead}, // of functions that are refused
                               {"aggregate_type", Use::kRead},
                               {"filter", Use::kRead},
                               {"order_bys", Use::kRead}, // of a sum it makes no difference
                               {"state_export", Use::kDefault, "\"NONE\""}},
                              context, at))) {
    return failure();
  }
  bool distinct = measure.get("aggregate_type").string() == StringRef("DISTINCT");
  return makeMeasure({measure, aggregateName(measure, distinct), distinct, measure.get("filter"),
                      measure.get("order_bys").get("orders").elements()},
                     at);
}

static Node typeOf(Node argument) {
  Node type = argument.get("return_type");
  return type ? type : argument.get("value").get("type"); // of a constant
}

/// Comparisons and conjunctions alone come without a type.
static bool isBoolean(Node argument) {
  Node type = typeOf(argument);
  return !type || type.get("id").string() == StringRef("BOOLEAN");
}

/// Whether it joins bits of unsigned integers of 128 bits, which are bytes: a function of lists
/// does.
static bool joinsBytes(StringRef name, ArrayRef<Node> arguments) {
  return name.starts_with("bit_") && !arguments.empty() &&
         typeOf(arguments.front()).get("id").string() == StringRef("UHUGEINT");
}

static bool isConstant(Node expression) {
  if (expression.get("type").string() == StringRef("OPERATOR_CAST")) {
    SmallVector<Node> children = expression.get("children").elements();
    return children.size() == 1 && isConstant(children.front());
  }
  return expression.get("type").string() == StringRef("VALUE_CONSTANT");
}

/// Bits in which x + c of these integers is never too large; 0 for other types.
static unsigned bitsOfSums(Node argument) {
  return llvm::StringSwitch<unsigned>(typeOf(argument).get("id").string().value_or(""))
      .Cases({"TINYINT", "UTINYINT", "SMALLINT", "USMALLINT"}, 32)
      .Cases({"INTEGER", "UINTEGER"}, 64)
      .Cases({"BIGINT", "UBIGINT"}, 128)
      .Default(0);
}

std::optional<Computed> RelationImporter::plusConstant(Node argument, Type sum, Location at) {
  SmallVector<Node> children = argument.get("children").elements();
  const unsigned bits = bitsOfSums(argument);
  if (bits == 0 || argument.get("type").string() != StringRef("BOUND_FUNCTION") ||
      nameOf(argument) != "+" || children.size() != 2 ||
      isConstant(children[0]) == isConstant(children[1])) {
    return std::nullopt;
  }
  Type wide = bits == 128 ? sum : IntegerType::get(context.getContext(), bits);
  Computed left = expressions.computed(children[0], at),
           right = expressions.computed(children[1], at);
  return Computed{std::nullopt, {}, [=](ExpressionBuilder &b) -> MaybeExpression {
                    SmallVector<Expression> values;
                    for (const Computed &side : {left, right}) {
                      MaybeExpression value = side.build(b);
                      MaybeExpression cast = failed(value) ? value : b.cast(*value, wide, at);
                      if (failed(cast)) {
                        return failure();
                      }
                      values.push_back(*cast);
                    }
                    return b.arithmetic(ExpressionBuilder::Arithmetic::kAdd, values[0], values[1],
                                        wide, at);
                  }};
}

/// Whether a call of a quantile function asks for several, as a list.
static bool areSeveral(Node call) {
  SmallVector<Node> arguments = call.get("children").elements();
  return arguments.size() > 1 && isNestedType(typeOf(arguments[1]));
}

/// Decimals that doubles do not hold.
static bool isPrecise(Type type) {
  auto decimal = dyn_cast<frame::DecimalType>(frame::dropNullable(type));
  return decimal && decimal.getPrecision() > kDoubleDigits;
}

/// The type of one quantile.
static Type typeOfOne(Node call, Type result) {
  Type type = frame::dropNullable(result);
  return areSeveral(call) ? cast<frame::ListType>(type).getElementType() : type;
}

FailureOr<MeasureRequest> RelationImporter::makeMeasure(const MeasureCall &call, Location at) {
  using Function = frame::AggregateFunction;
  auto [measure, name, distinct, filter, order] = call;
  const Aggregate *aggregate = aggregateOfDuckdb(name);
  if (!aggregate) {
    return context.fail(at, "unsupported aggregate function: " + name);
  }
  SmallVector<Node> arguments = measure.get("children").elements();
  const bool joins = joinsBytes(name, arguments);
  aggregate = joins ? aggregateOfDuckdb("list") : aggregate;
  const bool isQuantile = aggregate->rows == MeasureRows::kQuantile;
  const bool collects = aggregate->rows == MeasureRows::kCollected;
  Node separator = measure.get("function_data").get("separator");
  if (measure.get("function_data") && !isQuantile && !(collects && separator)) {
    return context.fail(at, "unsupported options of " + name);
  }
  if ((isQuantile || separator) && arguments.size() > 1) {
    arguments.truncate(1); // without the share, or the separator, which the options have
  }
  std::optional<Computed> more; // bins, or a number of values
  std::optional<int64_t> moreMax;
  if (arguments.size() == aggregate->arguments + 1 && takesMore(*aggregate, name)) {
    Node last = arguments.pop_back_val();
    more = expressions.computed(last, at);
    moreMax = constantCount(last);
  }
  bool counts = aggregate->function == Function::Count;
  Node constant = arguments.size() == 1 ? arguments.front().get("value") : Node();
  if (counts && !distinct && constant.get("value")) { // of a constant counts rows
    arguments.clear();
  }
  if (counts && arguments.empty()) { // COUNT(*) of a window
    aggregate = aggregateOfDuckdb("count_star");
  }
  if (arguments.size() != aggregate->arguments) {
    return context.fail(at,
                        "wrong number of arguments of " + name + ": " + Twine(arguments.size()));
  }
  Type type = importType(context, measure.get("return_type"), at);
  if (!type) {
    return failure();
  }
  if (aggregate->nullsLast || (more && !collects)) {
    return firstFew(call, arguments, more, moreMax, type, at);
  }
  SmallVector<Computed> computed;
  for (Node argument : arguments) {
    std::optional<Computed> wide =
        name == "sum" && !distinct ? plusConstant(argument, type, at) : std::nullopt;
    computed.push_back(wide ? std::move(*wide) : expressions.computed(argument, at));
  }
  auto castFirst = [&](Type to) { // of the rows that count
    BuildExpression condition = filter ? expressions.computed(filter, at).build : BuildExpression();
    computed.front() = {
        std::nullopt, computed.front().name,
        [=, build = computed.front().build](ExpressionBuilder &b) {
          MaybeExpression value = build(b);
          value = failed(value) ? value : b.cast(*value, to, at);
          MaybeExpression counts = failed(value) || !condition ? value : condition(b);
          return failed(counts) || !condition ? counts : b.choose(*counts, *value, nullptr, at);
        }};
  };
  const bool ofNested = !arguments.empty() && isNestedType(typeOf(arguments.back()));
  const bool ofInterval = !arguments.empty() && isIntervalType(typeOf(arguments.back()));
  const bool ofDates =
      !arguments.empty() && typeOf(arguments.back()).get("id").string() == StringRef("DATE");
  const bool isExtremeItself = name == "min" || name == "max";
  const bool isExtreme =
      aggregate->rows == MeasureRows::kLeast || aggregate->rows == MeasureRows::kGreatest;
  if ((ofNested || ofInterval) && isExtreme) {
    computed.back() = orderKey(arguments.back(), at);
  }
  if (ofDates && (name == "mad" || (isQuantile && frame::isTimestamp(typeOfOne(measure, type))))) {
    castFirst(frame::TimestampType::get(context.getContext(), TimeUnit::kMicrosecond,
                                        /*zoned=*/false));
  }
  const bool means = aggregate->function == Function::Avg && !aggregate->formula;
  bool sums = !aggregate->formula &&
              frame::ruleOf(aggregate->function).result == frame::AggregateResult::kSum;
  if (sums && isBoolean(arguments.front())) {
    castFirst(IntegerType::get(context.getContext(), 32)); // true counts as 1
  }
  const bool isOfDifferent = (counts && distinct) || aggregate->function == Function::CountDistinct;
  if (isOfDifferent && (ofNested || ofInterval)) {
    computed.front() = computed.front().with(&ExpressionBuilder::equalityOf, at);
  }
  MeasureRequest request = aggregate->request(std::move(computed), distinct, type, at);
  request.inOrder = (ofNested || ofInterval) && isExtremeItself;
  request.meanOfIntervals = ofInterval && means;
  if (request.meanOfIntervals && distinct) {
    request.rows = MeasureRows::kDifferent;
  }
  request.meanOfMoments = means && frame::isTemporal(type);
  if (isQuantile) {
    FailureOr<SmallVector<Quantile>> quantiles = quantilesOf(call, aggregate->quantile, type, at);
    if (failed(quantiles)) {
      return failure();
    }
    request.quantiles.assign(quantiles->begin(), quantiles->end());
    if (areSeveral(measure)) {
      request.rows = MeasureRows::kCollected;
      request.fromList = [=, all = *quantiles](ExpressionBuilder &b, const Expression &values,
                                               const Expression *) {
        return quantilesOfList(b, values, all, type, at);
      };
    } else if (isPrecise(type) && quantiles->front().kind == QuantileKind::kBetween) {
      request.rows = MeasureRows::kCollected;
      request.fromList = [=, one = quantiles->front()](
                             ExpressionBuilder &b, const Expression &values, const Expression *) {
        return quantileOfList(b, values, one, type, at);
      };
    }
  }
  if (filter) {
    request.condition = expressions.computed(filter, at).build;
  }
  if (collects) {
    FailureOr<SmallVector<SortKey>> keys = importSortKeys(order, at);
    if (failed(keys)) {
      return failure();
    }
    request.order = joins ? SmallVector<SortKey>() : std::move(*keys); // it makes no difference
    request.fromList = collectedBy(name, separator, more, type, at);
    request.ofNone = name == "entropy" ? std::optional(0.0) : std::nullopt;
    if (takesBinsOfRows(measure)) {
      request.more = more;
      request.sorted = false;
    }
  }
  if (aggregate->rows == MeasureRows::kFirst && !order.empty()) {
    return firstOf(std::move(request), name, order, at);
  }
  bool isOneOfSeveral = aggregate->rows == MeasureRows::kMost ||
                        aggregate->rows == MeasureRows::kLeast ||
                        aggregate->rows == MeasureRows::kGreatest;
  if (isOneOfSeveral && !order.empty()) {
    FailureOr<SmallVector<SortKey>> keys = importSortKeys(order, at);
    if (failed(keys)) {
      return failure();
    }
    request.order = std::move(*keys);
  }
  return request;
}

/// One share of a quantile function as the plan has it, with the sign that the call says for all.
static FailureOr<headrace::QuantileShare> shareAt(Node share, ImportContext &context, Location at) {
  Constant constant;
  if (std::optional<double> real = share.real()) {
    constant.type = Float64Type::get(context.getContext());
    constant.value = FloatAttr::get(constant.type, *real);
  } else {
    FailureOr<Constant> given = importConstant(context, share, at);
    if (failed(given)) {
      return failure();
    }
    constant = *given;
  }
  std::optional<SignedShare> found = shareOf(constant.value, constant.type);
  if (!found) {
    return share.fail("expected a share from -1 to 1, of at most 18 digits");
  }
  return found->share;
}

FailureOr<SmallVector<Quantile>> RelationImporter::quantilesOf(const MeasureCall &call,
                                                               QuantileKind kind, Type result,
                                                               Location at) {
  Node options = call.node.get("function_data");
  SmallVector<Node> shares = options.get("quantiles").elements();
  Type type = typeOfOne(call.node, result);
  if (shares.empty() || (!areSeveral(call.node) && shares.size() != 1)) {
    // no test: DuckDB's binder gives one share, or a list of them
    return context.fail(at, "unsupported shares of " + call.name);
  }
  SmallVector<Quantile> quantiles;
  for (Node share : shares) {
    FailureOr<headrace::QuantileShare> found = shareAt(share, context, at);
    if (failed(found)) {
      return failure();
    }
    quantiles.push_back({.share = *found,
                         .descending = options.get("desc").boolean().value_or(false),
                         .kind = quantileKind(kind, type)});
  }
  return quantiles;
}

FailureOr<MeasureRequest> RelationImporter::firstOf(MeasureRequest request, StringRef name,
                                                    ArrayRef<Node> order, Location at) {
  FailureOr<SmallVector<SortKey>> keys = importSortKeys(order, at);
  if (failed(keys)) {
    return failure();
  }
  if (name == "last") { // the first of the opposite order
    llvm::for_each(*keys, turn);
  }
  if (name == "any_value") { // the first that is not NULL
    request.condition = whereKnown(request.condition, request.arguments.front(), at);
  }
  request.rows = MeasureRows::kFirst;
  request.order = std::move(*keys);
  return request;
}

/// Which rows a measure is of by their place among the rows, if that is what it asks for.
static std::optional<MeasureRows> rowsByPlace(Node measure) {
  StringRef name = nameOf(measure);
  const Aggregate *aggregate = aggregateOfDuckdb(name);
  if (!aggregate || !measure.get("order_bys").get("orders").elements().empty() ||
      measure.get("aggregate_type").string() == StringRef("DISTINCT")) {
    return std::nullopt;
  }
  if (aggregate->rows == MeasureRows::kCollected) {
    return aggregate->ordered || takesBinsOfRows(measure) ? std::optional(MeasureRows::kCollected)
                                                          : std::nullopt;
  }
  if (aggregate->rows != MeasureRows::kFirst || name == "any_value") {
    return std::nullopt;
  }
  return name == "last" ? MeasureRows::kLatest : MeasureRows::kEarliest;
}

MaybeRelation RelationImporter::withKeys(const Relation &input, ArrayRef<Node> groups,
                                         MutableArrayRef<Computed> keys, Location at) {
  SmallVector<Computed> columns = allFields(input, at);
  const size_t before = columns.size();
  for (auto [group, key] : llvm::zip_equal(groups, keys)) {
    const bool isMade = !key.field && typeOf(group);
    Type type = isMade ? importType(context, typeOf(group), at) : Type();
    if (isMade && !type) {
      return failure();
    }
    if (type && frame::hasIntervals(type)) {
      columns.push_back(
          std::exchange(key, Computed::ofField(static_cast<int64_t>(columns.size()), at)));
    }
  }
  return columns.size() == before ? MaybeRelation(input) : builder.project(input, columns, at);
}

MaybeRelation RelationImporter::importAggregate(Node op) {
  if (failed(expectOnly(op, {{"expressions", Use::kRead},
                             {"groups", Use::kRead},
                             {"group_index", Use::kHarmless},
                             {"aggregate_index", Use::kHarmless},
                             {"groupings_index", Use::kHarmless},
                             {"grouping_sets", Use::kRead},
                             {"grouping_functions", Use::kRead},
                             {"distinct_validity", Use::kHarmless}}))) {
    return failure();
  }
  Location at = locate(op);
  const SmallVector<Node> groups =
      llvm::map_to_vector(op.get("groups").elements(), ExpressionImporter::beforeNormalized);
  SmallVector<Node> wanted = op.get("expressions").elements();
  const bool byPlace = !std::exchange(isOfOneRow, false) && llvm::any_of(wanted, rowsByPlace);
  RelationBuilder::RowsInOrder inOrder(builder, byPlace);
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
  if (failed(inputs)) {
    return failure();
  }
  SmallVector<Computed> keys;
  for (Node group : groups) {
    keys.push_back(expressions.computed(group, at));
  }
  FailureOr<Relation> input = withKeys(inputs->front(), groups, keys, at);
  if (failed(input)) {
    return failure();
  }
  std::vector<MeasureRequest> measures;
  for (Node expression : wanted) {
    FailureOr<MeasureRequest> measure = importMeasure(expression, at);
    if (failed(measure)) {
      return failure();
    }
    if (byPlace) {
      measure->rows = rowsByPlace(expression).value_or(measure->rows);
    }
    measures.push_back(std::move(*measure));
  }
  GroupingSets grouping;
  auto read = [&](Node lists, SmallVectorImpl<SmallVector<int64_t>> &result) -> LogicalResult {
    for (Node list : lists.elements()) {
      SmallVector<int64_t> &members = result.emplace_back();
      for (Node member : list.elements()) {
        std::optional<int64_t> key = member.integer();
        if (!key || *key < 0 || *key >= static_cast<int64_t>(groups.size())) {
          return member.fail("expected the number of a group");
        }
        members.push_back(*key);
      }
    }
    return success();
  };
  if (failed(read(op.get("grouping_sets"), grouping.sets)) ||
      failed(read(op.get("grouping_functions"), grouping.functions))) {
    return failure();
  }
  if (grouping.sets.empty()) {
    grouping.sets.emplace_back(llvm::to_vector(llvm::seq<int64_t>(0, groups.size())));
  }
  return builder.aggregate(*input, keys, measures, grouping, at);
}
