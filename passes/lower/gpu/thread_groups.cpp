// Aggregates with keys: a small table of the block in shared memory takes most rows, the state's
// table what does not fit and, at the end, what the block has gathered.
#include "passes/lower/gpu/thread_kernel.h"

#include "passes/analysis/physical.h"

#include <bit>
#include <cstddef>
#include <cstring>

using namespace mlir;

namespace headrace::lower {

namespace {
/// Of the block's table and its rows: leaves room for two blocks a multiprocessor with the default
/// carve-out.
constexpr uint32_t kBlockTableBytes = 16384;
constexpr uint32_t kBlockGroupsMax = 256;
constexpr int64_t kPointerMask = 0x0000ffffffffffff;
constexpr int64_t kClaimed = 1;

/// The block's table: HrGroupTable | HrDeviceStore | directory | rows, each a multiple of 16 bytes.
struct BlockTable {
  explicit BlockTable(uint32_t rowBytes)
      : groups(std::min(kBlockGroupsMax, std::bit_floor(kBlockTableBytes / (rowBytes + 16)))) {}
  static constexpr int64_t kStore = (sizeof(HrGroupTable) + 15) / 16 * 16;
  static constexpr int64_t kDirectory = kStore + (sizeof(HrDeviceStore) + 15) / 16 * 16;
  uint32_t groups;
  uint32_t entries() const { return groups * 2; }
  int64_t rows() const { return kDirectory + entries() * 8; }
  bool pays() const { return groups >= 16; }
};
} // namespace

LLVM::LLVMFuncOp ThreadKernelEmitter::emitFindGroup(pipe::StateOp op, const plan::State &state) {
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
  auto function = LLVM::LLVMFuncOp::create(outer, b_.loc(), kernel_.symbol + ".find_group",
                                           LLVM::LLVMFunctionType::get(pointer, parameters),
                                           LLVM::Linkage::Internal);
  function.addEntryBlock(outer);
  LLVM::LLVMFuncOp caller = b_.function();
  OpBuilder::InsertPoint place = b_.saveInsertionPoint();
  b_.setFunction(function);

  Value table = function.getArgument(0), hash = function.getArgument(1);
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
  Value directory = b_.loadField(pointer, table, offsetof(HrGroupTable, directory));
  Value mask = b_.loadField(i64, table, offsetof(HrGroupTable, mask));
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
  Value entry = b_.callNamed("hr_device_entry", i64, {cell});
  b_.branch(b_.compare(arith::CmpIPredicate::eq, entry, b_.i64(0)), missing, occupied);

  b_.enter(occupied);
  Value tags = arith::ShRUIOp::create(b_, b_.loc(),
                                      arith::XOrIOp::create(b_, b_.loc(), entry, hash), b_.i64(48));
  Block *same = b_.newBlock();
  b_.branch(b_.compare(arith::CmpIPredicate::eq, tags, b_.i64(0)), same, step);
  b_.enter(same);
  Value address = arith::AndIOp::create(b_, b_.loc(), entry, b_.i64(kPointerMask));
  // Somebody is making a group of this tag: look again.
  b_.branch(b_.compare(arith::CmpIPredicate::eq, address, b_.i64(kClaimed)), probe, settled);

  b_.enter(settled);
  Value row = LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, address);
  for (auto [field, column, key] : llvm::zip(state.fields, columns, keys)) {
    if (field.combine == plan::Combine::kKey) {
      Block *equal = b_.newBlock();
      b_.branch(equalKey(field, column.type, key, row), equal, step);
      b_.enter(equal);
    }
  }
  LLVM::ReturnOp::create(b_, b_.loc(), row);

  b_.enter(step);
  b_.store(arith::AndIOp::create(b_, b_.loc(), b_.add(at, b_.i64(1)), mask), position);
  b_.jump(probe);

  b_.enter(missing);
  b_.branch(isZero(b_.callNamed("hr_device_full", b_.getI32Type(), {table})), room, none);
  b_.enter(room);
  b_.branch(isZero(b_.callNamed("hr_device_claim", b_.getI32Type(), {cell, hash})), probe, claimed);
  b_.enter(claimed);
  Value fresh = b_.callNamed("hr_device_group_row", pointer, {table, hash, b_.i32(state.rowBytes)});
  Block *write = b_.newBlock(), *giveUp = b_.newBlock();
  b_.branch(b_.isNull(fresh), giveUp, write);
  b_.enter(giveUp);
  b_.callNamed("hr_device_publish", Type(), {cell, b_.nullPtr(), hash});
  b_.jump(none);

  b_.enter(write);
  for (uint32_t offset = 8; offset < state.rowBytes; offset += 8) {
    int64_t identity;
    std::memcpy(&identity, state.identity.data() + offset, 8);
    b_.storeField(b_.i64(identity), fresh, offset);
  }
  Value store = b_.loadField(pointer, table, offsetof(HrGroupTable, owner));
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
    if (field.type == HR_STRING) { // under NULL: no bytes
      Value kept = b_.callNamed("hr_device_keep", b_.getI32Type(), {store, at});
      Block *fine = b_.newBlock();
      b_.branch(isZero(kept), fine, giveUp);
      b_.enter(fine);
    }
  }
  b_.callNamed("hr_device_publish", Type(), {cell, fresh, hash});
  LLVM::ReturnOp::create(b_, b_.loc(), fresh);

  b_.enter(none);
  LLVM::ReturnOp::create(b_, b_.loc(), b_.nullPtr());

  b_.setFunction(caller);
  b_.restoreInsertionPoint(place);
  return function;
}

LogicalResult ThreadKernelEmitter::emitGroupCombine(pipe::CombineOp combine, pipe::StateOp op) {
  plan::State state = layoutState(op);
  Type i64 = b_.getI64Type(), pointer = b_.ptrType();
  LLVM::LLVMFuncOp find = emitFindGroup(op, state);
  std::vector<ColumnValue> columns = fieldColumns(op, state);
  auto findIn = [&](Value table, Value hash, ArrayRef<RowValue> values) -> Value {
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
  };
  auto fold = [&](Value row, ArrayRef<RowValue> values) -> LogicalResult {
    for (auto [field, value] : llvm::zip(state.fields, values)) {
      if (field.combine != plan::Combine::kKey && failed(combineAtomically(field, row, value))) {
        return failure();
      }
    }
    return success();
  };

  BlockTable block(state.rowBytes);
  uint64_t expected = cardinalityOf(op.getHoldsAttr()).expected;
  bool useBlock = block.pays() && expected <= 4 * static_cast<uint64_t>(block.groups) &&
                  !isa<pipe::ReadOp>(pipeline_.getBody().front().front());
  if (useBlock) {
    device_kernel_.sharedBytes = block.rows() + block.groups * state.rowBytes;
    Value directory = b_.at(shared_, BlockTable::kDirectory);
    b_.forLoop(b_.zeroExtend(thread_, i64), b_.i64(block.entries()), b_.zeroExtend(threads_, i64),
               [&](Value entry) { b_.store(b_.i64(0), b_.element(directory, entry, 8)); });
    b_.ifThen(b_.compare(arith::CmpIPredicate::eq, thread_, b_.i32(0)), [&] {
      Value store = b_.at(shared_, BlockTable::kStore);
      b_.storeField(directory, shared_, offsetof(HrGroupTable, directory));
      b_.storeField(b_.i64(block.entries() - 1), shared_, offsetof(HrGroupTable, mask));
      b_.storeField(b_.i64(0), shared_, offsetof(HrGroupTable, rows));
      b_.storeField(b_.i64(block.groups), shared_, offsetof(HrGroupTable, limit));
      b_.storeField(store, shared_, offsetof(HrGroupTable, owner));
      b_.storeField(b_.at(shared_, block.rows()), store, offsetof(HrDeviceStore, rows));
      b_.storeField(b_.nullPtr(), store,
                    offsetof(HrDeviceStore, heap)); // strings stay where they are
      b_.storeField(b_.i64(0), store, offsetof(HrDeviceStore, heapBytes));
      b_.storeField(b_.i64(0), store, offsetof(HrDeviceStore, heapUsed));
    });
    endSuperstep();
    beginSuperstep();
  }

  LogicalResult rows = emitRows([&]() -> LogicalResult {
    FailureOr<std::vector<RowValue>> inputs = readFields(state);
    FailureOr<Value> hash =
        failed(inputs) ? FailureOr<Value>() : hashKeys(*reader_, combine.getKeys(), nullptr);
    if (failed(hash)) {
      return failure();
    }
    Value table = statePointer(combine.getState());
    Value target;
    if (useBlock) {
      Value found = b_.slot(pointer);
      Value local = findIn(shared_, *hash, *inputs);
      b_.store(local, found);
      b_.ifThen(b_.isNull(local), [&] { b_.store(findIn(table, *hash, *inputs), found); });
      target = b_.load(pointer, found);
    } else {
      target = findIn(table, *hash, *inputs);
    }
    checkNotNull(target);
    if (failed(fold(target, *inputs))) {
      return failure();
    }
    b_.jump(next_);
    return success();
  });
  if (failed(rows) || !useBlock) {
    return rows;
  }
  endSuperstep();

  beginSuperstep();
  Value table = statePointer(combine.getState());
  Value directory = b_.at(shared_, BlockTable::kDirectory);
  LogicalResult merged = success();
  b_.forLoop(b_.zeroExtend(thread_, i64), b_.i64(block.entries()), b_.zeroExtend(threads_, i64),
             [&](Value index) {
               Value entry = b_.load(i64, b_.element(directory, index, 8));
               b_.ifThen(b_.compare(arith::CmpIPredicate::ne, entry, b_.i64(0)), [&] {
                 Value address = arith::AndIOp::create(b_, b_.loc(), entry, b_.i64(kPointerMask));
                 Value row = LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, address);
                 std::vector<RowValue> values;
                 for (const ColumnValue &column : columns) {
                   values.push_back(loadField(b_, column, row));
                 }
                 Value target = findIn(table, b_.load(i64, row), values);
                 checkNotNull(target);
                 if (failed(fold(target, values))) {
                   merged = failure();
                 }
               });
             });
  return merged;
}

} // namespace headrace::lower
