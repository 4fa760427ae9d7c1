// Calls of functions of lists in DuckDB's plans: those that are more than a line of
// list_functions.def.
#include "passes/analysis/logical_type.h"
#include "passes/import/QuantileFields.h"
#include "passes/import/duckdb/expressions.h"
#include "runtime/base/name_list.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

static Type elementOf(Type list) {
  return cast<frame::ListType>(frame::dropNullable(list)).getElementType();
}

static const headrace::TextFunction &function(StringRef name) {
  return *headrace::textFunctionNamed(name);
}

static Type integer64(ExpressionBuilder &b) { return IntegerType::get(b.getContext(), 64); }

std::optional<MaybeExpression> ExpressionImporter::importListFunction(ExpressionBuilder &b,
                                                                      const Call &call,
                                                                      Arguments arguments) {
  const bool givesList = frame::isList(call.type);
  const bool takesList = llvm::any_of(
      arguments, [](const Expression &argument) { return frame::isList(argument.type()); });
  const bool slices = call.name == "list_slice" || call.name == "array_slice";
  const bool ofBytes = !arguments.empty() && (frame::isBinary(arguments[0].type()) ||
                                              frame::isString(arguments[0].type()));
  const bool ofMoments = // lists of formats, or of parts
      llvm::is_contained({StringRef("strptime"), StringRef("try_strptime"), StringRef("date_part"),
                          StringRef("datepart")},
                         call.name);
  if ((!givesList && !takesList && !(slices && ofBytes)) || ofMoments) {
    return std::nullopt;
  }
  using Import =
      MaybeExpression (ExpressionImporter::*)(ExpressionBuilder &, const Call &, Arguments);
  auto import =
      llvm::StringSwitch<Import>(call.name)
          .Cases({"list_concat", "list_cat", "array_concat", "array_cat", "||", "+"},
                 &ExpressionImporter::importListOfLists)
          .Cases({"list_slice", "array_slice"}, &ExpressionImporter::importSlice)
          .Cases({"contains", "list_contains", "array_contains", "list_has", "array_has",
                  "list_position", "array_position", "list_indexof", "array_indexof"},
                 &ExpressionImporter::importPlace)
          .Cases({"list_sort", "array_sort", "list_reverse_sort", "array_reverse_sort",
                  "list_grade_up", "array_grade_up"},
                 &ExpressionImporter::importSortedList)
          .Cases({"list_zip", "array_zip"}, &ExpressionImporter::importZip)
          .Case("parse_path", &ExpressionImporter::importPathPart)
          .Cases({"string_split", "str_split", "split", "string_to_array", "string_split_regex",
                  "str_split_regex", "regexp_split_to_array"},
                 &ExpressionImporter::importSplit)
          .Cases({"range", "generate_series"}, &ExpressionImporter::importRange)
          .Cases({"list_resize", "array_resize"}, &ExpressionImporter::importResized)
          .Cases({"list_select", "array_select", "list_where", "array_where"},
                 &ExpressionImporter::importChosen)
          .Cases({"list_intersect", "array_intersect"}, &ExpressionImporter::importCommon)
          .Cases({"list_aggr", "list_aggregate", "array_aggr", "array_aggregate", "aggregate"},
                 &ExpressionImporter::importListAggregate)
          .Default(nullptr);
  if (import) {
    return (this->*import)(b, call, arguments);
  }
  if (call.name == "list_value" || call.name == "list_pack" || call.name == "unpivot_list") {
    return b.list(elementOf(call.type), arguments, call.at);
  }
  if (call.name == "array_value") {
    MaybeExpression list = b.list(elementOf(call.type), arguments, call.at);
    return failed(list) ? list : b.cast(*list, call.type, call.at);
  }
  const bool extracts = llvm::is_contained(
      {StringRef("array_extract"), StringRef("list_extract"), StringRef("list_element")},
      call.name);
  if (extracts && arguments.size() == 2) {
    return b.element(arguments[0], arguments[1], call.at);
  }
  if (call.name == "repeat") {
    return b.text(function("list_repeat"), arguments, call.type, call.at);
  }
  if (call.name == "array_length" && arguments.size() == 2 &&
      ExpressionBuilder::integerOf(arguments[1]) == 1) { // the only dimension
    arguments = arguments.take_front();
  }
  for (const headrace::TextFunction &known : headrace::textFunctions()) {
    if (known.wantsList(0) == takesList && known.takes(arguments.size()) &&
        headrace::listsName(known.duckdbNames, call.name)) {
      if (isa<FloatType>(frame::dropNullable(call.type))) { // it gives a list of one
        Type list = frame::ListType::get(frame::dropNullable(call.type));
        MaybeExpression only = b.text(known, arguments, list, call.at);
        return failed(only) ? only : b.element(*only, b.integer(1, integer64(b), call.at), call.at);
      }
      return b.text(known, arguments, call.type, call.at);
    }
  }
  return MaybeExpression(context.fail(call.at, "unsupported list function: " + call.name));
}

/// By a NULL a text is not split.
MaybeExpression ExpressionImporter::importSplit(ExpressionBuilder &b, const Call &call,
                                                Arguments arguments) {
  const bool isRegular = call.name.contains("reg");
  MaybeExpression parts = b.text(function(isRegular ? "string_split_regex" : "string_split"),
                                 arguments, call.type, call.at);
  MaybeExpression whole = b.list(elementOf(call.type), arguments[0], call.at);
  MaybeExpression isSplit = b.isNotNull(arguments[1], call.at);
  MaybeExpression isKnown = b.isNotNull(arguments[0], call.at);
  return failed(parts) || failed(whole) || failed(isSplit) || failed(isKnown)
             ? MaybeExpression(failure())
             : b.choose({*isSplit, *isKnown}, {*parts, *whole}, nullptr, call.at);
}

/// Structs of the elements at the same places: up to the longest list, or if the last argument is
/// true the shortest.
MaybeExpression ExpressionImporter::importZip(ExpressionBuilder &b, const Call &call,
                                              Arguments arguments) {
  Type i64 = integer64(b);
  bool cuts = false;
  if (!arguments.empty() && frame::dropNullable(arguments.back().type()).isInteger(1)) {
    auto constant = dyn_cast_or_null<IntegerAttr>(ExpressionBuilder::constantOf(arguments.back()));
    if (!constant) {
      return unsupported(call, "whether longer lists are cut must be a constant");
    }
    cuts = !constant.getValue().isZero();
    arguments = arguments.drop_back();
  }
  auto row = dyn_cast<frame::StructType>(frame::dropNullable(elementOf(call.type)));
  if (!row || row.getFieldTypes().size() != arguments.size()) {
    // no test: DuckDB's binder sees to it
    return unsupported(call, "of what are no lists");
  }
  Expression none = b.integer(0, i64, call.at), one = b.integer(1, i64, call.at);
  SmallVector<Expression> lists, sizes;
  for (auto [argument, field] : llvm::zip_equal(arguments, row.getFieldTypes())) {
    Type list = frame::ListType::get(frame::dropNullable(field));
    MaybeExpression empty = b.list(frame::dropNullable(field), {}, call.at);
    MaybeExpression given = ExpressionBuilder::isNullConstant(argument)
                                ? empty
                                : castNested(b, argument, list, call.at);
    given = failed(given) || failed(empty) ? MaybeExpression(failure())
                                           : b.coalesce({*given, *empty}, call.at);
    MaybeExpression size =
        failed(given) ? given : b.text(function("list_length"), *given, i64, call.at);
    if (failed(size)) {
      return failure();
    }
    lists.push_back(*given);
    sizes.push_back(*size);
  }
  MaybeExpression size =
      b.extreme(cuts ? ExpressionBuilder::Extreme::kLeast : ExpressionBuilder::Extreme::kGreatest,
                sizes, call.at);
  MaybeExpression places = failed(size) ? size
                                        : b.text(function("list_range"), {none, *size, one, none},
                                                 frame::ListType::get(i64), call.at);
  if (failed(places)) {
    return failure();
  }
  SmallVector<Expression> fields(1, *places);
  for (const Expression &list : lists) {
    Type element = elementOf(list.type());
    MaybeExpression filling = b.list(element, b.null(element, call.at), call.at);
    MaybeExpression field = failed(filling) ? filling
                                            : b.text(function("list_resize"),
                                                     {list, *size, *filling}, list.type(), call.at);
    if (failed(field)) {
      return failure();
    }
    fields.push_back(*field);
  }
  return b.text(function("list_structs"), fields, call.type, call.at);
}

/// `||` of NULL is NULL; others pass over it.
MaybeExpression ExpressionImporter::importListOfLists(ExpressionBuilder &b, const Call &call,
                                                      Arguments arguments) {
  SmallVector<Expression> lists;
  for (const Expression &argument : arguments) {
    MaybeExpression list = castNested(b, argument, call.type, call.at);
    if (failed(list)) {
      return failure();
    }
    lists.push_back(*list);
    if (call.name != "||" && frame::isNullable(list->type())) {
      MaybeExpression empty = b.list(elementOf(call.type), {}, call.at);
      MaybeExpression given = failed(empty) ? empty : b.coalesce({*list, *empty}, call.at);
      if (failed(given)) {
        return failure();
      }
      lists.back() = *given;
    }
  }
  return b.text(function("list_join"), lists, call.type, call.at);
}

/// A bound that is left out is an empty list in DuckDB's plans.
MaybeExpression ExpressionImporter::importSlice(ExpressionBuilder &b, const Call &call,
                                                Arguments arguments) {
  std::optional<int64_t> step = 1;
  if (arguments.size() == 4) {
    step = ExpressionBuilder::integerOf(arguments[3]);
  }
  ArrayRef<Expression> ends = arguments.slice(1, 2);
  const bool isWhole =
      llvm::all_of(ends, [](const Expression &end) { return frame::isList(end.type()); });
  if (!step || *step == 0 || (*step < 0 && !isWhole) ||
      (*step != 1 && !frame::isList(arguments[0].type()))) {
    return unsupported(call, "with such a step");
  }
  constexpr int64_t kEnds[] = {1, -1};
  SmallVector<Expression> given{arguments[0]};
  for (auto [argument, open] : llvm::zip_equal(ends, kEnds)) {
    given.push_back(frame::isList(argument.type()) ? b.integer(open, integer64(b), call.at)
                                                   : argument);
  }
  const char *slices = frame::isBinary(arguments[0].type())   ? "binary_slice"
                       : frame::isString(arguments[0].type()) ? "text_slice"
                                                              : "list_slice";
  MaybeExpression slice = b.text(function(slices), given, call.type, call.at);
  return failed(slice) || *step == 1
             ? slice
             : b.text(function("list_step"), {*slice, b.integer(*step, integer64(b), call.at)},
                      call.type, call.at);
}

/// Whether, or where, an element is in a list.
MaybeExpression ExpressionImporter::importPlace(ExpressionBuilder &b, const Call &call,
                                                Arguments arguments) {
  if (arguments.size() != 2 || !frame::isList(arguments[0].type())) {
    // no test: DuckDB's binder sees to it
    return unsupported(call, "of what is no list");
  }
  const bool asks = frame::isBoolean(call.type);
  MaybeExpression wanted = b.list(elementOf(arguments[0].type()), arguments[1], call.at);
  MaybeExpression place = failed(wanted) ? wanted
                                         : b.text(function("list_place"), {arguments[0], *wanted},
                                                  integer64(b), call.at);
  if (failed(place)) {
    return failure();
  }
  Expression nowhere = b.integer(0, integer64(b), call.at);
  if (!asks) {
    MaybeExpression found = b.nullIf(*place, nowhere, call.at);
    return failed(found) ? found : b.cast(*found, call.type, call.at);
  }
  MaybeExpression has = b.compare(frame::CompareKind::Gt, *place, nowhere, call.at);
  if (failed(has) || !frame::isNullable(arguments[1].type())) {
    return has;
  }
  MaybeExpression known = b.isNotNull(arguments[1], call.at);
  return failed(known) ? known : b.choose(*known, *has, nullptr, call.at);
}

MaybeExpression ExpressionImporter::importSortedList(ExpressionBuilder &b, const Call &call,
                                                     Arguments arguments) {
  Node data = call.node.get("function_data");
  const bool descending = data.get("order_type").string() == StringRef("DESCENDING");
  const bool nullsFirst = data.get("null_order").string() == StringRef("NULLS FIRST");
  Type i64 = integer64(b);
  const bool gradesUp = data.get("is_grade_up").boolean().value_or(false);
  return b.text(
      function(gradesUp ? "list_grade_up" : "list_sort"),
      {arguments[0], b.integer(descending, i64, call.at), b.integer(nullsFirst, i64, call.at)},
      call.type, call.at);
}

MaybeExpression ExpressionImporter::importResized(ExpressionBuilder &b, const Call &call,
                                                  Arguments arguments) {
  Type i64 = integer64(b);
  Type element = elementOf(call.type);
  const Expression &given = arguments.size() > 2 ? arguments[2] : b.null(element, call.at);
  MaybeExpression filling = b.list(element, given, call.at);
  MaybeExpression size = b.cast(arguments[1], i64, call.at);
  size = failed(size) ? size : b.coalesce({*size, b.integer(0, i64, call.at)}, call.at);
  return failed(size) || failed(filling)
             ? MaybeExpression(failure())
             : b.text(function("list_resize"), {arguments[0], *size, *filling}, call.type, call.at);
}

/// Elements by their places or marks. A NULL behind the list is no other element, and says of what
/// type those are that are not there.
MaybeExpression ExpressionImporter::importChosen(ExpressionBuilder &b, const Call &call,
                                                 Arguments arguments) {
  Type element = elementOf(call.type);
  MaybeExpression end = b.list(element, b.null(element, call.at), call.at);
  MaybeExpression longer =
      failed(end) ? end : b.text(function("list_join"), {arguments[0], *end}, call.type, call.at);
  const char *line = call.name.ends_with("select") ? "list_select" : "list_where";
  return failed(longer) ? longer
                        : b.text(function(line), {*longer, arguments[1]}, call.type, call.at);
}

/// With NULL a list has nothing in common.
MaybeExpression ExpressionImporter::importCommon(ExpressionBuilder &b, const Call &call,
                                                 Arguments arguments) {
  MaybeExpression other = castNested(b, arguments[1], arguments[0].type(), call.at);
  MaybeExpression empty = b.list(elementOf(call.type), {}, call.at);
  other = failed(other) || failed(empty) ? MaybeExpression(failure())
                                         : b.coalesce({*other, *empty}, call.at);
  return failed(other)
             ? other
             : b.text(function("list_intersect"), {arguments[0], *other}, call.type, call.at);
}

MaybeExpression ExpressionImporter::importRange(ExpressionBuilder &b, const Call &call,
                                                Arguments arguments) {
  if (!frame::isInteger(elementOf(call.type))) {
    return unsupported(call, "of what is no integer");
  }
  Type i64 = integer64(b);
  Expression zero = b.integer(0, i64, call.at), one = b.integer(1, i64, call.at);
  SmallVector<Expression> given(arguments);
  if (given.size() == 1) {
    given.insert(given.begin(), zero);
  }
  if (given.size() == 2) {
    given.push_back(one);
  }
  given.push_back(call.name == "generate_series" ? one : zero);
  return b.text(function("list_range"), given, call.type, call.at);
}

/// An aggregate of a list's elements, by its name.
MaybeExpression ExpressionImporter::importListAggregate(ExpressionBuilder &b, const Call &call,
                                                        Arguments arguments) {
  std::optional<StringRef> name =
      arguments.size() < 2 ? std::nullopt : ExpressionBuilder::stringOf(arguments[1]);
  const Expression &list = arguments[0];
  if (!name) {
    // no test: DuckDB's binder sees to it
    return unsupported(call, "the aggregate must be a constant");
  }
  if (*name == "string_agg" || *name == "group_concat" || *name == "listagg") {
    Type string = frame::StringType::get(b.getContext());
    Expression comma = b.constant(StringAttr::get(b.getContext(), ","), string, call.at);
    const bool isGiven = arguments.size() > 2 && !ExpressionBuilder::isNullConstant(arguments[2]);
    MaybeExpression text = b.text(function("array_to_string"),
                                  {list, isGiven ? arguments[2] : comma}, string, call.at);
    MaybeExpression count = b.text(function("list_count"), list, integer64(b), call.at);
    MaybeExpression any = failed(count) ? count
                                        : b.compare(frame::CompareKind::Gt, *count,
                                                    b.integer(0, integer64(b), call.at), call.at);
    return failed(any) || failed(text) ? MaybeExpression(failure())
                                       : b.choose(*any, *text, nullptr, call.at);
  }
  constexpr StringRef kOfIntervals[] = {"first", "last", "arbitrary", "count",
                                        "min",   "max",  "mode"};
  if (frame::isInterval(elementOf(list.type())) && !llvm::is_contained(kOfIntervals, *name)) {
    return unsupported(call, *name + " of intervals");
  }
  Expression first = b.integer(1, integer64(b), call.at);
  if (*name == "first" || *name == "last" || *name == "arbitrary") {
    return b.element(list, *name == "last" ? b.integer(-1, integer64(b), call.at) : first, call.at);
  }
  if (*name == "count") {
    MaybeExpression count = b.text(function("list_count"), list, integer64(b), call.at);
    return failed(count) ? count : b.cast(*count, call.type, call.at);
  }
  if (*name == "histogram" && arguments.size() == 2) {
    return b.countsOf(list, call.type, call.at);
  }
  if (*name == "median" && arguments.size() == 2) {
    Type type = frame::dropNullable(call.type);
    const Quantile middle{.share = 0.5,
                          .exact = std::pair<int64_t, int64_t>(1, 2),
                          .descending = false,
                          .interpolates = isa<FloatType, frame::DecimalType>(type)};
    return quantileOfList(b, list, middle, type, call.at);
  }
  StringRef line = llvm::StringSwitch<StringRef>(*name)
                       .Case("mode", "list_mode")
                       .Case("sum", "list_sum")
                       .Cases({"avg", "mean"}, "list_avg")
                       .Case("product", "list_product")
                       .Case("min", "list_least")
                       .Case("max", "list_greatest")
                       .Default("");
  if (line.empty() || arguments.size() > 2) {
    return unsupported(call, "aggregate " + *name + " of a list");
  }
  Type element = elementOf(list.type());
  const bool counts = frame::isNumeric(element);
  if (!counts && line != "list_least" && line != "list_greatest" && line != "list_mode") {
    return unsupported(call, "aggregate " + *name + " of what is no number");
  }
  MaybeExpression only =
      b.text(function(line), list, frame::ListType::get(frame::dropNullable(call.type)), call.at);
  return failed(only) ? only : b.element(*only, first, call.at);
}
