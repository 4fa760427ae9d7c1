// Counts rows, columns and scalar ops of relational ops.
#include "passes/shard/op_work.h"
#include "model/plan/coded_groups.h"

#include "model/plan/page_form.h"
#include "model/plan/text_work.h"
#include "passes/shard/carried_windows.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::shard {
namespace {

double widthOf(Operation *op) {
  double bytes = 1;
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())}) {
    for (Type type : types) {
      Type plain = dropNullable(type);
      bytes = std::max(bytes, plain.isIntOrFloat()    ? plain.getIntOrFloatBitWidth() / 8.0
                              : isTemporal(plain)     ? integerBits(plain) / 8.0
                              : isDoubleDouble(plain) ? 16
                              : isHeldAsText(plain)   ? 1
                                                      : 8);
    }
  }
  return bytes;
}

/// How the scalar ops of a region run: on vectors of a scan's rows, or row by row.
enum class Form : uint8_t { kVectors, kRows };

/// How often an op is done for a row: more than once in a region for the elements of a list, of
/// whose length nothing is known.
double timesOf(Operation *op) {
  constexpr double kElementsOfList = 8;
  double times = 1;
  for (op = op->getParentOp(); isa_and_nonnull<FlatMapOp, ReduceOp, TryOp>(op);
       op = op->getParentOp()) {
    times *= isa<TryOp>(op) ? 1 : kElementsOfList;
  }
  return times;
}

bool isText(Value value) { return isHeldAsText(dropNullable(value.getType())); }

/// Of an op that reads or writes texts, of which its region's columns have `bytes` a row.
void addTextOp(cost::Terms &terms, ScalarOpInterface op, double units, double bytes) {
  auto like = dyn_cast<LikeOp>(*op);
  const bool isConstant = llvm::any_of(op->getOperands(), [](Value operand) {
    return isa_and_nonnull<ConstantOp>(operand.getDefiningOp());
  });
  if (op.getWork() == ScalarWork::kMakeText || isa<CastOp>(*op)) {
    terms["text"] += units;
    terms["text_byte"] += llvm::any_of(op->getOperands(), isText) ? units * bytes : 0;
  } else if (op.getWork() == ScalarWork::kMatchText &&
             (like ? plan::searchesText(like.getPattern()) : !isa<SubstringOp>(*op))) {
    auto function = dyn_cast<TextOp>(*op);
    units *= function ? plan::searchUnits(function.getFunction()) : 1;
    terms["match_string"] += units;
    terms["search_byte"] += units * bytes;
  } else if (op.getWork() == ScalarWork::kMatchText || isa<InOp>(*op) || isConstant) {
    terms["match_string"] += plan::kEndOfText * units;
  } else {
    terms["compare_string"] += units;
  }
}

/// Ops of a region that are done for the entries of dictionaries, and how many these are.
using EntryOps = llvm::DenseMap<Operation *, double>;

/// Units of work of the region's ops on `rows` rows; its columns have `textBytes` of texts a row.
void addExpressions(cost::Terms &terms, Region &region, double rows, double textBytes, Form form,
                    const EntryOps &entries = EntryOps()) {
  region.walk([&](ScalarOpInterface op) {
    auto tried = entries.find(op);
    const double times = tried == entries.end() ? rows : tried->second;
    double units = times * op.getWorkUnits() * timesOf(op);
    switch (op.getWork()) {
    case ScalarWork::kNone:
      return;
    case ScalarWork::kCall:
      terms["date_part"] += units;
      return;
    case ScalarWork::kDivide:
      terms["divide"] += units;
      return;
    case ScalarWork::kMatchText:
    case ScalarWork::kMakeText:
    case ScalarWork::kPlain:
      break;
    }
    const bool reads = llvm::any_of(op->getOperands(), isText);
    const bool prints = isa<CastOp>(*op) && isText(op->getResult(0));
    if (reads && prints) { // is now one that may be NULL
      return;
    }
    if (op.getWork() != ScalarWork::kPlain || prints || reads) {
      addTextOp(terms, op, units, textBytes);
    } else if (form == Form::kVectors) {
      terms["vector_byte"] += units * widthOf(op);
    } else {
      terms["scalar"] += units;
    }
  });
}

/// The scan, if there are only filters between it and these rows.
ScanOp scanBelow(Value rows) {
  auto filter = rows.getDefiningOp<FilterOp>();
  return filter ? scanBelow(filter.getInput()) : rows.getDefiningOp<ScanOp>();
}
bool isOnScan(FilterOp filter) { return scanBelow(filter.getInput()) != nullptr; }

bool readsText(FilterOp filter) {
  TableType type = filter.getInput().getType();
  return llvm::any_of(filter.getColumns().getAsRange<StringAttr>(), [&](StringAttr name) {
    return isHeldAsText(dropNullable(type.getColumnType(name)));
  });
}

/// The text column of which a filter over a scan looks up codes only: its condition was tried on
/// the dictionary. Null for other filters.
StringAttr codedColumn(FilterOp filter) {
  bool coded = isOnScan(filter) && filter.getColumns().size() == 1 && readsText(filter);
  return coded ? cast<StringAttr>(filter.getColumns()[0]) : StringAttr();
}

/// The filters that alone read a scan and are tried at once, so that other columns are decoded for
/// the rows that they keep.
SmallVector<FilterOp> firstFilters(ScanOp scan) {
  SmallVector<FilterOp> filters;
  for (Operation *op = scan; op->hasOneUse();) {
    auto filter = dyn_cast<FilterOp>(*op->user_begin());
    bool together = filter && (codedColumn(filter) || !readsText(filter));
    if (!filter || (!together && !filters.empty())) {
      break;
    }
    filters.push_back(filter);
    if (!together) {
      break;
    }
    op = filter;
  }
  return filters;
}

/// Whether a column of the filter's result is used.
bool isReadAfter(FilterOp filter, StringAttr column) {
  return llvm::any_of(filter->getUsers(), [&](Operation *user) {
    auto project = dyn_cast<ProjectOp>(user);
    return !project || llvm::is_contained(project.getKept(), Attribute(column)) ||
           llvm::is_contained(project.getColumns(), Attribute(column));
  });
}

} // namespace

static RowState stateOf(Operation *op) {
  auto relation = dyn_cast<RelationalOpInterface>(op);
  return relation ? relation.getState() : RowState();
}

double limitOf(Operation *op) {
  RowState state = stateOf(op);
  return state.count ? static_cast<double>(state.offset + *state.count) : 0;
}

ArrayAttr orderOf(Operation *op) { return stateOf(op).order; }

cost::StepWork OpWork::scan(ScanOp op, double parts, StringAttr kept) {
  double rows = rows_.rowsOf(op) / parts;
  SmallVector<FilterOp> filters = firstFilters(op);
  if (filters.empty() && !kept) {
    return cost::scanRows(rows, rows_.shapeOf(op), {}, 0, {}, parts);
  }
  // Texts without a dictionary are decoded for the filter.
  auto isCodedIn = [&](FilterOp filter, StringAttr name) {
    return name == codedColumn(filter) && RowEstimates::pagesOf(op, name).tried > 0;
  };
  auto isEarly = [&](StringAttr name) {
    return name == kept || llvm::any_of(filters, [&](FilterOp filter) {
             return llvm::is_contained(filter.getColumns(), Attribute(name)) &&
                    !isCodedIn(filter, name);
           });
  };
  auto isCoded = [&](StringAttr name) {
    return llvm::any_of(filters, [&](FilterOp filter) { return isCodedIn(filter, name); });
  };
  auto isLate = [&](StringAttr name) {
    return !isEarly(name) && (!isCoded(name) || isReadAfter(filters.back(), name));
  };
  auto isOnlyCoded = [&](StringAttr name) { return !isEarly(name) && !isLate(name); };
  const double left = filters.empty() ? rows : rows_.rowsOf(filters.back()) / parts;
  return cost::scanRows(rows, rows_.shapeOf(op, isEarly), rows_.shapeOf(op, isLate), left,
                        rows_.shapeOf(op, isOnlyCoded), parts);
}

cost::StepWork OpWork::keepStretches(double rows) {
  cost::StepWork filter;
  filter.rows = rows;
  filter.lanes["select"] = rows;
  filter.lanes["vector_byte"] = rows * plan::kPositionBytes;
  return filter;
}

/// The ops that make something of one text of a scan alone, which rows look up
/// (passes/lower/cpu/entry_maps.h); `read`: how many of its values are looked up.
static EntryOps entryOps(ProjectOp project, ScanOp scan, double rows, double scanned,
                         double &read) {
  EntryOps found;
  llvm::DenseMap<Value, double> entries; // of the one dictionary; of constants: 0
  Block &body = project.getExpressions().front();
  for (auto [name, column] :
       llvm::zip_equal(project.getColumns().getAsRange<StringAttr>(), body.getArguments())) {
    const double tried = isText(column) ? RowEstimates::pagesOf(scan, name).tried : 0;
    if (plan::triesEntries(tried, rows / scanned, rows / scanned)) {
      entries[column] = tried * scanned;
    }
  }
  auto isMade = [&](Value value) { return entries.contains(value); };
  for (Operation &op : body.without_terminator()) {
    double size = 0;
    bool isOfOne = op.getNumRegions() == 0 && llvm::all_of(op.getOperands(), isMade);
    for (Value value : op.getOperands()) { // two texts are taken to have different numbers
      const double of = entries.lookup(value);
      isOfOne &= of == 0 || size == 0 || of == size;
      size = std::max(size, of);
    }
    if (!isOfOne) {
      continue;
    }
    for (Value result : op.getResults()) {
      entries[result] = size;
    }
    if (size > 0) {
      found[&op] = size;
    }
  }
  for (auto [op, size] : found) {
    read += llvm::any_of(op->getUsers(), [&](Operation *user) { return !found.contains(user); });
  }
  return found;
}

cost::StepWork OpWork::rowWise(Operation *op, double parts) {
  cost::StepWork step;
  step.rows = rows_.rowsOf(op->getOperand(0)) / parts;
  auto columns = op->getAttrOfType<ArrayAttr>("columns");
  auto isRead = [&](StringAttr name) { return llvm::is_contained(columns, Attribute(name)); };
  const double textBytes = columns ? rows_.shapeOf(op->getOperand(0), isRead).textBytes : 0;
  if (auto filter = dyn_cast<FilterOp>(op)) {
    if (StringAttr column = codedColumn(filter)) {
      // Tried on the entries of a dictionary, or on the texts of the pages.
      const analysis::ColumnPages pages =
          RowEstimates::pagesOf(scanBelow(filter.getInput()), column);
      const bool coded = pages.tried > 0;
      const double tried = coded ? pages.tried : 1;
      if (pages.form == plan::PageForm::kGathered) {
        step.lanes["decode_gathered"] = step.rows;
      } else if (coded) {
        step.lanes["mapped"] = plan::kMappedFlag * step.rows;
      }
      step.lanes["select"] = step.rows;
      addExpressions(step.lanes, filter.getPredicate(), tried * step.rows, textBytes, Form::kRows);
    } else if (isOnScan(filter) && !readsText(filter)) {
      step.lanes["select"] = step.rows;
      addExpressions(step.lanes, filter.getPredicate(), step.rows, textBytes, Form::kVectors);
    } else {
      addExpressions(step.lanes, filter.getPredicate(), step.rows, textBytes, Form::kRows);
    }
  } else if (auto project = dyn_cast<ProjectOp>(op)) {
    ScanOp scan = scanBelow(project.getInput());
    double read = 0;
    const EntryOps entries =
        scan ? entryOps(project, scan, step.rows, rows_.rowsOf(scan) / parts, read) : EntryOps();
    if (read > 0) {
      step.lanes["decode_gathered"] = read * step.rows;
    }
    addExpressions(step.lanes, project.getExpressions(), step.rows, textBytes, Form::kRows,
                   entries);
  }
  return step;
}

cost::StepWork OpWork::build(const analysis::JoinSides &sides, double rows, double probes) {
  auto keys = llvm::to_vector(sides.buildKeys.getAsRange<StringAttr>());
  cost::Arrival arrival = rows_.arrival(sides.build, keys);
  arrival.lanes = model_.workers().lanes();
  return cost::buildTable(rows_.joinTable(sides, rows, probes), static_cast<double>(keys.size()),
                          stringsAmong(cast<TableType>(sides.build.getType()), keys), arrival);
}

cost::StepWork OpWork::probe(const analysis::JoinSides &sides, double rows, double buildRows,
                             double matches) {
  auto keys = llvm::to_vector(sides.probeKeys.getAsRange<StringAttr>());
  cost::Arrival arrival = rows_.arrival(sides.probe, keys);
  arrival.copies = static_cast<double>(model_.workers().ranks);
  return cost::probeTable(rows_.joinTable(sides, buildRows, rows), rows, matches,
                          static_cast<double>(keys.size()),
                          stringsAmong(cast<TableType>(sides.probe.getType()), keys), arrival);
}

/// The scan that a column of texts comes from, if nothing reads its texts on the way.
static ScanOp scanBeside(Value rows, StringAttr name) {
  auto reads = [&](ArrayAttr columns) { return llvm::is_contained(columns, Attribute(name)); };
  if (auto filter = rows.getDefiningOp<FilterOp>()) {
    return reads(filter.getColumns()) ? ScanOp() : scanBeside(filter.getInput(), name);
  }
  if (auto project = rows.getDefiningOp<ProjectOp>()) {
    bool passes = llvm::is_contained(project.getKept(), Attribute(name));
    return passes && !reads(project.getColumns()) ? scanBeside(project.getInput(), name) : ScanOp();
  }
  return rows.getDefiningOp<ScanOp>();
}

bool OpWork::areCoded(Value input, ArrayRef<StringAttr> keys, double groups) {
  auto type = cast<TableType>(input.getType());
  double combinations = 1;
  for (StringAttr key : keys) {
    Type column = type.getColumnType(key);
    if (std::optional<analysis::Range> range = rows_.rangeOf(input, key)) {
      combinations *= static_cast<double>(range->high - range->low) + (isNullable(column) ? 2 : 1);
      continue;
    }
    ScanOp scan = isHeldAsText(dropNullable(column)) ? scanBeside(input, key) : ScanOp();
    if (!scan || RowEstimates::pagesOf(scan, key).tried == 0) {
      return false;
    }
    combinations *= rows_.columnOf(scan, key).distinct;
  }
  return std::max(combinations, groups) <= plan::kCodedGroupsMax;
}

cost::StepWork OpWork::group(Value input, Value result, double keys, double rows, double groups) {
  auto type = cast<TableType>(result.getType());
  ArrayRef<StringAttr> names = type.getNames();
  // The keys come first in the result, by the names that they have in the input.
  ArrayRef<StringAttr> keyNames = names.take_front(static_cast<size_t>(keys));
  cost::Arrival arrival = rows_.arrival(input, keyNames);
  arrival.lanes = model_.workers().lanes();
  arrival.copies = static_cast<double>(model_.workers().ranks);
  cost::StateShape state = rows_.groupTable(result, groups);
  state.stringKeys = stringsAmong(type, keyNames);
  state.coded = areCoded(input, keyNames, groups);
  cost::StepWork step =
      cost::groupRows(state, rows, keys, static_cast<double>(names.size()) - keys, arrival);
  return step += cost::readState(state, groups, rows_.shapeOf(result));
}

cost::StepWork OpWork::sort(Value input, double rows, double limit, ArrayAttr order) {
  cost::RowShape shape = rows_.shapeOf(input);
  cost::StateShape state = rows_.sortBuffer(input, rows, limit, order);
  cost::StepWork step = cost::sortRows(state, rows, shape, model_.workers().lanes());
  if (limit > 0) {
    state.rows = std::min(limit, rows);
  }
  return step += cost::readState(state, state.rows, shape);
}

cost::StateShape OpWork::windowRows(Value result, double rows) {
  cost::StateShape state;
  state.kind = plan::StateKind::kWindow;
  state.rows = rows;
  state.rowBytes = cost::stateRowBytes(state.kind, rows_.shapeOf(result));
  return state;
}

double OpWork::partitionBytes(Value result, double rows) {
  return rows_.heldBytes(windowRows(result, rows), result);
}

cost::StepWork OpWork::partitions(Value input, Value result, double rows) {
  cost::StateShape state = windowRows(result, rows);
  cost::StepWork step = cost::sortRows(state, rows, rows_.shapeOf(input), model_.workers().lanes());
  return step += cost::readState(state, rows, rows_.shapeOf(result));
}

cost::StepWork OpWork::carried(WindowOp op, double rows) {
  cost::StepWork step = partitions(op.getInput(), op.getResult(), rows);
  step += cost::readState(windowRows(op.getResult(), rows), rows, rows_.shapeOf(op.getResult()));
  step.lanes["fold"] += rows;
  step.lanes["probe"] += rows;
  step.lanes["scalar"] += rows * static_cast<double>(op.getFunctions().size());
  if (isComputedTwice(op)) {
    step += partitions(op.getInput(), op.getResult(), rows);
  }
  return step;
}

cost::StepWork OpWork::unite(Value result, double parts) {
  double rows = rows_.rowsOf(result) / parts;
  cost::StepWork step = cost::emitRows(rows, rows_.shapeOf(result));
  return step += cost::receiveRows(rows, rows_.shapeOf(result), parts);
}

cost::StepWork OpWork::toTensor(ToTensorOp op, double parts) {
  double rows = rows_.rowsOf(op.getInput()) / parts;
  cost::RowShape shape = rows_.shapeOf(op.getInput());
  cost::StepWork step = cost::emitRows(rows, shape);
  step.lanes["tensor_byte"] = 2 * rows * shape.bytes;
  step.waits["task"] = 1;
  return step;
}

} // namespace headrace::shard
