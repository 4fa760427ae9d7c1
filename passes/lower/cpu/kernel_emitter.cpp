// Prologue, sources, filters and maps of a kernel.
#include "passes/lower/cpu/kernel_emitter.h"

#include "runtime/abi/type_bytes.h"

#include "passes/analysis/operator_location.h"
#include "passes/analysis/physical.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSet.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
// The kernel's own head of its scratch; emitters of stages take what follows.
constexpr int64_t kPhaseOffset = 0;
constexpr int64_t kScratchHead = 8 * (1 + HR_COUNTED_STAGES);
constexpr unsigned kPredicateWidth = 64;

int64_t alignTo64(int64_t bytes) { return (bytes + 63) / 64 * 64; }
} // namespace

namespace {
LLVM::LLVMFuncOp makeFunction(ModuleOp target, StringRef name, Location location,
                              ArrayRef<Type> parameters) {
  OpBuilder builder = OpBuilder::atBlockEnd(target.getBody());
  auto type = LLVM::LLVMFunctionType::get(builder.getI32Type(), parameters);
  auto function = LLVM::LLVMFuncOp::create(builder, location, name, type);
  function.addEntryBlock(builder);
  return function;
}
Type pointerType(MLIRContext *context) { return LLVM::LLVMPointerType::get(context); }
} // namespace

KernelEmitter::KernelEmitter(PipelineWithEntryMaps &pipeline, SymbolTable &symbols, ModuleOp target)
    : PipelineCode(
          pipeline.pipeline, symbols,
          makeFunction(target, pipeline.pipeline.getSymName(), pipeline.pipeline.getLoc(),
                       {pointerType(target.getContext()), pointerType(target.getContext())})),
      entryMaps_(pipeline.maps) {
  keyHashes_ = pipeline.keyHashes;
}

FailureOr<plan::Kernel> KernelEmitter::emit() {
  kernel_.symbol = pipeline_.getSymName().str();
  kernel_.scratchBytes = kScratchHead;
  emitPrologue();
  Block &body = pipeline_.getBody().front();
  if (failed(emitSource(&body.front()))) {
    return failure();
  }
  SmallVector<Operation *> stages;
  for (Operation &op : body) {
    if (!llvm::is_contained(entryMaps_, &op)) {
      stages.push_back(&op);
    }
  }
  // Of filters one behind the other, whatever is computed between them.
  std::vector<Condition> conditions;
  for (Operation *stage : llvm::drop_end(llvm::drop_begin(stages))) {
    b_.setLoc(stage->getLoc());
    if (auto filter = dyn_cast<pipe::FilterOp>(stage)) {
      conditions.push_back(conditionOf(filter));
      keepColumns(filter.getRows().getType());
      continue;
    }
    auto map = dyn_cast<pipe::MapOp>(stage);
    if (!map || !repeating_.empty()) {
      if (failed(emitFilters(std::exchange(conditions, {})))) {
        return failure();
      }
      b_.setLoc(stage->getLoc());
    }
    if (map) {
      emitMap(map);
      if (!repeating_.empty()) {
        keepWhileRepeated();
      }
      continue;
    }
    decodeRemaining();
    auto expand = dyn_cast<pipe::ExpandOp>(stage);
    if (failed(expand ? emitExpand(expand) : emitLookup(cast<pipe::LookupOp>(stage)))) {
      return failure();
    }
  }
  if (failed(emitFilters(std::move(conditions)))) {
    return failure();
  }
  decodeRemaining();
  b_.setLoc(stages.back()->getLoc());
  if (failed(emitSink(stages.back()))) {
    return failure();
  }
  if (resume_->empty()) { // nothing to resume: such a kernel never returns before it is done
    b_.enter(resume_);
    b_.jump(tile_);
  }
  b_.enter(done_);
  b_.setLoc(pipeline_.getLoc());
  LLVM::ReturnOp::create(b_, b_.loc(), b_.i32(HR_DONE));
  if (failed_) {
    emitFailed();
  }
  kernel_.scratchBytes = alignTo64(kernel_.scratchBytes);
  kernel_.literalBytes = (kernel_.literalBytes + 15) / 16 * 16;
  kernel_.work = work_.take();
  return kernel_;
}

// ---- prologue ----

void KernelEmitter::emitPrologue() {
  args_ = b_.function().getArgument(0);
  worker_ = b_.function().getArgument(1);
  Type pointer = b_.ptrType();
  scratch_ = b_.loadField(pointer, worker_, offsetof(HrWorker, scratch));
  outputs_ = b_.loadField(pointer, worker_, offsetof(HrWorker, outputs));
  b_.setImports(b_.loadField(pointer, worker_, offsetof(HrWorker, imports)));
  morsel_ = b_.loadField(pointer, args_, offsetof(HrArgs, morsel));
  literals_ = b_.loadField(pointer, args_, offsetof(HrArgs, literals));
  states_ = b_.loadField(pointer, args_, offsetof(HrArgs, states));
  for (auto [index, name] : llvm::enumerate(statesOf(pipeline_))) {
    stateIndex_[name] = index;
    statePointers_[name] = b_.loadField(pointer, states_, index * 8);
  }
  Value phase = b_.loadField(b_.getI64Type(), scratch_, kPhaseOffset);
  Value fresh = b_.compare(arith::CmpIPredicate::eq, phase, b_.i64(0));
  init_ = b_.newBlock();
  tile_ = b_.newBlock();
  done_ = b_.newBlock();
  resume_ = b_.newBlock();
  b_.branch(fresh, init_, resume_);
  b_.enter(init_);
}

Value KernelEmitter::scratch(int64_t bytes) {
  int64_t offset = alignTo64(kernel_.scratchBytes);
  kernel_.scratchBytes = offset + bytes;
  return prologueValue([&] { return b_.at(scratch_, offset); });
}

Value KernelEmitter::zeroedScratch(int64_t bytes) {
  Value memory = scratch(bytes);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(init_);
  for (int64_t word = 0; word < bytes; word += 8) {
    b_.storeField(b_.i64(0), memory, word);
  }
  return memory;
}

Value KernelEmitter::statePointer(StringRef name) { return statePointers_.lookup(name); }

// ---- sources ----

LogicalResult KernelEmitter::emitSource(Operation *source) {
  auto rows = cast<pipe::RowsType>(source->getResult(0).getType());
  Value position = scratch(8);
  Value count = scratch(8);
  levels_.push_back({Value(), count});
  work_.add(plan::WorkKind::kRow, 0, 1);
  sourceForm_ = isa<pipe::ScanOp>(source) ? SourceForm::kPages : SourceForm::kChunks;
  b_.store(b_.i64(0), position);
  b_.storeField(b_.i64(1), scratch_, kPhaseOffset);
  Value rowsTotal = prologueValue([&] {
    return b_.zeroExtend(b_.loadField(b_.getI32Type(), morsel_, offsetof(HrMorsel, rows)),
                         b_.getI64Type());
  });
  auto minimum = [&](Value a, Value b) -> Value {
    return arith::MinSIOp::create(b_, b_.loc(), a, b);
  };
  auto startTile = [&]() -> Value {
    initTail_ = b_.getInsertionBlock();
    b_.jump(tile_);
    b_.enter(tile_);
    next_ = tile_;
    leaveIfStopped();
    Value left = arith::SubIOp::create(b_, b_.loc(), rowsTotal, b_.load(b_.getI64Type(), position));
    Block *some = b_.newBlock();
    b_.branch(b_.compare(arith::CmpIPredicate::sgt, left, b_.i64(0)), some, done_);
    b_.enter(some);
    return minimum(left, b_.i64(HR_TILE_ROWS));
  };
  auto take = [&](Value rowsTaken) {
    b_.store(rowsTaken, count);
    b_.store(b_.add(b_.load(b_.getI64Type(), position), rowsTaken), position);
  };

  if (auto read = dyn_cast<pipe::ReadOp>(source)) {
    auto state = symbols_.lookup<pipe::StateOp>(read.getState());
    plan::State layout = layoutState(state);
    work_.add(plan::WorkKind::kReadRow, 0, 1);
    Value pointers = scratch(kBufferRows * 8);
    for (size_t index = 0; index < rows.size(); ++index) {
      StringRef name = rows.getNames()[index].getValue();
      const plan::StateField *field = findField(layout, name);
      columns_[name] = fieldColumn(*field, rows.getTypes()[index], pointers);
    }
    Value all = prologueValue(
        [&] { return b_.loadField(b_.ptrType(), morsel_, offsetof(HrMorsel, stateRows)); });
    Value rowsTaken = startTile();
    Value from = b_.element(all, b_.load(b_.getI64Type(), position), 8);
    b_.callImport("memcpy",
                  {pointers, from, arith::MulIOp::create(b_, b_.loc(), rowsTaken, b_.i64(8))});
    take(rowsTaken);
    askForRows(layout, pointers, rowsTaken);
    return success();
  }

  Value columnArray = prologueValue(
      [&] { return b_.loadField(b_.ptrType(), morsel_, offsetof(HrMorsel, columns)); });
  for (size_t index = 0; index < rows.size(); ++index) {
    auto column = std::make_shared<ColumnValue>();
    column->type = rows.getTypes()[index];
    column->nullable = rows.getNullable()[index];
    column->source = index;
    columns_[rows.getNames()[index].getValue()] = column;
    Source entry{column, scratch(sizeof(HrCursor))};
    b_.callImport("hr_cursor_open", {entry.cursor, b_.at(columnArray, index * sizeof(HrColumn))});
    if (auto scan = dyn_cast<pipe::ScanOp>(source)) {
      readPages(entry, cast<pipe::ScanColumnAttr>(scan.getColumns()[index]));
    }
    sources_.push_back(entry);
  }
  for (pipe::MapOp map : entryMaps_) {
    if (failed(emitEntryMap(map))) {
      return failure();
    }
  }
  if (!entryMaps_.empty()) { // texts that nothing else reads
    auto left = cast<pipe::RowsType>(entryMaps_.back()->getResult(0).getType());
    for (size_t index = 0; index < rows.size(); ++index) {
      sources_[index].consumed = left.indexOf(rows.getNames()[index]) < 0;
    }
    keepColumns(left);
  }
  Value rowsTaken = startTile();
  for (Source &entry : sources_) {
    for (Value cursor : cursorsOf(entry)) {
      Value run = b_.callImport("hr_cursor_run", {cursor});
      rowsTaken = minimum(rowsTaken, b_.zeroExtend(run, b_.getI64Type()));
    }
  }
  failIf(b_.compare(arith::CmpIPredicate::eq, rowsTaken, b_.i64(0)), HR_ERROR_CORRUPT);
  take(rowsTaken);
  return success();
}

/// Rows of an order lie anywhere, and so do those of a part of a merge. (Those of a window have
/// just been looked at.)
void KernelEmitter::askForRows(const plan::State &state, Value pointers, Value count) {
  rowsAnywhere_ = state.kind == plan::StateKind::kSortBuffer || pipeline_.getMerges();
  if (!rowsAnywhere_) {
    return;
  }
  b_.forLoop(b_.i64(0), count, 1, [&](Value index) {
    b_.prefetchRow(b_.load(b_.ptrType(), b_.element(pointers, index, 8)), state.rowBytes);
  });
}

void KernelEmitter::readPages(Source &source, pipe::ScanColumnAttr description) {
  source.form = description.getPages();
  source.pageBytes = description.pageBytes();
  source.textBytes = description.textBytes();
  source.triedEntries = description.triedEntries();
}

void KernelEmitter::logDecode(const Source &source, unsigned level) {
  using plan::WorkKind;
  bool text = isa<pipe::StringType>(source.column->type);
  bool pages = sourceForm_ == SourceForm::kPages;
  WorkKind kind = text ? source.isCoded() ? WorkKind::kDecodeString : WorkKind::kDecodeText
                  : source.form == pipe::PageForm::Gathered ? WorkKind::kDecodeGathered
                  : source.form == pipe::PageForm::Code     ? WorkKind::kDecodeCode
                                                            : WorkKind::kDecode;
  WorkKind taken = text ? WorkKind::kTakeString : WorkKind::kTake;
  work_.add(pages ? kind : taken, level, 1);
  if (!text) {
    work_.add(WorkKind::kDecodeByte, level, abi::bytesOf(physicalType(source.column->type)));
  }
  work_.add(WorkKind::kPageByte, source.isCoded() ? 0 : level, source.pageBytes);
  work_.add(WorkKind::kPageTextByte, level,
            text && pages && !source.isCoded() ? source.textBytes : 0);
}

/// The next rows of the cursor: those of the column's level.
void KernelEmitter::decodeTo(Value cursor, const ColumnValue &column) {
  std::string width = std::to_string(abi::bytesOf(physicalType(column.type)) * 8);
  Value rows = b_.truncate(b_.load(b_.getI64Type(), levels_[0].count), b_.getI32Type());
  if (column.level == 0) {
    check(b_.callImport("hr_decode_" + width, {cursor, rows, column.base}));
    return;
  }
  Value selected = b_.truncate(b_.load(b_.getI64Type(), levels_[1].count), b_.getI32Type());
  check(b_.callImport("hr_decode_selected_" + width,
                      {cursor, rows, levels_[1].parents, selected, column.base}));
}

void KernelEmitter::decode(const Column &column) {
  if (column->kind == ColumnValue::Kind::kExpression) {
    for (const Column &input : column->expression->columns) {
      decode(input);
    }
    return;
  }
  if (column->source < 0) {
    return;
  }
  Source &entry = sources_[column->source];
  entry.decoded = true;
  if (entry.entries) {
    decodeEntries(entry);
    return;
  }
  column->source = -1;
  column->base = scratch(kBufferRows * abi::bytesOf(physicalType(column->type)));
  // After the first filter: only what survived, compacted to level 1.
  column->level = column->nullable || level() == 0 ? 0 : 1;
  logDecode(entry, column->level);
  if (column->nullable) {
    column->validity = scratch(kBufferRows);
    Value rows = b_.truncate(b_.load(b_.getI64Type(), levels_[0].count), b_.getI32Type());
    check(b_.callImport("hr_decode_validity", {entry.cursor, rows, column->validity}));
  }
  decodeTo(entry.cursor, *column);
}

void KernelEmitter::decodeRemaining() {
  prepareCodedKeys();
  for (Source &entry : sources_) {
    if (!entry.consumed) {
      decode(entry.column);
    }
  }
}

void KernelEmitter::skipRemaining() {
  Value rows = b_.truncate(b_.load(b_.getI64Type(), levels_[0].count), b_.getI32Type());
  for (Source &entry : sources_) {
    if (!entry.decoded) {
      for (Value cursor : cursorsOf(entry)) {
        check(b_.callImport("hr_cursor_skip", {cursor, rows}));
      }
    }
  }
}

// ---- filters and maps ----

namespace {
/// All bodies that reading the expression runs can be widened, from buffers of level 0 only.
bool isDense(const Expression &expression) {
  if (!isWidenable(*expression.body)) {
    return false;
  }
  return llvm::all_of(expression.columns, [](const std::shared_ptr<ColumnValue> &column) {
    if (column->kind == ColumnValue::Kind::kExpression) {
      return isDense(*column->expression);
    }
    return column->kind == ColumnValue::Kind::kBuffer && column->level == 0 &&
           !isa<pipe::StringType>(column->type) && !column->type.isInteger(128);
  });
}
} // namespace

KernelEmitter::Condition KernelEmitter::conditionOf(pipe::FilterOp filter) {
  const std::optional<APFloat> selectivity = filter.getSelectivity();
  return {makeExpression(filter.getBody(), filter.getColumns(), filter.getTextBytes()),
          selectivity ? selectivity->convertToDouble() : 1,
          !filter.getBody().getOps<pipe::BoundOp>().empty(), filter.getLoc()};
}

LogicalResult KernelEmitter::emitFilters(std::vector<Condition> conditions) {
  if (conditions.empty()) {
    return success();
  }
  std::vector<Condition> dense;
  std::vector<Condition> scalar;
  const bool raises = llvm::any_of(
      conditions, [](const Condition &each) { return !each.expression->raising.empty(); });
  for (Condition &condition : conditions) {
    // What fails does so whatever a bound is by now.
    const bool early =
        level() == 0 && isDense(*condition.expression) && !(condition.hasBound && raises);
    (early ? dense : scalar).push_back(std::move(condition));
  }
  if (!dense.empty() && failed(emitDenseFilter(dense))) {
    return failure();
  }
  for (const Condition &condition : scalar) {
    for (const Column &input : condition.expression->columns) {
      decode(input);
    }
    if (level() > 0) { // what the first selection of the tile does not read is decoded after it
      decodeRemaining();
    }
    if (failed(emitScalarFilter(condition))) {
      return failure();
    }
  }
  return success();
}

LogicalResult KernelEmitter::emitDenseFilter(ArrayRef<Condition> conditions) {
  b_.setLoc(conditions.front().location);
  double selectivity = 1;
  for (const Condition &condition : conditions) {
    for (const Column &input : condition.expression->columns) {
      decode(input);
    }
    selectivity *= condition.selectivity;
  }
  work_.add(plan::WorkKind::kSelect, 0, 1);
  Value bits = scratch(kBufferRows / 8 + 64);
  Value rows = b_.load(b_.getI64Type(), levels_[0].count);
  LogicalResult result = success();
  b_.forLoop(b_.i64(0), rows, kPredicateWidth, [&](Value row) {
    RowReader values = reader(0, row, kPredicateWidth);
    Value mask;
    for (const Condition &condition : conditions) {
      FailureOr<SmallVector<Value>> flags = values.evaluate(*condition.expression);
      if (failed(flags)) {
        result = failure();
        return;
      }
      Value word = LLVM::BitcastOp::create(b_, b_.loc(), b_.getI64Type(), flags->front());
      mask = mask ? Value(arith::AndIOp::create(b_, b_.loc(), mask, word)) : word;
    }
    Value word = arith::ShRUIOp::create(b_, b_.loc(), row, b_.i64(6));
    b_.store(mask, b_.element(bits, word, 8));
  });
  if (failed(result)) {
    return failure();
  }
  Value selection = scratch((kBufferRows + 64) * 2);
  Value count = scratch(8);
  Value selected =
      b_.callImport("hr_select_bits", {bits, b_.truncate(rows, b_.getI32Type()), selection});
  b_.store(b_.zeroExtend(selected, b_.getI64Type()), count);
  Block *none = b_.newBlock(), *some = b_.newBlock();
  b_.branch(b_.compare(arith::CmpIPredicate::eq, selected, b_.i32(0)), none, some);
  b_.enter(none);
  skipRemaining();
  b_.jump(tile_);
  b_.enter(some);
  beginLevel({selection, count}, selectivity);
  return success();
}

LogicalResult KernelEmitter::emitScalarFilter(const Condition &condition) {
  b_.setLoc(condition.location);
  bool first = level() == 0;
  Value selection = scratch((kBufferRows + 64) * 2);
  Value count = scratch(8);
  Value kept = b_.slot(b_.getI64Type());
  b_.store(b_.i64(0), kept);
  LogicalResult result = success();
  b_.forLoop(b_.i64(0), rowCount(), 1, [&](Value row) {
    RowReader values = reader(level(), row);
    FailureOr<SmallVector<Value>> flag = values.evaluate(*condition.expression);
    if (failed(flag)) {
      result = failure();
      return;
    }
    Value position = b_.load(b_.getI64Type(), kept);
    b_.store(b_.truncate(row, b_.getI16Type()), b_.element(selection, position, 2));
    b_.store(b_.add(position, b_.zeroExtend(flag->front(), b_.getI64Type())), kept);
  });
  if (failed(result)) {
    return failure();
  }
  Value rows = b_.load(b_.getI64Type(), kept);
  b_.store(rows, count);
  Block *none = b_.newBlock(), *some = b_.newBlock();
  b_.branch(b_.compare(arith::CmpIPredicate::eq, rows, b_.i64(0)), none, some);
  b_.enter(none);
  if (first) {
    skipRemaining();
  }
  b_.jump(next_);
  b_.enter(some);
  beginLevel({selection, count}, condition.selectivity);
  return success();
}

// ---- shared ----

void KernelEmitter::leaveWithError(Value code, Value place) {
  if (givesUp_) {
    b_.jump(givesUp_);
    return;
  }
  if (!failed_) { // one for the whole kernel: there are dozens of places, and each costs code
    failed_ = b_.newBlock();
    failed_->addArguments({b_.getI32Type(), b_.getI32Type()}, {b_.loc(), b_.loc()});
  }
  LLVM::BrOp::create(b_, b_.loc(), ValueRange{code, place}, failed_);
}

void KernelEmitter::emitFailed() {
  b_.enter(failed_);
  b_.storeField(failed_->getArgument(0), worker_,
                offsetof(HrWorker, error) + offsetof(HrError, code));
  b_.storeField(failed_->getArgument(1), worker_,
                offsetof(HrWorker, error) + offsetof(HrError, place));
  LLVM::ReturnOp::create(b_, b_.loc(), b_.i32(HR_ERROR));
}

void KernelEmitter::leaveIfStopped() {
  Value flag =
      prologueValue([&] { return b_.loadField(b_.ptrType(), worker_, offsetof(HrWorker, stop)); });
  Value stop = LLVM::LoadOp::create(b_, b_.loc(), b_.getI8Type(), flag, /*alignment=*/1,
                                    /*isVolatile=*/true);
  Block *stopped = b_.newBlock(), *going = b_.newBlock();
  b_.branch(b_.compare(arith::CmpIPredicate::ne, stop, b_.integer(b_.getI8Type(), 0)), stopped,
            going);
  b_.enter(stopped);
  LLVM::ReturnOp::create(b_, b_.loc(), b_.i32(HR_STOPPED));
  b_.enter(going);
}

Value KernelEmitter::rankNumber() {
  return b_.loadField(b_.getI32Type(), worker_, offsetof(HrWorker, rank));
}

Value KernelEmitter::rankCount() {
  return b_.loadField(b_.getI32Type(), worker_, offsetof(HrWorker, size));
}

std::pair<Value, Value> KernelEmitter::keyPlaces() {
  return {b_.loadField(b_.getI64Type(), worker_, offsetof(HrWorker, firstKeyPlace)),
          b_.loadField(b_.getI64Type(), worker_, offsetof(HrWorker, keyPlaces))};
}

Value KernelEmitter::keyBounds() {
  return b_.loadField(b_.ptrType(), worker_, offsetof(HrWorker, keyBounds));
}

Value KernelEmitter::outputCount() {
  return b_.loadField(b_.getI32Type(), worker_, offsetof(HrWorker, outputCount));
}

Value KernelEmitter::textBuffer() {
  return zeroedScratch(sizeof(HrTextBuffer)); // what it points to ends with the morsel
}

RowReader KernelEmitter::reader(unsigned level, Value row, unsigned width) {
  RowReader rows(b_, levels_, level, row, width);
  rows.setScalarOps(&scalarOps_);
  rows.setMemory(&memory_);
  rows.setWork(&work_);
  return rows;
}

void KernelEmitter::beginLevel(Level begun, double selectivity) {
  levels_.push_back(begun);
  kernel_.selectivity.push_back(selectivity);
  kernel_.stageOperators.push_back(analysis::operatorOf(b_.loc()));
  if (level() > HR_COUNTED_STAGES) {
    return;
  }
  Value counter = b_.at(scratch_, 8 * static_cast<int64_t>(level()));
  b_.store(b_.add(b_.load(b_.getI64Type(), counter), rowCount()), counter);
}

void KernelEmitter::logKeys(ArrayAttr keys) {
  for (auto name : keys.getAsRange<StringAttr>()) {
    if (keyHashes_.contains(name.getValue())) {
      work_.add(plan::WorkKind::kScalar, level(), 1);
      continue;
    }
    bool text = isa<pipe::StringType>(columns_.lookup(name.getValue())->type);
    work_.add(text ? plan::WorkKind::kHashString : plan::WorkKind::kHash, level(), 1);
  }
}

} // namespace headrace::lower
