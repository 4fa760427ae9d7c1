// Aggregates of DuckDB's plans that are made of the list of their values.
#include "passes/import/Histograms.h"
#include "passes/import/QuantileFields.h"
#include "passes/import/duckdb/relations.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;
namespace frame = headrace::frame;

/// So many of a list's first elements.
static MaybeExpression onlySome(ExpressionBuilder &b, const MaybeExpression &list,
                                const Computed &count, Location at) {
  Type i64 = IntegerType::get(b.getContext(), 64);
  MaybeExpression given = count.build(b);
  MaybeExpression number = failed(given) ? given : b.cast(*given, i64, at);
  number = failed(number) ? number : b.coalesce({*number, b.integer(0, i64, at)}, at);
  return failed(list) || failed(number) ? MaybeExpression(failure())
                                        : b.text(*headrace::textFunctionNamed("list_first"),
                                                 {*list, *number}, list->type(), at);
}

bool RelationImporter::takesMore(const Aggregate &aggregate, StringRef name) {
  static constexpr StringRef kTake[] = {"min", "max", "histogram", "histogram_exact",
                                        "approx_top_k"};
  const bool isExtreme =
      aggregate.rows == MeasureRows::kLeast || aggregate.rows == MeasureRows::kGreatest;
  return (isExtreme && (!aggregate.ofNull || aggregate.nullsLast)) ||
         llvm::is_contained(kTake, name);
}

bool headrace::import::duckdb::takesBinsOfRows(Node call) {
  const SmallVector<Node> arguments = call.get("children").elements();
  return nameOf(call).starts_with("histogram") && arguments.size() > 1 &&
         !isOfConstants(arguments[1]);
}

FromList RelationImporter::collectedBy(StringRef name, Node separator,
                                       const std::optional<Computed> &more, Type type,
                                       Location at) {
  if (separator) {
    return [=](ExpressionBuilder &b, const Expression &values, const Expression *) {
      Type string = frame::StringType::get(b.getContext());
      StringAttr between = StringAttr::get(b.getContext(), separator.string().value_or(""));
      return b.text(*headrace::textFunctionNamed("array_to_string"),
                    {values, b.constant(between, string, at)}, string, at);
    };
  }
  if (more && name != "approx_top_k") {
    const Binning binning = name == "histogram" ? Binning::kUpTo : Binning::kExact;
    return [=](ExpressionBuilder &b, const Expression &values, const Expression *first) {
      MaybeExpression bins = first ? MaybeExpression(*first) : more->build(b);
      return failed(bins) ? bins : binnedCounts(b, values, *bins, binning, type, at);
    };
  }
  return llvm::StringSwitch<FromList>(name)
      .Case("histogram", [=](ExpressionBuilder &b, const Expression &values,
                             const Expression *) { return b.countsOf(values, type, at); })
      .Case("approx_top_k",
            [=](ExpressionBuilder &b, const Expression &values, const Expression *) {
              return onlySome(b,
                              b.text(*headrace::textFunctionNamed("list_by_frequency"), values,
                                     values.type(), at),
                              *more, at);
            })
      .Case("mad", [=](ExpressionBuilder &b, const Expression &values,
                       const Expression *) { return deviationOfList(b, values, type, at); })
      .Cases({"entropy", "bit_and", "bit_or", "bit_xor"},
             [=](ExpressionBuilder &b, const Expression &values, const Expression *) {
               return b.onlyElement(*headrace::textFunctionNamed(("list_" + name).str()), values,
                                    type, at);
             })
      .Default({});
}

FailureOr<MeasureRequest> RelationImporter::firstFew(const MeasureCall &call,
                                                     ArrayRef<Node> arguments,
                                                     const std::optional<Computed> &count,
                                                     std::optional<int64_t> countMax, Type type,
                                                     Location at) {
  FailureOr<SmallVector<SortKey>> more =
      importSortKeys(call.node.get("order_bys").get("orders").elements(), at);
  if (failed(more)) {
    return failure();
  }
  const bool least = call.name.contains("min");
  const bool ofAll = aggregateOfDuckdb(call.name)->nullsLast;
  const SortKey by{orderKey(arguments.back(), at),
                   least ? frame::SortDirection::Asc : frame::SortDirection::Desc,
                   frame::NullsOrder::Last};
  Computed value = expressions.computed(arguments.front(), at);
  if (ofAll) { // in a list, which is not NULL
    value = value.with(&ExpressionBuilder::listOfOne, at);
  }
  MeasureRequest request = aggregateOfDuckdb("list")->request({value}, call.distinct, type, at);
  constexpr int64_t kMost = 999999; // list_first takes no more
  const int64_t most = count ? countMax.value_or(0) : 1;
  request.elementsMax = most >= 1 && most <= kMost ? static_cast<uint32_t>(most) : 0;
  if (call.distinct && arguments.size() > 1) { // each pair once
    request.arguments.push_back(by.expression);
  }
  request.order.push_back(by);
  llvm::append_range(request.order, *more);
  request.condition = call.filter ? expressions.computed(call.filter, at).build : BuildExpression();
  if (!ofAll) {
    request.condition = whereKnown(request.condition, by.expression, at);
  }
  request.fromList = [=](ExpressionBuilder &b, const Expression &values,
                         const Expression *) -> MaybeExpression {
    if (!count) {
      const Expression one = b.integer(1, IntegerType::get(b.getContext(), 64), at);
      MaybeExpression first = b.element(values, one, at);
      return failed(first) ? first : b.element(*first, one, at);
    }
    MaybeExpression few = onlySome(b, values, *count, at);
    return failed(few) || !ofAll
               ? few
               : b.text(*headrace::textFunctionNamed("list_flatten"), *few, type, at);
  };
  return request;
}

BuildExpression headrace::import::duckdb::whereKnown(const BuildExpression &condition,
                                                     const Computed &value, Location at) {
  return [=](ExpressionBuilder &b) -> MaybeExpression {
    MaybeExpression known = value.build(b);
    known = failed(known) ? known : b.isNotNull(*known, at);
    MaybeExpression keeps = condition ? condition(b) : known;
    return failed(known) || failed(keeps)
               ? MaybeExpression(failure())
               : b.connect(ExpressionBuilder::Connective::kAnd, {*keeps, *known}, at);
  };
}
