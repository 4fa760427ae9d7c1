// Calls of functions of lists in DuckDB's plans: those that are more than a line of
// list_functions.def.
#include "dialects/frame/LogicalTypes.h"
#include "passes/import/Histograms.h"
#include "passes/import/QuantileFields.h"
#include "passes/import/ZonedMoments.h"
#include "passes/import/duckdb/expressions.h"
#include "runtime/base/list_values.h"
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

const headrace::TextFunction *headrace::import::duckdb::aggregateOfLists(StringRef name) {
  StringRef plain = llvm::StringSwitch<StringRef>(name)
                        .Case("mean", "avg")
                        .Cases({"min", "bool_and"}, "least")
                        .Cases({"max", "bool_or"}, "greatest")
                        .Case("variance", "var_samp")
                        .Case("stddev", "stddev_samp")
                        .Cases({"kahan_sum", "sumkahan"}, "fsum")
                        .Default(name);
  const headrace::TextFunction *line = headrace::textFunctionNamed(("list_" + plain).str());
  const bool makesOne = line && line->arguments.size() == 1 && line->wantsList(0) &&
                        line->result == headrace::TextFunction::Result::kList;
  return makesOne ? line : nullptr;
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
  const bool ofLists = call.name.starts_with("list_") || call.name.starts_with("array_");
  if (ofLists && !arguments.empty() && ExpressionBuilder::isNullConstant(arguments[0]) &&
      !givesList && !takesList) { // a NULL of no type
    return b.null(call.type, call.at);
  }
  const bool isExtreme = call.name == "greatest" || call.name == "least"; // of values of any type
  if ((!givesList && !takesList && !(slices && ofBytes)) || ofMoments || isExtreme) {
    return std::nullopt;
  }
  if (call.name == "concat_ws") { // which gives a text
    return std::nullopt;
  }
  using Import =
      MaybeExpression (ExpressionImporter::*)(ExpressionBuilder &, const Call &, Arguments);
  auto import =
      llvm::StringSwitch<Import>(call.name)
          .Cases({"list_concat", "list_cat", "array_concat", "array_cat", "concat", "||", "+"},
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
          .Cases({"regexp_extract", "regexp_extract_all"}, &ExpressionImporter::importGroups)
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
  if (call.name == "equi_width_bins" && arguments.size() == 4) {
    MaybeExpression bins = equalBins(b, arguments, call.type, call.at);
    return failed(bins)
               ? bins
               : castValue(b, *bins, call.type, ExpressionBuilder::Misfit::kRaises, call.at);
  }
  if (call.name == "repeat") {
    return b.text(function("list_repeat"), arguments, call.type, call.at);
  }
  if (call.name == "array_length" && arguments.size() == 2 &&
      ExpressionBuilder::integerOf(arguments[1]) == 1) { // the only dimension
    arguments = arguments.take_front();
  }
  if (call.name == "cardinality") {
    return b.text(function("list_length"), arguments, call.type, call.at);
  }
  if (call.name == "<@" && arguments.size() == 2) {
    return b.text(function("list_has_all"), {arguments[1], arguments[0]}, call.type, call.at);
  }
  for (const headrace::TextFunction &known : headrace::textFunctions()) {
    if (known.wantsList(0) == takesList && known.takes(arguments.size()) &&
        headrace::listsName(known.duckdbNames, call.name)) {
      return isa<FloatType>(frame::dropNullable(call.type))
                 ? b.onlyElement(known, arguments, call.type, call.at)
                 : b.text(known, arguments, call.type, call.at);
    }
  }
  return call.name == "error" ? std::nullopt
                              : std::optional(MaybeExpression(context.fail(
                                    call.at, "unsupported list function: " + call.name)));
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

/// A regular expression's groups: by a list of names as structs of them.
MaybeExpression ExpressionImporter::importGroups(ExpressionBuilder &b, const Call &call,
                                                 Arguments arguments) {
  const bool findsAll = call.name == "regexp_extract_all";
  auto made = dyn_cast<frame::StructType>(findsAll ? elementOf(call.type) : call.type);
  if (!made) {
    return b.text(
        function(arguments.size() > 2 ? "regexp_extract_all_groups" : "regexp_extract_all"),
        arguments, call.type, call.at);
  }
  auto group = [&](unsigned number) {
    SmallVector<Expression> given{arguments[0], arguments[1],
                                  b.integer(number, integer64(b), call.at)};
    llvm::append_range(given, arguments.drop_front(3)); // the options
    Type string = frame::StringType::get(b.getContext());
    return b.text(function(findsAll ? "regexp_extract_all_groups" : "regexp_extract_group"), given,
                  findsAll ? Type(frame::ListType::get(string)) : string, call.at);
  };
  SmallVector<Expression> groups;
  for (unsigned number = findsAll ? 0 : 1; number <= made.getFieldTypes().size(); ++number) {
    MaybeExpression found = group(number);
    if (failed(found)) {
      return failure();
    }
    groups.push_back(*found);
  }
  if (findsAll) { // a struct for each of what the whole fits
    return b.text(function("list_structs"), groups, call.type, call.at);
  }
  MaybeExpression found = b.structOf(made, groups, call.at);
  MaybeExpression known = b.isNotNull(arguments[0], call.at);
  return failed(found) || failed(known) ? MaybeExpression(failure())
                                        : b.choose(*known, *found, nullptr, call.at);
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
                                : castNested(b, argument, list, Misfit::kRaises, call.at);
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
    MaybeExpression list = castNested(b, argument, call.type, Misfit::kRaises, call.at);
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

/// A bound that is left out is an empty list in DuckDB's plans. By a negative step it goes from the
/// second bound down to the first.
MaybeExpression ExpressionImporter::importSlice(ExpressionBuilder &b, const Call &call,
                                                Arguments arguments) {
  const bool hasStep = arguments.size() == 4;
  if (ExpressionBuilder::isNullConstant(arguments[0])) { // of no type
    return b.null(call.type, call.at);
  }
  if (hasStep && !frame::isList(arguments[0].type())) {
    // no test: DuckDB's binder sees to it
    return unsupported(call, "with a step");
  }
  Type i64 = integer64(b);
  auto bound = [&](const Expression &given, int64_t open) {
    return frame::isList(given.type()) ? b.integer(open, i64, call.at) : given;
  };
  constexpr int64_t kFirst = 1, kLast = -1;
  Expression from = bound(arguments[1], kFirst), to = bound(arguments[2], kLast);
  if (hasStep) {
    Expression none = b.integer(0, i64, call.at);
    MaybeExpression isDown = b.compare(frame::CompareKind::Lt, arguments[3], none, call.at);
    if (failed(isDown)) {
      return failure();
    }
    MaybeExpression first = b.choose(*isDown, bound(arguments[2], kFirst), &from, call.at);
    MaybeExpression last = b.choose(*isDown, bound(arguments[1], kLast), &to, call.at);
    if (failed(first) || failed(last)) {
      return failure();
    }
    from = *first, to = *last;
  }
  const char *slices = frame::isBinary(arguments[0].type())   ? "binary_slice"
                       : frame::isString(arguments[0].type()) ? "text_slice"
                                                              : "list_slice";
  MaybeExpression slice = b.text(function(slices), {arguments[0], from, to}, call.type, call.at);
  return failed(slice) || !hasStep
             ? slice
             : b.text(function("list_step"), {*slice, arguments[3]}, call.type, call.at);
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
  MaybeExpression other =
      castNested(b, arguments[1], arguments[0].type(), Misfit::kRaises, call.at);
  MaybeExpression empty = b.list(elementOf(call.type), {}, call.at);
  other = failed(other) || failed(empty) ? MaybeExpression(failure())
                                         : b.coalesce({*other, *empty}, call.at);
  return failed(other)
             ? other
             : b.text(function("list_intersect"), {arguments[0], *other}, call.type, call.at);
}

/// Numbers of a list that a text has room for.
static constexpr int64_t kSeriesMax = int64_t{1} << 29;

/// How many numbers a series of constants has.
static std::optional<__int128> constantLength(ArrayRef<Expression> bounds, bool withStop) {
  SmallVector<int64_t> numbers;
  for (const Expression &bound : bounds) {
    std::optional<int64_t> number = ExpressionBuilder::integerOf(bound);
    if (!number) {
      return std::nullopt;
    }
    numbers.push_back(*number);
  }
  return numbers[2] == 0 ? 0 : numbersIn(numbers[0], numbers[1], numbers[2], withStop);
}

MaybeExpression ExpressionImporter::seriesOf(ExpressionBuilder &b, Arguments bounds, bool withStop,
                                             Type list, Location at) {
  Type i64 = integer64(b), element = elementOf(list);
  Expression zero = b.integer(0, i64, at), one = b.integer(1, i64, at);
  const Expression &closed = withStop ? one : zero;
  if (frame::isTimestamp(element)) {
    ZonedMoments moments(b, at);
    if (moments.holdsElsewhere(element)) {
      return context.fail(at, "unsupported range of TIMESTAMP WITH TIME ZONE in another zone than "
                              "UTC");
    }
    MaybeExpression start = castMoment(b, bounds[0], element, Misfit::kRaises, at);
    MaybeExpression stop = castMoment(b, bounds[1], element, Misfit::kRaises, at);
    if (failed(start) || failed(stop)) {
      return failure();
    }
    Expression code = b.integer(headrace::elementCode(headrace::logicalType(element)), i64, at);
    return b.text(function("timestamp_range"),
                  {moments.units(*start), moments.units(*stop), bounds[2], closed, code}, list, at);
  }
  SmallVector<Expression> given;
  for (const Expression &bound : bounds) {
    MaybeExpression number = b.cast(bound, i64, at);
    if (failed(number)) {
      return failure();
    }
    given.push_back(*number);
  }
  if (given.size() == 1) {
    given.insert(given.begin(), zero);
  }
  if (given.size() == 2) {
    given.push_back(one);
  }
  if (std::optional<__int128> length = constantLength(given, withStop)) {
    if (*length > kSeriesMax) {
      return context.fail(at,
                          "a list of " + Twine(static_cast<int64_t>(*length)) +
                              " numbers is larger than 4 GiB; FROM range(…) gives rows instead",
                          ImportError::Kind::kUser);
    }
  }
  given.push_back(closed);
  return b.text(function("list_range"), given, list, at);
}

Computed ExpressionImporter::computedSeries(size_t bounds, bool withStop, Type element,
                                            Location at) {
  return {std::nullopt, "series", [=, this](ExpressionBuilder &b) -> MaybeExpression {
            SmallVector<Expression> given;
            for (size_t bound = 0; bound < bounds; ++bound) {
              MaybeExpression value = b.field(static_cast<int64_t>(bound), at);
              if (failed(value)) {
                return failure();
              }
              given.push_back(*value);
            }
            return seriesOf(b, given, withStop, frame::ListType::get(element), at);
          }};
}

MaybeExpression ExpressionImporter::importRange(ExpressionBuilder &b, const Call &call,
                                                Arguments arguments) {
  return seriesOf(b, arguments, call.name == "generate_series", call.type, call.at);
}

/// Which quantiles an aggregate of a list is, whose share, or list of them, is constant; none: it
/// is no quantile.
static SmallVector<Quantile> quantilesCalled(ImportContext &context, StringRef name, Node share,
                                             Type element) {
  const auto kind = llvm::StringSwitch<std::optional<headrace::QuantileKind>>(name)
                        .Case("quantile_cont", headrace::QuantileKind::kBetween)
                        .Cases({"quantile", "quantile_disc"}, headrace::QuantileKind::kDiscrete)
                        .Default(std::nullopt);
  Node value = share.get("value");
  SmallVector<Node> values{value};
  if (value.get("type").get("id").string() == StringRef("LIST")) {
    values = value.get("value").get("children").elements();
  }
  SmallVector<Quantile> quantiles;
  bool descending = false;
  Type real = Float64Type::get(context.getContext());
  for (Node each : values) { // which the binder has made doubles of
    std::optional<double> number = each.get("value").real();
    auto found = kind && number ? shareOf(FloatAttr::get(real, *number), real) : std::nullopt;
    if (!found) {
      return {};
    }
    descending |= found->isNegative;
    quantiles.push_back(
        {.share = found->share, .descending = false, .kind = quantileKind(*kind, element)});
  }
  for (Quantile &quantile : quantiles) { // 0 has no sign of its own
    quantile.descending = descending;
  }
  return quantiles;
}

/// The median, the deviation from it, or quantiles of a list.
MaybeExpression ExpressionImporter::importListQuantiles(ExpressionBuilder &b, const Call &call,
                                                        StringRef name, const Expression &list,
                                                        ArrayRef<Quantile> quantiles) {
  Type type = frame::dropNullable(call.type);
  const bool areSeveral = isa<frame::ListType>(type) && !quantiles.empty();
  Type one = areSeveral ? elementOf(type) : type;
  const bool isOfDays = frame::isDate(elementOf(list.type())) && !frame::isDate(one);
  Type moments = frame::ListType::get(Moments(b, call.at).timestampType());
  MaybeExpression values =
      isOfDays ? castNested(b, list, moments, Misfit::kRaises, call.at) : MaybeExpression(list);
  if (failed(values)) {
    return values;
  }
  if (areSeveral) {
    return b.ofAny(*values, quantilesOfList(b, *values, quantiles, type, call.at), call.at);
  }
  return name == "mad"
             ? deviationOfList(b, *values, call.type, call.at)
             : quantileOfList(b, *values, quantiles.empty() ? medianOf(type) : quantiles.front(),
                              type, call.at);
}

/// An aggregate of a list's elements, by its name.
MaybeExpression ExpressionImporter::importListAggregate(ExpressionBuilder &b, const Call &call,
                                                        Arguments arguments) {
  std::optional<StringRef> written =
      arguments.size() < 2 ? std::nullopt : ExpressionBuilder::stringOf(arguments[1]);
  const Expression &list = arguments[0];
  if (!written) {
    // no test: DuckDB's binder sees to it
    return unsupported(call, "the aggregate must be a constant");
  }
  const std::string name = written->lower();
  if (name == "string_agg" || name == "group_concat" || name == "listagg") {
    Type string = frame::StringType::get(b.getContext());
    Expression comma = b.constant(StringAttr::get(b.getContext(), ","), string, call.at);
    const bool isGiven = arguments.size() > 2 && !ExpressionBuilder::isNullConstant(arguments[2]);
    MaybeExpression text = b.text(function("array_to_string"),
                                  {list, isGiven ? arguments[2] : comma}, string, call.at);
    return b.ofAny(list, text, call.at);
  }
  constexpr StringRef kOfIntervals[] = {"first", "last", "arbitrary", "any_value", "count",
                                        "min",   "max",  "mode",      "median"};
  if (frame::isInterval(elementOf(list.type())) && !llvm::is_contained(kOfIntervals, name)) {
    return unsupported(call, name + " of intervals");
  }
  Expression first = b.integer(1, integer64(b), call.at);
  if (name == "first" || name == "last" || name == "arbitrary") {
    return b.element(list, name == "last" ? b.integer(-1, integer64(b), call.at) : first, call.at);
  }
  if (name == "count") {
    MaybeExpression count = b.text(function("list_count"), list, integer64(b), call.at);
    return failed(count) ? count : b.cast(*count, call.type, call.at);
  }
  if (name == "histogram" && arguments.size() == 2) {
    return b.countsOf(list, call.type, call.at);
  }
  if ((name == "histogram" || name == "histogram_exact") && arguments.size() == 3) {
    return binnedCounts(b, list, arguments[2],
                        name == "histogram" ? Binning::kUpTo : Binning::kExact, call.type, call.at);
  }
  SmallVector<Quantile> quantiles;
  if (arguments.size() == 3) {
    Type type = frame::dropNullable(call.type);
    quantiles = quantilesCalled(context, name, call.node.get("children").elements()[2],
                                isa<frame::ListType>(type) ? elementOf(type) : type);
  }
  if (((name == "median" || name == "mad") && arguments.size() == 2) || !quantiles.empty()) {
    return importListQuantiles(b, call, name, list, quantiles);
  }
  if (name == "approx_count_distinct" && arguments.size() == 2) {
    return b.text(function("list_unique"), list, call.type, call.at);
  }
  const headrace::TextFunction *line = aggregateOfLists(name);
  if (!line || arguments.size() > 2) {
    return unsupported(call, "aggregate " + name + " of a list");
  }
  static constexpr StringRef kOfAny[] = {"least", "greatest", "mode", "any_value", "entropy"};
  Type element = elementOf(list.type());
  const StringRef plain = StringRef(line->name).drop_front(StringRef("list_").size());
  const bool fits = plain.starts_with("bit_")
                        ? frame::isInteger(element) || frame::isUnsigned128(element)
                        : frame::isNumeric(element);
  if (!fits && !llvm::is_contained(kOfAny, plain)) {
    return unsupported(call, "aggregate " + name + " of what is no number");
  }
  return b.onlyElement(*line, list, call.type, call.at);
}
