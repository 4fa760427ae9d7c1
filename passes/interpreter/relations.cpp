// Filter, project, sort, limit, distinct, union and literal rows.
#include "passes/interpreter/relations.h"
#include "dialects/frame/VisitRelation.h"

#include <algorithm>
#include <set>

using namespace mlir;
using namespace headrace::frame;

namespace headrace::interpreter {

SmallVector<unsigned> columnPositions(TableType type, ArrayAttr names) {
  SmallVector<unsigned> positions;
  for (auto name : names.getAsRange<StringAttr>()) {
    positions.push_back(*type.findColumn(name.getValue()));
  }
  return positions;
}

static Row pick(const Row &row, ArrayRef<unsigned> positions) {
  Row picked;
  for (unsigned position : positions) {
    picked.push_back(row[position]);
  }
  return picked;
}

std::function<int(const Row &, const Row &)> rowOrder(TableType type, ArrayAttr keys) {
  SmallVector<std::pair<unsigned, SortKeyAttr>> order;
  for (auto key : keys.getAsRange<SortKeyAttr>()) {
    order.emplace_back(*type.findColumn(key.getColumn().getValue()), key);
  }
  return [order](const Row &a, const Row &b) {
    for (auto [position, key] : order) {
      const Scalar &x = a[position];
      const Scalar &y = b[position];
      if (x.isNull() || y.isNull()) {
        int order = static_cast<int>(x.isNull()) - static_cast<int>(y.isNull()); // NULLs last
        if (order != 0) {
          return key.getNulls() == NullsOrder::Last ? order : -order;
        }
        continue;
      }
      if (int order = analysis::compareScalars(x, y)) {
        return key.getDirection() == SortDirection::Asc ? order : -order;
      }
    }
    return 0;
  };
}

void sortRows(Table &table, ArrayAttr keys) {
  auto compareKeys = rowOrder(table.type, keys);
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const Row &a, const Row &b) {
    int order = compareKeys(a, b);
    return order != 0 ? order < 0 : compareRows(a, b) < 0;
  });
}

static void limitRows(Table &table, uint64_t offset, std::optional<uint64_t> count) {
  uint64_t rows = table.rows.size();
  uint64_t begin = std::min(offset, rows);
  uint64_t end = begin + std::min(count.value_or(rows), rows - begin);
  table.rows = std::vector<Row>(table.rows.begin() + static_cast<ptrdiff_t>(begin),
                                table.rows.begin() + static_cast<ptrdiff_t>(end));
}

static void distinctRows(Table &table) {
  std::set<Row, RowLess> seen;
  std::vector<Row> rows;
  for (Row &row : table.rows) {
    if (seen.insert(row).second) {
      rows.push_back(std::move(row));
    }
  }
  table.rows = std::move(rows);
}

static llvm::Expected<Table> filter(FilterOp op, const Table &input, OuterScalars outer) {
  RowExpressions predicate(op.getPredicate(), outer);
  SmallVector<unsigned> columns = columnPositions(input.type, op.getColumns());
  Table result{input.type, {}};
  for (const Row &row : input.rows) {
    llvm::Expected<Row> truth = predicate.evaluate(pick(row, columns));
    if (!truth) {
      return truth.takeError();
    }
    if (truth->front().isTrue()) {
      result.rows.push_back(row);
    }
  }
  return result;
}

static llvm::Expected<Table> project(ProjectOp op, const Table &input, OuterScalars outer) {
  RowExpressions expressions(op.getExpressions(), outer);
  SmallVector<unsigned> columns = columnPositions(input.type, op.getColumns());
  // Where each result column comes from: a position of the input, or the position among the
  // computed ones.
  struct Source {
    bool kept;
    unsigned position;
  };
  SmallVector<Source> sources;
  auto computed = llvm::to_vector(op.getComputed().getAsRange<StringAttr>());
  for (StringAttr name : op.getType().getNames()) {
    auto found = llvm::find(computed, name);
    bool kept = found == computed.end();
    sources.push_back({kept, kept ? *input.type.findColumn(name.getValue())
                                  : static_cast<unsigned>(found - computed.begin())});
  }
  Table result{op.getType(), {}};
  for (const Row &row : input.rows) {
    llvm::Expected<Row> values = expressions.evaluate(pick(row, columns));
    if (!values) {
      return values.takeError();
    }
    Row &out = result.rows.emplace_back();
    for (Source source : sources) {
      out.push_back(source.kept ? row[source.position] : (*values)[source.position]);
    }
  }
  return result;
}

static Table expand(ExpandOp op, const Table &input) {
  unsigned by = *input.type.findColumn(op.getBy());
  Table result{op.getType(), {}};
  for (const Row &row : input.rows) {
    for (analysis::Int128 number = 1; number <= row[by].integer(); ++number) {
      result.rows.push_back(row);
      result.rows.back().push_back({number});
    }
  }
  return result;
}

static Table literalRows(ValuesOp op) {
  Table result{op.getType(), {}};
  for (auto literals : op.getRows().getAsRange<ArrayAttr>()) {
    Row &row = result.rows.emplace_back();
    for (auto [literal, type] : llvm::zip_equal(literals, op.getType().getColumnTypes())) {
      row.push_back(analysis::scalarOf(literal, type));
    }
  }
  return result;
}

namespace {

/// The result of each relational op.
struct Evaluation {
  ArrayRef<const Table *> inputs;
  OuterScalars outer;
  using Result = llvm::Expected<Table>;

  Result operator()(ScanOp op) { return unknown(op); }
  Result operator()(ValuesOp op) { return literalRows(op); }
  Result operator()(FromTensorOp op) { return unknown(op); }
  Result operator()(FilterOp op) { return filter(op, *inputs[0], outer); }
  Result operator()(ProjectOp op) { return project(op, *inputs[0], outer); }
  Result operator()(RenameOp op) { return Table{op.getType(), inputs[0]->rows}; }
  Result operator()(ExpandOp op) { return expand(op, *inputs[0]); }
  Result operator()(JoinOp op) { return evaluateJoin(op, *inputs[0], *inputs[1], outer); }
  Result operator()(AggregateOp op) {
    return aggregateRows(op.getType(), *inputs[0], op.getKeys(),
                         llvm::to_vector(op.getMeasureRange()), op.getStage());
  }
  Result operator()(WindowOp op) { return windowRows(op, *inputs[0]); }
  Result operator()(DistinctOp) {
    Table result = *inputs[0];
    distinctRows(result);
    return result;
  }
  Result operator()(SortOp op) { return inOrder(op); }
  Result operator()(LimitOp op) { return inOrder(op); }
  Result operator()(TopKOp op) { return inOrder(op); }
  Result operator()(UnionOp op) {
    Table result{op.getType(), {}};
    for (const Table *input : inputs) {
      result.rows.insert(result.rows.end(), input->rows.begin(), input->rows.end());
    }
    return result;
  }

  Result inOrder(RelationalOpInterface op) {
    Table result = *inputs[0];
    RowState state = op.getState();
    if (state.order) {
      sortRows(result, state.order);
    }
    limitRows(result, state.offset, state.count);
    return result;
  }
  static Result unknown(Operation *op) {
    return programError("the interpreter does not know " + op->getName().getStringRef());
  }
};

} // namespace

llvm::Expected<Table> evaluateRelation(RelationalOpInterface op, ArrayRef<const Table *> inputs,
                                       OuterScalars outer) {
  return visitRelation(op, Evaluation{inputs, outer});
}

} // namespace headrace::interpreter
