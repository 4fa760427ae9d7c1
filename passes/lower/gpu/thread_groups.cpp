// Aggregates with keys: the group of a row is found, or made, in a table that many threads change.
#include "passes/lower/gpu/group_tables.h"
#include "passes/lower/gpu/thread_kernel.h"

#include "passes/analysis/physical.h"
#include "runtime/abi/row_pointer.h"

#include <cstddef>
#include <cstring>

using namespace mlir;

namespace headrace::lower {

LLVM::LLVMFuncOp ThreadKernelEmitter::emitFindGroup(pipe::StateOp op, const plan::State &state,
                                                    GroupTableCode &table) {
  Type i64 = b_.getI64Type(), i1 = b_.getI1Type(), pointer = b_.ptrType();
  std::vector<ColumnValue> columns = fieldColumns(op, state);
  SmallVector<Type> parameters{pointer, i64};
  for (auto [field, column] : llvm::zip(state.fields, columns)) {
    if (field.combine == plan::Combine::kKey) {
      parameters.push_back(isa<pipe::StringType>(column.type) ? pointer : column.type);
      if (field.nullable) {
        parameters.push_back(i1);
      }
    }
  }
  OpBuilder outer = OpBuilder::atBlockEnd(target_.getBody());
  auto function = LLVM::LLVMFuncOp::create(outer, b_.loc(), (kernel_.symbol + table.suffix()).str(),
                                           LLVM::LLVMFunctionType::get(i64, parameters),
                                           LLVM::Linkage::Internal);
  function.addEntryBlock(outer);
  LLVM::LLVMFuncOp caller = b_.function();
  OpBuilder::InsertPoint place = b_.saveInsertionPoint();
  b_.setFunction(function);

  table.open(function.getArgument(0));
  Value hash = function.getArgument(1);
  SmallVector<RowValue> keys(state.fields.size());
  unsigned argument = 2;
  for (auto [field, key] : llvm::zip(state.fields, keys)) {
    if (field.combine == plan::Combine::kKey) {
      key.value = function.getArgument(argument++);
      if (field.nullable) {
        key.valid = function.getArgument(argument++);
      }
    }
  }
  Value directory = table.directory(), mask = table.mask();
  Value position = b_.slot(i64);
  b_.store(arith::AndIOp::create(b_, b_.loc(), hash, mask), position);
  Block *probe = b_.newBlock(), *occupied = b_.newBlock(), *settled = b_.newBlock(),
        *step = b_.newBlock(), *missing = b_.newBlock(), *room = b_.newBlock(),
        *claimed = b_.newBlock(), *none = b_.newBlock();
  auto isZero = [&](Value code) { return b_.compare(arith::CmpIPredicate::eq, code, b_.i32(0)); };
  b_.jump(probe);

  b_.enter(probe);
  Value at = b_.load(i64, position);
  Value cell = b_.element(directory, at, 8);
  Value entry = table.call("entry", i64, {cell});
  b_.branch(b_.compare(arith::CmpIPredicate::eq, entry, b_.i64(0)), missing, occupied);

  b_.enter(occupied);
  Value tags = arith::ShRUIOp::create(b_, b_.loc(),
                                      arith::XOrIOp::create(b_, b_.loc(), entry, hash), b_.i64(48));
  Block *same = b_.newBlock();
  b_.branch(b_.compare(arith::CmpIPredicate::eq, tags, b_.i64(0)), same, step);
  b_.enter(same);
  Value address = arith::AndIOp::create(b_, b_.loc(), entry, b_.i64(abi::kRowPointerMask));
  // Somebody is making a group of this tag: look again.
  b_.branch(b_.compare(arith::CmpIPredicate::eq, address, b_.i64(abi::kClaimedRow)), probe,
            settled);

  b_.enter(settled);
  Value row = table.rowAt(address);
  for (auto [field, column, key] : llvm::zip(state.fields, columns, keys)) {
    if (field.combine == plan::Combine::kKey) {
      Block *equal = b_.newBlock();
      b_.branch(equalKey(field, column.type, key, row), equal, step);
      b_.enter(equal);
    }
  }
  LLVM::ReturnOp::create(b_, b_.loc(), address);

  b_.enter(step);
  b_.store(arith::AndIOp::create(b_, b_.loc(), b_.add(at, b_.i64(1)), mask), position);
  b_.jump(probe);

  b_.enter(missing);
  b_.branch(table.isFull(), none, room);
  b_.enter(room);
  b_.branch(isZero(table.call("claim", b_.getI32Type(), {cell, hash})), probe, claimed);
  b_.enter(claimed);
  Value made = table.newRow();
  Block *write = b_.newBlock(), *giveUp = b_.newBlock();
  b_.branch(b_.compare(arith::CmpIPredicate::eq, made, b_.i64(0)), giveUp, write);
  b_.enter(giveUp);
  table.call("publish", Type(), {cell, b_.i64(0)});
  b_.jump(none);

  b_.enter(write);
  Value fresh = table.rowAt(made), keeper = table.keeper();
  b_.store(hash, fresh);
  for (uint32_t offset = 8; offset < state.rowBytes; offset += 8) {
    int64_t identity;
    std::memcpy(&identity, state.identity.data() + offset, 8);
    b_.storeField(b_.i64(identity), fresh, offset);
  }
  for (auto [field, column, key] : llvm::zip(state.fields, columns, keys)) {
    if (field.combine != plan::Combine::kKey) {
      continue;
    }
    Value at = b_.at(fresh, field.offset);
    if (key.valid) {
      b_.ifThen(key.valid, [&] { storeValue(b_, column.type, key.value, at); });
      storeValue(b_, i1, key.valid, b_.at(fresh, field.validOffset));
    } else {
      storeValue(b_, column.type, key.value, at);
    }
    if (field.type == HR_STRING && keeper) { // under NULL: no bytes
      Value kept = b_.callNamed("hr_device_keep", b_.getI32Type(), {keeper, at});
      Block *fine = b_.newBlock();
      b_.branch(isZero(kept), fine, giveUp);
      b_.enter(fine);
    }
  }
  Value tag = arith::AndIOp::create(b_, b_.loc(), hash, b_.i64(~abi::kRowPointerMask));
  table.call("publish", Type(), {cell, arith::OrIOp::create(b_, b_.loc(), made, tag)});
  LLVM::ReturnOp::create(b_, b_.loc(), made);

  b_.enter(none);
  LLVM::ReturnOp::create(b_, b_.loc(), b_.i64(0));

  b_.setFunction(caller);
  b_.restoreInsertionPoint(place);
  return function;
}

Value ThreadKernelEmitter::callFind(LLVM::LLVMFuncOp find, Value table, Value hash,
                                    const plan::State &state, ArrayRef<RowValue> values) {
  SmallVector<Value> arguments{table, hash};
  for (auto [field, value] : llvm::zip(state.fields, values)) {
    if (field.combine == plan::Combine::kKey) {
      arguments.push_back(value.value);
      if (field.nullable) {
        arguments.push_back(value.valid ? value.valid : b_.integer(b_.getI1Type(), 1));
      }
    }
  }
  return LLVM::CallOp::create(b_, b_.loc(), find, arguments).getResult();
}

LogicalResult ThreadKernelEmitter::foldGroup(const plan::State &state, Value row,
                                             ArrayRef<RowValue> values, Scope scope) {
  for (auto [field, value] : llvm::zip(state.fields, values)) {
    if (field.combine != plan::Combine::kKey &&
        failed(combineAtomically(field, row, value, scope))) {
      return failure();
    }
  }
  return success();
}

LogicalResult ThreadKernelEmitter::foldIntoState(pipe::CombineOp combine, LLVM::LLVMFuncOp find,
                                                 const plan::State &state, Value hash,
                                                 ArrayRef<RowValue> values) {
  Value found = callFind(find, statePointer(combine.getState()), hash, state, values);
  failIf(b_.compare(arith::CmpIPredicate::eq, found, b_.i64(0)), HR_ERROR_MEMORY);
  return foldGroup(state, StateGroups(b_, state).rowAt(found), values, Scope::kDevice);
}

LogicalResult ThreadKernelEmitter::emitGroupCombine(pipe::CombineOp combine, pipe::StateOp op) {
  plan::State state = layoutState(op);
  std::optional<uint64_t> expected;
  if (op.getHoldsAttr()) {
    expected = op.getHoldsAttr().getExpected();
  }
  BlockLayout layout(state, expected);
  // Groups of which nothing is known go through the block's table too: many cost a look into it a
  // row, few would make all threads of the device wait for each other in the state's.
  if (layout.pays() && expected.value_or(0) <= 4 * uint64_t{layout.groups} &&
      !isa<pipe::ReadOp>(pipeline_.getBody().front().front())) {
    return emitBlockGroups(combine, op, state, layout);
  }
  StateGroups table(b_, state);
  LLVM::LLVMFuncOp find = emitFindGroup(op, state, table);
  return emitRows([&]() -> LogicalResult {
    std::vector<RowValue> inputs;
    FailureOr<Value> hash = failed(readFields(state, Fields::kAll, inputs))
                                ? FailureOr<Value>()
                                : hashKeys(*reader_, combine.getKeys(), nullptr);
    if (failed(hash) || failed(foldIntoState(combine, find, state, *hash, inputs))) {
      return failure();
    }
    b_.jump(next_);
    return success();
  });
}

} // namespace headrace::lower
