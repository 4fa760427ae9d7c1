// Aggregates: rows to groups, groups to measures.
#include "passes/analysis/double_double.h"
#include "passes/interpreter/relations.h"

#include <cmath>
#include <map>
#include <set>

using namespace mlir;
using namespace headrace::frame;
using headrace::analysis::Evaluated;
using headrace::analysis::Int128;

namespace headrace::interpreter {
namespace {

/// The inputs that a measure looks at: those that are not NULL.
std::vector<const Scalar *> presentInputs(ArrayRef<const Row *> group, unsigned position) {
  std::vector<const Scalar *> present;
  for (const Row *row : group) {
    if (!(*row)[position].isNull()) {
      present.push_back(&(*row)[position]);
    }
  }
  return present;
}

llvm::Expected<Int128> exactSum(ArrayRef<const Scalar *> values) {
  Int128 sum = 0;
  for (const Scalar *value : values) {
    if (__builtin_add_overflow(sum, value->integer(), &sum)) {
      return dataError("overflow of a decimal");
    }
  }
  return sum;
}

llvm::Expected<Scalar> fittedTo(Int128 value, Type type) {
  Evaluated fitted = analysis::fitted(value, type);
  if (fitted.failed()) {
    return dataError(fitted.error);
  }
  return fitted.value;
}

double realSum(ArrayRef<const Scalar *> values, Type type) {
  double sum = 0;
  for (const Scalar *value : values) {
    sum += frame::isFloat(type) ? value->real() : static_cast<double>(value->integer());
  }
  return sum;
}

llvm::Expected<Scalar> average(ArrayRef<const Scalar *> values, Type input, Type result) {
  auto count = static_cast<Int128>(values.size());
  if (frame::isFloat(input)) {
    return Scalar{realSum(values, input) / static_cast<double>(count)};
  }
  llvm::Expected<Int128> sum = exactSum(values);
  if (!sum) {
    return sum.takeError();
  }
  auto decimal = dyn_cast<DecimalType>(dropNullable(result));
  if (!decimal) {
    auto from = dyn_cast<DecimalType>(dropNullable(input));
    double power = std::pow(10.0, from ? from.getScale() : 0);
    return Scalar{static_cast<double>(*sum) / (static_cast<double>(count) * power)};
  }
  // Four more digits than the input, truncated.
  Int128 scaled = 0;
  unsigned digits = decimal.getScale() - cast<DecimalType>(dropNullable(input)).getScale();
  Int128 power = 1;
  for (unsigned digit = 0; digit < digits; ++digit) {
    power *= 10;
  }
  if (__builtin_mul_overflow(*sum, power, &scaled)) {
    return dataError("overflow of a decimal");
  }
  return fittedTo(scaled / count, result);
}

llvm::Expected<Scalar> measureOf(AggregateFunction function, ArrayRef<const Scalar *> values,
                                 Type input, Type result, AggregateStage stage) {
  if (const AggregateRule &rule = ruleOf(function); rule.isDistinct()) {
    std::set<Row, RowLess> distinct;
    std::vector<const Scalar *> once;
    for (const Scalar *value : values) {
      if (distinct.insert({*value}).second) {
        once.push_back(value);
      }
    }
    return measureOf(rule.ofAll, once, input, result, stage);
  }
  if (function == AggregateFunction::Count && stage == AggregateStage::Final) {
    llvm::Expected<Int128> sum = exactSum(values);
    return sum ? fittedTo(*sum, result) : llvm::Expected<Scalar>(sum.takeError());
  }
  if (function == AggregateFunction::Count) {
    return Scalar{static_cast<Int128>(values.size())};
  }
  if (values.empty()) {
    return Scalar::null();
  }
  auto folded = [&](auto combine) {
    Scalar all = *values.front();
    for (const Scalar *value : values.drop_front()) {
      all = combine(all, *value);
    }
    return all;
  };
  auto below = [](const Scalar *a, const Scalar *b) {
    return analysis::compareScalars(*a, *b) < 0;
  };
  switch (function) {
  case AggregateFunction::Min:
    return **std::min_element(values.begin(), values.end(), below);
  case AggregateFunction::Max:
    return **std::max_element(values.begin(), values.end(), below);
  case AggregateFunction::Avg:
    return average(values, input, result);
  case AggregateFunction::BitAnd:
    return folded(
        [](const Scalar &a, const Scalar &b) { return Scalar{a.integer() & b.integer()}; });
  case AggregateFunction::BitOr:
    return folded(
        [](const Scalar &a, const Scalar &b) { return Scalar{a.integer() | b.integer()}; });
  case AggregateFunction::BitXor:
    return folded(
        [](const Scalar &a, const Scalar &b) { return Scalar{a.integer() ^ b.integer()}; });
  case AggregateFunction::Product:
    return folded([](const Scalar &a, const Scalar &b) { return Scalar{a.real() * b.real()}; });
  default:
    break;
  }
  if (frame::isFloat(result)) {
    return Scalar{realSum(values, input)};
  }
  if (frame::isDoubleDouble(result)) {
    analysis::DoubleDouble<double> sum{0, 0};
    for (const Scalar *value : values) {
      sum = analysis::sumOf(analysis::Computing(), sum, analysis::unpacked(value->integer()));
    }
    return Scalar{analysis::packed(sum)};
  }
  llvm::Expected<Int128> sum = exactSum(values);
  return sum ? fittedTo(*sum, result) : llvm::Expected<Scalar>(sum.takeError());
}

} // namespace

llvm::Expected<Table> aggregateRows(TableType resultType, const Table &input, ArrayAttr keys,
                                    ArrayRef<MeasureAttr> measures, AggregateStage stage) {
  SmallVector<unsigned> positions = columnPositions(input.type, keys);
  std::map<Row, std::vector<const Row *>, RowLess> groups;
  if (keys.empty()) {
    groups[{}]; // one row, also for no input
  }
  for (const Row &row : input.rows) {
    Row key;
    for (unsigned position : positions) {
      key.push_back(row[position]);
    }
    groups[key].push_back(&row);
  }
  Table result{resultType, {}};
  for (const auto &[key, rows] : groups) {
    Row row = key;
    for (auto [index, measure] : llvm::enumerate(measures)) {
      if (measure.getFunction() == AggregateFunction::CountStar) {
        row.push_back(Scalar{static_cast<Int128>(rows.size())});
        continue;
      }
      unsigned position = *input.type.findColumn(measure.getInput().getValue());
      llvm::Expected<Scalar> value =
          measureOf(measure.getFunction(), presentInputs(rows, position),
                    input.type.getColumnTypes()[position],
                    resultType.getColumnTypes()[keys.size() + index], stage);
      if (!value) {
        return value.takeError();
      }
      row.push_back(*value);
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

} // namespace headrace::interpreter
