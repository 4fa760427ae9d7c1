// The table of aggregate functions of front ends.
#include "passes/import/Aggregates.h"

#include "passes/import/Deviations.h"

using namespace mlir;
using namespace headrace::import;

using headrace::QuantileKind;
using Function = headrace::frame::AggregateFunction;

static const Aggregate kAggregates[] = {
#define HR_AGGREGATE(duckdb, substrait, function, ofDistinct, text)                                \
  {duckdb,      substrait,  function == Function::CountStar ? size_t(0) : size_t(1),               \
   function,    ofDistinct, MeasureRows::kAll,                                                     \
   std::nullopt},
#define HR_ANY(duckdb, substrait, text)                                                            \
  {duckdb, substrait, 1, Function::Min, Function::Min, MeasureRows::kFirst, std::nullopt},
#define HR_ROW_OF(duckdb, rows, text)                                                              \
  {duckdb, "", 2, Function::Min, Function::Min, rows, std::nullopt},
#define HR_ROW_OF_ANY(duckdb, rows, text)                                                          \
  {duckdb, "", 2, Function::Min, Function::Min, rows, std::nullopt, {}, true},
#define HR_ROW_OF_ALL(duckdb, rows, text)                                                          \
  {duckdb, "", 2, Function::Min, Function::Min, rows, std::nullopt, {}, true, false, true},
#define HR_MOST(duckdb, text)                                                                      \
  {duckdb, "", 1, Function::Min, std::nullopt, MeasureRows::kMost, std::nullopt},
#define HR_QUANTILE(duckdb, kind, text)                                                            \
  {duckdb, "", 1, Function::Min, std::nullopt, MeasureRows::kQuantile, std::nullopt, kind},
#define HR_EXACT_COUNT(duckdb, text)                                                               \
  HR_AGGREGATE(duckdb, "", Function::CountDistinct, Function::CountDistinct, text)
#define HR_EXACT_QUANTILE(duckdb, kind, text) HR_QUANTILE(duckdb, kind, text)
#define HR_COLLECT(duckdb, ordered, text)                                                          \
  {duckdb,       "", 1,     Function::Min, std::nullopt, MeasureRows::kCollected,                  \
   std::nullopt, {}, false, ordered},
#define HR_DEVIATIONS(duckdb, substrait, arguments, rowsMin, value, text)                          \
  {duckdb,                                                                                         \
   substrait,                                                                                      \
   arguments,                                                                                      \
   Function::Sum,                                                                                  \
   std::nullopt,                                                                                   \
   MeasureRows::kAll,                                                                              \
   DeviationFormula{rowsMin, [](const Deviations &d) { return value; }}},
#define HR_POWERS(duckdb, rowsMin, value, text)                                                    \
  {duckdb,                                                                                         \
   "",                                                                                             \
   1,                                                                                              \
   Function::Sum,                                                                                  \
   std::nullopt,                                                                                   \
   MeasureRows::kAll,                                                                              \
   DeviationFormula{rowsMin, [](const Deviations &d) { return value; }, /*powers=*/true}},
#include "passes/import/aggregates.def"
#undef HR_POWERS
#undef HR_DEVIATIONS
#undef HR_COLLECT
#undef HR_EXACT_QUANTILE
#undef HR_EXACT_COUNT
#undef HR_QUANTILE
#undef HR_MOST
#undef HR_ROW_OF_ALL
#undef HR_ROW_OF_ANY
#undef HR_ROW_OF
#undef HR_ANY
#undef HR_AGGREGATE
};

static const Aggregate *find(StringRef name, StringRef Aggregate::*names) {
  for (const Aggregate &aggregate : kAggregates) {
    SmallVector<StringRef> known;
    (aggregate.*names).split(known, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    if (llvm::is_contained(known, name)) {
      return &aggregate;
    }
  }
  return nullptr;
}

const Aggregate *headrace::import::aggregateOfDuckdb(StringRef name) {
  return find(name, &Aggregate::duckdbNames);
}

const Aggregate *headrace::import::aggregateOfSubstrait(StringRef name) {
  return find(name, &Aggregate::substraitNames);
}

MeasureRequest Aggregate::request(SmallVector<Computed> arguments, bool distinct, Type type,
                                  Location at) const {
  MeasureRequest request{.type = type, .at = at};
  request.function = distinct ? ofDistinct.value_or(function) : function;
  const bool isOfEachOnce = rows == MeasureRows::kCollected || rows == MeasureRows::kQuantile;
  request.different = distinct && isOfEachOnce;
  request.rows = isOfEachOnce                  ? rows
                 : distinct && !ofDistinct     ? MeasureRows::kDifferent
                 : rows == MeasureRows::kFirst ? MeasureRows::kAll
                                               : rows;
  request.formula = formula;
  request.ofNull = ofNull;
  request.sorted = rows == MeasureRows::kCollected && !ordered;
  request.arguments = std::move(arguments);
  return request;
}
