// Ranges of the columns of every table-valued op.
#include "passes/analysis/ranges.h"
#include "passes/analysis/expression_ranges.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace headrace;
using namespace headrace::analysis;
using namespace headrace::frame;

namespace {

using MaybeRange = std::optional<Range>;
using Ranges = SmallVector<MaybeRange>;

Ranges typeRanges(TableType type) {
  Ranges result;
  for (Type column : type.getColumnTypes()) {
    result.push_back(rangeOfType(column));
  }
  return result;
}

std::optional<Int128> integerOf(DictionaryAttr statistics, StringRef field) {
  auto value = dyn_cast_or_null<IntegerAttr>(statistics.get(field));
  if (!value || value.getValue().getSignificantBits() > 64) {
    return std::nullopt;
  }
  return value.getValue().getSExtValue();
}

Ranges scanRanges(ScanOp scan) {
  Ranges result = typeRanges(scan.getResult().getType());
  DictionaryAttr statistics = scan.getStatistics().value_or(DictionaryAttr());
  auto columns =
      statistics ? dyn_cast_or_null<DictionaryAttr>(statistics.get("columns")) : DictionaryAttr();
  for (auto [index, file] : llvm::enumerate(scan.getFileColumns().getAsRange<StringAttr>())) {
    auto column = columns ? dyn_cast_or_null<DictionaryAttr>(columns.get(file)) : DictionaryAttr();
    if (!column || !result[index]) {
      continue;
    }
    std::optional<Int128> low = integerOf(column, "min");
    std::optional<Int128> high = integerOf(column, "max");
    if (low && high && *low <= *high) {
      result[index] =
          Range{std::max(result[index]->low, *low), std::min(result[index]->high, *high)};
    }
  }
  return result;
}

Ranges valuesRanges(ValuesOp values) {
  TableType type = values.getResult().getType();
  Ranges result = typeRanges(type);
  for (auto [index, range] : llvm::enumerate(result)) {
    MaybeRange all;
    for (ArrayAttr row : values.getRows().getAsRange<ArrayAttr>()) {
      auto value = dyn_cast<IntegerAttr>(row[index]);
      if (!value || value.getValue().getSignificantBits() > 64) {
        all = isa<UnitAttr>(row[index]) ? all : range;
        if (!isa<UnitAttr>(row[index])) {
          break;
        }
        continue;
      }
      Int128 point = isBoolean(type.getColumnTypes()[index])
                         ? Int128(value.getValue().getZExtValue())
                         : Int128(value.getValue().getSExtValue());
      all =
          all ? Range{std::min(all->low, point), std::max(all->high, point)} : Range{point, point};
    }
    if (range && all) {
      range = all;
    }
  }
  return result;
}

/// `value` * `rows`, where rows is a bound from statistics; nothing if it is infinite or too large.
std::optional<Int128> times(Int128 value, double rows) {
  if (!(rows < 9e18)) {
    return std::nullopt;
  }
  Int128 result;
  // Doubles above 2^53 may be rounded down; one part in 2^52 more makes up for it.
  Int128 count = static_cast<Int128>(rows < 0x1p53 ? rows : std::ceil(rows * (1 + 0x1p-52)));
  if (__builtin_mul_overflow(value, count, &result)) {
    return std::nullopt;
  }
  return result;
}

MaybeRange sumRange(const Range &input, double rows) {
  std::optional<Int128> low = input.low < 0 ? times(input.low, rows) : input.low;
  std::optional<Int128> high = input.high > 0 ? times(input.high, rows) : input.high;
  return low && high ? MaybeRange(Range{*low, *high}) : std::nullopt;
}

MaybeRange measureRange(MeasureAttr measure, MaybeRange input, Type type, double rows) {
  MaybeRange all = rangeOfType(type);
  MaybeRange result;
  switch (ruleOf(measure.getFunction()).result) {
  case AggregateResult::kCount: {
    std::optional<Int128> most = times(1, rows);
    result = most ? MaybeRange(Range{0, *most}) : std::nullopt;
    break;
  }
  case AggregateResult::kOne:
    result = input;
    break;
  case AggregateResult::kSum:
    result = input ? sumRange(*input, rows) : std::nullopt;
    break;
  case AggregateResult::kBits:
  case AggregateResult::kProduct:
    break;
  case AggregateResult::kMean: { // of a decimal; a double has no range
    Int128 low;
    Int128 high;
    if (input && !__builtin_mul_overflow(input->low, Int128(10'000), &low) &&
        !__builtin_mul_overflow(input->high, Int128(10'000), &high)) {
      result = Range{low, high};
    }
    break;
  }
  }
  if (!all || !result) {
    return all;
  }
  return Range{std::max(all->low, result->low), std::min(all->high, result->high)};
}

/// What `passed` has for the measures, filled in.
void addMeasures(AggregateOp op, const Ranges &input, double rows, Ranges &passed) {
  TableType from = op.getInput().getType();
  TableType type = op.getType();
  for (MeasureAttr measure : op.getMeasureRange()) {
    StringAttr name = measure.getInput();
    MaybeRange column = name ? input[*from.findColumn(name)] : std::nullopt;
    unsigned index = *type.findColumn(measure.getName());
    passed[index] = measureRange(measure, column, type.getColumnTypes()[index], rows);
  }
}

/// `passed` narrowed by what the join says of its keys.
void narrowByKeys(JoinOp op, const Ranges &left, const Ranges &right, Ranges &passed) {
  // Where a key's row must have matched, the key has a value that both sides have.
  bool narrowsLeft =
      llvm::is_contained({JoinKind::Inner, JoinKind::Semi, JoinKind::Right}, op.getKind());
  bool narrowsRight =
      llvm::is_contained({JoinKind::Inner, JoinKind::Left, JoinKind::Single}, op.getKind());
  for (auto [leftKey, rightKey] : llvm::zip_equal(op.getLeftKeys().getAsRange<StringAttr>(),
                                                  op.getRightKeys().getAsRange<StringAttr>())) {
    unsigned leftIndex = *op.getLeft().getType().findColumn(leftKey);
    unsigned rightIndex = *op.getRight().getType().findColumn(rightKey);
    if (!left[leftIndex] || !right[rightIndex]) {
      continue;
    }
    Range both{std::max(left[leftIndex]->low, right[rightIndex]->low),
               std::min(left[leftIndex]->high, right[rightIndex]->high)};
    if (both.low > both.high) {
      continue;
    }
    if (narrowsLeft) {
      passed[leftIndex] = both;
    }
    if (narrowsRight) {
      passed[left.size() + rightIndex] = both;
    }
  }
}

} // namespace

/// The ranges of an expression region's arguments, before its own predicate narrows them.
RangeAnalysis::Ranges RangeAnalysis::argumentRanges(Operation *op, Region *region) {
  auto relation = dyn_cast<RelationalOpInterface>(op);
  ArrayAttr columns = relation ? relation.getRegionColumns() : ArrayAttr();
  Ranges result;
  for (BlockArgument argument : region->getArguments()) {
    if (!columns) {
      result.push_back(rangeOfType(argument.getType()));
      continue;
    }
    StringRef name = cast<StringAttr>(columns[argument.getArgNumber()]).getValue();
    bool first = cast<TableType>(op->getOperand(0).getType()).hasColumn(name);
    result.push_back(rangeOf(op->getOperand(first ? 0 : 1), name));
  }
  return result;
}

/// Those of the operands for columns that come from there, and of the types for the others.
RangeAnalysis::Ranges RangeAnalysis::passedRanges(RelationalOpInterface op) {
  auto type = cast<TableType>(op->getResult(0).getType());
  Ranges result = typeRanges(type);
  llvm::SmallDenseSet<StringAttr> known;
  for (const PassedColumn &column : op.getPassedColumns()) {
    Value operand = op->getOperand(column.operand);
    MaybeRange one = rangeOf(operand, column.from);
    MaybeRange &all = result[*type.findColumn(column.to)];
    if (known.insert(column.to).second) {
      all = one;
    } else { // of one operand or another
      all = all && one
                ? MaybeRange(Range{std::min(all->low, one->low), std::max(all->high, one->high)})
                : std::nullopt;
    }
  }
  return result;
}

/// What the ops say of the columns that they do not only pass on.
RangeAnalysis::Ranges RangeAnalysis::compute(RelationalOpInterface op) {
  auto outer = [this](Value value) { return rangeOf(value); };
  Ranges result = passedRanges(op);
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ScanOp scan) { result = scanRanges(scan); })
      .Case([&](ValuesOp values) { result = valuesRanges(values); })
      .Case([&](FilterOp filter) {
        Ranges arguments = argumentRanges(filter, &filter.getPredicate());
        auto yield = cast<YieldOp>(filter.getPredicate().front().getTerminator());
        refineByPredicate(yield.getValues().front(), arguments, outer);
        for (auto [name, range] :
             llvm::zip_equal(filter.getColumns().getAsRange<StringAttr>(), arguments)) {
          result[*filter.getType().findColumn(name)] = range;
        }
      })
      .Case([&](ProjectOp project) {
        Ranges arguments = argumentRanges(project, &project.getExpressions());
        auto yield = cast<YieldOp>(project.getExpressions().front().getTerminator());
        for (auto [name, value] :
             llvm::zip_equal(project.getComputed().getAsRange<StringAttr>(), yield.getValues())) {
          result[*project.getType().findColumn(name)] = evaluateRange(value, arguments, outer);
        }
      })
      .Case([&](WindowOp window) {
        for (WindowFunctionAttr function : window.getFunctionRange()) {
          StringAttr argument = function.getColumn(0);
          std::optional<AggregateFunction> folds = function.getAggregate();
          bool copies = folds ? ruleOf(*folds).result == AggregateResult::kOne
                              : function.getKind() != WindowFunctionKind::Ntile;
          if (argument && copies && !function.getColumn(2)) {
            result[*window.getType().findColumn(function.getName())] =
                rangeOf(window.getInput(), argument);
          }
        }
      })
      .Case([&](JoinOp join) {
        narrowByKeys(join, columnsOf(join.getLeft()), columnsOf(join.getRight()), result);
      })
      .Case([&](AggregateOp aggregate) {
        addMeasures(aggregate, columnsOf(aggregate.getInput()), rowsMax(aggregate.getInput()),
                    result);
      });
  return result;
}

RangeAnalysis::Ranges RangeAnalysis::compute(Operation *op) {
  if (auto relation = dyn_cast<RelationalOpInterface>(op)) {
    return compute(relation);
  }
  // An op of a later level that passes one table on, or a source that is not known.
  for (Value operand : op->getOperands()) {
    if (operand.getType() == op->getResult(0).getType()) {
      return columnsOf(operand);
    }
  }
  return typeRanges(cast<TableType>(op->getResult(0).getType()));
}

const RangeAnalysis::Ranges &RangeAnalysis::columnsOf(Value table) {
  auto found = columns_.find(table);
  if (found != columns_.end()) {
    return *found->second;
  }
  Operation *op = table.getDefiningOp();
  auto ranges =
      std::make_unique<Ranges>(op ? compute(op) : typeRanges(cast<TableType>(table.getType())));
  return *(columns_[table] = std::move(ranges));
}

MaybeRange RangeAnalysis::rangeOf(Value table, StringRef column) {
  return columnsOf(table)[*cast<TableType>(table.getType()).findColumn(column)];
}

MaybeRange RangeAnalysis::rangeOf(Value scalar) {
  if (auto subquery = scalar.getDefiningOp<ScalarSubqueryOp>()) {
    return columnsOf(subquery.getInput()).front();
  }
  Region *region = scalar.getParentRegion();
  auto found = arguments_.find(region);
  if (found == arguments_.end()) {
    auto ranges = std::make_unique<Ranges>(argumentRanges(region->getParentOp(), region));
    found = arguments_.insert({region, std::move(ranges)}).first;
  }
  return evaluateRange(scalar, *found->second, [this](Value value) { return rangeOf(value); });
}
