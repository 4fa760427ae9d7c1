// pipe.lookup: probing a join table in batches, with prefetch. All chains of a batch are followed
// together, a step at a time, so that the rows of one step come from memory at once.
#include "passes/lower/cpu/kernel_emitter.h"

#include "passes/analysis/physical.h"
#include "runtime/abi/row_pointer.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
// Larger batches evict what they fetched (docs/reference: 1,024 is worse than none).
constexpr int64_t kBatchRows = 64;
// Of a directory that stays in the second-level cache nothing need be fetched ahead.
constexpr int64_t kEntriesInCache = 1 << 16;
constexpr int64_t kAheadRows = 128;
constexpr int64_t kSlotsOfWord = 32; // of HrJoinTable.ranks
constexpr int64_t kNextOffset = 0;
constexpr int64_t kHashOffset = 8;
// A batch adds at most a row of output each time it is gone through.
constexpr int64_t kRoomRows = HR_TILE_ROWS - kBatchRows;

/// Where HrJoinTable.ranks says whether a key is there.
struct RankPlace {
  Value word, bit;
};

RankPlace rankWord(CodeBuilder &b, Value slot) {
  static_assert(kSlotsOfWord == 1 << 5);
  return {arith::ShRUIOp::create(b, b.loc(), slot, b.i64(5)),
          arith::AndIOp::create(b, b.loc(), slot, b.i64(kSlotsOfWord - 1))};
}

/// The entry of a key that is there.
Value rankIn(CodeBuilder &b, Value word, Value slot) {
  Value power = arith::ShLIOp::create(b, b.loc(), b.i64(1), rankWord(b, slot).bit);
  Value smaller = arith::SubIOp::create(b, b.loc(), power, b.i64(1));
  Value before =
      LLVM::CtPopOp::create(b, b.loc(), arith::AndIOp::create(b, b.loc(), word, smaller));
  return b.add(arith::ShRUIOp::create(b, b.loc(), word, b.i64(kSlotsOfWord)), before);
}
} // namespace

/// A lookup being emitted. Values are addresses in the scratch: they outlive a jump to the next
/// stage.
struct KernelEmitter::Lookup {
  pipe::LookupOp op;
  pipe::StateOp stateOp;
  plan::State state;
  unsigned from = 0; ///< level of the rows that look up
  Value table;
  Value batchBase, batchEnd; ///< rows of the batch
  Value open;                ///< how many chains of the batch have not ended
  Value rows, heads;         ///< of each open chain: its row, and where it goes on
  Value hashes;              ///< of the batch; if the state has a directory by hash
  Value matched; ///< of each row of the batch: whether it found a match; if that counts at its end
  Value pending; ///< not 0 if the rows that end a batch are still to come
  Value count, parents; ///< of the output
  Value matches, marks; ///< of the output: row of the state; whether there was one

  pipe::LookupKind kind() { return op.getKind(); }
  bool onePerMatch() { return kind() == pipe::LookupKind::Inner || keepsAll(); }
  /// Whether one match settles a row.
  bool needsOne() { return !onePerMatch() && kind() != pipe::LookupKind::Seen; }
  /// Whether it settles a row that its key is there: rows of the state are not looked at.
  bool needsBit() { return state.direct() && !keepsRow() && op.getResidual().empty(); }
  bool keepsRow() { return onePerMatch() || kind() == pipe::LookupKind::Seen; }
  bool marksState() { return kind() == pipe::LookupKind::Full || kind() == pipe::LookupKind::Seen; }
  bool keepsAll() { return kind() == pipe::LookupKind::Left || kind() == pipe::LookupKind::Full; }
  /// Rows of which only the end of their chains tells whether they are output.
  bool hasEnd() {
    return !needsBit() &&
           (keepsAll() || kind() == pipe::LookupKind::Anti || kind() == pipe::LookupKind::Mark);
  }
};

LogicalResult KernelEmitter::emitLookup(pipe::LookupOp op) {
  Lookup lookup;
  lookup.op = op;
  lookup.stateOp = symbols_.lookup<pipe::StateOp>(op.getState());
  lookup.state = layoutState(lookup.stateOp);
  lookup.from = level();
  if (!lookup.state.direct()) {
    logKeys(op.getKeys());
  }
  work_.add(plan::WorkKind::kProbe, lookup.from, 1, statePosition(op.getState()));
  lookup.table = statePointer(op.getState());
  for (Value *counter :
       {&lookup.batchBase, &lookup.batchEnd, &lookup.open, &lookup.pending, &lookup.count}) {
    *counter = scratch(8);
  }
  lookup.rows = scratch(kBatchRows * 2);
  lookup.heads = scratch(kBatchRows * 8);
  lookup.hashes = lookup.state.direct() ? Value() : scratch(kBatchRows * 8);
  lookup.matched = lookup.hasEnd() ? scratch(kBatchRows) : Value();
  lookup.parents = scratch(kBufferRows * 2);
  lookup.matches = lookup.onePerMatch() ? scratch(kBufferRows * 8) : Value();
  lookup.marks = lookup.kind() == pipe::LookupKind::Mark ? scratch(kBufferRows) : Value();

  Type i64 = b_.getI64Type();
  Block *fill = b_.newBlock(), *step = b_.newBlock(), *more = b_.newBlock(), *round = b_.newBlock(),
        *closed = b_.newBlock(), *end = b_.newBlock(), *batch = b_.newBlock(),
        *probe = b_.newBlock(), *exhausted = b_.newBlock(), *downstream = b_.newBlock();
  b_.store(b_.i64(0), lookup.batchEnd);
  b_.store(b_.i64(0), lookup.open);
  b_.store(b_.i64(0), lookup.pending);
  b_.jump(fill);

  b_.enter(fill);
  leaveIfStopped(); // a tile may have many matches
  b_.store(b_.i64(0), lookup.count);
  b_.jump(step);

  b_.enter(step);
  Value room = b_.compare(arith::CmpIPredicate::sle, b_.load(i64, lookup.count), b_.i64(kRoomRows));
  b_.branch(room, more, downstream);
  b_.enter(more);
  b_.branch(b_.compare(arith::CmpIPredicate::ne, b_.load(i64, lookup.open), b_.i64(0)), round,
            closed);

  b_.enter(round);
  if (failed(emitRound(lookup))) {
    return failure();
  }
  b_.jump(step);

  b_.enter(closed);
  b_.branch(b_.compare(arith::CmpIPredicate::ne, b_.load(i64, lookup.pending), b_.i64(0)), end,
            batch);
  b_.enter(end);
  if (lookup.hasEnd()) {
    emitBatchEnd(lookup);
  }
  b_.store(b_.i64(0), lookup.pending);
  b_.jump(step);

  b_.enter(batch);
  Value base = b_.load(i64, lookup.batchEnd);
  Value rows = b_.load(i64, levels_[lookup.from].count);
  b_.branch(b_.compare(arith::CmpIPredicate::slt, base, rows), probe, exhausted);
  b_.enter(probe);
  Value batchEnd = arith::MinSIOp::create(b_, b_.loc(), b_.add(base, b_.i64(kBatchRows)), rows);
  if (failed(lookup.state.direct() ? emitDirectProbe(lookup, base, batchEnd)
                                   : emitHashProbe(lookup, base, batchEnd))) {
    return failure();
  }
  b_.store(base, lookup.batchBase);
  b_.store(batchEnd, lookup.batchEnd);
  if (lookup.hasEnd()) {
    for (int64_t at = 0; at < kBatchRows; at += 8) {
      b_.storeField(b_.i64(0), lookup.matched, at);
    }
    b_.store(b_.i64(1), lookup.pending);
  }
  b_.jump(step);

  b_.enter(exhausted);
  b_.branch(b_.compare(arith::CmpIPredicate::sgt, b_.load(i64, lookup.count), b_.i64(0)),
            downstream, next_);

  b_.enter(downstream);
  next_ = fill;
  beginLevel({lookup.parents, lookup.count},
             op.getSelectivity() ? op.getSelectivity()->convertToDouble() : 1);
  work_.add(plan::WorkKind::kMatch, level(), 1, statePosition(op.getState()));
  publishMatches(lookup);
  return success();
}

/// Adds a chain to the open ones if it has a row.
void KernelEmitter::openChain(Lookup &lookup, Value openCount, Value row, Value head) {
  Type i64 = b_.getI64Type();
  Value at = b_.load(i64, openCount);
  b_.store(b_.truncate(row, b_.getI16Type()), b_.element(lookup.rows, at, 2));
  b_.store(head, b_.element(lookup.heads, at, 8));
  Value some = b_.compare(arith::CmpIPredicate::ne, head, b_.i64(0));
  b_.store(b_.add(at, b_.zeroExtend(some, i64)), openCount);
}

/// Hashes all rows of a batch and touches the directory; then loads all heads and touches their
/// rows.
LogicalResult KernelEmitter::emitHashProbe(Lookup &lookup, Value base, Value end) {
  Type i64 = b_.getI64Type(), pointer = b_.ptrType();
  Value directory = b_.loadField(pointer, lookup.table, offsetof(HrJoinTable, directory));
  Value shift = b_.loadField(i64, lookup.table, offsetof(HrJoinTable, shift));
  LogicalResult result = success();
  auto inBatch = [&](Value array, Value index) {
    return b_.element(array, arith::SubIOp::create(b_, b_.loc(), index, base), 8);
  };
  b_.forLoop(base, end, 1, [&](Value index) {
    RowReader values = reader(lookup.from, index);
    Value anyNull;
    FailureOr<Value> hash = hashKeys(values, lookup.op.getKeys(), &anyNull);
    if (failed(hash)) {
      result = failure();
      return;
    }
    b_.store(*hash, inBatch(lookup.hashes, index));
    Value slot = b_.element(directory, arith::ShRUIOp::create(b_, b_.loc(), *hash, shift), 8);
    b_.prefetch(slot);
    Value address = LLVM::PtrToIntOp::create(b_, b_.loc(), i64, slot);
    b_.store(anyNull ? b_.select(anyNull, b_.i64(0), address) : address,
             inBatch(lookup.heads, index));
  });
  Value openCount = b_.slot(i64);
  b_.store(b_.i64(0), openCount);
  b_.forLoop(base, end, 1, [&](Value index) {
    Value hash = b_.load(i64, inBatch(lookup.hashes, index));
    Value address = b_.load(i64, inBatch(lookup.heads, index));
    Value null = b_.compare(arith::CmpIPredicate::eq, address, b_.i64(0));
    // A NULL key reads the first entry instead, and is masked.
    Value slot = LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, address);
    Value entry = b_.load(i64, b_.select(null, directory, slot));
    Value tag = arith::AndIOp::create(
        b_, b_.loc(), arith::ShRUIOp::create(b_, b_.loc(), hash, b_.i64(12)), b_.i64(15));
    Value bit = arith::ShRUIOp::create(b_, b_.loc(), entry, b_.add(tag, b_.i64(48)));
    Value present = b_.truncate(bit, b_.getI1Type());
    Value head = arith::AndIOp::create(b_, b_.loc(), entry, b_.i64(abi::kRowPointerMask));
    head = b_.select(present, head, b_.i64(0));
    head = b_.select(null, b_.i64(0), head);
    b_.prefetchRow(LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, head), lookup.state.rowBytes);
    openChain(lookup, openCount, index, head);
  });
  b_.store(b_.load(i64, openCount), lookup.open);
  return result;
}

/// Finds the entries of all rows of a batch by their key, and touches the rows of those that are
/// there. By ranks, an entry is known from the word that has the key's bit.
LogicalResult KernelEmitter::emitDirectProbe(Lookup &lookup, Value base, Value end) {
  Type i64 = b_.getI64Type(), pointer = b_.ptrType();
  const bool ranked = lookup.state.directory == plan::Directory::kRanks;
  Value directory = b_.loadField(pointer, lookup.table, offsetof(HrJoinTable, directory));
  Value ranks = b_.loadField(pointer, lookup.table, offsetof(HrJoinTable, ranks));
  Value first = b_.loadField(i64, lookup.table, offsetof(HrJoinTable, base));
  Value extent = b_.loadField(i64, lookup.table, offsetof(HrJoinTable, extent));
  Column key = columns_.lookup(cast<StringAttr>(lookup.op.getKeys()[0]).getValue());
  LogicalResult result = success();
  // Whether the row's key is in the range, and its place there; the first one for others.
  auto slotOf = [&](Value index) -> std::pair<Value, Value> {
    FailureOr<RowValue> value = reader(lookup.from, index).read(key);
    if (failed(value)) {
      result = failure();
      return {};
    }
    Value slot = arith::SubIOp::create(b_, b_.loc(), b_.signExtend(value->value, i64), first);
    Value inside = b_.compare(arith::CmpIPredicate::ult, slot, extent);
    if (value->valid) {
      inside = arith::AndIOp::create(b_, b_.loc(), inside, value->valid);
    }
    return {inside, b_.select(inside, slot, b_.i64(0))};
  };
  auto placeOf = [&](Value slot) {
    return ranked ? b_.element(ranks, rankWord(b_, slot).word, 8) : b_.element(directory, slot, 8);
  };
  if (key->kind == ColumnValue::Kind::kBuffer) {
    // The rows of a later batch, while these run: keys in order fall on few lines, which one batch
    // waits for.
    Value large = b_.compare(arith::CmpIPredicate::ugt, extent,
                             b_.i64(ranked ? kEntriesInCache * kSlotsOfWord : kEntriesInCache));
    b_.ifThen(large, [&] {
      Value rows = b_.load(i64, levels_[lookup.from].count);
      Value isFirst = b_.compare(arith::CmpIPredicate::eq, base, b_.i64(0));
      Value from = b_.select(isFirst, b_.i64(0), b_.add(base, b_.i64(kAheadRows)));
      Value to =
          arith::MinSIOp::create(b_, b_.loc(), b_.add(base, b_.i64(kAheadRows + kBatchRows)), rows);
      b_.forLoop(from, to, 1, [&](Value index) {
        if (Value slot = slotOf(index).second) {
          b_.prefetch(placeOf(slot));
        }
      });
    });
  }
  Value openCount = b_.slot(i64);
  b_.store(b_.i64(0), openCount);
  b_.forLoop(base, end, 1, [&](Value index) {
    auto [inside, slot] = slotOf(index);
    if (!slot) {
      return;
    }
    Value read = b_.load(i64, placeOf(slot));
    Value head;
    if (ranked) {
      Value bit = arith::ShRUIOp::create(b_, b_.loc(), read, rankWord(b_, slot).bit);
      Value there = arith::AndIOp::create(b_, b_.loc(), inside, b_.truncate(bit, b_.getI1Type()));
      if (lookup.needsBit()) {
        appendSettled(lookup, index, there);
        return;
      }
      Value entry = b_.element(directory, rankIn(b_, read, slot), 8);
      b_.prefetch(entry);
      head = b_.select(there, LLVM::PtrToIntOp::create(b_, b_.loc(), i64, entry), b_.i64(0));
    } else {
      head = b_.select(inside, read, b_.i64(0));
      if (lookup.needsBit()) {
        appendSettled(lookup, index, b_.compare(arith::CmpIPredicate::ne, head, b_.i64(0)));
        return;
      }
      b_.prefetchRow(LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, head), lookup.state.rowBytes);
    }
    openChain(lookup, openCount, index, head);
  });
  Value open = b_.load(i64, openCount);
  if (ranked) {
    b_.forLoop(b_.i64(0), open, 1, [&](Value index) {
      Value place = b_.element(lookup.heads, index, 8);
      Value entry = LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, b_.load(i64, place));
      Value head = b_.load(i64, entry);
      b_.prefetchRow(LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, head), lookup.state.rowBytes);
      b_.store(head, place);
    });
  }
  b_.store(open, lookup.open);
  return result;
}

/// Writes the output of a row of which it is known whether it has a match.
void KernelEmitter::appendSettled(Lookup &lookup, Value row, Value there) {
  Value found = lookup.count;
  Value one = b_.i64(1);
  if (lookup.marks) {
    Value position = b_.load(b_.getI64Type(), found);
    b_.store(b_.zeroExtend(there, b_.getI8Type()), b_.element(lookup.marks, position, 1));
  } else {
    Value kept = lookup.kind() == pipe::LookupKind::Anti
                     ? arith::XOrIOp::create(b_, b_.loc(), there, b_.integer(b_.getI1Type(), 1))
                     : there;
    one = b_.zeroExtend(kept, b_.getI64Type());
  }
  appendRow(lookup, found, row, b_.nullPtr(), one);
}

/// One step along every open chain of the batch: the rows that come next are touched for the round
/// after.
LogicalResult KernelEmitter::emitRound(Lookup &lookup) {
  Type i64 = b_.getI64Type(), i8 = b_.getI8Type(), pointer = b_.ptrType();
  pipe::LookupKind kind = lookup.kind();
  Value base = b_.load(i64, lookup.batchBase);
  Value open = b_.load(i64, lookup.open);
  Value kept = b_.slot(i64), found = b_.slot(i64);
  b_.store(b_.i64(0), kept);
  b_.store(b_.load(i64, lookup.count), found);
  LogicalResult result = success();
  b_.forLoop(b_.i64(0), open, 1, [&](Value index) {
    Value row = b_.zeroExtend(b_.load(b_.getI16Type(), b_.element(lookup.rows, index, 2)), i64);
    Value match = LLVM::IntToPtrOp::create(b_, b_.loc(), pointer,
                                           b_.load(i64, b_.element(lookup.heads, index, 8)));
    Value next = b_.loadField(i64, match, kNextOffset);
    FailureOr<Value> equal = emitMatch(lookup, row, match, base);
    if (failed(equal)) {
      result = failure();
      return;
    }
    Value inBatch = arith::SubIOp::create(b_, b_.loc(), row, base);
    if (lookup.matched) {
      Value place = b_.element(lookup.matched, inBatch, 1);
      b_.store(arith::OrIOp::create(b_, b_.loc(), b_.load(i8, place), b_.zeroExtend(*equal, i8)),
               place);
    }
    if (lookup.onePerMatch() || kind == pipe::LookupKind::Semi) {
      appendRow(lookup, found, row, match, b_.zeroExtend(*equal, i64));
    }
    Value goesOn = b_.compare(arith::CmpIPredicate::ne, next, b_.i64(0));
    Value there = b_.select(goesOn, LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, next), match);
    if (lookup.needsOne()) {
      goesOn = b_.select(*equal, b_.integer(b_.getI1Type(), 0), goesOn);
    }
    b_.prefetchRow(there, lookup.state.rowBytes);
    Value at = b_.load(i64, kept);
    b_.store(b_.truncate(row, b_.getI16Type()), b_.element(lookup.rows, at, 2));
    b_.store(next, b_.element(lookup.heads, at, 8));
    b_.store(b_.add(at, b_.zeroExtend(goesOn, i64)), kept);
  });
  b_.store(b_.load(i64, kept), lookup.open);
  b_.store(b_.load(i64, found), lookup.count);
  return result;
}

/// Writes the row of output that `found` counts up to; it counts if `one` is 1.
void KernelEmitter::appendRow(Lookup &lookup, Value found, Value row, Value match, Value one) {
  Value position = b_.load(b_.getI64Type(), found);
  b_.store(b_.truncate(row, b_.getI16Type()), b_.element(lookup.parents, position, 2));
  if (lookup.matches) {
    b_.store(match, b_.element(lookup.matches, position, 8));
  }
  b_.store(b_.add(position, one), found);
}

/// i1: whether the state's row has the keys of the row that looks up, and the residual holds for
/// the two.
FailureOr<Value> KernelEmitter::emitMatch(Lookup &lookup, Value row, Value match, Value base) {
  Type i1 = b_.getI1Type();
  RowReader values = reader(lookup.from, row);
  SmallVector<Column> keys;
  for (auto name : lookup.op.getKeys().getAsRange<StringAttr>()) {
    keys.push_back(columns_.lookup(name.getValue()));
  }
  Value equal = b_.integer(i1, 1);
  bool singleInteger =
      keys.size() == 1 && keys[0]->type.isInteger() && !keys[0]->type.isInteger(128);
  Value settled = b_.slot(i1);
  b_.store(b_.integer(i1, 0), settled);
  Block *done = b_.newBlock();
  auto goOnIf = [&](Value condition) {
    Block *holds = b_.newBlock();
    b_.branch(condition, holds, done);
    b_.enter(holds);
  };
  if (!lookup.state.direct()) {
    SmallVector<const plan::StateField *> fields;
    for (const plan::StateField &field : lookup.state.fields) {
      if (field.combine == plan::Combine::kKey) {
        fields.push_back(&field);
      }
    }
    if (!singleInteger) {
      Value inBatch = arith::SubIOp::create(b_, b_.loc(), row, base);
      Value hash = b_.load(b_.getI64Type(), b_.element(lookup.hashes, inBatch, 8));
      goOnIf(b_.compare(arith::CmpIPredicate::eq, hash,
                        b_.loadField(b_.getI64Type(), match, kHashOffset)));
    }
    for (auto [key, field] : llvm::zip_equal(keys, fields)) {
      FailureOr<RowValue> value = values.read(key);
      if (failed(value)) {
        return failure();
      }
      equal = equalValues(key->type, value->value,
                          loadValue(b_, key->type, b_.at(match, field->offset)));
      if (!singleInteger) {
        goOnIf(equal);
      }
    }
  }
  if (!lookup.op.getResidual().empty()) { // it may yield a column as it is
    if (singleInteger && !lookup.state.direct()) {
      goOnIf(equal);
    }
    FailureOr<Value> holds = emitResidual(lookup, values, match);
    if (failed(holds)) {
      return failure();
    }
    equal = *holds;
  }
  if (lookup.marksState()) {
    const plan::StateField *mark = findField(lookup.state, *lookup.op.getMark());
    // Workers may set it at once: they all write the same, and only if it is not there yet.
    Value place = b_.at(match, mark->offset);
    Value unset = b_.compare(arith::CmpIPredicate::eq, b_.load(b_.getI8Type(), place),
                             b_.integer(b_.getI8Type(), 0));
    b_.ifThen(arith::AndIOp::create(b_, b_.loc(), equal, unset),
              [&] { b_.store(b_.integer(b_.getI8Type(), 1), place); });
  }
  b_.store(equal, settled);
  b_.jump(done);
  b_.enter(done);
  return b_.load(i1, settled);
}

FailureOr<Value> KernelEmitter::emitResidual(Lookup &lookup, RowReader &values, Value match) {
  auto residual = std::make_shared<Expression>(lookup.op.getResidual().front());
  keepAlive_.push_back(residual);
  for (auto name : lookup.op.getColumns().getAsRange<StringAttr>()) {
    const plan::StateField *field = findField(lookup.state, name.getValue());
    Column column = columns_.lookup(name.getValue());
    if (!column) {
      column = std::make_shared<ColumnValue>();
      for (auto attr : lookup.stateOp.getFields().getAsRange<pipe::FieldAttr>()) {
        if (attr.getName() == name) {
          column->type = attr.getType();
        }
      }
      column->nullable = field->nullable;
      RowValue value{loadValue(b_, column->type, b_.at(match, field->offset)), Value()};
      if (field->nullable) {
        value.valid = loadValue(b_, b_.getI1Type(), b_.at(match, field->validOffset));
      }
      values.bind(column, value);
    }
    residual->addInput(column);
  }
  FailureOr<SmallVector<Value>> holds = values.evaluate(*residual);
  if (failed(holds)) {
    return failure();
  }
  return holds->front();
}

/// All chains of the batch have ended: rows that are kept without a match, or with the mark whether
/// they had one.
void KernelEmitter::emitBatchEnd(Lookup &lookup) {
  Type i64 = b_.getI64Type(), i8 = b_.getI8Type();
  Value base = b_.load(i64, lookup.batchBase);
  Value found = b_.slot(i64);
  b_.store(b_.load(i64, lookup.count), found);
  b_.forLoop(base, b_.load(i64, lookup.batchEnd), 1, [&](Value row) {
    Value inBatch = arith::SubIOp::create(b_, b_.loc(), row, base);
    Value matched = b_.load(i8, b_.element(lookup.matched, inBatch, 1));
    Value one = b_.i64(1);
    if (lookup.marks) {
      b_.store(matched, b_.element(lookup.marks, b_.load(i64, found), 1));
    } else {
      one = b_.zeroExtend(b_.compare(arith::CmpIPredicate::eq, matched, b_.integer(i8, 0)), i64);
    }
    appendRow(lookup, found, row, b_.nullPtr(), one);
  });
  b_.store(b_.load(i64, found), lookup.count);
}

/// Makes the columns of the matched rows known to the stages that follow.
void KernelEmitter::publishMatches(Lookup &lookup) {
  pipe::RowsType rows = lookup.op.getRows().getType();
  for (auto name : lookup.op.getPayload().getAsRange<StringAttr>()) {
    const plan::StateField *field = findField(lookup.state, name.getValue());
    int64_t index = rows.indexOf(name.getValue());
    if (index < 0) {
      continue;
    }
    auto column = std::make_shared<ColumnValue>();
    column->kind = ColumnValue::Kind::kField;
    column->level = level();
    column->base = lookup.matches;
    column->offset = field->offset;
    column->validOffset = field->validOffset;
    column->fieldNullable = field->nullable;
    column->mayMiss = lookup.keepsAll();
    column->nullable = field->nullable || column->mayMiss;
    column->type = rows.getTypes()[index];
    columns_[name.getValue()] = column;
  }
  if (lookup.marks) {
    auto column = std::make_shared<ColumnValue>();
    column->level = level();
    column->type = b_.getI1Type();
    column->base = lookup.marks;
    columns_[lookup.op.getMark()->str()] = column;
  }
  keepColumns(rows);
}

} // namespace headrace::lower
