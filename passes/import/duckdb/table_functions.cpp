// Functions that stand for tables; range and generate_series of constant integers.
#include "passes/import/duckdb/relations.h"

using namespace mlir;
using namespace headrace::import;
using namespace headrace::import::duckdb;

using Use = Field::Use;

MaybeRelation RelationImporter::importTableFunction(Node op) {
  Location at = locate(op);
  StringRef name = nameOf(op);
  const bool isSeries = name == "range" || name == "generate_series";
  SmallVector<Node> types = op.get("returned_types").elements();
  const bool isOfNumbers = types.size() == 1 && types[0].get("id").string() == StringRef("BIGINT");
  if (name == "unnest" || (isSeries && (!isOfNumbers || !op.get("children").elements().empty()))) {
    return importUnnestFunction(op, name, at);
  }
  if (name == "json_each" || name == "json_tree") {
    return importJsonRows(op, name, at);
  }
  if (isSeries) {
    return importSeries(op, name == "generate_series", at);
  }
  return context.fail(at, "unsupported table function: " + name);
}

__int128 headrace::import::duckdb::numbersIn(__int128 start, __int128 stop, __int128 step,
                                             bool withStop) {
  __int128 distance = step > 0 ? stop - start : start - stop;
  __int128 width = step > 0 ? step : -step;
  if (withStop) {
    return distance < 0 ? 0 : distance / width + 1;
  }
  return distance <= 0 ? 0 : (distance - 1) / width + 1;
}

MaybeRelation RelationImporter::importSeries(Node op, bool withStop, Location at) {
  StringRef name = nameOf(op);
  if (failed(expectGet(op, Use::kRead, name, at))) {
    return failure();
  }
  SmallVector<Node> names = op.get("names").elements();
  if (names.size() != 1) {
    // no test: DuckDB writes no such plan
    return op.fail("expected a column of " + name);
  }
  SmallVector<Node> parameters = op.get("parameters").elements();
  if (parameters.empty() || parameters.size() > 3) {
    return op.fail("expected one to three numbers of " + name);
  }
  SmallVector<int64_t> numbers;
  bool isNull = false;
  for (Node parameter : parameters) {
    std::optional<int64_t> number = parameter.get("value").integer();
    const bool unknown = parameter.get("is_null").boolean().value_or(false);
    if (!number && !unknown) {
      return parameter.fail("expected an integer");
    }
    isNull |= unknown;
    numbers.push_back(number.value_or(0));
  }
  const int64_t start = numbers.size() > 1 ? numbers[0] : 0;
  const int64_t stop = numbers.size() > 1 ? numbers[1] : numbers[0];
  const int64_t step = numbers.size() > 2 ? numbers[2] : 1;
  if (step == 0 && !isNull) {
    return context.fail(at, "the step of " + name + " is 0", ImportError::Kind::kUser);
  }
  const __int128 length = isNull ? 0 : numbersIn(start, stop, step, withStop);
  constexpr int64_t kLengthMax = int64_t{1} << 40;
  if (length > kLengthMax) {
    return context.fail(at,
                        "unsupported: " + name + " of more than " + Twine(kLengthMax) + " numbers");
  }
  MaybeRelation series = builder.series(names.front().string().value_or(name), start, step,
                                        static_cast<int64_t>(length), at);
  if (failed(series)) {
    return failure();
  }
  // Where rows are only counted a column without a name is asked for: this one does.
  return applyMap(std::move(*series), op.get("projection_ids"), at);
}
