// Widths of columns from their ranges, and the rows of states as `form` will lay them out.
#include "passes/shard/row_estimates.h"

#include "passes/analysis/key_directory.h"
#include "passes/analysis/order_words.h"
#include "passes/analysis/scan_statistics.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::shard {
namespace {

using analysis::Range;
using plan::StateKind;

/// Bytes of a value in a kernel.
double bytesOf(Type type, const std::optional<Range> &range) {
  constexpr double kStringHandle = 16;
  Type plain = dropNullable(type);
  if (isHeldAsText(plain)) {
    return kStringHandle;
  }
  if (plain.isInteger(1)) {
    return 1;
  }
  if (isTemporal(plain)) {
    return integerBits(plain) / 8.0;
  }
  if (isDoubleDouble(plain)) {
    return 16;
  }
  constexpr unsigned kLeastBits = 32; // of integers, as `form` makes them
  return range ? std::max(kLeastBits, analysis::bitsFor(*range)) / 8.0
               : plain.getIntOrFloatBitWidth() / 8.0;
}

/// What a scan's column is called in the file; null for ordinals.
StringAttr fileColumn(ScanOp scan, StringAttr column) {
  unsigned index = *scan.getResult().getType().findColumn(column);
  ArrayAttr files = scan.getFileColumns();
  return index < files.size() ? cast<StringAttr>(files[index]) : StringAttr();
}

} // namespace

double stringsAmong(TableType type, ArrayRef<StringAttr> columns) {
  return static_cast<double>(llvm::count_if(columns, [&](StringAttr name) {
    Type column = type.getColumnType(name);
    return column && isHeldAsText(dropNullable(column));
  }));
}

double realsAmong(TableType type) {
  return static_cast<double>(llvm::count_if(type.getColumnTypes(), [](Type column) {
    Type plain = dropNullable(column);
    return isa<FloatType>(plain) || isDoubleDouble(plain);
  }));
}

cost::RowShape RowEstimates::shapeOf(Value table, llvm::function_ref<bool(StringAttr)> counts) {
  cost::RowShape shape;
  for (const Column &column : cast<TableType>(table.getType()).getColumns()) {
    if (!counts(column.name)) {
      continue;
    }
    std::optional<Range> range = ranges_.rangeOf(table, column.name);
    double bytes = bytesOf(column.type, range);
    bool text = isHeldAsText(dropNullable(column.type));
    shape.columns += 1;
    shape.strings += text ? 1 : 0;
    shape.nullable += isNullable(column.type) ? 1 : 0;
    shape.bytes += bytes;
    if (text) {
      shape.textBytes += ranges_.cardinality().columnOf(table, column.name).bytes;
    }
    if (auto scan = table.getDefiningOp<ScanOp>()) {
      addPages(shape, scan, column, bytes);
    }
  }
  return shape;
}

void RowEstimates::addPages(cost::RowShape &shape, ScanOp scan, const Column &column,
                            double bytes) {
  StringAttr file = fileColumn(scan, column.name);
  if (!file) {
    shape.valueBytes += bytes; // ordinals
    return;
  }
  analysis::ColumnPages pages = analysis::pagesOf(scan, file, column.type, bytes);
  bool text = isHeldAsText(dropNullable(column.type));
  bool coded = pages.form != plan::PageForm::kValues;
  (coded ? shape.codeBytes : shape.valueBytes) += pages.bytes;
  shape.fileBytes += pages.fileBytes;
  if (text) {
    shape.texts += coded ? 0 : 1;
    shape.plainTextBytes += coded ? 0 : pages.textBytes;
  } else if (coded) {
    (pages.form == plan::PageForm::kCode ? shape.codes : shape.gathered) += 1;
  }
}

analysis::ColumnPages RowEstimates::pagesOf(ScanOp scan, StringAttr column) {
  StringAttr file = fileColumn(scan, column);
  Type type = scan.getResult().getType().getColumnType(column);
  return file ? analysis::pagesOf(scan, file, type, 0) : analysis::ColumnPages();
}

cost::RowShape RowEstimates::shapeOf(Value table) {
  auto [it, added] = shapes_.try_emplace(table);
  if (added) {
    it->second = shapeOf(table, [](StringAttr) { return true; });
  }
  return it->second;
}

cost::StateShape RowEstimates::joinTable(const analysis::JoinSides &sides, double rows,
                                         double probes) {
  cost::StateShape state;
  state.kind = StateKind::kJoinTable;
  state.rows = rows;
  cost::RowShape shape = shapeOf(sides.build);
  state.rowBytes = cost::stateRowBytes(state.kind, shape);
  state.texts =
      shape.strings - stringsAmong(cast<TableType>(sides.build.getType()),
                                   llvm::to_vector(sides.buildKeys.getAsRange<StringAttr>()));
  if (sides.buildKeys.size() == 1) {
    auto key = cast<StringAttr>(sides.buildKeys[0]);
    std::optional<Range> range = ranges_.rangeOf(sides.build, key);
    if (range && !isNullable(cast<TableType>(sides.build.getType()).getColumnType(key))) {
      auto [directory, extent] = analysis::keyDirectory(range->low, range->high, rows, probes);
      state.directory = directory;
      state.extent = static_cast<double>(extent);
    }
  }
  return state;
}

cost::Arrival RowEstimates::arrival(Value table, ArrayRef<StringAttr> keys) {
  cost::Arrival arrival;
  for (StringAttr key : keys) {
    const analysis::ColumnEstimate &column = ranges_.cardinality().columnOf(table, key);
    std::optional<Range> range = ranges_.rangeOf(table, key);
    if (column.ordered && range) {
      arrival.order = cost::RowOrder::kClustered;
      arrival.orderExtent = static_cast<double>(range->high) - static_cast<double>(range->low) + 1;
    }
  }
  return arrival;
}

cost::StateShape RowEstimates::groupTable(Value result, double groups) {
  cost::StateShape state;
  state.kind = StateKind::kGroupTable;
  state.rows = groups;
  state.rowBytes = cost::stateRowBytes(state.kind, shapeOf(result));
  state.reals = realsAmong(cast<TableType>(result.getType()));
  return state;
}

double RowEstimates::heldBytes(const cost::StateShape &state, Value table) {
  double texts = 0;
  const analysis::TableEstimate &estimate = ranges_.cardinality().of(table);
  for (auto [column, known] :
       llvm::zip_equal(cast<TableType>(table.getType()).getColumnTypes(), estimate.columns)) {
    texts += isHeldAsText(dropNullable(column)) ? known.bytes : 0;
  }
  return state.workingSet() + state.rows * texts;
}

cost::StateShape RowEstimates::sortBuffer(Value input, double rows, double limit, ArrayAttr order) {
  cost::StateShape state;
  state.kind = StateKind::kSortBuffer;
  state.rows = rows;
  state.rowBytes = cost::stateRowBytes(state.kind, shapeOf(input));
  state.limit = limit;
  state.texts = shapeOf(input).strings;
  if (order) {
    auto type = cast<TableType>(input.getType());
    auto bitsOf = [&](StringAttr name) {
      Type column = type.getColumnType(name);
      return 8 * bytesOf(column, ranges_.rangeOf(input, name)) + (isNullable(column) ? 1 : 0);
    };
    state.orderWords = analysis::orderWords(ranges_.cardinality(), input, order, rows, bitsOf);
    for (auto key : order.getAsRange<frame::SortKeyAttr>()) {
      state.orderTexts += frame::isHeldAsText(dropNullable(type.getColumnType(key.getColumn())));
    }
  }
  return state;
}

} // namespace headrace::shard
