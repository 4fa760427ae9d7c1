// Grouped aggregates whose keys are small numbers: codes of a dictionary, or integers of which the
// statistics know that they are few.
//
// Neither need be hashed row by row, and texts not even be decoded: a morsel keeps an array with
// the group of every combination of keys. An entry is filled when the combination is first met, by
// hash like any other row.
#include "model/plan/coded_groups.h"
#include "passes/lower/cpu/kernel_emitter.h"

#include "passes/analysis/physical.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
constexpr int64_t kPointerBytes = 8;
} // namespace

/// How many values an integer key has at most; nothing if that is not known to be few.
static std::optional<int64_t> smallExtent(pipe::FieldAttr key) {
  if (!key.getMin()) {
    return std::nullopt;
  }
  int64_t extent;
  bool overflows = __builtin_sub_overflow(key.getMax().getInt(), key.getMin().getInt(), &extent);
  return overflows || extent >= plan::kCodedGroupsMax ? std::nullopt : std::optional(extent + 1);
}

bool KernelEmitter::isReadBesideKey(StringAttr name) {
  auto has = [&](ArrayAttr names) { return names && llvm::is_contained(names, Attribute(name)); };
  for (Operation &op : llvm::drop_begin(pipeline_.getBody().front())) {
    if (llvm::is_contained(entryMaps_, &op)) { // which have cursors of their own
      continue;
    }
    auto filter = dyn_cast<pipe::FilterOp>(op);
    if (filter && has(filter.getColumns())) {
      return true;
    }
    auto map = dyn_cast<pipe::MapOp>(op);
    if (map && (has(map.getColumns()) || has(map.getNames()))) {
      return true;
    }
    if (isa<pipe::ExpandOp>(op)) { // of a list, which is a text
      return true;
    }
    auto lookup = dyn_cast<pipe::LookupOp>(op);
    if (lookup && (has(lookup.getKeys()) || has(lookup.getColumns()) || has(lookup.getPayload()) ||
                   lookup.getMarkAttr() == name)) {
      return true;
    }
  }
  return false;
}

std::optional<int64_t> KernelEmitter::findCodedKeys(pipe::StateOp state,
                                                    SmallVectorImpl<Column> &texts) {
  int64_t combinations = 1; // of the integers
  for (auto field : state.getFields().getAsRange<pipe::FieldAttr>()) {
    if (field.getCombine() != pipe::Combine::Key) {
      continue;
    }
    StringAttr name = field.getName();
    if (std::optional<int64_t> extent = smallExtent(field)) {
      smallKeys_.push_back({name, field.getMin().getInt(), *extent, combinations * kPointerBytes});
      combinations *= *extent + (field.getNullable() ? 1 : 0);
      if (combinations > plan::kCodedGroupsMax) {
        return std::nullopt;
      }
      continue;
    }
    Column column = columns_.lookup(name.getValue());
    if (!column || column->kind != ColumnValue::Kind::kBuffer || column->source < 0 ||
        !isa<pipe::StringType>(column->type) || isReadBesideKey(name)) {
      return std::nullopt;
    }
    texts.push_back(column);
  }
  return combinations;
}

KernelEmitter::Source &KernelEmitter::takeCodedKey(const Column &column) {
  Source &source = sources_[column->source];
  column->source = -1;
  source.decoded = source.consumed = true;
  CodedKey key{column,     source.cursor, scratch(sizeof(HrCursor)),
               scratch(8), scratch(8),    std::make_shared<ColumnValue>()};
  key.offsets->type = b_.getI32Type();
  key.offsets->base = scratch(kBufferRows * 4);
  column->base = scratch(kBufferRows * 16);
  if (column->nullable) {
    key.offsets->nullable = true;
    key.offsets->validity = column->validity = scratch(kBufferRows);
  } else if (level() > 0) {
    column->level = 1;
  }
  codedKeys_.push_back(key);
  return source;
}

void KernelEmitter::prepareCodedKeys() {
  if (codedKeysPrepared_) {
    return;
  }
  codedKeysPrepared_ = true;
  auto combine = dyn_cast<pipe::CombineOp>(pipeline_.getBody().front().back());
  if (!combine || combine.getKeys().empty() || pipeline_.getMerges()) {
    return;
  }
  auto state = symbols_.lookup<pipe::StateOp>(combine.getState());
  SmallVector<Column> texts;
  std::optional<int64_t> combinations = findCodedKeys(state, texts);
  if (!combinations) {
    return;
  }
  hasCodes_ = true;
  SmallVector<Source *> taken;
  for (const Column &text : texts) {
    taken.push_back(&takeCodedKey(text));
  }
  // More groups than combinations are not found by codes.
  codesExpected_ = cardinalityOf(state.getHoldsAttr()).expected <= plan::kCodedGroupsMax &&
                   llvm::all_of(taken, [](Source *source) { return source->isCoded(); });
  for (Source *source : taken) {
    if (codesExpected_) {
      work_.add(plan::WorkKind::kMapped, 0, 1);
      work_.add(plan::WorkKind::kPageByte, 0, source->pageBytes);
    } else {
      logDecode(*source, source->column->level);
    }
  }
  codedGroups_ = scratch(8);
  codedTile_ = scratch(8);
  codedEnd_ = scratch(8);
  textsPending_ = scratch(8);
  emitCodedMorsel(*combinations);
  emitCodedTile();
}

void KernelEmitter::emitCodedMorsel(int64_t smallCombinations) {
  Type i64 = b_.getI64Type();
  OpBuilder::InsertionGuard guard(b_);
  initTail_->getTerminator()->erase();
  b_.enter(initTail_);
  Value combinations = b_.i64(smallCombinations), isCoded = b_.integer(b_.getI1Type(), 1);
  SmallVector<Value> counts, strides;
  for (const CodedKey &key : codedKeys_) {
    Value column = b_.load(b_.ptrType(), b_.at(key.cursor, offsetof(HrCursor, column)));
    Value count = b_.zeroExtend(
        b_.loadField(b_.getI32Type(), column, offsetof(HrColumn, dictionaryCount)), i64);
    Value some = b_.compare(arith::CmpIPredicate::ne, count, b_.i64(0));
    isCoded = arith::AndIOp::create(b_, b_.loc(), isCoded, some);
    counts.push_back(count);
    strides.push_back(combinations);
    // One more for NULL.
    Value places = key.column->nullable ? b_.add(count, b_.i64(1)) : count;
    combinations = arith::MulIOp::create(b_, b_.loc(), combinations, places);
    combinations =
        arith::MinSIOp::create(b_, b_.loc(), combinations, b_.i64(plan::kCodedGroupsMax + 1));
  }
  Value fits = b_.compare(arith::CmpIPredicate::sle, combinations, b_.i64(plan::kCodedGroupsMax));
  isCoded = arith::AndIOp::create(b_, b_.loc(), isCoded, fits);
  b_.store(b_.nullPtr(), codedGroups_);
  b_.ifThen(isCoded, [&] {
    auto times = [&](Value count, Value bytes) -> Value {
      return arith::MulIOp::create(b_, b_.loc(), count, bytes);
    };
    // One more for what is outside of its bounds: it stays empty, so such rows go by hash.
    Value end = times(combinations, b_.i64(kPointerBytes));
    Value bytes = b_.add(end, b_.i64(kPointerBytes));
    Value groups = b_.callImport("hr_arena_allocate", {worker_, bytes});
    checkNotNull(groups);
    b_.callImport("memset", {groups, b_.i32(0), bytes});
    b_.store(groups, codedGroups_);
    b_.store(end, codedEnd_);
    for (auto [key, count, stride] : llvm::zip(codedKeys_, counts, strides)) {
      Value map = b_.callImport("hr_arena_allocate",
                                {worker_, times(b_.add(count, b_.i64(16)), b_.i64(4))});
      checkNotNull(map);
      Value strideBytes = times(stride, b_.i64(kPointerBytes));
      b_.forLoop(b_.i64(0), count, 1, [&, map = map](Value code) {
        b_.store(b_.truncate(times(code, strideBytes), b_.getI32Type()), b_.element(map, code, 4));
      });
      b_.store(map, key.map);
      b_.store(times(count, strideBytes), key.nullOffset);
    }
  });
  initTail_ = b_.getInsertionBlock();
  b_.jump(tile_);
}

void KernelEmitter::emitCodedTile() {
  Value rows = b_.truncate(b_.load(b_.getI64Type(), levels_[0].count), b_.getI32Type());
  Value groups = b_.load(b_.ptrType(), codedGroups_);
  Value isCoded =
      arith::XOrIOp::create(b_, b_.loc(), b_.isNull(groups), b_.integer(b_.getI1Type(), 1));
  for (const CodedKey &key : codedKeys_) {
    Value encoding = b_.callImport("hr_cursor_encoding", {key.cursor});
    Value codes = b_.compare(arith::CmpIPredicate::eq, encoding, b_.i32(HR_CODES));
    Value indices = b_.compare(arith::CmpIPredicate::eq, encoding, b_.i32(HR_INDICES));
    isCoded = arith::AndIOp::create(b_, b_.loc(), isCoded,
                                    arith::OrIOp::create(b_, b_.loc(), codes, indices));
    b_.callImport("memcpy", {key.texts, key.cursor, b_.i64(sizeof(HrCursor))});
    if (key.column->nullable) {
      check(b_.callImport("hr_decode_validity", {key.cursor, rows, key.column->validity}));
    }
  }
  b_.store(b_.zeroExtend(isCoded, b_.getI64Type()), codedTile_);
  b_.store(b_.i64(1), textsPending_);
  Block *coded = b_.newBlock(), *plain = b_.newBlock(), *joined = b_.newBlock();
  b_.branch(isCoded, coded, plain);
  b_.enter(coded);
  for (const CodedKey &key : codedKeys_) {
    Value map = b_.load(b_.ptrType(), key.map);
    check(b_.callImport("hr_decode_mapped_32", {key.cursor, rows, map, key.offsets->base}));
  }
  b_.jump(joined);
  b_.enter(plain);
  for (const CodedKey &key : codedKeys_) {
    check(b_.callImport("hr_cursor_skip", {key.cursor, rows}));
  }
  b_.jump(joined);
  b_.enter(joined);
}

void KernelEmitter::decodeTexts() {
  Value pending =
      b_.compare(arith::CmpIPredicate::ne, b_.load(b_.getI64Type(), textsPending_), b_.i64(0));
  b_.ifThen(pending, [&] {
    Value rows = b_.truncate(b_.load(b_.getI64Type(), levels_[0].count), b_.getI32Type());
    for (const CodedKey &key : codedKeys_) {
      if (key.column->level == 0) {
        check(b_.callImport("hr_decode_128", {key.texts, rows, key.column->base}));
        continue;
      }
      Value selected = b_.truncate(b_.load(b_.getI64Type(), levels_[1].count), b_.getI32Type());
      check(b_.callImport("hr_decode_selected_128",
                          {key.texts, rows, levels_[1].parents, selected, key.column->base}));
    }
    b_.store(b_.i64(0), textsPending_);
  });
}

FailureOr<KernelEmitter::CodedPlace> KernelEmitter::codedPlace(RowReader &rows) {
  Type i64 = b_.getI64Type();
  Value offset = b_.i64(0), isIn;
  for (const CodedKey &key : codedKeys_) {
    FailureOr<RowValue> code = rows.read(key.offsets);
    if (failed(code)) {
      return failure();
    }
    Value part = b_.zeroExtend(code->value, i64);
    if (code->valid) {
      part = b_.select(code->valid, part, b_.load(i64, key.nullOffset));
    }
    offset = b_.add(offset, part);
  }
  for (const SmallKey &key : smallKeys_) {
    FailureOr<RowValue> number = rows.read(columns_.lookup(key.name.getValue()));
    if (failed(number)) {
      return failure();
    }
    Value value = number->value;
    value = value.getType().isInteger(1) ? b_.zeroExtend(value, i64) : b_.signExtend(value, i64);
    Value place = arith::SubIOp::create(b_, b_.loc(), value, b_.i64(key.least));
    if (number->valid) {
      place = b_.select(number->valid, place, b_.i64(key.extent));
    }
    int64_t places = key.extent + (number->valid ? 1 : 0);
    Value fits = b_.compare(arith::CmpIPredicate::ult, place, b_.i64(places));
    isIn = isIn ? arith::AndIOp::create(b_, b_.loc(), isIn, fits).getResult() : fits;
    offset = b_.add(offset, arith::MulIOp::create(b_, b_.loc(), place, b_.i64(key.stride)));
  }
  if (isIn) {
    offset = b_.select(isIn, offset, b_.load(i64, codedEnd_));
  }
  return CodedPlace{b_.element(b_.load(b_.ptrType(), codedGroups_), offset, 1), isIn};
}

LogicalResult KernelEmitter::emitCodedGroups(Value groups, Value base, Value end, Block *all,
                                             Block *some) {
  Value missing = b_.slot(b_.getI64Type());
  b_.store(b_.i64(0), missing);
  LogicalResult result = success();
  b_.forLoop(base, end, 1, [&](Value index) {
    RowReader rows = reader(level(), index);
    FailureOr<CodedPlace> place = codedPlace(rows);
    if (failed(place)) {
      result = failure();
      return;
    }
    Value group = b_.load(b_.ptrType(), place->pointer);
    b_.store(group, b_.element(groups, arith::SubIOp::create(b_, b_.loc(), index, base), 8));
    Value isMissing = b_.zeroExtend(b_.isNull(group), b_.getI64Type());
    b_.store(arith::OrIOp::create(b_, b_.loc(), b_.load(b_.getI64Type(), missing), isMissing),
             missing);
  });
  b_.branch(b_.compare(arith::CmpIPredicate::eq, b_.load(b_.getI64Type(), missing), b_.i64(0)), all,
            some);
  return result;
}

} // namespace headrace::lower
