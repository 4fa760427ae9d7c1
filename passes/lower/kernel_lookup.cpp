// pipe.lookup: probing a join table in batches, with prefetch, one output row a match.
#include "passes/lower/kernel_emitter.h"

#include "passes/analysis/physical.h"
#include "runtime/primitives/hash/hash.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
// Larger batches evict what they fetched (docs/reference: 1,024 is worse than none).
constexpr int64_t kBatchRows = 64;
constexpr int64_t kPointerMask = 0x0000ffffffffffff;
constexpr int64_t kNextOffset = 0;
constexpr int64_t kHashOffset = 8;

const plan::StateField *findField(const plan::State &state, StringRef name) {
  for (const plan::StateField &field : state.fields) {
    if (field.name == name) {
      return &field;
    }
  }
  return nullptr;
}
} // namespace

// ---- hashing and equality (runtime/primitives/hash/hash.h) ----

Value KernelEmitter::hashValue(Type type, RowValue input) {
  Type i64 = b_.getI64Type();
  auto shiftRight = [&](Value value, int64_t bits) -> Value {
    return arith::ShRUIOp::create(b_, b_.loc(), value, b_.integer(value.getType(), bits));
  };
  auto exclusiveOr = [&](Value a, Value b) -> Value {
    return arith::XOrIOp::create(b_, b_.loc(), a, b);
  };
  auto multiply = [&](Value value, uint64_t by) -> Value {
    return arith::MulIOp::create(b_, b_.loc(), value, b_.i64(static_cast<int64_t>(by)));
  };
  auto hashInteger = [&](Value value) {
    Value hash = exclusiveOr(value, shiftRight(value, 32));
    hash = multiply(hash, primitives::kHashMultiplier1);
    hash = exclusiveOr(hash, shiftRight(hash, 29));
    hash = multiply(hash, primitives::kHashMultiplier2);
    return exclusiveOr(hash, shiftRight(hash, 32));
  };
  Value hash;
  if (isa<pipe::StringType>(type)) {
    // Length and prefix are all of a short string.
    Value head = b_.load(i64, input.value);
    Value out = b_.slot(i64);
    b_.store(hashInteger(head), out);
    Value isLong = b_.compare(arith::CmpIPredicate::ugt, b_.truncate(head, b_.getI32Type()), b_.i32(4));
    b_.ifThen(isLong, [&] { b_.store(b_.callImport("hr_string_hash", {input.value}), out); });
    hash = b_.load(i64, out);
  } else if (type.isInteger(1)) {
    hash = hashInteger(b_.zeroExtend(input.value, i64));
  } else if (type.isInteger(128)) {
    Value low = b_.truncate(input.value, i64);
    Value high = b_.truncate(shiftRight(input.value, 64), i64);
    Value fits = b_.compare(arith::CmpIPredicate::eq, b_.signExtend(low, type), input.value);
    Value narrow = hashInteger(low);
    Value first = hashInteger(high);
    Value rotated = arith::OrIOp::create(
        b_, b_.loc(), arith::ShLIOp::create(b_, b_.loc(), first, b_.i64(5)), shiftRight(first, 59));
    Value mixed = multiply(exclusiveOr(rotated, narrow), primitives::kHashMultiplier1);
    hash = b_.select(fits, narrow, exclusiveOr(mixed, shiftRight(mixed, 32)));
  } else if (isa<FloatType>(type)) {
    Value value = input.value;
    if (type.isF32()) {
      value = arith::ExtFOp::create(b_, b_.loc(), b_.getF64Type(), value);
    }
    Value zero = arith::ConstantOp::create(b_, b_.loc(), b_.getF64FloatAttr(0));
    Value isZero = arith::CmpFOp::create(b_, b_.loc(), arith::CmpFPredicate::OEQ, value, zero);
    Value isNan = arith::CmpFOp::create(b_, b_.loc(), arith::CmpFPredicate::UNO, value, value);
    Value bits = arith::BitcastOp::create(b_, b_.loc(), i64, value);
    bits = b_.select(isZero, b_.i64(0), bits);
    hash = hashInteger(b_.select(isNan, b_.i64(0x7ff8000000000000), bits));
  } else {
    hash = hashInteger(b_.signExtend(input.value, i64));
  }
  if (input.valid) {
    hash = b_.select(input.valid, hash, b_.i64(static_cast<int64_t>(primitives::kNullHash)));
  }
  return hash;
}

FailureOr<Value> KernelEmitter::hashKeys(RowReader &rows, ArrayAttr keys, Value *anyNull) {
  Value hash;
  for (auto name : keys.getAsRange<StringAttr>()) {
    Column column = columns_.lookup(name.getValue());
    FailureOr<RowValue> value = rows.read(column);
    if (failed(value)) {
      return failure();
    }
    Value next = hashValue(column->type, *value);
    if (!hash) {
      hash = next;
    } else {
      Value rotated = arith::OrIOp::create(
          b_, b_.loc(), arith::ShLIOp::create(b_, b_.loc(), hash, b_.i64(5)),
          arith::ShRUIOp::create(b_, b_.loc(), hash, b_.i64(59)));
      Value mixed = arith::MulIOp::create(
          b_, b_.loc(), arith::XOrIOp::create(b_, b_.loc(), rotated, next),
          b_.i64(static_cast<int64_t>(primitives::kHashMultiplier1)));
      hash = arith::XOrIOp::create(b_, b_.loc(), mixed,
                                   arith::ShRUIOp::create(b_, b_.loc(), mixed, b_.i64(32)));
    }
    if (anyNull && value->valid) {
      Value null = arith::XOrIOp::create(b_, b_.loc(), value->valid, b_.integer(b_.getI1Type(), 1));
      *anyNull = *anyNull ? Value(arith::OrIOp::create(b_, b_.loc(), *anyNull, null)) : null;
    }
  }
  return hash ? hash : b_.i64(0);
}

Value KernelEmitter::equalValues(Type type, Value a, Value b) {
  if (isa<pipe::StringType>(type)) {
    // Most unequal strings differ in length or prefix: the first eight bytes of the view.
    Value same = b_.slot(b_.getI1Type());
    Value head = b_.compare(arith::CmpIPredicate::eq, b_.load(b_.getI64Type(), a),
                            b_.load(b_.getI64Type(), b));
    b_.store(head, same);
    // Strings of at most four bytes are settled by then.
    Value isLong = b_.compare(arith::CmpIPredicate::ugt, b_.load(b_.getI32Type(), a), b_.i32(4));
    b_.ifThen(arith::AndIOp::create(b_, b_.loc(), head, isLong), [&] {
      Value equal = b_.callImport("hr_string_equal", {a, b});
      b_.store(b_.compare(arith::CmpIPredicate::ne, equal, b_.i32(0)), same);
    });
    return b_.load(b_.getI1Type(), same);
  }
  if (isa<FloatType>(type)) {
    // Keys: NaN equals NaN.
    Value equal = arith::CmpFOp::create(b_, b_.loc(), arith::CmpFPredicate::OEQ, a, b);
    Value nanA = arith::CmpFOp::create(b_, b_.loc(), arith::CmpFPredicate::UNO, a, a);
    Value nanB = arith::CmpFOp::create(b_, b_.loc(), arith::CmpFPredicate::UNO, b, b);
    return arith::OrIOp::create(b_, b_.loc(), equal,
                                arith::AndIOp::create(b_, b_.loc(), nanA, nanB));
  }
  return b_.compare(arith::CmpIPredicate::eq, a, b);
}

// ---- the lookup ----

LogicalResult KernelEmitter::emitLookup(pipe::LookupOp lookup) {
  auto stateOp = symbols_.lookup<pipe::StateOp>(lookup.getState());
  if (!stateOp || stateOp.getKind() != pipe::StateKind::Join) {
    return lookup.emitError("not a join state: ") << lookup.getState();
  }
  plan::State state = layoutState(stateOp);
  pipe::LookupKind kind = lookup.getKind();
  bool onePerMatch = kind == pipe::LookupKind::Inner || kind == pipe::LookupKind::Left;
  bool needsMatched = kind != pipe::LookupKind::Inner && kind != pipe::LookupKind::Semi;

  Type i64 = b_.getI64Type(), pointer = b_.ptrType();
  unsigned from = level();
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
    auto prefetch = [&](Value address) {
      LLVM::Prefetch::create(b_, b_.loc(), address, b_.getI32IntegerAttr(0), b_.getI32IntegerAttr(3),
                             b_.getI32IntegerAttr(1));
    };
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
        prefetch(slot);
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
        Value head = arith::AndIOp::create(b_, b_.loc(), entry, b_.i64(kPointerMask));
        head = b_.select(present, head, b_.i64(0));
        head = b_.select(null, b_.i64(0), head);
        b_.store(head, inBatch(heads, index));
        prefetch(LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, head));
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
        prefetch(LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, head));
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
    if (!lookup.getResidual().empty() && !lookup.getResidual().front().without_terminator().empty()) {
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
    if (kind == pipe::LookupKind::Left) {
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
  (void)needsMatched;

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
  unsigned to = level();
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
    column->mayMiss = kind == pipe::LookupKind::Left;
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
