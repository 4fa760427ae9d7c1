// Substrait's joins: which parts of the condition compare the two sides.
#include "passes/import/substrait/relations.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::substrait;
namespace frame = headrace::frame;

namespace {

/// How Substrait's join types read here: the kind, and whether the sides change places.
struct JoinType {
  frame::JoinKind kind;
  enum class Sides { kAsWritten, kSwapped } sides = Sides::kAsWritten;
};

/// Which inputs an expression refers to.
enum Side : unsigned { kNone = 0, kLeft = 1, kRight = 2, kUnknown = 4 };

} // namespace

static std::optional<JoinType> joinType(StringRef name) {
  using Sides = JoinType::Sides;
  return llvm::StringSwitch<std::optional<JoinType>>(name)
      .Case("JOIN_TYPE_INNER", JoinType{frame::JoinKind::Inner})
      .Case("JOIN_TYPE_OUTER", JoinType{frame::JoinKind::Full})
      .Case("JOIN_TYPE_LEFT", JoinType{frame::JoinKind::Left})
      .Case("JOIN_TYPE_RIGHT", JoinType{frame::JoinKind::Right})
      .Case("JOIN_TYPE_LEFT_SEMI", JoinType{frame::JoinKind::Semi})
      .Case("JOIN_TYPE_LEFT_ANTI", JoinType{frame::JoinKind::Anti})
      .Case("JOIN_TYPE_LEFT_MARK", JoinType{frame::JoinKind::Mark})
      .Case("JOIN_TYPE_RIGHT_SEMI", JoinType{frame::JoinKind::Semi, Sides::kSwapped})
      .Case("JOIN_TYPE_RIGHT_ANTI", JoinType{frame::JoinKind::Anti, Sides::kSwapped})
      .Default(std::nullopt);
}

/// The sides that `expression` refers to; the first `leftCount` fields are the left side's.
static unsigned sidesOf(Node expression, int64_t leftCount) {
  unsigned sides = kNone;
  SmallVector<Node> open = {expression};
  while (!open.empty()) {
    Node node = open.pop_back_val();
    if (std::optional<int64_t> index = fieldIndex(node)) {
      sides |= *index < leftCount ? kLeft : kRight;
      continue;
    }
    if (Node call = node.get("scalarFunction")) {
      open.append(callArguments(call));
    } else if (Node cast = node.get("cast")) {
      open.push_back(cast.get("input"));
    } else if (!node.get("literal")) {
      sides |= kUnknown;
    }
  }
  return sides;
}

MaybeRelation RelationImporter::importJoin(Node join) {
  StringRef typeName = join.get("type").string().value_or("");
  std::optional<JoinType> type = joinType(typeName);
  if (!type) {
    return join.refuse("unsupported join type: " + typeName);
  }
  if (Node filter = join.get("postJoinFilter")) {
    return filter.refuse("unsupported postJoinFilter");
  }
  MaybeRelation left = importInput(join, "left");
  MaybeRelation right = failed(left) ? left : importInput(join, "right");
  if (failed(right)) {
    return failure();
  }
  int64_t leftCount = left->fields.size(), rightCount = right->fields.size();
  bool swapped = type->sides == JoinType::Sides::kSwapped;
  FieldShift shift = swapped ? FieldShift{leftCount, rightCount, -leftCount} : FieldShift{};
  JoinRequest request;
  request.kind = type->kind;
  SmallVector<Node> parts;
  if (Node condition = join.get("expression")) {
    FailureOr<SmallVector<Node>> flattened = expressions.flatten(condition, "and");
    if (failed(flattened)) {
      return failure();
    }
    parts = std::move(*flattened);
  }
  for (Node part : parts) {
    if (part.get("literal").get("boolean").boolean() == true) {
      continue;
    }
    Node call = part.get("scalarFunction");
    SmallVector<Node> arguments = callArguments(call);
    FailureOr<StringRef> name = call ? expressions.functionName(call) : StringRef();
    if (failed(name)) {
      return failure();
    }
    bool equality = *name == "equal" || *name == "is_not_distinct_from";
    if (equality && arguments.size() == 2 && sidesOf(arguments[0], leftCount) == kRight) {
      std::swap(arguments[0], arguments[1]);
    }
    if (!equality || arguments.size() != 2 || sidesOf(arguments[0], leftCount) != kLeft ||
        sidesOf(arguments[1], leftCount) != kRight) {
      request.conditions.push_back(
          {JoinCondition::Kind::kAny, expressions.computed(part, shift), {}, part.location()});
      continue;
    }
    if (swapped) {
      std::swap(arguments[0], arguments[1]);
    }
    request.conditions.push_back(
        {*name == "equal" ? JoinCondition::Kind::kEqual : JoinCondition::Kind::kNullSafe,
         expressions.computed(arguments[0], shift), expressions.computed(arguments[1], shift),
         part.location()});
  }
  request.nullAware = join.get("nullAware").boolean().value_or(false);
  bool oneKey = request.conditions.size() == 1 &&
                request.conditions.front().kind == JoinCondition::Kind::kEqual;
  if (request.nullAware && (type->kind != frame::JoinKind::Anti || !oneKey)) {
    return join.refuse("unsupported correlated NOT IN; rewrite it as NOT EXISTS");
  }
  if (swapped) {
    std::swap(*left, *right);
  }
  return builder.join(*left, *right, request, join.location());
}

MaybeRelation RelationImporter::importCross(Node cross) {
  MaybeRelation left = importInput(cross, "left");
  MaybeRelation right = failed(left) ? left : importInput(cross, "right");
  return failed(right) ? right : builder.join(*left, *right, JoinRequest(), cross.location());
}
