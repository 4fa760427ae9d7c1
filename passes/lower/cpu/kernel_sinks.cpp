// The ends of a pipeline: aggregates, join and sort buffers, output chunks.
#include "passes/lower/cpu/kernel_emitter.h"

#include "runtime/abi/type_bytes.h"

#include "passes/analysis/physical.h"

#include "mlir/IR/SymbolTable.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

LogicalResult KernelEmitter::emitSink(Operation *sink) {
  if (auto emit = dyn_cast<pipe::EmitOp>(sink)) {
    return emitEmit(emit);
  }
  if (auto lookup = dyn_cast<pipe::LookupOp>(sink)) {
    LogicalResult marked = emitLookup(lookup);
    b_.jump(next_);
    return marked;
  }
  auto name = sink->getAttrOfType<FlatSymbolRefAttr>("state");
  auto op = symbols_.lookup<pipe::StateOp>(name.getValue());
  plan::State state = layoutState(op);
  if (auto insert = dyn_cast<pipe::InsertOp>(sink)) {
    return emitInsert(insert, state);
  }
  auto combine = cast<pipe::CombineOp>(sink);
  return op.getKind() == pipe::StateKind::Scalar ? emitScalarCombine(combine, state)
                                                 : emitGroupCombine(combine, state);
}

// ---- aggregates ----

void KernelEmitter::logFold(const plan::StateField &field, plan::WorkKind fold) {
  if (field.combine == plan::Combine::kKey) {
    bool text = field.type == HR_STRING; // compared with the group's
    work_.add(text ? plan::WorkKind::kCompareString : plan::WorkKind::kScalar, level(), 1);
    return;
  }
  if (field.type == HR_STRING) { // compared with the least or greatest so far
    work_.add(plan::WorkKind::kCompareString, level(), 1);
  }
  work_.add(fold, level(), field.type == HR_I128 ? 2 : 1);
  bool real = field.type == HR_F32 || field.type == HR_F64;
  work_.add(plan::WorkKind::kFoldReal, level(),
            real || field.combine == plan::Combine::kSumDoubleDouble ? 1 : 0);
}

void KernelEmitter::logTexts(plan::WorkKind kind, std::optional<APFloat> bytes) {
  work_.add(kind, level(), bytes ? bytes->convertToDouble() : 0);
}

void KernelEmitter::keepString(Value owner, Value string) {
  if (pipeline_.getMerges()) {
    return; // the state keeps the texts of all copies
  }
  check(b_.callImport("hr_string_keep", {worker_, owner, string}));
}

LogicalResult KernelEmitter::emitScalarCombine(pipe::CombineOp combine, const plan::State &state) {
  for (const plan::StateField &field : state.fields) {
    logFold(field, plan::WorkKind::kFold);
  }
  Value table = statePointer(combine.getState());
  Value row = b_.loadField(b_.ptrType(), table, offsetof(HrScalarState, row));
  Value owner = b_.loadField(b_.ptrType(), table, offsetof(HrScalarState, owner));
  // Work on a copy on the stack, which becomes registers, and write it back after the rows.
  bool hasString =
      llvm::any_of(state.fields, [](const auto &field) { return field.type == HR_STRING; });
  // Some fields at a time, as columns of emit.
  auto raised = std::make_shared<llvm::DenseSet<const Expression *>>();
  for (ArrayRef<plan::StateField> left = state.fields; !left.empty();) {
    size_t count = std::min(left.size(), kColumnsAtOnce);
    if (failed(combineFields(left.take_front(count), row, owner, hasString, raised))) {
      return failure();
    }
    left = left.drop_front(count);
  }
  b_.jump(next_);
  return success();
}

LogicalResult KernelEmitter::combineFields(ArrayRef<plan::StateField> some, Value row, Value owner,
                                           bool inPlace, const RowReader::Raised &raised) {
  LogicalResult result = success();
  // Every field in a slot of its own: SROA needs no help to see that they do not overlap.
  struct FieldSlot {
    plan::StateField field;
    Value memory;
    Type type;
  };
  std::vector<FieldSlot> fields;
  for (const plan::StateField &field : some) {
    FieldSlot entry{field, Value(), Type()};
    if (!inPlace) {
      entry.memory = b_.slot(b_.getI64Type(), 4);
      int64_t bytes = abi::bytesOf(field.type);
      entry.type = field.type == HR_F32   ? Type(b_.getF32Type())
                   : field.type == HR_F64 ? Type(b_.getF64Type())
                                          : Type(b_.getIntegerType(bytes * 8));
      b_.store(b_.loadField(entry.type, row, field.offset), entry.memory);
      if (field.nullable) {
        b_.store(b_.loadField(b_.getI8Type(), row, field.validOffset), b_.at(entry.memory, 16));
      }
      entry.field.offset = 0;
      entry.field.validOffset = 16;
    }
    fields.push_back(entry);
  }
  b_.forLoop(b_.i64(0), rowCount(), 1, [&](Value index) {
    RowReader rows = reader(level(), index);
    rows.setRaised(raised);
    std::vector<RowValue> inputs;
    for (const FieldSlot &entry : fields) {
      FailureOr<RowValue> value = rows.read(columns_.lookup(entry.field.name));
      if (failed(value)) {
        result = failure();
        return;
      }
      inputs.push_back(*value);
    }
    for (auto [entry, input] : llvm::zip(fields, inputs)) {
      combineField(entry.field, inPlace ? row : entry.memory, input, owner);
    }
  });
  if (!inPlace) {
    for (auto [entry, field] : llvm::zip(fields, some)) {
      b_.storeField(b_.load(entry.type, entry.memory), row, field.offset);
      if (field.nullable) {
        b_.storeField(b_.loadField(b_.getI8Type(), entry.memory, 16), row, field.validOffset);
      }
    }
  }
  return result;
}

// ---- rows appended to a buffer ----

/// Rows that were selected, joined or sorted have their texts anywhere: copied one after the other,
/// each waits for memory (docs/decisions/2026-11-27-texts-asked-for.md).
LogicalResult KernelEmitter::askForTexts(ArrayRef<StringRef> names,
                                         std::optional<APFloat> textBytes) {
  SmallVector<Column> texts;
  for (StringRef name : names) {
    Column column = columns_.lookup(name);
    bool coded = llvm::any_of(sources_, [&](const Source &source) {
      return source.column == column && source.isCoded();
    });
    if (isa<pipe::StringType>(column->type) && !coded &&
        column->kind != ColumnValue::Kind::kExpression &&
        column->kind != ColumnValue::Kind::kRepeated && column->kind != ColumnValue::Kind::kEntry) {
      texts.push_back(column);
    }
  }
  if ((level() == 0 && !rowsAnywhere_) || texts.empty()) {
    return success();
  }
  // The end of a longer one is mostly in the next line.
  constexpr double kShort = 32;
  constexpr int64_t kLineBytes = 64;
  const bool isLong =
      textBytes && textBytes->convertToDouble() > kShort * static_cast<double>(texts.size());
  LogicalResult result = success();
  work_.set(WorkLog::Counting::kPaused);
  b_.forLoop(b_.i64(0), rowCount(), 1, [&](Value index) {
    RowReader rows = reader(level(), index);
    for (const Column &text : texts) {
      FailureOr<RowValue> value = rows.read(text);
      if (failed(value)) {
        result = failure();
        return;
      }
      Value data = b_.loadField(b_.ptrType(), value->value, offsetof(HrString, data));
      b_.prefetch(data);
      if (isLong) {
        b_.prefetch(b_.at(data, kLineBytes));
      }
    }
  });
  work_.set(WorkLog::Counting::kOn);
  return result;
}

LogicalResult KernelEmitter::emitInsert(pipe::InsertOp insert, const plan::State &state) {
  Type i64 = b_.getI64Type(), pointer = b_.ptrType();
  Value buffer = statePointer(insert.getState());
  bool isJoin = state.kind == plan::StateKind::kJoinTable;
  bool isHashed = isJoin || !insert.getKeys().empty();
  if (isHashed) {
    logKeys(insert.getKeys());
  }
  work_.add(plan::WorkKind::kInsert, level(), 1, statePosition(insert.getState()));
  work_.add(plan::WorkKind::kInsertByte, level(), state.rowBytes);
  for (const plan::StateField &field : state.fields) {
    if (field.type == HR_STRING) {
      work_.add(plan::WorkKind::kKeepString, level(), 1);
    }
  }
  logTexts(plan::WorkKind::kCopyByte, insert.getTextBytes());
  SmallVector<StringRef> kept;
  for (const plan::StateField &field : state.fields) {
    if (columns_.contains(field.name)) {
      kept.push_back(field.name);
    }
  }
  if (failed(askForTexts(kept, insert.getTextBytes()))) {
    return failure();
  }
  LogicalResult result = success();
  b_.forLoop(b_.i64(0), rowCount(), 1, [&](Value index) {
    RowReader rows = reader(level(), index);
    Value hash, anyNull;
    if (isHashed) {
      FailureOr<Value> keys = hashKeys(rows, insert.getKeys(), &anyNull);
      if (failed(keys)) {
        result = failure();
        return;
      }
      hash = *keys;
    }
    Block *append = b_.newBlock(), *done = b_.newBlock();
    if (anyNull && insert.getDropNullKeys()) {
      b_.branch(anyNull, done, append);
    } else {
      b_.jump(append);
    }
    b_.enter(append);
    Value owner = b_.loadField(pointer, buffer, offsetof(HrRowBuffer, owner));
    Value full = LLVM::ICmpOp::create(b_, b_.loc(), LLVM::ICmpPredicate::uge,
                                      b_.loadField(pointer, buffer, offsetof(HrRowBuffer, next)),
                                      b_.loadField(pointer, buffer, offsetof(HrRowBuffer, end)));
    b_.ifThen(full, [&] { check(b_.callImport("hr_rows_grow", {worker_, buffer})); });
    Value row = b_.loadField(pointer, buffer, offsetof(HrRowBuffer, next));
    if (isJoin) {
      b_.storeField(b_.i64(0), row, 0);
      b_.storeField(hash, row, 8);
    } else if (isHashed) {
      b_.storeField(hash, row, 0);
    }
    for (const plan::StateField &field : state.fields) {
      if (!columns_.contains(field.name)) {
        continue; // a window computes it when all rows are there
      }
      Column column = columns_.lookup(field.name);
      FailureOr<RowValue> value = rows.read(column);
      if (failed(value)) {
        result = failure();
        return;
      }
      storeField(field, column->type, *value, row, owner);
    }
    b_.storeField(b_.at(row, state.rowBytes), buffer, offsetof(HrRowBuffer, next));
    Value count = b_.loadField(i64, buffer, offsetof(HrRowBuffer, rows));
    b_.storeField(b_.add(count, b_.i64(1)), buffer, offsetof(HrRowBuffer, rows));
    b_.jump(done);
    b_.enter(done);
  });
  b_.jump(next_);
  return result;
}

// ---- output chunks ----

/// Without the hashes that rows are parted by.
pipe::RowsType KernelEmitter::emittedRows(pipe::EmitOp emit) {
  pipe::RowsType rows = emit.getInput().getType();
  for (const auto &hash : keyHashes_) {
    rows = withoutColumn(rows, hash.second);
  }
  return rows;
}

LogicalResult KernelEmitter::emitEmit(pipe::EmitOp emit) {
  Type i32 = b_.getI32Type(), i64 = b_.getI64Type(), pointer = b_.ptrType();
  const pipe::RowsType rowsType = emittedRows(emit);
  bool partitioned = !emit.getKeys().empty();
  work_.add(plan::WorkKind::kEmit, level(), 1);
  if (partitioned) {
    logKeys(emit.getKeys());
    work_.add(plan::WorkKind::kPartition, level(), 1);
  }
  for (Type type : rowsType.getTypes()) {
    bool text = isa<pipe::StringType>(type);
    double bytes = static_cast<double>(abi::bytesOf(physicalType(type)));
    work_.add(text ? plan::WorkKind::kEmitString : plan::WorkKind::kEmitByte, level(),
              text ? 1 : bytes);
  }
  logTexts(plan::WorkKind::kCopyByte, emit.getTextBytes());
  auto names =
      llvm::map_to_vector(rowsType.getNames(), [](StringAttr name) { return name.getValue(); });
  if (failed(askForTexts(names, emit.getTextBytes()))) {
    return failure();
  }
  Value current = scratch(8);
  Block *loop = b_.newBlock(), *write = b_.newBlock();
  b_.store(b_.i64(0), current);
  b_.jump(loop);
  b_.enter(resume_);
  b_.jump(loop);

  b_.enter(loop);
  Value index = b_.load(i64, current);
  b_.branch(b_.compare(arith::CmpIPredicate::slt, index, rowCount()), write, next_);
  b_.enter(write);
  Output output;
  std::optional<RowReader> keyReader;
  output.target = b_.i32(0);
  if (partitioned) {
    keyReader.emplace(reader(level(), index));
    FailureOr<Value> target = failure();
    if (!emit.getParted()) {
      target = outputOfRow(*keyReader, emit, outputCount());
    } else if (FailureOr<Value> hash = hashKeys(*keyReader, emit.getKeys(), nullptr);
               succeeded(hash)) {
      target = partOfHash(*hash, outputCount());
    }
    if (failed(target)) {
      return failure();
    }
    output.target = *target;
  }
  output.pointer = b_.element(outputs_, output.target, sizeof(HrOutput));
  Value filled = b_.loadField(i32, output.pointer, offsetof(HrOutput, rows));
  Value capacity = b_.loadField(i32, output.pointer, offsetof(HrOutput, capacity));
  Block *full = b_.newBlock(), *room = b_.newBlock();
  b_.branch(b_.compare(arith::CmpIPredicate::uge, filled, capacity), full, room);
  b_.enter(full);
  b_.storeField(output.target, worker_, offsetof(HrWorker, fullOutput));
  LLVM::ReturnOp::create(b_, b_.loc(), b_.i32(HR_OUTPUT_FULL));

  b_.enter(room);
  output.columns = b_.loadField(pointer, output.pointer, offsetof(HrOutput, columns));
  Value rows = b_.i64(1);
  if (partitioned) {
    for (size_t column = 0; column < rowsType.size(); ++column) {
      if (failed(emitColumn(rowsType, column, *keyReader, output, filled))) {
        return failure();
      }
    }
  } else {
    // As many as there is room for, some columns at a time, so that what is live at once fits
    // registers.
    rows = arith::MinUIOp::create(
        b_, b_.loc(), arith::SubIOp::create(b_, b_.loc(), rowCount(), index),
        b_.zeroExtend(arith::SubIOp::create(b_, b_.loc(), capacity, filled), i64));
    auto raised = std::make_shared<llvm::DenseSet<const Expression *>>();
    for (size_t first = 0; first < rowsType.size(); first += kColumnsAtOnce) {
      size_t last = std::min(rowsType.size(), first + kColumnsAtOnce);
      LogicalResult result = success();
      b_.forLoop(b_.i64(0), rows, 1, [&](Value step) {
        RowReader values = reader(level(), b_.add(index, step));
        values.setRaised(raised);
        Value slot = b_.add(filled, b_.truncate(step, i32));
        for (size_t column = first; column < last && succeeded(result); ++column) {
          result = emitColumn(rowsType, column, values, output, slot);
        }
      });
      if (failed(result)) {
        return failure();
      }
    }
  }
  b_.storeField(b_.add(filled, b_.truncate(rows, i32)), output.pointer, offsetof(HrOutput, rows));
  b_.store(b_.add(b_.load(i64, current), rows), current);
  b_.jump(loop);
  return success();
}

LogicalResult KernelEmitter::emitColumn(pipe::RowsType rowsType, size_t column, RowReader &rows,
                                        const Output &output, Value slot) {
  Type i32 = b_.getI32Type(), i64 = b_.getI64Type(), pointer = b_.ptrType();
  Type type = rowsType.getTypes()[column];
  FailureOr<RowValue> input = rows.read(columns_.lookup(rowsType.getNames()[column].getValue()));
  if (failed(input)) {
    return failure();
  }
  Value out = b_.at(output.columns, column * sizeof(HrOutputColumn));
  Value data = b_.loadField(pointer, out, offsetof(HrOutputColumn, data));
  if (rowsType.getNullable()[column]) {
    Value valid = input->valid ? input->valid : b_.integer(b_.getI1Type(), 1);
    Value flags = b_.loadField(pointer, out, offsetof(HrOutputColumn, validity));
    storeValue(b_, b_.getI1Type(), valid, b_.element(flags, slot, 1));
  }
  if (isa<pipe::StringType>(type)) {
    Value length = b_.zeroExtend(b_.loadField(i32, input->value, offsetof(HrString, length)), i64);
    if (input->valid) {
      length = b_.select(input->valid, length, b_.i64(0));
    }
    Value used = b_.zeroExtend(b_.loadField(i32, out, offsetof(HrOutputColumn, heapUsed)), i64);
    Value after = b_.add(used, length);
    Value capacity =
        b_.zeroExtend(b_.loadField(i32, out, offsetof(HrOutputColumn, heapCapacity)), i64);
    b_.ifThen(b_.compare(arith::CmpIPredicate::ugt, after, capacity), [&] {
      check(b_.callImport("hr_output_grow", {worker_, output.target, b_.i32(column), length}));
    });
    Value heap = b_.loadField(pointer, out, offsetof(HrOutputColumn, heap));
    b_.callImport("memcpy",
                  {b_.element(heap, used, 1),
                   b_.loadField(pointer, input->value, offsetof(HrString, data)), length});
    Value after32 = b_.truncate(after, i32);
    b_.storeField(after32, out, offsetof(HrOutputColumn, heapUsed));
    Value following = b_.add(slot, b_.i32(1));
    b_.store(after32, b_.element(data, following, 4));
    return success();
  }
  Value value = input->value;
  if (input->valid) {
    Value zero = arith::ConstantOp::create(b_, b_.loc(), b_.getZeroAttr(type));
    value = b_.select(input->valid, value, zero);
  }
  storeValue(b_, type, value, b_.element(data, slot, abi::bytesOf(physicalType(type))));
  return success();
}

} // namespace headrace::lower
