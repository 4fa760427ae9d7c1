// pipe.lookup: probing a join table in batches, with prefetch, one output row a match.
#include "passes/lower/kernel_emitter.h"

#include "passes/analysis/physical.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
// Larger batches evict what they fetched (docs/reference: 1,024 is worse than none).
constexpr int64_t kBatchRows = 64;
constexpr int64_t kNextOffset = 0;
constexpr int64_t kHashOffset = 8;
} // namespace

LogicalResult KernelEmitter::emitLookup(pipe::LookupOp lookup) {
  auto stateOp = symbols_.lookup<pipe::StateOp>(lookup.getState());
  if (!stateOp || stateOp.getKind() != pipe::StateKind::Join) {
    return lookup.emitError("not a join state: ") << lookup.getState();
  }
  plan::State state = layoutState(stateOp);
  pipe::LookupKind kind = lookup.getKind();
  bool onePerMatch = kind == pipe::LookupKind::Inner || kind == pipe::LookupKind::Left ||
                     kind == pipe::LookupKind::Full;
  bool keepsAll = kind == pipe::LookupKind::Left || kind == pipe::LookupKind::Full;

  Type i64 = b_.getI64Type(), pointer = b_.ptrType();
  unsigned from = level();
  if (!state.direct) {
    logKeys(lookup.getKeys());
  }
  work_.add(plan::WorkKind::kProbe, from, 1, statePosition(lookup.getState()));
  Value table = statePointer(lookup.getState());
  // Everything that outlives a jump to the next stage is in scratch.
  Value batchBase = scratch(8), batchEnd = scratch(8), current = scratch(8), chain = scratch(8),
        matched = scratch(8), count = scratch(8);
  Value hashes = scratch(kBatchRows * 8), heads = scratch(kBatchRows * 8);
  Value parents = scratch(kBufferRows * 2);
  Value matches = onePerMatch ? scratch(kBufferRows * 8) : Value();
  Value marks = kind == pipe::LookupKind::Mark ? scratch(kBufferRows) : Value();

  Block *fill = b_.newBlock(), *step = b_.newBlock(), *batch = b_.newBlock(),
        *walk = b_.newBlock(), *candidate = b_.newBlock(), *advance = b_.newBlock(),
        *rowEnd = b_.newBlock(), *nextRow = b_.newBlock(), *exhausted = b_.newBlock(),
        *downstream = b_.newBlock();
  Block *outerNext = next_;

  b_.store(b_.i64(0), batchEnd);
  b_.store(b_.i64(0), current);
  b_.jump(fill);

  b_.enter(fill);
  leaveIfStopped(); // a tile may have many matches
  b_.store(b_.i64(0), count);
  b_.jump(step);

  b_.enter(step);
  Value row = b_.load(i64, current);
  b_.branch(b_.compare(arith::CmpIPredicate::slt, row, b_.load(i64, batchEnd)), walk, batch);

  // A batch: hash all, touch the directory, load all heads, touch the rows.
  b_.enter(batch);
  {
    Value base = b_.load(i64, batchEnd);
    Value rows = b_.load(i64, levels_[from].count);
    Block *more = b_.newBlock();
    b_.branch(b_.compare(arith::CmpIPredicate::slt, base, rows), more, exhausted);
    b_.enter(more);
    Value end = arith::MinSIOp::create(b_, b_.loc(), b_.add(base, b_.i64(kBatchRows)), rows);
    Value directory = b_.loadField(pointer, table, offsetof(HrJoinTable, directory));
    Value shift = b_.loadField(i64, table, offsetof(HrJoinTable, shift));
    LogicalResult result = success();
    auto inBatch = [&](Value array, Value index) {
      return b_.element(array, arith::SubIOp::create(b_, b_.loc(), index, base), 8);
    };
    if (!state.direct) {
      b_.forLoop(base, end, 1, [&](Value index) {
        RowReader values = reader(from, index);
        Value anyNull;
        FailureOr<Value> hash = hashKeys(values, lookup.getKeys(), &anyNull);
        if (failed(hash)) {
          result = failure();
          return;
        }
        b_.store(*hash, inBatch(hashes, index));
        Value slot = b_.element(directory, arith::ShRUIOp::create(b_, b_.loc(), *hash, shift), 8);
        b_.prefetch(slot);
        Value address = LLVM::PtrToIntOp::create(b_, b_.loc(), i64, slot);
        b_.store(anyNull ? b_.select(anyNull, b_.i64(0), address) : address, inBatch(heads, index));
      });
      b_.forLoop(base, end, 1, [&](Value index) {
        Value hash = b_.load(i64, inBatch(hashes, index));
        Value address = b_.load(i64, inBatch(heads, index));
        Value null = b_.compare(arith::CmpIPredicate::eq, address, b_.i64(0));
        // A NULL key reads the first entry instead, and is masked.
        Value slot = LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, address);
        Value entry = b_.load(i64, b_.select(null, directory, slot));
        Value tag = arith::AndIOp::create(
            b_, b_.loc(), arith::ShRUIOp::create(b_, b_.loc(), hash, b_.i64(12)), b_.i64(15));
        Value bit = arith::ShRUIOp::create(b_, b_.loc(), entry, b_.add(tag, b_.i64(48)));
        Value present = b_.truncate(bit, b_.getI1Type());
        Value head = arith::AndIOp::create(b_, b_.loc(), entry, b_.i64(kRowPointerMask));
        head = b_.select(present, head, b_.i64(0));
        head = b_.select(null, b_.i64(0), head);
        b_.store(head, inBatch(heads, index));
        b_.prefetch(LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, head));
      });
    } else {
      b_.forLoop(base, end, 1, [&](Value index) {
        RowReader values = reader(from, index);
        Column key = columns_.lookup(cast<StringAttr>(lookup.getKeys()[0]).getValue());
        FailureOr<RowValue> value = values.read(key);
        if (failed(value)) {
          result = failure();
          return;
        }
        Value slot = arith::SubIOp::create(
            b_, b_.loc(), b_.signExtend(value->value, i64),
            b_.loadField(i64, table, offsetof(HrJoinTable, base)));
        Value inside = b_.compare(arith::CmpIPredicate::ult, slot,
                                  b_.loadField(i64, table, offsetof(HrJoinTable, extent)));
        if (value->valid) {
          inside = arith::AndIOp::create(b_, b_.loc(), inside, value->valid);
        }
        Value entry = b_.load(i64, b_.element(directory, b_.select(inside, slot, b_.i64(0)), 8));
        Value head = b_.select(inside, entry, b_.i64(0));
        b_.store(head, inBatch(heads, index));
        b_.prefetch(LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, head));
      });
    }
    if (failed(result)) {
      return failure();
    }
    b_.store(base, batchBase);
    b_.store(end, batchEnd);
    b_.store(base, current);
    b_.store(b_.load(i64, heads), chain);
    b_.store(b_.i64(0), matched);
    b_.jump(step);
  }

  auto append = [&](Value atRow, Value match) {
    Value position = b_.load(i64, count);
    b_.store(b_.truncate(atRow, b_.getI16Type()), b_.element(parents, position, 2));
    if (matches) {
      b_.store(match, b_.element(matches, position, 8));
    }
    b_.store(b_.add(position, b_.i64(1)), count);
  };

  // One step along the chain of the current row.
  b_.enter(walk);
  Value address = b_.load(i64, chain);
  b_.branch(b_.compare(arith::CmpIPredicate::eq, address, b_.i64(0)), rowEnd, candidate);

  b_.enter(candidate);
  {
    Value match = LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, address);
    Value probeRow = b_.load(i64, current);
    RowReader values = reader(from, probeRow);
    b_.store(b_.loadField(i64, match, kNextOffset), chain);
    unsigned position = 0;
    bool singleInteger = lookup.getKeys().size() == 1;
    for (auto name : lookup.getKeys().getAsRange<StringAttr>()) {
      Column column = columns_.lookup(name.getValue());
      singleInteger &= column->type.isInteger() && !column->type.isInteger(128);
    }
    if (!state.direct && !singleInteger) {
      Value hash = b_.load(
          i64, b_.element(hashes, arith::SubIOp::create(b_, b_.loc(), probeRow, b_.load(i64, batchBase)), 8));
      Block *sameHash = b_.newBlock();
      b_.branch(b_.compare(arith::CmpIPredicate::eq, hash, b_.loadField(i64, match, kHashOffset)),
                sameHash, walk);
      b_.enter(sameHash);
    }
    if (!state.direct) {
      std::vector<const plan::StateField *> keyFields;
      for (const plan::StateField &field : state.fields) {
        if (field.combine == "key") {
          keyFields.push_back(&field);
        }
      }
      if (keyFields.size() != lookup.getKeys().size()) {
        return lookup.emitError("the state has another number of keys: ") << keyFields.size();
      }
      for (auto name : lookup.getKeys().getAsRange<StringAttr>()) {
        Column column = columns_.lookup(name.getValue());
        FailureOr<RowValue> value = values.read(column);
        if (failed(value)) {
          return failure();
        }
        Value stored = loadValue(b_, column->type, b_.at(match, keyFields[position++]->offset));
        Block *equal = b_.newBlock();
        b_.branch(equalValues(column->type, value->value, stored), equal, walk);
        b_.enter(equal);
      }
    }
    if (!lookup.getResidual().empty()) { // it may yield a column as it is
      auto residual = std::make_shared<Expression>();
      residual->body = &lookup.getResidual().front();
      keepAlive_.push_back(residual);
      for (auto name : lookup.getColumns().getAsRange<StringAttr>()) {
        const plan::StateField *field = findField(state, name.getValue());
        Column column = columns_.lookup(name.getValue());
        if (!column) {
          column = std::make_shared<ColumnValue>();
          if (!field) {
            return lookup.emitError("unknown column: ") << name;
          }
          Type type = residual->body->getArgumentTypes()[residual->columns.empty() ? 0 : 0];
          for (auto attr : stateOp.getFields().getAsRange<pipe::FieldAttr>()) {
            if (attr.getName() == name) {
              type = attr.getType();
            }
          }
          column->type = type;
          column->nullable = field->nullable;
          RowValue value{loadValue(b_, type, b_.at(match, field->offset)), Value()};
          if (field->nullable) {
            value.valid = loadValue(b_, b_.getI1Type(), b_.at(match, field->validOffset));
          }
          values.bind(column, value);
        }
        residual->columns.push_back(column);
      }
      FailureOr<SmallVector<Value>> holds = values.evaluate(*residual);
      if (failed(holds)) {
        return failure();
      }
      Block *kept = b_.newBlock();
      b_.branch(holds->front(), kept, walk);
      b_.enter(kept);
    }
    switch (kind) {
    case pipe::LookupKind::Full: {
      const plan::StateField *mark = findField(state, *lookup.getMark());
      if (!mark) {
        return lookup.emitError("the state has no field: ") << *lookup.getMark();
      }
      // Workers may set it at once: they all write the same, and only if it is not there yet.
      Value place = b_.at(match, mark->offset);
      Value unset = b_.compare(arith::CmpIPredicate::eq, b_.load(b_.getI8Type(), place), b_.integer(b_.getI8Type(), 0));
      b_.ifThen(unset, [&] { b_.store(b_.integer(b_.getI8Type(), 1), place); });
      [[fallthrough]];
    }
    case pipe::LookupKind::Inner:
    case pipe::LookupKind::Left: {
      append(probeRow, match);
      b_.store(b_.i64(1), matched);
      Value full = b_.compare(arith::CmpIPredicate::sge, b_.load(i64, count), b_.i64(HR_TILE_ROWS));
      b_.branch(full, downstream, walk);
      break;
    }
    case pipe::LookupKind::Semi:
      append(probeRow, match);
      b_.jump(nextRow);
      break;
    case pipe::LookupKind::Anti:
      b_.jump(nextRow);
      break;
    case pipe::LookupKind::Mark:
      b_.store(b_.integer(b_.getI8Type(), 1), b_.element(marks, b_.load(i64, count), 1));
      append(probeRow, match);
      b_.jump(nextRow);
      break;
    }
  }

  // The chain has ended: rows that are kept without a match.
  b_.enter(rowEnd);
  {
    Value endRow = b_.load(i64, current);
    if (keepsAll) {
      Block *missing = b_.newBlock();
      b_.branch(b_.compare(arith::CmpIPredicate::eq, b_.load(i64, matched), b_.i64(0)), missing, nextRow);
      b_.enter(missing);
      append(endRow, b_.nullPtr());
    } else if (kind == pipe::LookupKind::Anti) {
      append(endRow, Value());
    } else if (kind == pipe::LookupKind::Mark) {
      b_.store(b_.integer(b_.getI8Type(), 0), b_.element(marks, b_.load(i64, count), 1));
      append(endRow, Value());
    }
    b_.jump(nextRow);
  }

  b_.enter(nextRow);
  {
    Value next = b_.add(b_.load(i64, current), b_.i64(1));
    b_.store(next, current);
    b_.store(b_.i64(0), matched);
    // Past the batch this reads a stale head, which the next batch replaces before it is used.
    Value index = arith::SubIOp::create(b_, b_.loc(), next, b_.load(i64, batchBase));
    Value inside = b_.compare(arith::CmpIPredicate::slt, index, b_.i64(kBatchRows));
    b_.store(b_.load(i64, b_.element(heads, b_.select(inside, index, b_.i64(0)), 8)), chain);
    b_.jump(advance);
  }
  b_.enter(advance);
  Value full = b_.compare(arith::CmpIPredicate::sge, b_.load(i64, count), b_.i64(HR_TILE_ROWS));
  b_.branch(full, downstream, step);

  b_.enter(exhausted);
  b_.branch(b_.compare(arith::CmpIPredicate::sgt, b_.load(i64, count), b_.i64(0)), downstream,
            outerNext);

  b_.enter(downstream);
  next_ = fill;
  levels_.push_back({parents, count});
  countRows();
  unsigned to = level();
  work_.add(plan::WorkKind::kMatch, to, 1, statePosition(lookup.getState()));
  for (auto name : lookup.getPayload().getAsRange<StringAttr>()) {
    const plan::StateField *field = findField(state, name.getValue());
    if (!field) {
      return lookup.emitError("the state has no field: ") << name;
    }
    auto column = std::make_shared<ColumnValue>();
    column->kind = ColumnValue::Kind::kField;
    column->level = to;
    column->base = matches;
    column->offset = field->offset;
    column->validOffset = field->validOffset;
    column->fieldNullable = field->nullable;
    column->mayMiss = keepsAll;
    column->nullable = field->nullable || column->mayMiss;
    pipe::RowsType rows = lookup.getRows().getType();
    int64_t index = rows.indexOf(name.getValue());
    if (index < 0) {
      continue;
    }
    column->type = rows.getTypes()[index];
    columns_[name.getValue()] = column;
  }
  if (marks) {
    auto column = std::make_shared<ColumnValue>();
    column->level = to;
    column->type = b_.getI1Type();
    column->base = marks;
    columns_[lookup.getMark()->str()] = column;
  }
  keepColumns(lookup.getRows().getType());
  return success();
}

} // namespace headrace::lower
