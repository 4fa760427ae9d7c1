// Calls of functions of strings in DuckDB's plans, by name.
#include "passes/import/duckdb/expressions.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

/// LIKE with a pattern that may differ from row to row.
static MaybeExpression patternOfRow(ExpressionBuilder &b, ArrayRef<Expression> arguments,
                                    bool anyCase, Type type, Location at) {
  SmallVector<Expression> operands(arguments);
  if (anyCase) {
    for (Expression &operand : operands) {
      Type string = operand.type();
      MaybeExpression lower = b.text(*headrace::textFunctionNamed("lower"), operand, string, at);
      if (failed(lower)) {
        return failure();
      }
      operand = *lower;
    }
  }
  const char *function = operands.size() == 3 ? "like_escape" : "like";
  return b.text(*headrace::textFunctionNamed(function), operands, type, at);
}

std::optional<MaybeExpression>
ExpressionImporter::importPattern(ExpressionBuilder &b, const Call &call, Arguments arguments) {
  /// What a function looks for in its first argument.
  struct Pattern {
    enum class Kind { kLike, kLikeAnyCase, kStart, kEnd, kAnywhere } kind;
    bool negated = false;
  };
  using Kind = Pattern::Kind;
  auto pattern = llvm::StringSwitch<std::optional<Pattern>>(call.name)
                     .Cases({"~~", "like_escape"}, Pattern{Kind::kLike})
                     .Cases({"!~~", "not_like_escape"}, Pattern{Kind::kLike, true})
                     .Cases({"~~*", "ilike_escape"}, Pattern{Kind::kLikeAnyCase})
                     .Cases({"!~~*", "not_ilike_escape"}, Pattern{Kind::kLikeAnyCase, true})
                     .Cases({"starts_with", "^@", "prefix"}, Pattern{Kind::kStart})
                     .Cases({"ends_with", "suffix"}, Pattern{Kind::kEnd})
                     .Case("contains", Pattern{Kind::kAnywhere})
                     .Default(std::nullopt);
  if (!pattern) {
    return std::nullopt;
  }
  bool escapes = call.name.ends_with("_escape");
  if (arguments.size() != (escapes ? 3 : 2)) {
    return MaybeExpression(
        unsupported(call, "wrong number of arguments: " + Twine(arguments.size())));
  }
  for (const Expression &argument : arguments) {
    if (ExpressionBuilder::isNullConstant(argument)) {
      return MaybeExpression(b.null(call.type, call.at));
    }
  }
  std::optional<StringRef> wanted = ExpressionBuilder::stringOf(arguments[1]);
  std::optional<StringRef> escape =
      escapes ? ExpressionBuilder::stringOf(arguments[2]) : std::nullopt;
  bool matches = pattern->kind == Kind::kLike || pattern->kind == Kind::kLikeAnyCase;
  if (escapes &&
      (!escape || (!wanted && (pattern->kind == Kind::kLikeAnyCase || escape->size() > 1)))) {
    return MaybeExpression(
        unsupported(call, "the pattern and its escape, one character, must be constants"));
  }
  if (!wanted && !matches) {
    return std::nullopt; // functions of texts
  }
  if (!wanted) {
    MaybeExpression match =
        patternOfRow(b, arguments, pattern->kind == Kind::kLikeAnyCase, call.type, call.at);
    return failed(match) || !pattern->negated ? match : b.negation(*match, call.at);
  }
  if (escape && escape->empty()) {
    escape = std::nullopt; // no character escapes
  }
  auto match = [&]() -> MaybeExpression {
    switch (pattern->kind) {
    case Kind::kLike:
      return b.like(arguments[0], *wanted, escape, call.at);
    case Kind::kLikeAnyCase:
      return b.likeAnyCase(arguments[0], *wanted, escape, call.at);
    case Kind::kStart:
      return b.contains(ExpressionBuilder::Part::kStart, arguments[0], *wanted, call.at);
    case Kind::kEnd:
      return b.contains(ExpressionBuilder::Part::kEnd, arguments[0], *wanted, call.at);
    case Kind::kAnywhere:
      return b.contains(ExpressionBuilder::Part::kAnywhere, arguments[0], *wanted, call.at);
    }
    llvm_unreachable("no such pattern");
  }();
  return failed(match) || !pattern->negated ? match : b.negation(*match, call.at);
}

namespace {
/// Positions in a text, i64 that may depend on the row.
class Positions {
public:
  Positions(ExpressionBuilder &builder, Location at)
      : b(builder), at(at), i64(IntegerType::get(builder.getContext(), 64)) {}

  Expression number(int64_t value) { return b.integer(value, i64, at); }
  MaybeExpression add(const MaybeExpression &lhs, const MaybeExpression &rhs) {
    return combine(ExpressionBuilder::Arithmetic::kAdd, lhs, rhs);
  }
  MaybeExpression subtract(const MaybeExpression &lhs, const MaybeExpression &rhs) {
    return combine(ExpressionBuilder::Arithmetic::kSubtract, lhs, rhs);
  }
  /// One of two values, by the sign of a position; of a constant's only the one is made.
  using Make = llvm::function_ref<MaybeExpression()>;
  MaybeExpression bySign(const Expression &position, Make negative, Make otherwise) {
    if (std::optional<int64_t> known = ExpressionBuilder::integerOf(position)) {
      return *known < 0 ? negative() : otherwise();
    }
    MaybeExpression isNegative = b.compare(frame::CompareKind::Lt, position, number(0), at);
    MaybeExpression first = negative(), second = otherwise();
    return failed(isNegative) || failed(first) || failed(second)
               ? MaybeExpression(failure())
               : b.choose(*isNegative, *first, &*second, at);
  }

private:
  MaybeExpression combine(ExpressionBuilder::Arithmetic op, const MaybeExpression &lhs,
                          const MaybeExpression &rhs) {
    return failed(lhs) || failed(rhs) ? MaybeExpression(failure())
                                      : b.arithmetic(op, *lhs, *rhs, i64, at);
  }

  ExpressionBuilder &b;
  Location at;
  Type i64;
};
} // namespace

std::optional<MaybeExpression> ExpressionImporter::importCut(ExpressionBuilder &b, const Call &call,
                                                             Arguments arguments) {
  bool left = call.name == "left", right = call.name == "right";
  const bool isCharacter = call.name == "array_extract" && arguments.size() == 2 &&
                           frame::isString(arguments[0].type()); // text[n]
  if (!left && !right && !isCharacter && call.name != "substring" && call.name != "substr") {
    return std::nullopt;
  }
  if (arguments.size() < 2 || arguments.size() > (left || right ? 2 : 3)) {
    return MaybeExpression(
        unsupported(call, "wrong number of arguments: " + Twine(arguments.size())));
  }
  const Expression &text = arguments[0], &position = arguments[1];
  Positions positions(b, call.at);
  auto length = [&] { return b.lengthOf(text, call.at); };
  auto given = [&]() -> MaybeExpression { return position; };
  // Negative: all but so many at the other end.
  if (left) {
    MaybeExpression count =
        positions.bySign(position, [&] { return positions.add(length(), position); }, given);
    return failed(count) ? count : b.substring(text, positions.number(1), *count, call.at);
  }
  MaybeExpression start =
      right
          ? positions.bySign(
                position, [&] { return positions.subtract(positions.number(1), position); },
                [&] {
                  return positions.subtract(positions.add(length(), positions.number(1)), position);
                })
          // Negative: counted from the end, -1 is the last.
          : positions.bySign(
                position,
                [&] {
                  return positions.add(positions.add(length(), positions.number(1)), position);
                },
                given);
  if (failed(start) || arguments.size() == 2) {
    const auto count = isCharacter ? std::optional(positions.number(1)) : std::nullopt;
    return failed(start) ? start : b.substring(text, *start, count, call.at);
  }
  // A negative length: so many characters before the start.
  const Expression &count = arguments[2];
  MaybeExpression from = positions.bySign(
      count, [&] { return positions.add(*start, count); },
      [&]() -> MaybeExpression { return *start; });
  MaybeExpression characters = positions.bySign(
      count, [&] { return b.negate(count, call.at); }, [&]() -> MaybeExpression { return count; });
  return failed(from) || failed(characters) ? MaybeExpression(failure())
                                            : b.substring(text, *from, *characters, call.at);
}

Node ExpressionImporter::splitList(Node expression) {
  SmallVector<Node> children = expression.get("children").elements();
  if (expression.get("type").string() != StringRef("OPERATOR_COALESCE") || children.size() != 2 ||
      nameOf(children[0]) != "array_extract") {
    return {};
  }
  Node otherwise = children[1]; // a literal, of which DuckDB makes a text
  if (otherwise.get("type").string() == StringRef("OPERATOR_CAST")) {
    otherwise = otherwise.get("children").elements()[0];
  }
  if (otherwise.get("value").get("value").string() != StringRef("")) {
    return {};
  }
  SmallVector<Node> taken = children[0].get("children").elements();
  bool isSplit = taken.size() == 2 && nameOf(taken[0]) == "string_split" &&
                 taken[0].get("children").elements().size() == 2;
  return isSplit ? taken[0] : Node();
}

MaybeExpression ExpressionImporter::importSplitPart(ExpressionBuilder &b, Node expression,
                                                    Node list, Location at, int64_t fieldsBefore) {
  Node element = expression.get("children").elements()[0];
  for (Node call : {element, list}) {
    if (failed(expectCall(call, nameOf(call), {{"function_data", Field::Use::kHarmless}}, context,
                          at))) {
      return failure();
    }
  }
  SmallVector<Node> nodes = list.get("children").elements();
  nodes.push_back(element.get("children").elements()[1]);
  FailureOr<SmallVector<Expression>> arguments = importAll(b, nodes, at, fieldsBefore);
  if (failed(arguments)) {
    return failure();
  }
  Type string = frame::StringType::get(context.getContext());
  return b.text(*headrace::textFunctionNamed("split_part"), *arguments, string, at);
}

/// An integer in digits of so many bits: one of 128 bits, or 64 without a sign, by 32 bits at a
/// time.
static MaybeExpression integerInDigits(ExpressionBuilder &b, const Expression &value, int64_t bits,
                                       Type type, Location at) {
  Type i64 = IntegerType::get(b.getContext(), 64), string = frame::StringType::get(b.getContext());
  const headrace::TextFunction &digits = *headrace::textFunctionNamed("integer_digits");
  const Expression width = b.integer(bits, i64, at);
  if (frame::dropNullable(value.type()).isSignlessInteger(64)) {
    return b.text(digits, {value, width}, type, at);
  }
  const bool isUnsigned = frame::isUnsigned128(value.type());
  Type wide =
      isUnsigned ? frame::dropNullable(value.type()) : Type(IntegerType::get(b.getContext(), 128));
  MaybeExpression whole = b.cast(value, wide, at);
  auto applied = [&](const char *math, const char *text, const Expression &x, int64_t y) {
    const Expression number = b.integer(y, wide, at);
    return isUnsigned ? b.text(*headrace::textFunctionNamed(text), {x, number}, wide, at)
                      : b.math(*headrace::mathFunctionNamed(math), {x, number}, wide, at);
  };
  SmallVector<Expression> parts;
  for (int64_t shift = 96; succeeded(whole) && shift >= 0; shift -= 32) {
    MaybeExpression part = applied("right_shift", "ui128_right_shift", *whole, shift);
    part = failed(part) ? part : applied("bitwise_and", "ui128_and", *part, UINT32_MAX);
    part = failed(part) || !isUnsigned ? part : b.cast(*part, string, at);
    part = failed(part) ? part : b.cast(*part, i64, at);
    part = failed(part) ? part : b.text(digits, {*part, width}, string, at);
    Expression zero = b.constant(StringAttr::get(b.getContext(), "0"), string, at);
    part = failed(part) ? part
                        : b.text(*headrace::textFunctionNamed("lpad"),
                                 {*part, b.integer(32 / bits, i64, at), zero}, string, at);
    if (failed(part)) {
      return failure();
    }
    parts.push_back(*part);
  }
  if (failed(whole)) {
    return failure();
  }
  MaybeExpression text = b.text(*headrace::textFunctionNamed("concat"), parts, string, at);
  Expression zero = b.constant(StringAttr::get(b.getContext(), "0"), string, at);
  Expression empty = b.constant(StringAttr::get(b.getContext(), ""), string, at);
  text = failed(text)
             ? text
             : b.text(*headrace::textFunctionNamed("trim_start"), {*text, zero}, string, at);
  MaybeExpression none = failed(text) ? text : b.compare(frame::CompareKind::Eq, *text, empty, at);
  text = failed(none) ? none : b.choose(*none, zero, &*text, at);
  return failed(text) ? text : b.cast(*text, type, at);
}

/// The elements of a list that are not NULL with a separator in front of each; NULL of none.
static MaybeExpression elementsBehind(ExpressionBuilder &b, const Expression &separator,
                                      const Expression &list, Location at) {
  Type string = frame::StringType::get(b.getContext());
  Type i64 = IntegerType::get(b.getContext(), 64);
  MaybeExpression text =
      b.text(*headrace::textFunctionNamed("array_to_string"), {list, separator}, string, at);
  MaybeExpression piece =
      failed(text) ? text
                   : b.text(*headrace::textFunctionNamed("concat"), {separator, *text}, string, at);
  MaybeExpression count = b.text(*headrace::textFunctionNamed("list_count"), list, i64, at);
  MaybeExpression some =
      failed(count) ? count : b.compare(frame::CompareKind::Gt, *count, b.integer(0, i64, at), at);
  return failed(piece) || failed(some) ? MaybeExpression(failure())
                                       : b.choose(*some, *piece, nullptr, at);
}

/// concat_ws: the texts that are not NULL, with the first argument between them. Each gets it in
/// front, and the first of these goes.
static MaybeExpression joinedBy(ExpressionBuilder &b, ArrayRef<Expression> arguments, Type type,
                                Location at) {
  Type string = frame::StringType::get(b.getContext());
  Type i64 = IntegerType::get(b.getContext(), 64);
  const headrace::TextFunction &concat = *headrace::textFunctionNamed("concat");
  const Expression &separator = arguments.front();
  Expression empty = b.constant(StringAttr::get(b.getContext(), ""), string, at);
  SmallVector<Expression> pieces;
  for (const Expression &text : arguments.drop_front()) {
    MaybeExpression piece = isa<frame::ListType>(frame::dropNullable(text.type()))
                                ? elementsBehind(b, separator, text, at)
                                : b.text(concat, {separator, text}, string, at);
    piece = failed(piece) ? piece : b.coalesce({*piece, empty}, at);
    if (failed(piece)) {
      return failure();
    }
    pieces.push_back(*piece);
  }
  MaybeExpression joined = b.text(concat, pieces, string, at);
  MaybeExpression length = failed(joined) ? joined : b.lengthOf(separator, at);
  MaybeExpression start = failed(length) ? length
                                         : b.arithmetic(ExpressionBuilder::Arithmetic::kAdd,
                                                        *length, b.integer(1, i64, at), i64, at);
  MaybeExpression cut = failed(start) ? start : b.substring(*joined, *start, std::nullopt, at);
  return failed(cut) ? cut : b.cast(*cut, type, at);
}

/// A part of a path. A separator that is NULL is as none; of `parse_filename` `true` or `false`, in
/// either place behind the path, says whether the name's end goes.
MaybeExpression ExpressionImporter::importPathPart(ExpressionBuilder &b, const Call &call,
                                                   Arguments arguments) {
  Type string = frame::StringType::get(b.getContext());
  Expression none = b.constant(StringAttr::get(b.getContext(), " "), string, call.at);
  SmallVector<Expression> given(arguments.take_front());
  bool cuts = false;
  for (const Expression &argument : arguments.drop_front()) {
    if (!frame::dropNullable(argument.type()).isInteger(1)) {
      MaybeExpression separator = b.coalesce({argument, none}, call.at);
      if (failed(separator)) {
        return failure();
      }
      given.push_back(*separator);
      continue;
    }
    auto constant = dyn_cast_or_null<IntegerAttr>(ExpressionBuilder::constantOf(argument));
    if (!constant) {
      return unsupported(call, "whether the name's end goes must be a constant");
    }
    cuts = !constant.getValue().isZero();
  }
  return b.text(*headrace::textFunctionNamed(cuts ? "file_stem" : StringRef(call.name)), given,
                call.type, call.at);
}

/// Less than the third argument counts as none.
MaybeExpression ExpressionImporter::importSimilarity(ExpressionBuilder &b, const Call &call,
                                                     Arguments arguments) {
  MaybeExpression similarity = b.onlyElement(*headrace::textFunctionNamed(call.name),
                                             arguments.take_front(2), call.type, call.at);
  if (failed(similarity) || arguments.size() == 2) {
    return similarity;
  }
  Type real = frame::dropNullable(call.type);
  const Expression none = b.constant(FloatAttr::get(real, 0.0), real, call.at);
  MaybeExpression isEnough = b.compare(frame::CompareKind::Ge, *similarity, arguments[2], call.at);
  MaybeExpression known = failed(isEnough) ? isEnough : b.isNotNull(*isEnough, call.at);
  MaybeExpression found =
      failed(isEnough) ? isEnough : b.choose(*isEnough, *similarity, &none, call.at);
  return failed(known) || failed(found) ? MaybeExpression(failure())
                                        : b.choose(*known, *found, nullptr, call.at);
}

std::optional<MaybeExpression> ExpressionImporter::importTextFunction(ExpressionBuilder &b,
                                                                      const Call &call,
                                                                      Arguments arguments) {
  if (call.name == "concat_ws" && arguments.size() > 1) {
    return joinedBy(b, arguments, call.type, call.at);
  }
  static constexpr StringRef kOfPaths[] = {"parse_filename", "parse_dirname", "parse_dirpath"};
  if (llvm::is_contained(kOfPaths, call.name)) {
    return importPathPart(b, call, arguments);
  }
  if (call.name == "regexp_extract" && arguments.size() > 2 &&
      ExpressionBuilder::isNullConstant(arguments[2])) { // of no group: nothing, but of NULL
    Expression empty = b.constant(StringAttr::get(b.getContext(), ""), call.type, call.at);
    MaybeExpression known = b.connect(
        ExpressionBuilder::Connective::kAnd,
        {*b.isNotNull(arguments[0], call.at), *b.isNotNull(arguments[1], call.at)}, call.at);
    return failed(known) ? known : b.choose(*known, empty, nullptr, call.at);
  }
  if (call.name == "substring_grapheme" && arguments.size() == 2) { // all of them
    Expression most = b.integer(UINT32_MAX, IntegerType::get(b.getContext(), 64), call.at);
    return b.text(*headrace::textFunctionNamed(call.name), {arguments[0], arguments[1], most},
                  call.type, call.at);
  }
  if (call.name == "jaccard" || call.name == "jaro_similarity" ||
      call.name == "jaro_winkler_similarity") {
    return importSimilarity(b, call, arguments);
  }
  static constexpr StringRef kDigits[] = {"hex", "to_hex", "bin", "to_binary"};
  if (llvm::is_contained(kDigits, call.name) &&
      (frame::isInteger(arguments[0].type()) || frame::isUnsigned128(arguments[0].type()))) {
    return integerInDigits(b, arguments[0], call.name.ends_with("hex") ? 4 : 1, call.type, call.at);
  }
  const headrace::TextFunction *function =
      headrace::textFunctionOfDuckdb(call.name, arguments.size());
  return function ? std::optional(b.text(*function, arguments, call.type, call.at)) : std::nullopt;
}
