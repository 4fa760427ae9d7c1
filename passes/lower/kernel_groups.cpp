// Grouped aggregates: the group of each row is found, by dictionary codes or by hash; then rows are
// combined.
#include "passes/lower/kernel_emitter.h"

#include "passes/analysis/physical.h"

#include "mlir/IR/SymbolTable.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
/// Rows whose groups are found before the first of them is combined.
constexpr int64_t kBatchRows = 64;
/// A directory with more entries does not stay in the first-level cache: fetching the rows ahead
/// pays.
constexpr int64_t kSmallDirectoryMask = 4095;
/// Combinations of dictionary entries up to which a morsel has an array of groups: half of a
/// first-level cache.
constexpr int64_t kCombinationsMax = 2048;
} // namespace

// ---- groups by codes ----
//
// Texts of a dictionary need neither be decoded nor hashed row by row: a morsel keeps an array with
// the group of every combination of codes. An entry is filled when the combination is first met, by
// hash like any other row.

void KernelEmitter::prepareCodedKeys() {
  if (codedKeysPrepared_) {
    return;
  }
  codedKeysPrepared_ = true;
  auto combine = dyn_cast<pipe::CombineOp>(pipeline_.getBody().front().back());
  if (!combine || combine.getKeys().empty()) {
    return;
  }
  auto isUsedElsewhere = [&](StringAttr name) {
    auto has = [&](ArrayAttr names) { return names && llvm::is_contained(names, Attribute(name)); };
    bool firstFilters = true;
    for (Operation &op : llvm::drop_begin(pipeline_.getBody().front())) {
      if (auto filter = dyn_cast<pipe::FilterOp>(op)) {
        // A condition on the text alone is evaluated per entry, with a cursor of its own.
        bool perEntry = firstFilters && filter.getColumns().size() == 1 &&
                        !columns_.lookup(name.getValue())->nullable;
        if (has(filter.getColumns()) && !perEntry) {
          return true;
        }
        continue;
      }
      firstFilters = false;
      if (auto map = dyn_cast<pipe::MapOp>(op);
          map && (has(map.getColumns()) || has(map.getNames()))) {
        return true;
      }
      auto lookup = dyn_cast<pipe::LookupOp>(op);
      if (lookup && (has(lookup.getKeys()) || has(lookup.getColumns()) ||
                     has(lookup.getPayload()) || lookup.getMarkAttr() == name)) {
        return true;
      }
    }
    return false;
  };
  for (auto name : combine.getKeys().getAsRange<StringAttr>()) {
    Column column = columns_.lookup(name.getValue());
    if (!column || column->kind != ColumnValue::Kind::kBuffer || column->source < 0 ||
        !isa<pipe::StringType>(column->type) || isUsedElsewhere(name)) {
      return;
    }
  }
  SmallVector<Source *> taken;
  for (auto name : combine.getKeys().getAsRange<StringAttr>()) {
    Column column = columns_.lookup(name.getValue());
    Source &entry = sources_[column->source];
    taken.push_back(&entry);
    column->source = -1;
    entry.decoded = entry.consumed = true;
    CodedKey key{column,     entry.cursor, scratch(sizeof(HrCursor)),
                 scratch(8), scratch(8),   std::make_shared<ColumnValue>()};
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
  }
  // More groups than combinations are not found by codes.
  auto state = SymbolTable::lookupNearestSymbolFrom<pipe::StateOp>(combine, combine.getStateAttr());
  codesExpected_ = cardinalityOf(state.getHoldsAttr()).expected <= kCombinationsMax &&
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
  textsPending_ = scratch(8);
  emitCodedMorsel();
  emitCodedTile();
}

void KernelEmitter::emitCodedMorsel() {
  Type i64 = b_.getI64Type();
  OpBuilder::InsertionGuard guard(b_);
  initTail_->getTerminator()->erase();
  b_.enter(initTail_);
  Value combinations = b_.i64(1), isCoded = b_.integer(b_.getI1Type(), 1);
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
    combinations = arith::MinSIOp::create(b_, b_.loc(), combinations, b_.i64(kCombinationsMax + 1));
  }
  Value fits = b_.compare(arith::CmpIPredicate::sle, combinations, b_.i64(kCombinationsMax));
  isCoded = arith::AndIOp::create(b_, b_.loc(), isCoded, fits);
  b_.store(b_.nullPtr(), codedGroups_);
  b_.ifThen(isCoded, [&] {
    auto times = [&](Value count, Value bytes) -> Value {
      return arith::MulIOp::create(b_, b_.loc(), count, bytes);
    };
    Value bytes = times(combinations, b_.i64(8));
    Value groups = b_.callImport("hr_arena_allocate", {worker_, bytes});
    checkNotNull(groups);
    b_.callImport("memset", {groups, b_.i32(0), bytes});
    b_.store(groups, codedGroups_);
    for (auto [key, count, stride] : llvm::zip(codedKeys_, counts, strides)) {
      Value map = b_.callImport("hr_arena_allocate",
                                {worker_, times(b_.add(count, b_.i64(16)), b_.i64(4))});
      checkNotNull(map);
      Value strideBytes = times(stride, b_.i64(8));
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

FailureOr<Value> KernelEmitter::codedGroup(RowReader &rows) {
  Value offset;
  for (const CodedKey &key : codedKeys_) {
    FailureOr<RowValue> code = rows.read(key.offsets);
    if (failed(code)) {
      return failure();
    }
    Value part = b_.zeroExtend(code->value, b_.getI64Type());
    if (code->valid) {
      part = b_.select(code->valid, part, b_.load(b_.getI64Type(), key.nullOffset));
    }
    offset = offset ? b_.add(offset, part) : part;
  }
  return b_.element(b_.load(b_.ptrType(), codedGroups_), offset, 1);
}

LogicalResult KernelEmitter::emitCodedGroups(Value groups, Value base, Value end, Block *all,
                                             Block *some) {
  Value missing = b_.slot(b_.getI64Type());
  b_.store(b_.i64(0), missing);
  LogicalResult result = success();
  b_.forLoop(base, end, 1, [&](Value index) {
    RowReader rows = reader(level(), index);
    FailureOr<Value> place = codedGroup(rows);
    if (failed(place)) {
      result = failure();
      return;
    }
    Value group = b_.load(b_.ptrType(), *place);
    b_.store(group, b_.element(groups, arith::SubIOp::create(b_, b_.loc(), index, base), 8));
    Value isMissing = b_.zeroExtend(b_.isNull(group), b_.getI64Type());
    b_.store(arith::OrIOp::create(b_, b_.loc(), b_.load(b_.getI64Type(), missing), isMissing),
             missing);
  });
  b_.branch(b_.compare(arith::CmpIPredicate::eq, b_.load(b_.getI64Type(), missing), b_.i64(0)), all,
            some);
  return result;
}

// ---- groups by hash ----

LogicalResult KernelEmitter::emitGroupCombine(pipe::CombineOp combine, const plan::State &state) {
  Value table = statePointer(combine.getState());
  Value hashes = scratch(kBatchRows * 8), groups = scratch(kBatchRows * 8);
  bool coded = codesExpected_;
  if (!coded) {
    logKeys(combine.getKeys());
    logTexts(plan::WorkKind::kHashByte, combine.getTextBytes());
    work_.add(plan::WorkKind::kGroup, level(), 1, statePosition(combine.getState()));
  }
  for (const plan::StateField &field : state.fields) {
    if (!coded || field.combine != plan::Combine::kKey) {
      logFold(field);
    }
  }
  LogicalResult result = success();
  b_.forLoop(b_.i64(0), rowCount(), kBatchRows, [&](Value base) {
    Value end = arith::MinSIOp::create(b_, b_.loc(), b_.add(base, b_.i64(kBatchRows)), rowCount());
    Block *byHash = b_.newBlock(), *update = b_.newBlock();
    if (codedKeys_.empty()) {
      b_.jump(byHash);
    } else {
      Block *byCodes = b_.newBlock();
      b_.branch(
          b_.compare(arith::CmpIPredicate::ne, b_.load(b_.getI64Type(), codedTile_), b_.i64(0)),
          byCodes, byHash);
      b_.enter(byCodes);
      if (failed(emitCodedGroups(groups, base, end, update, byHash))) {
        result = failure();
        return;
      }
    }
    b_.enter(byHash);
    if (!codedKeys_.empty()) { // seldom: a combination met for the first time
      work_.set(WorkLog::Counting::kPaused);
      decodeTexts();
    }
    if (failed(emitGroupHashes(combine, table, hashes, base, end)) ||
        failed(emitHashedGroups(state, table, hashes, groups, base, end))) {
      result = failure();
      return;
    }
    work_.set(WorkLog::Counting::kOn);
    b_.jump(update);
    b_.enter(update);
    if (failed(emitGroupUpdates(state, table, groups, base, end))) {
      result = failure();
    }
  });
  b_.jump(next_);
  return result;
}

LogicalResult KernelEmitter::emitGroupHashes(pipe::CombineOp combine, Value table, Value hashes,
                                             Value base, Value end) {
  Type i64 = b_.getI64Type(), pointer = b_.ptrType();
  LogicalResult result = success();
  auto inBatch = [&](Value index) {
    return b_.element(hashes, arith::SubIOp::create(b_, b_.loc(), index, base), 8);
  };
  Value directory = b_.loadField(pointer, table, offsetof(HrGroupTable, directory));
  Value mask = b_.loadField(i64, table, offsetof(HrGroupTable, mask));
  auto slotOf = [&](Value hash) {
    return b_.element(directory, arith::AndIOp::create(b_, b_.loc(), hash, mask), 8);
  };
  b_.forLoop(base, end, 1, [&](Value index) {
    RowReader rows = reader(level(), index);
    FailureOr<Value> hash = hashKeys(rows, combine.getKeys(), nullptr);
    if (failed(hash)) {
      result = failure();
      return;
    }
    b_.store(*hash, inBatch(index));
    b_.prefetch(slotOf(*hash));
  });
  Value isLarge = b_.compare(arith::CmpIPredicate::ugt, mask, b_.i64(kSmallDirectoryMask));
  b_.ifThen(isLarge, [&] {
    b_.forLoop(base, end, 1, [&](Value index) {
      Value entry = b_.load(i64, slotOf(b_.load(i64, inBatch(index))));
      Value address = arith::AndIOp::create(b_, b_.loc(), entry, b_.i64(kRowPointerMask));
      b_.prefetch(LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, address));
    });
  });
  return result;
}

LogicalResult KernelEmitter::emitHashedGroups(const plan::State &state, Value table, Value hashes,
                                              Value groups, Value base, Value end) {
  Type i64 = b_.getI64Type(), pointer = b_.ptrType();
  LogicalResult result = success();
  b_.forLoop(base, end, 1, [&](Value index) {
    RowReader rows = reader(level(), index);
    // Read all keys first: the code below branches.
    struct Key {
      const plan::StateField &field;
      Column column;
      RowValue value;
    };
    std::vector<Key> keys;
    for (const plan::StateField &field : state.fields) {
      if (field.combine != plan::Combine::kKey) {
        continue;
      }
      Column column = columns_.lookup(field.name);
      FailureOr<RowValue> value = rows.read(column);
      if (failed(value)) {
        result = failure();
        return;
      }
      keys.push_back({field, column, *value});
    }
    Value inBatch = arith::SubIOp::create(b_, b_.loc(), index, base);
    Value hash = b_.load(i64, b_.element(hashes, inBatch, 8));
    Value directory = b_.loadField(pointer, table, offsetof(HrGroupTable, directory));
    Value mask = b_.loadField(i64, table, offsetof(HrGroupTable, mask));
    Value found = b_.slot(pointer), position = b_.slot(i64);
    b_.store(arith::AndIOp::create(b_, b_.loc(), hash, mask), position);
    Block *probe = b_.newBlock(), *occupied = b_.newBlock(), *missing = b_.newBlock(),
          *same = b_.newBlock(), *step = b_.newBlock(), *done = b_.newBlock();
    b_.jump(probe);
    b_.enter(probe);
    Value at = b_.load(i64, position);
    Value entry = b_.load(i64, b_.element(directory, at, 8));
    b_.branch(b_.compare(arith::CmpIPredicate::eq, entry, b_.i64(0)), missing, occupied);

    b_.enter(occupied);
    Value tags = arith::XOrIOp::create(b_, b_.loc(), entry, hash);
    Value tagDiffers = arith::ShRUIOp::create(b_, b_.loc(), tags, b_.i64(48));
    b_.branch(b_.compare(arith::CmpIPredicate::eq, tagDiffers, b_.i64(0)), same, step);

    b_.enter(same);
    Value address = arith::AndIOp::create(b_, b_.loc(), entry, b_.i64(kRowPointerMask));
    Value row = LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, address);
    for (const Key &key : keys) {
      Value equal = equalKey(key.field, key.column->type, key.value, row);
      Block *next = b_.newBlock();
      b_.branch(equal, next, step);
      b_.enter(next);
    }
    b_.store(row, found);
    b_.jump(done);

    b_.enter(step);
    b_.store(arith::AndIOp::create(b_, b_.loc(), b_.add(at, b_.i64(1)), mask), position);
    b_.jump(probe);

    b_.enter(missing);
    Value fresh = b_.callImport("hr_group_insert", {worker_, table, hash});
    checkNotNull(fresh);
    for (const Key &key : keys) {
      Value place = b_.at(fresh, key.field.offset);
      auto keep = [&] {
        storeValue(b_, key.column->type, key.value.value, place);
        if (key.field.type == HR_STRING) {
          keepString(b_.loadField(pointer, table, offsetof(HrGroupTable, owner)), place);
        }
      };
      if (key.value.valid) {
        b_.ifThen(key.value.valid, keep);
      } else {
        keep();
      }
      if (key.field.nullable) {
        Value valid = key.value.valid ? key.value.valid : b_.integer(b_.getI1Type(), 1);
        storeValue(b_, b_.getI1Type(), valid, b_.at(fresh, key.field.validOffset));
      }
    }
    b_.store(fresh, found);
    b_.jump(done);

    b_.enter(done);
    Value group = b_.load(pointer, found);
    b_.store(group, b_.element(groups, inBatch, 8));
    if (!codedKeys_.empty()) {
      Value isCoded = b_.compare(arith::CmpIPredicate::ne, b_.load(i64, codedTile_), b_.i64(0));
      b_.ifThen(isCoded, [&] {
        RowReader codes = reader(level(), index);
        FailureOr<Value> place = codedGroup(codes);
        if (failed(place)) {
          result = failure();
          return;
        }
        b_.store(group, *place);
      });
    }
  });
  return result;
}

LogicalResult KernelEmitter::emitGroupUpdates(const plan::State &state, Value table, Value groups,
                                              Value base, Value end) {
  std::vector<const plan::StateField *> measures;
  for (const plan::StateField &field : state.fields) {
    if (field.combine != plan::Combine::kKey) {
      measures.push_back(&field);
    }
  }
  auto raised = std::make_shared<llvm::DenseSet<const Expression *>>();
  for (ArrayRef<const plan::StateField *> left = measures; !left.empty();) {
    ArrayRef<const plan::StateField *> some = left.take_front(kColumnsAtOnce);
    left = left.drop_front(some.size());
    LogicalResult result = success();
    b_.forLoop(base, end, 1, [&](Value index) {
      RowReader rows = reader(level(), index);
      rows.setRaised(raised);
      // Read all inputs first: combining may branch.
      std::vector<RowValue> inputs;
      for (const plan::StateField *field : some) {
        FailureOr<RowValue> value = rows.read(columns_.lookup(field->name));
        if (failed(value)) {
          result = failure();
          return;
        }
        inputs.push_back(*value);
      }
      Value owner = b_.loadField(b_.ptrType(), table, offsetof(HrGroupTable, owner));
      Value group = b_.load(
          b_.ptrType(), b_.element(groups, arith::SubIOp::create(b_, b_.loc(), index, base), 8));
      for (auto [field, input] : llvm::zip_equal(some, inputs)) {
        combineField(*field, group, input, owner);
      }
    });
    if (failed(result)) {
      return failure();
    }
  }
  return success();
}

} // namespace headrace::lower
