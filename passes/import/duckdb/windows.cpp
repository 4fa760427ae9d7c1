// Window functions of DuckDB's plans.
#include "passes/import/Interpolation.h"
#include "passes/import/duckdb/relations.h"

#include <numeric>

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Use = Field::Use;
using WindowKind = frame::WindowFunctionKind;

/// The value of a constant under any casts; nothing of other expressions.
static Node constantValue(Node expression) {
  while (expression.get("type").string() == StringRef("OPERATOR_CAST")) {
    SmallVector<Node> operands = expression.get("children").elements();
    expression = operands.size() == 1 ? operands.front() : expression.get("no operand");
  }
  return expression.get("value");
}

bool headrace::import::duckdb::isOfConstants(Node expression) {
  StringRef type = expression.get("type").string().value_or("");
  return constantValue(expression) ||
         ((type == "BOUND_FUNCTION" || type == "OPERATOR_CAST") &&
          llvm::all_of(expression.get("children").elements(), isOfConstants));
}

static bool isNullConstant(Node expression) {
  return constantValue(expression).get("is_null").boolean().value_or(false);
}

std::optional<int64_t> RelationImporter::constantCount(Node expression) {
  Node value = constantValue(expression);
  StringRef type = value.get("type").get("id").string().value_or("");
  bool whole = type == "INTEGER" || type == "BIGINT" || type == "SMALLINT" || type == "TINYINT";
  return whole ? value.get("value").integer() : std::nullopt;
}

WindowOperand RelationImporter::importCount(Node expression, Location at) {
  std::optional<int64_t> number = constantCount(expression);
  return {number, number ? Computed() : expressions.computed(expression, at)};
}

/// What DuckDB calls a bound: where it is and what it counts.
static bool readBound(StringRef text, frame::FrameBoundKind &kind,
                      std::optional<frame::FrameUnit> &unit) {
  using Kind = frame::FrameBoundKind;
  using Unit = frame::FrameUnit;
  if (text == "UNBOUNDED_PRECEDING" || text == "UNBOUNDED_FOLLOWING") {
    kind = text == "UNBOUNDED_PRECEDING" ? Kind::UnboundedPreceding : Kind::UnboundedFollowing;
    return true;
  }
  auto [place, counted] = text.rsplit('_');
  auto known = llvm::StringSwitch<std::optional<Kind>>(place)
                   .Case("CURRENT_ROW", Kind::CurrentRow)
                   .Case("EXPR_PRECEDING", Kind::Preceding)
                   .Case("EXPR_FOLLOWING", Kind::Following)
                   .Default(std::nullopt);
  auto counts = llvm::StringSwitch<std::optional<Unit>>(counted)
                    .Case("ROWS", Unit::Rows)
                    .Case("RANGE", Unit::Range)
                    .Case("GROUPS", Unit::Groups)
                    .Default(std::nullopt);
  if (!known || !counts) {
    return false;
  }
  kind = *known;
  unit = counts;
  return true;
}

FailureOr<WindowFunctionRequest::Frame> RelationImporter::importFrame(Node function, Location at) {
  WindowFunctionRequest::Frame frame;
  std::optional<frame::FrameUnit> unit; // of the start, then of the end: they are the same
  StringRef start = function.get("start").string().value_or("");
  StringRef end = function.get("end").string().value_or("");
  auto exclude = llvm::StringSwitch<std::optional<frame::FrameExclusion>>(
                     function.get("exclude_clause").string().value_or(""))
                     .Case("NO_OTHER", frame::FrameExclusion::None)
                     .Case("CURRENT_ROW", frame::FrameExclusion::CurrentRow)
                     .Case("GROUP", frame::FrameExclusion::Group)
                     .Case("TIES", frame::FrameExclusion::Ties)
                     .Default(std::nullopt);
  if (!readBound(start, frame.start, unit) || !readBound(end, frame.end, unit) || !exclude) {
    return function.fail("expected the bounds of a window frame, got " + start + " to " + end);
  }
  frame.unit = unit.value_or(frame::FrameUnit::Rows);
  frame.exclude = *exclude;
  auto distance = [&](Node expression) -> std::optional<WindowOperand> {
    if (!expression) {
      return std::nullopt;
    }
    bool byValue = frame.unit == frame::FrameUnit::Range;
    return byValue ? WindowOperand{std::nullopt, expressions.computed(expression, at)}
                   : importCount(expression, at);
  };
  for (Node order : function.get("orders").elements()) {
    const bool hasDistance = function.get("start_expr") || function.get("end_expr");
    Node key = ExpressionImporter::beforeNormalized(order.get("expression"));
    if (frame.unit != frame::FrameUnit::Range || !hasDistance) {
      continue;
    }
    Node type = key.get("return_type");
    if (isIntervalType(type)) {
      return context.fail(at,
                          "unsupported RANGE with a distance over intervals; order by epoch(…)");
    }
    if (type.get("id").string() == StringRef("UHUGEINT")) {
      return context.fail(at,
                          "unsupported RANGE with a distance over UHUGEINT; order by a HUGEINT");
    }
  }
  frame.startDistance = distance(function.get("start_expr"));
  frame.endDistance = distance(function.get("end_expr"));
  for (const auto &bound : {frame.startDistance, frame.endDistance}) {
    if (bound && bound->number && *bound->number < 0) {
      return context.fail(at,
                          "the distance of a window frame is negative: " + Twine(*bound->number),
                          ImportError::Kind::kUser);
    }
  }
  return frame;
}

bool headrace::import::duckdb::areAlike(ArrayRef<Node> a, ArrayRef<Node> b) {
  static constexpr StringRef kPlaces[] = {"query_location", "query_location_length", "alias"};
  return a.size() == b.size() && llvm::all_of(llvm::zip_equal(a, b), [](auto pair) {
           return std::get<0>(pair).equals(std::get<1>(pair), kPlaces);
         });
}

bool RelationImporter::isInOrder(Node function, WindowKind kind) {
  const SmallVector<Node> wanted = function.get("arg_orders").elements();
  const SmallVector<Node> order = function.get("orders").elements();
  const bool ranks =
      kind == WindowKind::Rank || kind == WindowKind::PercentRank || kind == WindowKind::CumeDist;
  return wanted.size() <= order.size() && (!ranks || wanted.size() == order.size()) &&
         areAlike(wanted, ArrayRef(order).take_front(wanted.size()));
}

/// The keys by which a function sees its partition: `fill` does by the order of its argument.
static SmallVector<Node> keysOf(Node function) {
  SmallVector<Node> keys = function.get("orders").elements();
  if (function.get("type").string() == StringRef("WINDOW_FILL")) {
    SmallVector<Node> own = function.get("arg_orders").elements();
    keys.insert(keys.begin(), own.begin(), own.end());
  }
  return keys;
}

FailureOr<RelationImporter::WindowRequests>
RelationImporter::importFill(Node function, FinishWindow &finish, Location at) {
  SmallVector<Node> arguments = function.get("children").elements(), keys = keysOf(function);
  if (arguments.size() != 1 || keys.empty()) {
    // no test: DuckDB's binder sees to it
    return function.fail("expected an argument and an order of fill");
  }
  Computed y = expressions.computed(arguments.front(), at);
  Computed x = expressions.computed(
      ExpressionImporter::beforeNormalized(keys.front().get("expression")), at);
  auto interpolation = [=, x = x.build,
                        y = y.build](ExpressionBuilder &b) -> FailureOr<Interpolation> {
    MaybeExpression key = x(b), value = y(b);
    return failed(key) || failed(value) ? FailureOr<Interpolation>(failure())
                                        : Interpolation(b, *key, *value, at);
  };
  Computed point = {std::nullopt, "point", [=](ExpressionBuilder &b) -> MaybeExpression {
                      FailureOr<Interpolation> made = interpolation(b);
                      return failed(made) ? MaybeExpression(failure()) : made->point();
                    }};
  finish = [=](ExpressionBuilder &b, ArrayRef<Expression> points) -> MaybeExpression {
    FailureOr<Interpolation> made = interpolation(b);
    return failed(made) ? MaybeExpression(failure()) : made->filled(points);
  };
  WindowRequests requests;
  for (int64_t place : Interpolation::kPlaces) {
    WindowFunctionRequest request{
        .kind = place < 0 ? WindowKind::Lag : WindowKind::Lead, .ignoreNulls = true, .at = at};
    request.arguments = {{std::nullopt, point}, {std::abs(place), {}}};
    requests.push_back(std::move(request));
  }
  return requests;
}

FailureOr<RelationImporter::WindowRequests>
RelationImporter::importWindowFunction(Node function, FinishWindow &finish, Location at) {
  at = expressions.locate(function, at);
  StringRef type = function.get("type").string().value_or("");
  if (failed(expectExpression(function, "OVER",
                              {{"children", Use::kRead},
                               {"arguments", Use::kHarmless},
                               {"qname", Use::kRead},
                               {"has_serialize", Use::kHarmless},
                               {"function_data", Use::kRead}, // of functions that are refused
                               {"partitions", Use::kRead},
                               {"orders", Use::kRead},
                               {"filters", Use::kRead},
                               {"ignore_nulls", Use::kRead},
                               {"start", Use::kRead},
                               {"end", Use::kRead},
                               {"start_expr", Use::kRead},
                               {"end_expr", Use::kRead},
                               {"offset_expr", Use::kEmpty},
                               {"default_expr", Use::kEmpty},
                               {"exclude_clause", Use::kRead},
                               {"distinct", Use::kRead},
                               {"arg_orders", Use::kRead},
                               // What RANGE was before its distances became values.
                               {"sql_range_start", Use::kHarmless},
                               {"sql_range_end", Use::kHarmless},
                               {"sql_range_order_type", Use::kHarmless},
                               {"sql_range_start_boundary", Use::kHarmless},
                               {"sql_range_end_boundary", Use::kHarmless},
                               {"sql_range_order_casts", Use::kHarmless}},
                              context, at))) {
    return failure();
  }
  if (type == "WINDOW_FILL") {
    return importFill(function, finish, at);
  }
  if (type == "WINDOW_AGGREGATE") {
    return importWindowAggregate(function, finish, at);
  }
  auto kind = llvm::StringSwitch<std::optional<WindowKind>>(type)
                  .Case("WINDOW_ROW_NUMBER", WindowKind::RowNumber)
                  .Case("WINDOW_RANK", WindowKind::Rank)
                  .Case("WINDOW_RANK_DENSE", WindowKind::DenseRank)
                  .Case("WINDOW_PERCENT_RANK", WindowKind::PercentRank)
                  .Case("WINDOW_CUME_DIST", WindowKind::CumeDist)
                  .Case("WINDOW_NTILE", WindowKind::Ntile)
                  .Case("WINDOW_LAG", WindowKind::Lag)
                  .Case("WINDOW_LEAD", WindowKind::Lead)
                  .Case("WINDOW_FIRST_VALUE", WindowKind::FirstValue)
                  .Case("WINDOW_LAST_VALUE", WindowKind::LastValue)
                  .Case("WINDOW_NTH_VALUE", WindowKind::NthValue)
                  .Default(std::nullopt);
  if (!kind) {
    return context.fail(at, "unsupported window function: " + type);
  }
  WindowFunctionRequest request{.kind = *kind, .at = at};
  const SmallVector<Node> inFrame = function.get("arg_orders").elements();
  request.ignoreNulls = function.get("ignore_nulls").boolean().value_or(false);
  const bool isValue = *kind == WindowKind::FirstValue || *kind == WindowKind::LastValue ||
                       *kind == WindowKind::NthValue;
  bool counts = *kind == WindowKind::Ntile;
  for (auto [index, argument] : llvm::enumerate(function.get("children").elements())) {
    if (index == 2 && isNullConstant(argument)) {
      continue;
    }
    request.arguments.push_back(
        counts || index == 1 ? importCount(argument, at)
                             : WindowOperand{std::nullopt, expressions.computed(argument, at)});
  }
  bool moves = *kind == WindowKind::Lag || *kind == WindowKind::Lead;
  if (moves && request.arguments.size() == 1) {
    request.arguments.push_back({1, {}});
  }
  if (isValue || !inFrame.empty()) {
    FailureOr<WindowFunctionRequest::Frame> frame = importFrame(function, at);
    if (failed(frame)) {
      return failure();
    }
    request.frame = std::move(*frame);
  }
  // Rows that do not count are only known of an order of its own.
  if (!isInOrder(function, request.kind) || (request.ignoreNulls && moves && !inFrame.empty())) {
    FailureOr<SmallVector<RelationBuilder::SortKey>> order = importSortKeys(inFrame, at);
    if (failed(order)) {
      return failure();
    }
    request.order.assign(order->begin(), order->end());
  }
  return WindowRequests{std::move(request)};
}

MaybeRelation RelationImporter::joinWhole(const Relation &result, const Relation &input,
                                          ArrayRef<Node> partition,
                                          ArrayRef<MeasureRequest> measures, Location at) {
  SmallVector<Computed> keys;
  for (Node key : partition) {
    keys.push_back(expressions.computed(key, at));
  }
  JoinRequest request;
  for (auto [number, key] : llvm::enumerate(keys)) {
    const auto group = static_cast<int64_t>(result.fields.size() + number);
    request.conditions.push_back(
        {JoinCondition::Kind::kNullSafe, key, Computed::ofField(group, at), at});
  }
  MaybeRelation rows = withKeys(input, partition, keys, at);
  MaybeRelation groups = failed(rows) ? rows : builder.aggregate(*rows, keys, measures, at);
  return failed(groups) ? groups : builder.join(result, builder.rename(*groups, at), request, at);
}

/// Whether a function is over all rows as they come.
static bool isOverAll(Node function) {
  return function.get("partitions").elements().empty() && function.get("orders").elements().empty();
}

/// Whether a function sees the rows of the input in their order.
static bool seesRowsInOrder(Node function) {
  return isOverAll(function) ||
         (takesBinsOfRows(function) && function.get("orders").elements().empty());
}

MaybeRelation RelationImporter::importWindow(Node op) {
  if (failed(expectOnly(op, {{"window_index", Use::kHarmless}, {"expressions", Use::kRead}}))) {
    return failure();
  }
  Location at = locate(op);
  SmallVector<Node> functions = op.get("expressions").elements();
  RelationBuilder::RowsInOrder inOrder(builder, llvm::any_of(functions, seesRowsInOrder));
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
  if (failed(inputs)) {
    return failure();
  }
  size_t inputFields = inputs->front().fields.size();
  // Functions over the same partition and order are columns of one op.
  struct Group {
    SmallVector<Node> partition, order;
    std::vector<WindowFunctionRequest> functions;
    std::vector<size_t> positions;
  };
  std::vector<Group> groups;
  // Measures that take more than a fold are made once for a whole partition.
  struct Whole {
    SmallVector<Node> partition;
    std::vector<MeasureRequest> measures = {};
    SmallVector<size_t> positions = {};
  };
  std::vector<Whole> wholes;
  std::vector<FinishWindow> finishes(functions.size());
  for (auto [index, function] : llvm::enumerate(functions)) {
    FailureOr<WindowRequests> requests = importWindowFunction(function, finishes[index], at);
    if (failed(requests)) {
      return failure();
    }
    SmallVector<Node> partition = llvm::map_to_vector(function.get("partitions").elements(),
                                                      ExpressionImporter::beforeNormalized);
    SmallVector<Node> order = keysOf(function);
    const auto &measure = requests->front().measure;
    if (measure && measure->rows != MeasureRows::kAll) {
      auto known = llvm::find_if(
          wholes, [&](const Whole &whole) { return areAlike(whole.partition, partition); });
      Whole &whole = known == wholes.end() ? wholes.emplace_back(Whole{partition}) : *known;
      whole.measures.push_back(*measure);
      whole.positions.push_back(index);
      continue;
    }
    auto group = llvm::find_if(groups, [&](const Group &known) {
      return areAlike(known.partition, partition) && areAlike(known.order, order);
    });
    if (group == groups.end()) { // beside those over the same partitions: one may serve the other
      auto beside = std::find_if(groups.rbegin(), groups.rend(), [&](const Group &known) {
        return areAlike(known.partition, partition);
      });
      auto place = beside == groups.rend() ? groups.end() : beside.base();
      group = groups.insert(place, {partition, order, {}, {}});
    }
    for (WindowFunctionRequest &request : *requests) {
      group->functions.push_back(std::move(request));
      group->positions.push_back(index);
    }
  }
  Relation result = inputs->front();
  std::vector<SmallVector<int64_t>> found(functions.size()); // the columns of each function
  for (const Group &group : groups) {
    SmallVector<Computed> partition;
    for (Node key : group.partition) {
      partition.push_back(expressions.computed(key, at));
    }
    FailureOr<SmallVector<RelationBuilder::SortKey>> order = importSortKeys(group.order, at);
    if (failed(order)) {
      return failure();
    }
    size_t before = result.fields.size();
    const bool isOfAll = partition.empty() && order->empty();
    MaybeRelation windowed = isOfAll
                                 ? builder.windowOfAll(result, group.functions, at)
                                 : builder.window(result, partition, *order, group.functions, at);
    if (failed(windowed)) {
      return failure();
    }
    result = std::move(*windowed);
    for (auto [index, position] : llvm::enumerate(group.positions)) {
      found[position].push_back(static_cast<int64_t>(before + index));
    }
  }
  for (const Whole &whole : wholes) {
    auto field = static_cast<int64_t>(result.fields.size() + whole.partition.size());
    MaybeRelation joined = joinWhole(result, inputs->front(), whole.partition, whole.measures, at);
    if (failed(joined)) {
      return failure();
    }
    result = std::move(*joined);
    for (size_t position : whole.positions) {
      found[position].push_back(field++);
    }
  }
  SmallVector<int64_t> fields(inputFields);
  std::iota(fields.begin(), fields.end(), 0);
  if (llvm::none_of(finishes, [](const FinishWindow &finish) { return bool(finish); })) {
    for (const SmallVector<int64_t> &values : found) {
      fields.push_back(values.front());
    }
    return builder.select(result, fields, at);
  }
  SmallVector<Computed> columns;
  for (int64_t field : fields) {
    columns.push_back(Computed::ofField(field, at));
  }
  for (auto [values, finish] : llvm::zip_equal(found, finishes)) {
    columns.push_back(Computed::ofField(values.front(), at));
    if (finish) {
      columns.back() = {
          std::nullopt, "window",
          [=, values = values, finish = finish](ExpressionBuilder &b) -> MaybeExpression {
            SmallVector<Expression> given;
            for (int64_t value : values) {
              MaybeExpression one = b.field(value, at);
              if (failed(one)) {
                return failure();
              }
              given.push_back(*one);
            }
            return finish(b, given);
          }};
    }
  }
  return builder.project(result, columns, at);
}
