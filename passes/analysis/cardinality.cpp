// Cardinality of every table-valued op. Joins assume that the smaller domain of keys is contained
// in the larger, and that filters are independent of keys.
#include "passes/analysis/cardinality.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/frame/VisitRelation.h"
#include "passes/analysis/scan_statistics.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace headrace;
using namespace headrace::analysis;
using namespace headrace::frame;

namespace {

constexpr double kUnknownRows = 1e6;
// No table has more: estimates of joins of joins, which are squared each time, must not overflow.
constexpr double kRowsMax = 1e18;
// How much wider the 95th percentile gets with every guess.
constexpr double kFilterDoubt = 1.3;
constexpr double kJoinDoubt = 1.5;
constexpr double kAggregateDoubt = 1.2;
// An anti join is not believed to drop everything.
constexpr double kAntiShareMin = 0.02;

/// Of a value; `stringBytes` of a string.
double valueBytes(Type type, double stringBytes) {
  Type value = dropNullable(type);
  double validity = isNullable(type) ? 1.0 / 8 : 0;
  if (value.isInteger(1)) {
    return 1.0 / 8 + validity;
  }
  if (value.isIntOrFloat()) {
    return value.getIntOrFloatBitWidth() / 8.0 + validity;
  }
  if (auto decimal = dyn_cast<DecimalType>(value)) {
    return (decimal.getPrecision() <= 9 ? 4 : decimal.getPrecision() <= 18 ? 8 : 16) + validity;
  }
  double bytes = isTemporal(value)       ? integerBits(value) / 8.0
                 : isDoubleDouble(value) ? 16
                                         : stringBytes;
  return bytes + validity;
}

/// The share of `distinct` values that still occur when a share `kept` of `rows` rows is kept.
double distinctAfter(double distinct, double rows, double keptRows) {
  if (distinct <= 1 || rows <= 0) {
    return std::min(distinct, std::max(keptRows, 0.0));
  }
  double perValue = rows / distinct;
  double kept = std::clamp(keptRows / rows, 0.0, 1.0);
  return std::min(distinct * (1 - std::pow(1 - kept, perValue)), keptRows);
}

/// Fits the columns to a new number of rows.
void rescale(TableEstimate &table, double oldRows) {
  for (ColumnEstimate &column : table.columns) {
    column.distinct = std::max(distinctAfter(column.distinct, oldRows, table.rows.expected),
                               std::min(1.0, table.rows.expected));
  }
}

Cardinality ordered(Cardinality rows) {
  rows.min = std::min(rows.min, kRowsMax);
  rows.expected = std::clamp(std::min(rows.expected, kRowsMax), rows.min, rows.max);
  rows.p95 = std::clamp(std::min(rows.p95, kRowsMax), rows.expected, rows.max);
  return rows;
}

double p95Factor(const Cardinality &rows) {
  return rows.expected > 0 ? std::max(1.0, rows.p95 / rows.expected) : 1.0;
}

const ColumnEstimate &columnNamed(const TableEstimate &table, TableType type, StringRef name) {
  return table.columns[*type.findColumn(name)];
}

bool containsUniqueKey(const TableEstimate &table, ArrayRef<StringAttr> keys) {
  return llvm::any_of(table.uniqueKeys, [&](const auto &unique) {
    return llvm::all_of(unique, [&](StringAttr name) { return llvm::is_contained(keys, name); });
  });
}

//===----------------------------------------------------------------------===//
// Scans
//===----------------------------------------------------------------------===//

ColumnEstimate scanColumn(DictionaryAttr statistics, Type type, double rows, Operation *source) {
  ColumnEstimate column;
  column.source = source;
  column.sourceRows = rows;
  column.nullFraction =
      isNullable(type) && rows > 0 ? numberOf(statistics, "nulls").value_or(rows * 0.05) / rows : 0;
  column.low = numberOf(statistics, "min");
  column.high = numberOf(statistics, "max");
  if (auto decimal = dyn_cast<DecimalType>(dropNullable(type))) {
    double scale = std::pow(10.0, decimal.getScale());
    if (column.low && column.high) {
      column.low = *column.low / scale;
      column.high = *column.high / scale;
    }
  }
  double distinct = rows;
  if (column.low && column.high && !isFloat(type)) {
    auto decimal = dyn_cast<DecimalType>(dropNullable(type));
    double step = decimal ? std::pow(10.0, -static_cast<double>(decimal.getScale())) : 1.0;
    distinct = std::min(rows, (*column.high - *column.low) / step + 1);
  }
  if (isBoolean(type)) {
    distinct = std::min(rows, 2.0);
  }
  // A range has no more values than it has, whatever an estimate of them says.
  column.distinct = std::max(
      std::min(numberOf(statistics, "distinct").value_or(distinct), distinct), std::min(1.0, rows));
  column.domain = column.distinct;
  column.bytes =
      valueBytes(type, numberOf(statistics, "average_bytes").value_or(kUnknownStringBytes));
  column.ordered = isOrdered(statistics);
  return column;
}

TableEstimate scanEstimate(ScanOp scan) {
  TableEstimate result;
  DictionaryAttr statistics = scan.getStatistics().value_or(DictionaryAttr());
  if (std::optional<double> rows = numberOf(statistics, "rows")) {
    result.rows = {*rows, *rows, *rows, *rows};
  } else {
    result.rows.expected = kUnknownRows;
    result.rows.p95 = 10 * kUnknownRows;
  }
  for (auto [file, type] :
       llvm::zip_equal(scan.getFileColumns().getAsRange<StringAttr>(), scan.getFileTypes())) {
    result.columns.push_back(
        scanColumn(statisticsOf(scan, file), type, result.rows.expected, scan));
    result.columns.back().origin =
        StringAttr::get(scan.getContext(), scan.getTableName() + "." + file.getValue());
  }
  if (scan.getOrdinals()) {
    Type i64 = IntegerType::get(scan.getContext(), 64);
    result.columns.push_back(scanColumn({}, i64, result.rows.expected, scan));
    result.columns.back().ordered = true;
  }
  return result;
}

TableEstimate valuesEstimate(ValuesOp values) {
  TableEstimate result;
  double rows = values.getRows().size();
  result.rows = {rows, rows, rows, rows};
  for (auto [index, type] : llvm::enumerate(values.getResult().getType().getColumnTypes())) {
    ColumnEstimate column;
    llvm::SmallPtrSet<Attribute, 8> distinct;
    for (ArrayAttr row : values.getRows().getAsRange<ArrayAttr>()) {
      distinct.insert(row[index]);
    }
    column.source = values;
    column.sourceRows = rows;
    column.distinct = column.domain = distinct.size();
    column.bytes = valueBytes(type, kUnknownStringBytes);
    result.columns.push_back(column);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Aggregates
//===----------------------------------------------------------------------===//

/// Different combinations of the keys: the product over columns, but columns of one source together
/// have no more than the source has rows.
double distinctTuples(ArrayRef<const ColumnEstimate *> keys, double rows,
                      double ColumnEstimate::*distinct) {
  llvm::MapVector<Operation *, std::pair<double, double>> bySource; // product, rows
  for (const ColumnEstimate *key : keys) {
    auto &[product, sourceRows] =
        bySource.insert({key->source, {1.0, key->sourceRows}}).first->second;
    product *= std::max(key->*distinct + (key->nullFraction > 0 ? 1 : 0), 1.0);
    sourceRows = std::max(sourceRows, key->sourceRows);
  }
  double product = 1;
  for (auto &[source, part] : bySource) {
    product *= source ? std::min(part.first, std::max(part.second, 1.0)) : part.first;
  }
  return std::min(product, rows);
}

/// How many of `boxes` boxes are hit by `balls` thrown at random.
double occupied(double boxes, double balls) {
  return boxes <= 0 ? 0 : boxes * -std::expm1(-balls / boxes);
}

ColumnEstimate measureEstimate(MeasureAttr measure, const ColumnEstimate *input, Type type,
                               double rows, double groups) {
  ColumnEstimate result = input ? *input : ColumnEstimate();
  double perGroup = groups > 0 ? rows / groups : 0;
  result.setComputed();
  result.bytes = valueBytes(type, input ? input->bytes : kUnknownStringBytes);
  result.distinct = result.domain = std::max(groups, 1.0);
  switch (ruleOf(measure.getFunction()).result) {
  case AggregateResult::kCount:
    result.low = 0;
    result.high = std::max(1.0, 2 * perGroup);
    result.nullFraction = 0;
    break;
  case AggregateResult::kSum:
    if (result.low && result.high) {
      result.low = *result.low < 0 ? *result.low * perGroup : *result.low;
      result.high = std::max(*result.high * perGroup, *result.low);
    }
    break;
  case AggregateResult::kOne:
  case AggregateResult::kMean:
    break;
  case AggregateResult::kBits:
  case AggregateResult::kProduct:
    result.low = result.high = std::nullopt;
    break;
  }
  return result;
}

TableEstimate aggregateEstimate(AggregateOp op, const TableEstimate &input) {
  TableType type = op.getInput().getType();
  TableEstimate result;
  SmallVector<const ColumnEstimate *> keys;
  for (StringAttr key : op.getKeys().getAsRange<StringAttr>()) {
    keys.push_back(&columnNamed(input, type, key));
  }
  double rows = input.rows.expected;
  double groups = 1;
  if (keys.empty()) {
    result.rows = {1, 1, 1, 1};
  } else {
    // The columns' own `distinct` already fit the rows; only the combinations are thrown at random.
    double tuples =
        distinctTuples(keys, std::numeric_limits<double>::infinity(), &ColumnEstimate::distinct);
    groups = keys.size() == 1 ? std::min(tuples, rows) : occupied(tuples, rows);
    // Keys that together are nearly unique in their source: one group a value.
    groups = std::max(groups, std::min(rows, llvm::max_element(keys,
                                                               [](auto *a, auto *b) {
                                                                 return a->distinct < b->distinct;
                                                               })[0]
                                                 ->distinct));
    result.rows.min = std::min(1.0, input.rows.min);
    result.rows.expected = groups;
    result.rows.p95 = groups * kAggregateDoubt * p95Factor(input.rows);
    result.rows.max = input.rows.max;
    result.rows = ordered(result.rows);
  }
  for (const ColumnEstimate *key : keys) {
    result.columns.push_back(*key);
    result.columns.back().ordered = false; // groups are found by hash
  }
  ArrayRef<Type> types = op.getResult().getType().getColumnTypes().drop_front(keys.size());
  for (auto [measure, measureType] : llvm::zip_equal(op.getMeasureRange(), types)) {
    StringAttr name = measure.getInput();
    const ColumnEstimate *column = name ? &columnNamed(input, type, name) : nullptr;
    result.columns.push_back(measureEstimate(measure, column, measureType, rows, groups));
  }
  auto &unique = result.uniqueKeys.emplace_back();
  llvm::append_range(unique, op.getKeys().getAsRange<StringAttr>());
  return result;
}

//===----------------------------------------------------------------------===//
// Row by row
//===----------------------------------------------------------------------===//

/// The estimate of the column behind an argument of an expression region.
const ColumnEstimate *argumentColumn(BlockArgument argument, ArrayAttr columns, TableType type,
                                     const TableEstimate &table) {
  std::optional<unsigned> index =
      type.findColumn(cast<StringAttr>(columns[argument.getArgNumber()]).getValue());
  return index ? &table.columns[*index] : nullptr;
}

TableEstimate filterOpEstimate(FilterOp op, const TableEstimate &input) {
  auto columns = [&](BlockArgument argument) {
    return argumentColumn(argument, op.getColumns(), op.getInput().getType(), input);
  };
  Value predicate = cast<YieldOp>(op.getPredicate().front().getTerminator()).getValues().front();
  TableEstimate result = estimateFilter(input, selectivityOf(predicate, columns));
  // Before the other conjuncts drop rows, a narrowed column has its share of the values.
  TableEstimate narrowed = input;
  narrowColumns(predicate, columns, [&](BlockArgument argument) {
    auto name = cast<StringAttr>(op.getColumns()[argument.getArgNumber()]).getValue();
    return &narrowed.columns[*op.getInput().getType().findColumn(name)];
  });
  for (auto [column, narrow] : llvm::zip_equal(result.columns, narrowed.columns)) {
    column.low = narrow.low;
    column.high = narrow.high;
    column.domain = narrow.domain;
    column.distinct = std::min(column.distinct, narrow.distinct);
  }
  return result;
}

TableEstimate projectEstimate(ProjectOp op, const TableEstimate &input) {
  TableEstimate result;
  result.rows = input.rows;
  TableType type = op.getInput().getType();
  auto columns = [&](BlockArgument argument) {
    return argumentColumn(argument, op.getColumns(), type, input);
  };
  auto yield = cast<YieldOp>(op.getExpressions().front().getTerminator());
  llvm::DenseMap<Attribute, Value> computed;
  for (auto [name, value] : llvm::zip_equal(op.getComputed(), yield.getValues())) {
    computed[name] = value;
  }
  for (const Column &column : op.getResult().getType().getColumns()) {
    Value value = computed.lookup(column.name);
    ColumnEstimate estimate =
        value ? estimateExpression(value, columns) : columnNamed(input, type, column.name);
    if (value) {
      estimate.distinct = std::min(estimate.distinct, std::max(1.0, result.rows.expected));
      estimate.bytes = valueBytes(column.type, estimate.bytes);
    }
    result.columns.push_back(estimate);
  }
  for (const auto &unique : input.uniqueKeys) {
    bool kept = llvm::all_of(
        unique, [&](StringAttr name) { return llvm::is_contained(op.getKept(), Attribute(name)); });
    if (kept) {
      result.uniqueKeys.push_back(unique);
    }
  }
  return result;
}

/// So many elements a list is thought to have.
constexpr double kListElements = 4;

TableEstimate expandEstimate(ExpandOp op, const TableEstimate &input) {
  TableEstimate result = input;
  result.rows.min = 0;
  result.rows.expected *= kListElements;
  result.rows.p95 *= kListElements * kAggregateDoubt;
  result.rows.max = std::numeric_limits<double>::infinity();
  result.rows = ordered(result.rows);
  result.uniqueKeys.clear();
  ColumnEstimate &number = result.columns.emplace_back();
  number.low = 1;
  number.distinct = number.domain = kListElements;
  return result;
}

TableEstimate renameEstimate(RenameOp op, const TableEstimate &input) {
  TableEstimate result = input;
  TableType from = op.getInput().getType();
  for (auto &unique : result.uniqueKeys) {
    for (StringAttr &name : unique) {
      name = op.getResult().getType().getNames()[*from.findColumn(name)];
    }
  }
  return result;
}

/// Rows and columns as they are; what functions compute has few values where it counts within
/// partitions, and those of its argument where it copies them.
TableEstimate windowEstimate(WindowOp op, const TableEstimate &input) {
  TableEstimate result = input;
  TableType type = op.getInput().getType();
  for (ColumnEstimate &column : result.columns) {
    column.ordered = false;
  }
  double partitions = 1;
  for (StringAttr key : op.getPartition().getAsRange<StringAttr>()) {
    partitions *= std::max(1.0, columnNamed(input, type, key).distinct);
  }
  double rows = std::max(1.0, input.rows.expected);
  double inPartition = std::max(1.0, rows / std::min(partitions, rows));
  for (WindowFunctionAttr function : op.getFunctionRange()) {
    ColumnEstimate column;
    StringAttr argument = function.getColumn(0);
    if (argument) {
      column = columnNamed(input, type, argument);
      column.setComputed();
    }
    bool counts = !argument || function.getKind() == WindowFunctionKind::Ntile;
    if (counts) {
      column = ColumnEstimate();
      column.low = 1;
      column.high = 2 * inPartition;
      column.distinct = column.domain = inPartition;
    } else if (function.getAggregate()) {
      column.distinct = column.domain = rows;
      column.low = column.high = std::nullopt;
    }
    result.columns.push_back(column);
  }
  return result;
}

TableEstimate rowRangeEstimate(const TableEstimate &input, double offset,
                               std::optional<double> count) {
  TableEstimate result = input;
  double most = count.value_or(std::numeric_limits<double>::infinity());
  for (double *rows :
       {&result.rows.min, &result.rows.expected, &result.rows.p95, &result.rows.max}) {
    *rows = std::clamp(*rows - offset, 0.0, most);
  }
  rescale(result, input.rows.expected);
  return result;
}

TableEstimate unionOf(ArrayRef<const TableEstimate *> inputs) {
  TableEstimate result = *inputs.front();
  result.uniqueKeys.clear();
  for (const TableEstimate *input : inputs.drop_front()) {
    result.rows.min += input->rows.min;
    result.rows.expected += input->rows.expected;
    result.rows.p95 += input->rows.p95;
    result.rows.max += input->rows.max;
    for (auto [column, other] : llvm::zip_equal(result.columns, input->columns)) {
      column.distinct = std::max(column.distinct, other.distinct);
      column.domain = std::max(column.domain, other.domain);
      column.setComputed();
      column.nullFraction = std::max(column.nullFraction, other.nullFraction);
      bool bounded = column.low && other.low && column.high && other.high;
      column.low = bounded ? std::optional(std::min(*column.low, *other.low)) : std::nullopt;
      column.high = bounded ? std::optional(std::max(*column.high, *other.high)) : std::nullopt;
      column.bytes = std::max(column.bytes, other.bytes);
      column.ordered = false;
    }
  }
  result.rows = ordered(result.rows);
  return result;
}

/// The domain of a unique key within `keys`, which no more combinations of `keys` can exceed;
/// infinite if there is none.
double uniqueDomain(const TableEstimate &table, TableType type, ArrayRef<StringAttr> keys) {
  double domain = std::numeric_limits<double>::infinity();
  for (const auto &unique : table.uniqueKeys) {
    SmallVector<const ColumnEstimate *> columns;
    for (StringAttr name : unique) {
      if (llvm::is_contained(keys, name)) {
        columns.push_back(&columnNamed(table, type, name));
      }
    }
    if (columns.size() == unique.size()) {
      domain = std::min(domain, distinctTuples(columns, domain, &ColumnEstimate::domain));
    }
  }
  return domain;
}

} // namespace

//===----------------------------------------------------------------------===//
// Filters and joins, for whoever plans them
//===----------------------------------------------------------------------===//

TableEstimate headrace::analysis::estimateFilter(const TableEstimate &input, double selectivity) {
  TableEstimate result = input;
  result.rows.min = selectivity >= 1 ? input.rows.min : 0;
  result.rows.expected = input.rows.expected * selectivity;
  result.rows.p95 = selectivity >= 1 ? input.rows.p95
                                     : std::max(input.rows.p95 * selectivity * kFilterDoubt,
                                                result.rows.expected);
  result.rows = ordered(result.rows);
  rescale(result, input.rows.expected);
  return result;
}

/// Which share of the values that its filters saw a column still has.
static double shareOf(const ColumnEstimate &column) {
  return std::min(1.0, column.distinct / std::max(column.domain, 1.0));
}

/// How much likelier than by chance values of `column` are to be found in `other`, because a semi
/// join left only values that are there under the same filters.
static double affinity(const ColumnEstimate &column, const ColumnEstimate &other) {
  bool related = column.among && column.among == other.origin;
  return related ? 1 / std::max({column.amongShare, shareOf(other), 1e-12}) : 1;
}

TableEstimate headrace::analysis::estimateJoin(const JoinDescription &join,
                                               const TableEstimate &left, TableType leftType,
                                               const TableEstimate &right, TableType rightType,
                                               double residualSelectivity) {
  SmallVector<const ColumnEstimate *> leftKeys;
  SmallVector<const ColumnEstimate *> rightKeys;
  double present = 1;
  double likelier = 1;
  for (auto [leftName, rightName] : llvm::zip_equal(join.leftKeys, join.rightKeys)) {
    leftKeys.push_back(&columnNamed(left, leftType, leftName));
    rightKeys.push_back(&columnNamed(right, rightType, rightName));
    present *= (1 - leftKeys.back()->nullFraction) * (1 - rightKeys.back()->nullFraction);
    likelier *= affinity(*leftKeys.back(), *rightKeys.back()) *
                affinity(*rightKeys.back(), *leftKeys.back());
  }
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  double leftDomain = distinctTuples(leftKeys, unbounded, &ColumnEstimate::domain);
  double rightDomain = distinctTuples(rightKeys, unbounded, &ColumnEstimate::domain);
  leftDomain = std::min(leftDomain, uniqueDomain(left, leftType, join.leftKeys));
  rightDomain = std::min(rightDomain, uniqueDomain(right, rightType, join.rightKeys));
  double domain = std::max({leftDomain, rightDomain, 1.0});
  if (leftKeys.size() > 1) {
    // Several keys: where a side has as many combinations as rows, its product says nothing, and
    // the side with fewer is the one that the other refers to.
    domain = std::max(std::min(leftDomain, rightDomain), 1.0);
  }
  domain = std::max(domain / likelier, 1.0);
  double l = left.rows.expected;
  double r = right.rows.expected;
  double inner = l * r * present / domain * residualSelectivity;
  double rightTuples =
      std::min(distinctTuples(rightKeys, unbounded, &ColumnEstimate::distinct), std::max(r, 1.0));
  double matchesPerKey = r / std::max(rightTuples, 1.0);
  double hit = 1 - std::pow(1 - std::min(residualSelectivity, 1.0), std::max(matchesPerKey, 1.0));
  double semi = l * std::min(1.0, (leftKeys.empty() ? 1.0 : rightTuples / domain)) * hit;

  bool leftOnce = containsUniqueKey(right, join.rightKeys); // a left row matches at most once
  bool rightOnce = containsUniqueKey(left, join.leftKeys);
  double innerMax = left.rows.max * right.rows.max;
  if (left.rows.max == 0 || right.rows.max == 0) {
    innerMax = 0;
  }
  innerMax = leftOnce ? std::min(innerMax, left.rows.max) : innerMax;
  innerMax = rightOnce ? std::min(innerMax, right.rows.max) : innerMax;

  TableEstimate result;
  Cardinality &rows = result.rows;
  switch (join.kind) {
  case JoinKind::Inner:
    rows.expected = inner;
    rows.max = innerMax;
    if (join.leftKeys.empty() && residualSelectivity >= 1) {
      rows.min = left.rows.min * right.rows.min;
    }
    break;
  case JoinKind::Left:
    rows = {left.rows.min, std::max(inner, l), 0,
            leftOnce ? left.rows.max : left.rows.max + innerMax};
    break;
  case JoinKind::Single:
    rows = left.rows;
    break;
  case JoinKind::Right:
    rows = {right.rows.min, std::max(inner, r), 0,
            rightOnce ? right.rows.max : right.rows.max + innerMax};
    break;
  case JoinKind::Full:
    rows = {std::max(left.rows.min, right.rows.min), std::max({inner, l, r}), 0,
            left.rows.max + right.rows.max + innerMax};
    break;
  case JoinKind::Semi:
    rows = {0, semi, 0, left.rows.max};
    break;
  case JoinKind::Anti:
    rows = {0, std::max(l - semi, l * kAntiShareMin), 0, left.rows.max};
    break;
  case JoinKind::Mark:
    rows = left.rows;
    break;
  }
  bool exact = join.kind == JoinKind::Mark || join.kind == JoinKind::Single;
  double doubt = exact ? 1.0 : kJoinDoubt * std::max(p95Factor(left.rows), p95Factor(right.rows));
  rows.p95 = rows.expected * doubt;
  rows = ordered(rows);

  auto append = [&](const TableEstimate &side) {
    TableEstimate scaled = side;
    scaled.rows = rows;
    rescale(scaled, side.rows.expected);
    llvm::append_range(result.columns, scaled.columns);
  };
  append(left);
  bool leftOnly = join.kind == JoinKind::Semi || join.kind == JoinKind::Anti;
  if (join.kind == JoinKind::Mark) {
    ColumnEstimate mark;
    mark.distinct = mark.domain = 2;
    mark.bytes = 1.0 / 8;
    result.columns.push_back(mark);
  } else if (!leftOnly) {
    append(right);
    for (ColumnEstimate &column : llvm::drop_begin(result.columns, left.columns.size())) {
      column.ordered = false; // rows come as the left side's do
    }
  }
  // A key of an inner join has only the values that both sides have.
  if (join.kind == JoinKind::Inner) {
    for (auto [leftName, rightName] : llvm::zip_equal(join.leftKeys, join.rightKeys)) {
      ColumnEstimate &a = result.columns[*leftType.findColumn(leftName)];
      ColumnEstimate &b = result.columns[left.columns.size() + *rightType.findColumn(rightName)];
      a.domain = b.domain = std::min(a.domain, b.domain);
      a.distinct = b.distinct = std::min(a.distinct, b.distinct);
      a.nullFraction = b.nullFraction = 0;
    }
  }
  if (join.kind == JoinKind::Semi) {
    for (auto [leftName, key] : llvm::zip_equal(join.leftKeys, rightKeys)) {
      ColumnEstimate &kept = result.columns[*leftType.findColumn(leftName)];
      kept.distinct = std::min(kept.distinct, key->distinct);
      kept.nullFraction = 0;
      if (shareOf(*key) < 1) {
        kept.among = key->origin;
        kept.amongShare = shareOf(*key);
      }
    }
  }
  if (leftOnly || exact ||
      (leftOnce && join.kind != JoinKind::Full && join.kind != JoinKind::Right)) {
    llvm::append_range(result.uniqueKeys, left.uniqueKeys);
  }
  if (rightOnce && (join.kind == JoinKind::Inner || join.kind == JoinKind::Right)) {
    llvm::append_range(result.uniqueKeys, right.uniqueKeys);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// CardinalityAnalysis
//===----------------------------------------------------------------------===//

static TableEstimate joinOpEstimate(JoinOp op, const TableEstimate &left,
                                    const TableEstimate &right) {
  JoinDescription join;
  join.kind = op.getKind();
  llvm::append_range(join.leftKeys, op.getLeftKeys().getAsRange<StringAttr>());
  llvm::append_range(join.rightKeys, op.getRightKeys().getAsRange<StringAttr>());
  TableType leftType = op.getLeft().getType();
  TableType rightType = op.getRight().getType();
  double residual = 1;
  if (op.hasResidual()) {
    auto columns = [&](BlockArgument argument) {
      auto name = cast<StringAttr>((*op.getResidualColumns())[argument.getArgNumber()]);
      return leftType.hasColumn(name) ? &columnNamed(left, leftType, name)
                                      : &columnNamed(right, rightType, name);
    };
    auto yield = cast<YieldOp>(op.getResidual().front().getTerminator());
    residual = selectivityOf(yield.getValues().front(), columns);
  }
  return estimateJoin(join, left, leftType, right, rightType, residual);
}

/// A table of which nothing is known but its type (function arguments, tensors).
static TableEstimate unknownTable(TableType type) {
  TableEstimate result;
  result.rows.expected = kUnknownRows;
  result.rows.p95 = 10 * kUnknownRows;
  for (Type column : type.getColumnTypes()) {
    result.columns.push_back(scanColumn({}, column, kUnknownRows, nullptr));
  }
  return result;
}

/// One estimate for each relational op.
struct CardinalityAnalysis::Visitor {
  CardinalityAnalysis &analysis;

  const TableEstimate &of(Value table) { return analysis.of(table); }

  TableEstimate operator()(ScanOp op) { return scanEstimate(op); }
  TableEstimate operator()(ValuesOp op) { return valuesEstimate(op); }
  TableEstimate operator()(FromTensorOp op) { return unknownTable(op.getType()); }
  TableEstimate operator()(FilterOp op) { return filterOpEstimate(op, of(op.getInput())); }
  TableEstimate operator()(ProjectOp op) { return projectEstimate(op, of(op.getInput())); }
  TableEstimate operator()(ExpandOp op) { return expandEstimate(op, of(op.getInput())); }
  TableEstimate operator()(RenameOp op) { return renameEstimate(op, of(op.getInput())); }
  TableEstimate operator()(JoinOp op) {
    return joinOpEstimate(op, of(op.getLeft()), of(op.getRight()));
  }
  TableEstimate operator()(AggregateOp op) { return aggregateEstimate(op, of(op.getInput())); }
  TableEstimate operator()(DistinctOp op) {
    TableEstimate result = of(op.getInput());
    SmallVector<const ColumnEstimate *> columns;
    for (const ColumnEstimate &column : result.columns) {
      columns.push_back(&column);
    }
    double rows = result.rows.expected;
    result.rows.expected = distinctTuples(columns, rows, &ColumnEstimate::distinct);
    result.rows.p95 = std::min(result.rows.p95, result.rows.expected * kAggregateDoubt);
    result.rows.min = std::min(1.0, result.rows.min);
    result.rows = ordered(result.rows);
    auto &unique = result.uniqueKeys.emplace_back();
    llvm::append_range(unique, op.getType().getNames());
    return result;
  }
  TableEstimate operator()(WindowOp op) { return windowEstimate(op, of(op.getInput())); }
  TableEstimate operator()(SortOp op) {
    TableEstimate result = of(op.getInput());
    for (ColumnEstimate &column : result.columns) {
      column.ordered = false;
    }
    return result;
  }
  TableEstimate operator()(LimitOp op) {
    std::optional<double> count;
    if (std::optional<uint64_t> rows = op.getCount()) {
      count = static_cast<double>(*rows);
    }
    return rowRangeEstimate(of(op.getInput()), op.getOffset(), count);
  }
  TableEstimate operator()(TopKOp op) {
    return rowRangeEstimate(of(op.getInput()), op.getOffset(), op.getCount());
  }
  TableEstimate operator()(UnionOp op) {
    SmallVector<const TableEstimate *> inputs;
    for (Value input : op.getInputs()) {
      inputs.push_back(&of(input));
    }
    return unionOf(inputs);
  }
};

TableEstimate CardinalityAnalysis::compute(Operation *op) {
  if (auto relation = dyn_cast<RelationalOpInterface>(op)) {
    return visitRelation(relation, Visitor{*this});
  }
  // An op of a later level: one that yields the same table from each region, one that passes a
  // table on, perhaps with its rank, or a source that is not known.
  if (op->getNumRegions() > 0 && !op->getRegion(0).empty()) {
    Operation &last = op->getRegion(0).back().back();
    if (last.getNumOperands() == 1 && last.getOperand(0).getType() == op->getResult(0).getType()) {
      return of(last.getOperand(0));
    }
  }
  for (Value operand : op->getOperands()) {
    if (operand.getType() == op->getResult(0).getType()) {
      return of(operand);
    }
  }
  if (auto place = dyn_cast<dist::PlaceOp>(op)) {
    TableEstimate result = of(place.getInput());
    ColumnEstimate &rank = result.columns.emplace_back();
    rank.distinct = rank.domain = static_cast<double>(topo::ranksAlong(op, place.getAxes()));
    rank.bytes = valueBytes(place.getType().getColumnTypes().back(), 0);
    return result;
  }
  return unknownTable(cast<TableType>(op->getResult(0).getType()));
}

const TableEstimate &CardinalityAnalysis::of(Value table) {
  auto found = estimates_.find(table);
  if (found != estimates_.end()) {
    return *found->second;
  }
  Operation *op = table.getDefiningOp();
  auto estimate = std::make_unique<TableEstimate>(
      op ? compute(op) : unknownTable(cast<TableType>(table.getType())));
  return *(estimates_[table] = std::move(estimate));
}

const ColumnEstimate &CardinalityAnalysis::columnOf(Value table, StringRef column) {
  return columnNamed(of(table), cast<TableType>(table.getType()), column);
}

double CardinalityAnalysis::bytesPerRow(Value table) {
  constexpr double kOffsetBytes = 4; // of a string in a chunk
  double bytes = 0;
  for (auto [type, column] :
       llvm::zip_equal(cast<TableType>(table.getType()).getColumnTypes(), of(table).columns)) {
    bytes += column.bytes + (isHeldAsText(dropNullable(type)) ? kOffsetBytes : 0);
  }
  return bytes;
}
