// What chooses rows by their number in DuckDB's plans: limits that are no constant numbers,
// samples, positional joins.
#include "passes/import/duckdb/relations.h"
#include "runtime/base/math_functions.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

using Use = Field::Use;
using Arithmetic = ExpressionBuilder::Arithmetic;
using Compare = frame::CompareKind;

/// Rows of a block, which a system sample takes or leaves as a whole.
static constexpr int64_t kBlockRows = 2048;
/// How many values `scramble` has.
static constexpr int64_t kScrambles = int64_t{1} << 52;
static constexpr double kWhole = 100; // percent

static Expression real(ExpressionBuilder &b, double value, Location at) {
  Type f64 = Float64Type::get(b.getContext());
  return b.constant(FloatAttr::get(f64, value), f64, at);
}

static Expression whole(ExpressionBuilder &b, int64_t value, Location at) {
  return b.integer(value, IntegerType::get(b.getContext(), 64), at);
}

static MaybeRelation firstFields(RelationBuilder &builder, MaybeRelation relation, size_t count,
                                 Location at) {
  auto fields = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(count)));
  return failed(relation) ? relation : builder.select(*relation, fields, at);
}

MaybeRelation RelationImporter::numberAll(const Relation &input, bool counts, Location at) {
  SmallVector<WindowFunctionRequest, 0> functions{
      {.kind = frame::WindowFunctionKind::RowNumber, .at = at}};
  if (counts) {
    WindowFunctionRequest count{.at = at};
    count.measure = MeasureRequest{.function = frame::AggregateFunction::CountStar, .at = at};
    count.frame = {.unit = frame::FrameUnit::Rows,
                   .end = frame::FrameBoundKind::UnboundedFollowing};
    functions.push_back(std::move(count));
  }
  return builder.windowOfAll(input, functions, at);
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

/// A number of rows or a share of them, as an i64; NULL without one.
MaybeExpression RelationImporter::importLimitValue(ExpressionBuilder &b, Node node, int64_t count,
                                                   Location at) {
  StringRef type = node.get("type").string().value_or("UNSET");
  Type i64 = IntegerType::get(b.getContext(), 64), f64 = Float64Type::get(b.getContext());
  if (type == "CONSTANT_VALUE") {
    FailureOr<int64_t> number = node.get("constant_integer").integerOr(0);
    return failed(number) ? MaybeExpression(failure()) : whole(b, *number, at);
  }
  if (type == "UNSET") {
    return b.null(i64, at);
  }
  const bool isShare = type == "CONSTANT_PERCENTAGE" || type == "EXPRESSION_PERCENTAGE";
  MaybeExpression value =
      type == "CONSTANT_PERCENTAGE"
          ? MaybeExpression(real(b, node.get("constant_percentage").real().value_or(-1), at))
          : expressions.import(b, node.get("expression"), at);
  value = failed(value) ? value : b.cast(*value, isShare ? f64 : i64, at);
  if (failed(value)) {
    return failure();
  }
  const Expression least = isShare ? real(b, 0, at) : whole(b, 0, at);
  MaybeExpression wrong = b.compare(Compare::Lt, *value, least, at);
  if (isShare && succeeded(wrong)) {
    MaybeExpression tooLarge = b.compare(Compare::Gt, *value, real(b, kWhole, at), at);
    wrong = b.connect(ExpressionBuilder::Connective::kOr, {*wrong, *tooLarge}, at);
  }
  MaybeExpression error =
      b.raise(frame::RaiseKind::User,
              isShare ? "a limit in percent is not between 0 and 100" : "a limit is negative",
              isShare ? f64 : i64, at);
  value = failed(error) ? error : b.choose(*wrong, *error, &*value, at);
  if (failed(value) || !isShare) {
    return value;
  }
  MaybeExpression all = b.field(count, at);
  all = failed(all) ? all : b.cast(*all, f64, at);
  if (failed(all)) {
    return failure();
  }
  MaybeExpression share = b.arithmetic(Arithmetic::kDivide, *value, real(b, kWhole, at), f64, at);
  MaybeExpression rows = b.arithmetic(Arithmetic::kMultiply, *share, *all, f64, at);
  rows = b.number(frame::NumberFunction::Floor, *rows, std::nullopt, f64, at);
  return failed(rows) ? rows : b.cast(*rows, i64, at);
}

MaybeRelation RelationImporter::limitByNumbers(Node op, const Relation &input, Location at) {
  const auto width = static_cast<int64_t>(input.fields.size());
  MaybeRelation numbered = numberAll(input, /*counts=*/true, at);
  if (failed(numbered)) {
    return failure();
  }
  MaybeRelation kept = builder.filter(
      *numbered,
      [=, this](ExpressionBuilder &b) -> MaybeExpression {
        MaybeExpression number = b.field(width, at);
        MaybeExpression offset = importLimitValue(b, op.get("offset_val"), width + 1, at);
        MaybeExpression limit = importLimitValue(b, op.get("limit_val"), width + 1, at);
        if (failed(number) || failed(offset) || failed(limit)) {
          return failure();
        }
        Type i64 = IntegerType::get(b.getContext(), 64);
        offset = b.coalesce({*offset, whole(b, 0, at)}, at); // NULL is none
        limit = b.coalesce({*limit, whole(b, kScrambles, at)}, at);
        MaybeExpression place = b.arithmetic(Arithmetic::kSubtract, *number, *offset, i64, at);
        MaybeExpression begins = b.compare(Compare::Gt, *place, whole(b, 0, at), at);
        MaybeExpression ends = b.compare(Compare::Le, *place, *limit, at);
        return b.connect(ExpressionBuilder::Connective::kAnd, {*begins, *ends}, at);
      },
      at);
  return firstFields(builder, std::move(kept), input.fields.size(), at);
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

/// Which rows a sample takes follows from their numbers and the seed.
MaybeRelation RelationImporter::importSample(Node op) {
  Node sample = op.get("sample_options");
  Location at = locate(op);
  if (failed(expectOnly(op, {{"sample_options", Use::kRead}})) ||
      failed(expectFields(sample, "TABLESAMPLE",
                          {{"sample_size", Use::kRead},
                           {"is_percentage", Use::kRead},
                           {"method", Use::kRead},
                           {"seed", Use::kRead},
                           {"repeatable", Use::kHarmless},
                           {"sample_rate", Use::kHarmless}},
                          context, at))) {
    return failure();
  }
  Node size = sample.get("sample_size").get("value");
  const bool isShare = sample.get("is_percentage").boolean().value_or(false);
  const StringRef method = sample.get("method").string().value_or("");
  const int64_t seed = sample.get("seed").integer().value_or(0);
  const std::optional<double> share = isShare ? size.real() : std::nullopt;
  const std::optional<int64_t> rows = isShare ? std::nullopt : size.integer();
  if (!share && !rows) {
    return sample.fail("expected the size of a sample");
  }
  RelationBuilder::RowsInOrder inOrder(builder);
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 1);
  if (failed(inputs)) {
    return failure();
  }
  const size_t fields = inputs->front().fields.size();
  const auto width = static_cast<int64_t>(fields);
  MaybeRelation numbered = numberAll(inputs->front(), /*counts=*/false, at);
  if (failed(numbered)) {
    return failure();
  }
  const bool byBlock = method == "System";
  auto chance = [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression number = b.field(width, at);
    Type i64 = IntegerType::get(b.getContext(), 64);
    if (succeeded(number) && byBlock) {
      number = b.arithmetic(Arithmetic::kSubtract, *number, whole(b, 1, at), i64, at);
      number = b.arithmetic(Arithmetic::kDivide, *number, whole(b, kBlockRows, at), i64, at);
    }
    return failed(number)
               ? number
               : b.math(*mathFunctionNamed("scramble"), {*number, whole(b, seed, at)}, i64, at);
  };
  if (isShare && method != "Reservoir") {
    const auto bound = static_cast<int64_t>(*share / kWhole * static_cast<double>(kScrambles));
    MaybeRelation kept = builder.filter(
        *numbered,
        [=](ExpressionBuilder &b) -> MaybeExpression {
          MaybeExpression drawn = chance(b);
          return failed(drawn) ? drawn : b.compare(Compare::Lt, *drawn, whole(b, bound, at), at);
        },
        at);
    return firstFields(builder, std::move(kept), fields, at);
  }
  // So many rows: the first by what is drawn for them.
  SortKey drawn{
      {std::nullopt, "drawn", chance}, frame::SortDirection::Asc, frame::NullsOrder::Last};
  SortKey number = drawn;
  number.expression = Computed::ofField(width, at);
  if (rows) {
    MaybeRelation sorted = builder.sort(*numbered, {drawn, number}, at);
    MaybeRelation first = failed(sorted) ? sorted : builder.limit(*sorted, 0, *rows, at);
    return firstFields(builder, std::move(first), fields, at);
  }
  WindowFunctionRequest place{.kind = frame::WindowFunctionKind::RowNumber, .at = at};
  MaybeRelation places = builder.window(*numbered, {}, {drawn, number}, {place}, at);
  MaybeRelation counted =
      failed(places) ? places : numberAll(*places, /*counts=*/true, at); // and count behind it
  if (failed(counted)) {
    return failure();
  }
  MaybeRelation kept = builder.filter(
      *counted,
      [=](ExpressionBuilder &b) -> MaybeExpression {
        Type f64 = Float64Type::get(b.getContext());
        MaybeExpression all = b.cast(*b.field(width + 3, at), f64, at);
        MaybeExpression wanted =
            b.arithmetic(Arithmetic::kMultiply, *all, real(b, *share / kWhole, at), f64, at);
        wanted = b.number(frame::NumberFunction::Ceiling, *wanted, std::nullopt, f64, at);
        return b.compare(Compare::Le, *b.cast(*b.field(width + 1, at), f64, at), *wanted, at);
      },
      at);
  return firstFields(builder, std::move(kept), fields, at);
}

//===----------------------------------------------------------------------===//
// Positional joins
//===----------------------------------------------------------------------===//

MaybeRelation RelationImporter::importPositionalJoin(Node op) {
  if (failed(expectOnly(op, {}))) {
    return failure();
  }
  Location at = locate(op);
  RelationBuilder::RowsInOrder inOrder(builder);
  FailureOr<SmallVector<Relation>> inputs = importChildren(op, 2);
  if (failed(inputs)) {
    return failure();
  }
  MaybeRelation left = numberAll((*inputs)[0], /*counts=*/false, at);
  MaybeRelation right = numberAll((*inputs)[1], /*counts=*/false, at);
  if (failed(left) || failed(right)) {
    return failure();
  }
  const auto lefts = static_cast<int64_t>(left->fields.size());
  const auto all = lefts + static_cast<int64_t>(right->fields.size());
  JoinRequest request;
  request.kind = frame::JoinKind::Full;
  request.conditions.push_back({JoinCondition::Kind::kEqual, Computed::ofField(lefts - 1, at),
                                Computed::ofField(all - 1, at), at});
  MaybeRelation joined = builder.join(*left, *right, request, at);
  SmallVector<int64_t> fields;
  for (int64_t field = 0; field < all; ++field) {
    if (field != lefts - 1 && field != all - 1) {
      fields.push_back(field);
    }
  }
  return failed(joined) ? joined : builder.select(*joined, fields, at);
}
