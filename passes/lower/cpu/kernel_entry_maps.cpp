// What is made of one text of the scan alone: once for each entry of the text's dictionary, by all
// lanes, before the tiles of a morsel; rows look it up by their codes. Rows of pages without codes
// compute it, as all do where the memory has no room for it.
#include "passes/lower/cpu/kernel_entry_maps.h"

#include "runtime/abi/type_bytes.h"

#include "passes/analysis/physical.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
int64_t bytesOf(const ColumnValue &column) { return abi::bytesOf(physicalType(column.type)); }
bool isText(const ColumnValue &column) { return isa<pipe::StringType>(column.type); }
} // namespace

SmallVector<Value> KernelEmitter::cursorsOf(const Source &source) {
  if (source.consumed) {
    return {};
  }
  return source.entries ? source.entries->cursors() : SmallVector<Value>{source.cursor};
}

LogicalResult KernelEmitter::emitEntryMap(pipe::MapOp map) {
  Location outer = b_.loc();
  b_.setLoc(map.getLoc());
  auto name = cast<StringAttr>(map.getColumns()[0]);
  const Column scanned = columns_.lookup(name.getValue());
  Source source = sources_[scanned->source];
  auto entries = std::make_shared<EntryMap>(map.getBody().front(), dictionaryMaps_++);
  entries->text->type = scanned->type;
  entries->expression->textBytes = map.getTextBytes() ? map.getTextBytes()->convertToDouble() : 0;
  entries->isMade = scratch(8);
  entries->isLookedUp = scratch(8);
  keepAlive_.push_back(entries->expression);
  for (auto [index, made] : llvm::enumerate(map.getNames().getAsRange<StringAttr>())) {
    auto column = std::make_shared<ColumnValue>();
    column->type = map.getBody().front().getTerminator()->getOperand(index).getType();
    column->source = static_cast<int64_t>(sources_.size());
    column->result = index;
    if (isText(*column)) {
      column->kind = ColumnValue::Kind::kEntry;
      column->expression = entries->expression;
      column->isLookedUp = entries->isLookedUp;
    }
    columns_[made.getValue()] = column;
    entries->columns.push_back({column, scratch(sizeof(HrCursor)), scratch(sizeof(HrColumn)), 0});
  }
  // Widest first, so that each array is aligned to its values, however many entries there are.
  llvm::stable_sort(entries->columns, [](const EntryColumn &a, const EntryColumn &b) {
    return bytesOf(*a.column) > bytesOf(*b.column);
  });
  for (EntryColumn &column : entries->columns) {
    column.before = entries->bytes;
    entries->bytes += bytesOf(*column.column);
  }
  Value scannedColumn = b_.load(b_.ptrType(), b_.at(source.cursor, offsetof(HrCursor, column)));
  work_.set(WorkLog::Counting::kPaused);
  FailureOr<Value> memory = makeEntries(*entries, scannedColumn);
  work_.set(WorkLog::Counting::kOn);
  if (failed(memory)) {
    return failure();
  }
  openEntries(*entries, scannedColumn, *memory);
  b_.setLoc(outer);
  source.column = entries->columns.front().column;
  source.entries = std::move(entries);
  sources_.push_back(source);
  return success();
}

FailureOr<Value> KernelEmitter::makeEntries(const EntryMap &map, Value column) {
  Value todo = scratch(sizeof(HrRange));
  b_.store(b_.i64(0), todo);
  Block *ask = b_.newBlock(), *given = b_.newBlock(), *make = b_.newBlock(), *all = b_.newBlock(),
        *givesUp = b_.newBlock();
  b_.jump(ask);
  b_.enter(ask);
  Value memory = b_.callImport("hr_dictionary_map",
                               {worker_, b_.i32(map.number), column, b_.i32(map.bytes), todo});
  b_.branch(b_.isNull(memory), all, given);
  b_.enter(given);
  auto bound = [&](int64_t offset) {
    return b_.zeroExtend(b_.loadField(b_.getI32Type(), todo, offset), b_.getI64Type());
  };
  Value begin = bound(offsetof(HrRange, begin)), end = bound(offsetof(HrRange, end));
  b_.branch(b_.compare(arith::CmpIPredicate::ult, begin, end), make, all);
  b_.enter(make);
  Value dictionary = b_.loadField(b_.ptrType(), column, offsetof(HrColumn, dictionary));
  SmallVector<Value> arrays = arraysOf(map, column, memory);
  LogicalResult result = success();
  givesUp_ = givesUp;
  b_.forLoop(begin, end, 1, [&](Value index) {
    RowReader rows = reader(0, index);
    rows.bind(map.text, {b_.element(dictionary, index, bytesOf(*map.text)), Value()});
    FailureOr<SmallVector<Value>> values = rows.evaluate(*map.expression);
    if (failed(values)) {
      result = failure();
      return;
    }
    for (auto [column, array] : llvm::zip_equal(map.columns, arrays)) {
      Value value = (*values)[column.column->result];
      if (isText(*column.column)) { // other lanes may read what is there: never what will move
        Value kept = b_.slot(b_.getI64Type(), 2);
        storeValue(b_, column.column->type, value, kept);
        check(b_.callImport("hr_dictionary_keep", {worker_, b_.i32(map.number), kept}));
        value = kept;
      }
      storeValue(b_, column.column->type, value, b_.element(array, index, bytesOf(*column.column)));
    }
  });
  givesUp_ = nullptr;
  b_.jump(ask);
  if (givesUp->hasNoPredecessors()) { // nothing can fail
    givesUp->erase();
  } else {
    b_.enter(givesUp);
    b_.callImport("hr_dictionary_give_up", {worker_, b_.i32(map.number)});
    b_.jump(ask);
  }
  b_.enter(all);
  return failed(result) ? FailureOr<Value>(failure()) : memory;
}

/// Where the map's memory has what it made for each column.
SmallVector<Value> KernelEmitter::arraysOf(const EntryMap &map, Value column, Value memory) {
  Value entries = b_.zeroExtend(
      b_.loadField(b_.getI32Type(), column, offsetof(HrColumn, dictionaryCount)), b_.getI64Type());
  return llvm::map_to_vector(map.columns, [&](const EntryColumn &made) -> Value {
    return b_.element(memory, entries, made.before);
  });
}

/// Each column is decoded as the scanned one, with the map's array for a dictionary.
void KernelEmitter::openEntries(const EntryMap &map, Value column, Value memory) {
  b_.store(b_.select(b_.isNull(memory), b_.i64(0), b_.i64(1)), map.isMade);
  SmallVector<Value> arrays = arraysOf(map, column, memory);
  for (auto [made, array] : llvm::zip_equal(map.columns, arrays)) {
    b_.callImport("memcpy", {made.described, column, b_.i64(sizeof(HrColumn))});
    Value dictionary = b_.loadField(b_.ptrType(), column, offsetof(HrColumn, dictionary));
    b_.storeField(b_.select(b_.isNull(memory), dictionary, array), made.described,
                  offsetof(HrColumn, dictionary));
    b_.callImport("hr_cursor_open", {made.cursor, made.described});
  }
}

void KernelEmitter::decodeEntries(Source &source) {
  EntryMap &map = *source.entries;
  logEntries(source);
  map.text->level = level() == 0 ? 0 : 1;
  map.text->base = scratch(kBufferRows * bytesOf(*map.text));
  for (EntryColumn &made : map.columns) {
    made.column->source = -1;
    made.column->level = map.text->level;
    made.column->base = scratch(kBufferRows * bytesOf(*made.column));
  }
  Value encoding = b_.callImport("hr_cursor_encoding", {map.columns.front().cursor});
  auto is = [&](int32_t code) {
    return b_.compare(arith::CmpIPredicate::eq, encoding, b_.i32(code));
  };
  Value isCoded = b_.zeroExtend(arith::OrIOp::create(b_, b_.loc(), is(HR_CODES), is(HR_INDICES)),
                                b_.getI64Type());
  isCoded = arith::AndIOp::create(b_, b_.loc(), isCoded, b_.load(b_.getI64Type(), map.isMade));
  b_.store(isCoded, map.isLookedUp);
  Block *coded = b_.newBlock(), *plain = b_.newBlock(), *joined = b_.newBlock();
  b_.branch(b_.compare(arith::CmpIPredicate::ne, isCoded, b_.i64(0)), coded, plain);
  b_.enter(coded);
  for (const EntryColumn &made : map.columns) {
    decodeTo(made.cursor, *made.column);
  }
  b_.jump(joined);
  b_.enter(plain);
  work_.set(WorkLog::Counting::kPaused);
  computeRows(map);
  work_.set(WorkLog::Counting::kOn);
  b_.jump(joined);
  b_.enter(joined);
}

/// The texts of the tile, and what is made of them; but texts that are made, which would have to be
/// kept, are made where they are read.
void KernelEmitter::computeRows(const EntryMap &map) {
  decodeTo(map.columns.front().cursor, *map.text);
  Value rows = b_.truncate(b_.load(b_.getI64Type(), levels_[0].count), b_.getI32Type());
  for (const EntryColumn &made : llvm::drop_begin(map.columns)) {
    check(b_.callImport("hr_cursor_skip", {made.cursor, rows}));
  }
  SmallVector<Value> wanted;
  SmallVector<Column> columns;
  for (const EntryColumn &made : map.columns) {
    if (!isText(*made.column)) {
      wanted.push_back(map.expression->body->getTerminator()->getOperand(made.column->result));
      columns.push_back(made.column);
    }
  }
  if (wanted.empty()) {
    return;
  }
  Value count = b_.load(b_.getI64Type(), levels_[map.text->level].count);
  b_.forLoop(b_.i64(0), count, 1, [&](Value index) {
    FailureOr<SmallVector<Value>> values =
        reader(map.text->level, index).evaluate(*map.expression, wanted);
    assert(succeeded(values) && "what was emitted for entries cannot be for rows");
    for (auto [column, value] : llvm::zip_equal(columns, *values)) {
      storeValue(b_, column->type, value, b_.element(column->base, index, bytesOf(*column)));
    }
  });
}

void KernelEmitter::logEntries(const Source &source) {
  const EntryMap &map = *source.entries;
  const unsigned decoded = level() == 0 ? 0 : 1;
  for (const EntryColumn &made : map.columns) {
    if (!source.isCoded()) {
      break;
    }
    Source looked = source;
    looked.column = made.column;
    if (made.column->type.isInteger(1)) {
      // Registers hold the flags of few entries; among many each code looks for its own, as for a
      // value.
      const bool isFew = source.form == pipe::PageForm::Code;
      work_.add(isFew ? plan::WorkKind::kMapped : plan::WorkKind::kDecodeGathered, decoded,
                isFew ? plan::kMappedFlag : 1);
      work_.add(plan::WorkKind::kPageByte, 0, source.pageBytes);
    } else {
      logDecode(looked, decoded);
    }
  }
  if (!source.isCoded()) {
    Source texts = source;
    texts.column = map.text;
    logDecode(texts, decoded);
  }
  work_.setTimes(source.isCoded() ? source.triedEntries : 1);
  const unsigned tried = source.isCoded() ? 0 : decoded;
  for (Operation &op : *map.expression->body) {
    work_.addOp(&op, tried, 0, map.expression->textBytes);
  }
  for (const EntryColumn &made : map.columns) {
    work_.add(plan::WorkKind::kKeepString, tried, source.isCoded() && isText(*made.column) ? 1 : 0);
  }
  work_.setTimes(1);
}

} // namespace headrace::lower
