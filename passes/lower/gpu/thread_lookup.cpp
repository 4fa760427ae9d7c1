// pipe.lookup in a thread: walks the chain of its row, one trip through the later stages per match.
#include "passes/lower/gpu/thread_kernel.h"

#include "runtime/abi/row_pointer.h"
#include "runtime/abi/type_bytes.h"

#include "passes/analysis/physical.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
constexpr int64_t kNextOffset = 0;
constexpr int64_t kHashOffset = 8;

/// True where equal keys are certain once the key values are equal and hashes need no comparison.
bool isSingleInteger(ArrayRef<Type> keys) {
  return keys.size() == 1 && keys[0].isInteger() && !keys[0].isInteger(128);
}
} // namespace

/// The first row of the chain as an i64, 0 if there is none. Reads all keys.
FailureOr<Value> ThreadKernelEmitter::chainHead(pipe::LookupOp lookup, const plan::State &state,
                                                Value *hash) {
  Type i64 = b_.getI64Type();
  Value table = statePointer(lookup.getState());
  Value directory = b_.loadField(b_.ptrType(), table, offsetof(HrJoinTable, directory));
  if (state.directory == plan::Directory::kArray) {
    Column key = columns_.lookup(cast<StringAttr>(lookup.getKeys()[0]).getValue());
    FailureOr<RowValue> value = reader_->read(key);
    if (failed(value)) {
      return failure();
    }
    Value slot = arith::SubIOp::create(b_, b_.loc(), b_.signExtend(value->value, i64),
                                       b_.loadField(i64, table, offsetof(HrJoinTable, base)));
    Value inside = b_.compare(arith::CmpIPredicate::ult, slot,
                              b_.loadField(i64, table, offsetof(HrJoinTable, extent)));
    if (value->valid) {
      inside = arith::AndIOp::create(b_, b_.loc(), inside, value->valid);
    }
    Value entry = b_.load(i64, b_.element(directory, b_.select(inside, slot, b_.i64(0)), 8));
    return b_.select(inside, entry, b_.i64(0));
  }
  Value anyNull;
  FailureOr<Value> hashed = hashKeys(*reader_, lookup.getKeys(), &anyNull);
  if (failed(hashed)) {
    return failure();
  }
  *hash = *hashed;
  Value shift = b_.loadField(i64, table, offsetof(HrJoinTable, shift));
  Value entry =
      b_.load(i64, b_.element(directory, arith::ShRUIOp::create(b_, b_.loc(), *hash, shift), 8));
  Value tag = arith::AndIOp::create(
      b_, b_.loc(), arith::ShRUIOp::create(b_, b_.loc(), *hash, b_.i64(12)), b_.i64(15));
  Value bit = arith::ShRUIOp::create(b_, b_.loc(), entry, b_.add(tag, b_.i64(48)));
  Value present = b_.truncate(bit, b_.getI1Type());
  if (anyNull) {
    Value known = arith::XOrIOp::create(b_, b_.loc(), anyNull, b_.integer(b_.getI1Type(), 1));
    present = arith::AndIOp::create(b_, b_.loc(), present, known);
  }
  Value head = arith::AndIOp::create(b_, b_.loc(), entry, b_.i64(abi::kRowPointerMask));
  return b_.select(present, head, b_.i64(0));
}

/// Falls through if the row at `match` has equal keys and fulfils the residual condition.
LogicalResult ThreadKernelEmitter::emitCandidate(pipe::LookupOp lookup, const plan::State &state,
                                                 Value match, Value hash, Block *unequal) {
  auto require = [&](Value condition) {
    Block *holds = b_.newBlock();
    b_.branch(condition, holds, unequal);
    b_.enter(holds);
  };
  SmallVector<Column> keys;
  SmallVector<Type> types;
  for (auto name : lookup.getKeys().getAsRange<StringAttr>()) {
    keys.push_back(columns_.lookup(name.getValue()));
    types.push_back(keys.back()->type);
  }
  if (state.directory != plan::Directory::kArray) {
    if (!isSingleInteger(types)) {
      require(b_.compare(arith::CmpIPredicate::eq, hash,
                         b_.loadField(b_.getI64Type(), match, kHashOffset)));
    }
    unsigned position = 0;
    for (const plan::StateField &field : state.fields) {
      if (field.combine != plan::Combine::kKey) {
        continue;
      }
      Column column = keys[position++];
      FailureOr<RowValue> value = reader_->read(column);
      if (failed(value)) {
        return failure();
      }
      require(equalValues(column->type, value->value,
                          loadValue(b_, column->type, b_.at(match, field.offset))));
    }
  }
  if (lookup.getResidual().empty() || lookup.getResidual().front().without_terminator().empty()) {
    return success();
  }
  // Its values do not dominate the way of rows without a match: a reader of its own.
  RowReader values = *reader_;
  auto stateOp = symbols_.lookup<pipe::StateOp>(lookup.getState());
  std::vector<ColumnValue> fields = fieldColumns(stateOp, state);
  auto residual = std::make_shared<Expression>(lookup.getResidual().front());
  keepAlive_.push_back(residual);
  for (auto name : lookup.getColumns().getAsRange<StringAttr>()) {
    Column column = columns_.lookup(name.getValue());
    if (!column) {
      const plan::StateField *field = findField(state, name.getValue());
      column = std::make_shared<ColumnValue>(fields[field - state.fields.data()]);
      values.bind(column, loadField(b_, *column, match));
    }
    residual->addInput(column);
  }
  FailureOr<SmallVector<Value>> holds = values.evaluate(*residual);
  if (failed(holds)) {
    return failure();
  }
  require(holds->front());
  return success();
}

LogicalResult ThreadKernelEmitter::emitLookup(pipe::LookupOp lookup) {
  auto stateOp = symbols_.lookup<pipe::StateOp>(lookup.getState());
  plan::State state = layoutState(stateOp);
  pipe::LookupKind kind = lookup.getKind();
  bool isLeft = kind == pipe::LookupKind::Left;
  Type i64 = b_.getI64Type(), pointer = b_.ptrType(), i8 = b_.getI8Type();
  Value hash;
  FailureOr<Value> head = chainHead(lookup, state, &hash);
  if (failed(head)) {
    return failure();
  }
  Value chain = b_.slot(i64), found = b_.slot(pointer), matched = b_.slot(i8);
  b_.store(*head, chain);
  b_.store(b_.integer(i8, 0), matched);
  Block *walk = b_.newBlock(), *candidate = b_.newBlock(), *end = b_.newBlock(),
        *downstream = b_.newBlock();
  Block *rowDone = next_;
  b_.jump(walk);

  b_.enter(walk);
  Value address = b_.load(i64, chain);
  b_.branch(b_.compare(arith::CmpIPredicate::eq, address, b_.i64(0)), end, candidate);

  b_.enter(candidate);
  Value match = LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, address);
  b_.store(b_.loadField(i64, match, kNextOffset), chain);
  if (failed(emitCandidate(lookup, state, match, hash, walk))) {
    return failure();
  }
  b_.store(match, found);
  b_.store(b_.integer(i8, 1), matched);
  if (kind == pipe::LookupKind::Seen) {
    // Threads may set it at once: they all write the same.
    b_.store(b_.integer(i8, 1), b_.at(match, findField(state, *lookup.getMark())->offset));
    b_.jump(walk);
  } else {
    b_.jump(kind == pipe::LookupKind::Anti ? rowDone : downstream);
  }

  b_.enter(end);
  switch (kind) {
  case pipe::LookupKind::Inner:
  case pipe::LookupKind::Semi:
    b_.jump(rowDone);
    break;
  case pipe::LookupKind::Left: {
    // Back here after the one trip without a match.
    Block *missing = b_.newBlock();
    b_.branch(b_.compare(arith::CmpIPredicate::eq, b_.load(i8, matched), b_.integer(i8, 0)),
              missing, rowDone);
    b_.enter(missing);
    b_.store(b_.nullPtr(), found);
    b_.store(b_.integer(i8, 1), matched);
    b_.jump(downstream);
    break;
  }
  case pipe::LookupKind::Anti:
  case pipe::LookupKind::Mark:
  case pipe::LookupKind::Seen: // what follows is the end
    b_.jump(downstream);
    break;
  case pipe::LookupKind::Full:
    return lookup.emitError("a full join has no code for threads yet");
  }

  b_.enter(downstream);
  next_ = kind == pipe::LookupKind::Inner || isLeft ? walk : rowDone;
  Value row = b_.load(pointer, found);
  pipe::RowsType rows = lookup.getRows().getType();
  for (auto name : lookup.getPayload().getAsRange<StringAttr>()) {
    const plan::StateField *field = findField(state, name.getValue());
    int64_t index = rows.indexOf(name.getValue());
    if (index < 0) {
      continue;
    }
    auto column = std::make_shared<ColumnValue>();
    column->kind = ColumnValue::Kind::kField;
    column->type = rows.getTypes()[index];
    column->base = row;
    column->offset = field->offset;
    column->validOffset = field->validOffset;
    column->fieldNullable = field->nullable;
    column->mayMiss = isLeft;
    column->nullable = field->nullable || isLeft;
    columns_[name.getValue()] = column;
  }
  if (kind == pipe::LookupKind::Mark) {
    auto column = std::make_shared<ColumnValue>();
    column->type = b_.getI1Type();
    column->base = matched;
    columns_[lookup.getMark()->str()] = column;
  }
  keepColumns(rows);
  return success();
}

// ---- linking the build side ----

FailureOr<DeviceKernel> emitJoinLink(pipe::StateOp op, ModuleOp target) {
  plan::State state = layoutState(op);
  DeviceKernel kernel;
  kernel.kernel.symbol = "link_" + state.name;
  kernel.states = {state.name};
  kernel.fills = state.name;
  kernel.supersteps = 1;
  LLVM::LLVMFuncOp function = makeSuperstep(target, kernel.kernel.symbol, 0, op.getLoc());
  CodeBuilder b(function, op.getLoc());
  Type i64 = b.getI64Type(), pointer = b.ptrType();
  Value args = function.getArgument(kArgs);
  Value morsel = b.loadField(pointer, args, offsetof(HrArgs, morsel));
  Value table = b.load(pointer, b.loadField(pointer, args, offsetof(HrArgs, states)));
  Value store = b.loadField(pointer, table, offsetof(HrJoinTable, owner));
  Value rows = b.loadField(pointer, store, offsetof(HrDeviceStore, rows));
  Value directory = b.loadField(pointer, table, offsetof(HrJoinTable, directory));
  Value count = b.zeroExtend(b.loadField(b.getI32Type(), morsel, offsetof(HrMorsel, rows)), i64);
  const plan::StateField *key = nullptr;
  for (const plan::StateField &field : state.fields) {
    if (field.combine == plan::Combine::kKey) {
      key = &field;
    }
  }
  strideLoop(b, count, [&](Value index, Block *next) {
    Value row = b.element(rows, index, state.rowBytes);
    if (state.directory != plan::Directory::kArray) {
      Value hash = b.loadField(i64, row, kHashOffset);
      Value slot = arith::ShRUIOp::create(b, b.loc(), hash,
                                          b.loadField(i64, table, offsetof(HrJoinTable, shift)));
      Value tag = arith::AndIOp::create(
          b, b.loc(), arith::ShRUIOp::create(b, b.loc(), hash, b.i64(12)), b.i64(15));
      Value bit = arith::ShLIOp::create(b, b.loc(), b.i64(1), b.add(tag, b.i64(48)));
      b.callNamed("hr_device_chain", Type(), {b.element(directory, slot, 8), row, bit});
      b.jump(next);
      return;
    }
    if (key->nullable) { // NULL matches nothing
      Block *valid = b.newBlock();
      b.branch(loadValue(b, b.getI1Type(), b.at(row, key->validOffset)), valid, next);
      b.enter(valid);
    }
    Type type = b.getIntegerType(abi::bytesOf(state.directKeyType) * 8);
    Value value = b.signExtend(b.loadField(type, row, state.directKeyOffset), i64);
    Value slot = arith::SubIOp::create(b, b.loc(), value,
                                       b.loadField(i64, table, offsetof(HrJoinTable, base)));
    Block *inside = b.newBlock(), *outside = b.newBlock();
    b.branch(b.compare(arith::CmpIPredicate::ult, slot,
                       b.loadField(i64, table, offsetof(HrJoinTable, extent))),
             inside, outside);
    b.enter(outside);
    b.callNamed("hr_device_fail", Type(),
                {function.getArgument(kDevice), b.i32(HR_ERROR_RANGE), b.i32(0), index});
    b.jump(next);
    b.enter(inside);
    b.callNamed("hr_device_chain", Type(), {b.element(directory, slot, 8), row, b.i64(0)});
    b.jump(next);
  });
  LLVM::ReturnOp::create(b, b.loc(), ValueRange());
  return kernel;
}

} // namespace headrace::lower
