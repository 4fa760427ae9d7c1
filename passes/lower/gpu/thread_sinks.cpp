// Ends of a thread's rows: the scalar aggregate, appended rows, output rows; and fields that many
// threads change.
#include "passes/lower/gpu/thread_kernel.h"

#include "model/plan/names.h"
#include "runtime/abi/type_bytes.h"

#include "passes/analysis/physical.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
constexpr uint32_t kSmallestBlock = 32;
} // namespace

std::vector<ColumnValue> ThreadKernelEmitter::fieldColumns(pipe::StateOp op,
                                                           const plan::State &state) {
  std::vector<ColumnValue> columns;
  for (auto [field, attr] : llvm::zip(state.fields, op.getFields().getAsRange<pipe::FieldAttr>())) {
    ColumnValue column;
    column.kind = ColumnValue::Kind::kField;
    column.type = attr.getType();
    column.nullable = column.fieldNullable = field.nullable;
    column.offset = field.offset;
    column.validOffset = field.validOffset;
    columns.push_back(column);
  }
  return columns;
}

LogicalResult ThreadKernelEmitter::readFields(const plan::State &state, Fields which,
                                              std::vector<RowValue> &values) {
  values.resize(state.fields.size());
  for (auto [field, value] : llvm::zip(state.fields, values)) {
    const Fields kind = field.combine == plan::Combine::kKey ? Fields::kKeys : Fields::kOthers;
    if (which != Fields::kAll && which != kind) {
      continue;
    }
    FailureOr<RowValue> one = reader_->read(columns_.lookup(field.name));
    if (failed(one)) {
      return failure();
    }
    value = *one;
  }
  return success();
}

// ---- fields that many threads change ----

LogicalResult ThreadKernelEmitter::combineAtomically(const plan::StateField &field, Value row,
                                                     RowValue input, Scope scope) {
  bool isSum = field.combine == plan::Combine::kSum, isMin = field.combine == plan::Combine::kMin;
  bool isExtreme = isMin || field.combine == plan::Combine::kMax;
  if (field.type == HR_STRING || (field.type == HR_I128 && !isSum) || (!isSum && !isExtreme)) {
    return emitError(b_.loc(), "threads cannot combine this field yet: ")
           << field.name << " (" << plan::nameOf(field.combine) << ")";
  }
  Value place = b_.at(row, field.offset);
  auto combineAlways = [&] {
    Value value = widenToField(field, input.value);
    Type type = value.getType(), i64 = b_.getI64Type();
    if (field.type == HR_I64 && isSum && scope == Scope::kBlock) {
      b_.callNamed("hr_block_add_i64", Type(), {place, value});
    } else if (field.type == HR_I128) {
      Value low = b_.truncate(value, i64);
      Value high =
          b_.truncate(arith::ShRUIOp::create(b_, b_.loc(), value, b_.integer(type, 64)), i64);
      Value overflow = b_.callNamed("hr_device_add_i128", b_.getI32Type(), {place, low, high});
      if (input.value.getType() == type) { // sums of narrow values cannot
        failIf(b_.compare(arith::CmpIPredicate::ne, overflow, b_.i32(0)), HR_ERROR_OVERFLOW);
      }
    } else {
      auto how = LLVM::AtomicBinOp::add;
      if (isa<FloatType>(type)) {
        how = isSum   ? LLVM::AtomicBinOp::fadd
              : isMin ? LLVM::AtomicBinOp::fmin
                      : LLVM::AtomicBinOp::fmaximum; // as extremeOf: NaN is the largest
      } else if (type.isInteger(1)) {
        value = b_.zeroExtend(value, b_.getI8Type());
        how = isMin ? LLVM::AtomicBinOp::_and : LLVM::AtomicBinOp::_or;
      } else if (!isSum) {
        how = isMin ? LLVM::AtomicBinOp::min : LLVM::AtomicBinOp::max;
      }
      LLVM::AtomicRMWOp::create(b_, b_.loc(), how, place, value, LLVM::AtomicOrdering::monotonic);
    }
    if (field.nullable) { // all that write it write the same
      LLVM::StoreOp::create(b_, b_.loc(), b_.integer(b_.getI8Type(), 1),
                            b_.at(row, field.validOffset), /*alignment=*/1,
                            /*isVolatile=*/false, /*isNonTemporal=*/false,
                            /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic);
    }
  };
  if (input.valid) {
    b_.ifThen(input.valid, combineAlways);
  } else {
    combineAlways();
  }
  return success();
}

// ---- aggregates without keys ----

LogicalResult ThreadKernelEmitter::emitScalarCombine(pipe::CombineOp combine, pipe::StateOp op) {
  plan::State state = layoutState(op);
  for (const plan::StateField &field : state.fields) {
    if (field.type == HR_STRING) {
      return combine.emitError("threads cannot combine this field yet: ") << field.name;
    }
  }
  while (device_kernel_.threads * state.rowBytes > HR_BLOCK_SHARED_BYTES &&
         device_kernel_.threads > kSmallestBlock) {
    device_kernel_.threads /= 2;
  }
  device_kernel_.sharedBytes = device_kernel_.threads * state.rowBytes;
  Type i64 = b_.getI64Type();
  auto sharedRow = [&](Value index) { return b_.element(shared_, index, state.rowBytes); };
  std::vector<ColumnValue> columns = fieldColumns(op, state);

  // Rows into a private copy; SROA makes registers of it.
  Value words = b_.slot(i64, state.rowBytes / 8);
  auto word = [&](Value row, int64_t offset) { return b_.at(row, offset); };
  for (uint32_t offset = 0; offset < state.rowBytes; offset += 8) {
    int64_t identity;
    std::memcpy(&identity, state.identity.data() + offset, 8);
    b_.store(b_.i64(identity), word(words, offset));
  }
  LogicalResult result = emitRows([&]() -> LogicalResult {
    std::vector<RowValue> inputs;
    if (failed(readFields(state, Fields::kAll, inputs))) {
      return failure();
    }
    for (auto [field, input] : llvm::zip(state.fields, inputs)) {
      combineField(field, words, input, Value());
    }
    b_.jump(next_);
    return success();
  });
  if (failed(result)) {
    return failure();
  }
  Value mine = sharedRow(b_.zeroExtend(thread_, i64));
  for (uint32_t offset = 0; offset < state.rowBytes; offset += 8) {
    b_.store(b_.load(i64, word(words, offset)), word(mine, offset));
  }
  endSuperstep();

  auto fold = [&](Value into, Value from) {
    for (auto [field, column] : llvm::zip(state.fields, columns)) {
      combineField(field, into, loadField(b_, column, from), Value());
    }
  };
  beginSuperstep();
  Value folding = b_.compare(arith::CmpIPredicate::ult, thread_, b_.i32(kFoldingThreads));
  b_.ifThen(folding, [&] {
    Value thread = b_.zeroExtend(thread_, i64);
    b_.forLoop(b_.add(thread, b_.i64(kFoldingThreads)), b_.zeroExtend(threads_, i64),
               kFoldingThreads, [&](Value other) { fold(sharedRow(thread), sharedRow(other)); });
  });
  endSuperstep();

  beginSuperstep();
  b_.ifThen(b_.compare(arith::CmpIPredicate::eq, thread_, b_.i32(0)), [&] {
    Value last =
        arith::MinSIOp::create(b_, b_.loc(), b_.zeroExtend(threads_, i64), b_.i64(kFoldingThreads));
    b_.forLoop(b_.i64(1), last, 1, [&](Value other) { fold(shared_, sharedRow(other)); });
    Value total =
        b_.loadField(b_.ptrType(), statePointer(combine.getState()), offsetof(HrScalarState, row));
    for (auto [field, column] : llvm::zip(state.fields, columns)) {
      if (failed(combineAtomically(field, total, loadField(b_, column, shared_), Scope::kDevice))) {
        result = failure();
      }
    }
  });
  return result;
}

// ---- rows appended to a buffer ----

LogicalResult ThreadKernelEmitter::emitInsert(pipe::InsertOp insert, pipe::StateOp op) {
  plan::State state = layoutState(op);
  bool isJoin = op.getKind() == pipe::StateKind::Join;
  Value buffer = statePointer(insert.getState());
  return emitRows([&]() -> LogicalResult {
    std::vector<RowValue> inputs;
    if (failed(readFields(state, Fields::kAll, inputs))) {
      return failure();
    }
    Value hash, anyNull;
    if (isJoin) {
      FailureOr<Value> keys = hashKeys(*reader_, insert.getKeys(), &anyNull);
      if (failed(keys)) {
        return failure();
      }
      hash = *keys;
    }
    if (anyNull && insert.getDropNullKeys()) {
      Block *kept = b_.newBlock();
      b_.branch(anyNull, next_, kept);
      b_.enter(kept);
    }
    Value row = b_.callNamed("hr_device_append", b_.ptrType(), {buffer, b_.i64(state.rowBytes)});
    checkNotNull(row);
    if (isJoin) {
      b_.storeField(b_.i64(0), row, 0);
      b_.storeField(hash, row, 8);
    }
    Value store = b_.loadField(b_.ptrType(), buffer, offsetof(HrRowBuffer, owner));
    for (auto [field, input] : llvm::zip(state.fields, inputs)) {
      storeField(field, columns_.lookup(field.name)->type, input, row, store);
    }
    b_.jump(next_);
    return success();
  });
}

// ---- output rows ----

LogicalResult ThreadKernelEmitter::emitEmit(pipe::EmitOp emit) {
  pipe::RowsType type = emit.getInput().getType();
  Type i32 = b_.getI32Type(), i64 = b_.getI64Type(), pointer = b_.ptrType();
  for (auto [name, column, nullable] :
       llvm::zip(type.getNames(), type.getTypes(), type.getNullable())) {
    device_kernel_.outputs.push_back({name.str(), "", physicalType(column), nullable});
  }
  return emitRows([&]() -> LogicalResult {
    std::vector<RowValue> inputs;
    for (StringAttr name : type.getNames()) {
      FailureOr<RowValue> value = reader_->read(columns_.lookup(name.getValue()));
      if (failed(value)) {
        return failure();
      }
      inputs.push_back(*value);
    }
    if (emit.getParted()) {
      return emit.emitError("rows are not kept in parts by kernels of this target yet");
    }
    Value target = b_.i32(0);
    if (!emit.getKeys().empty()) {
      FailureOr<Value> output =
          outputOfRow(*reader_, emit, b_.loadField(i32, device_, offsetof(HrDevice, size)));
      if (failed(output)) {
        return failure();
      }
      target = *output;
    }
    Value outputs = b_.loadField(pointer, device_, offsetof(HrDevice, outputs));
    Value output = b_.element(outputs, target, sizeof(HrOutput));
    Value row = b_.callNamed("hr_device_output_row", i32, {output});
    Block *room = b_.newBlock();
    b_.branch(b_.compare(arith::CmpIPredicate::eq, row, b_.i32(-1)), next_, room);
    b_.enter(room);
    Value columns = b_.loadField(pointer, output, offsetof(HrOutput, columns));
    for (auto [index, input] : llvm::enumerate(inputs)) {
      Type column = type.getTypes()[index];
      Value out = b_.at(columns, index * sizeof(HrOutputColumn));
      if (type.getNullable()[index]) {
        Value valid = input.valid ? input.valid : b_.integer(b_.getI1Type(), 1);
        Value flags = b_.loadField(pointer, out, offsetof(HrOutputColumn, validity));
        storeValue(b_, b_.getI1Type(), valid, b_.element(flags, row, 1));
      }
      Value data = b_.loadField(pointer, out, offsetof(HrOutputColumn, data));
      Value place = b_.element(data, row, abi::bytesOf(physicalType(column)));
      Value value = input.value;
      if (input.valid && !isa<pipe::StringType>(column)) {
        Value zero = arith::ConstantOp::create(b_, b_.loc(), b_.getZeroAttr(column));
        value = b_.select(input.valid, value, zero);
      }
      storeValue(b_, column, value, place);
    }
    b_.jump(next_);
    return success();
  });
}

} // namespace headrace::lower
