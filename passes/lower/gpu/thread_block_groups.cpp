// Aggregates of few groups: a small table of the block in shared memory takes most rows, the
// state's table what does not fit and, at the end, what the block has gathered. A row's way,
// cheapest first: by the codes of its keys to the number of its group, into the thread's own
// accumulators; by its key to a group that the threads of the block share; to the state.
#include "passes/lower/gpu/group_tables.h"
#include "passes/lower/gpu/thread_kernel.h"

#include "runtime/abi/type_bytes.h"

#include <cstring>

using namespace mlir;

namespace headrace::lower {

Value ThreadKernelEmitter::codeOfKeys(ArrayAttr keys) {
  const unsigned bits = BlockLayout::kCodeGroupBits / keys.size();
  SmallVector<std::pair<const ColumnValue *, const Source *>> coded;
  for (StringRef name : keys.getAsValueRange<StringAttr>()) {
    const ColumnValue *column = columns_.lookup(name).get();
    if (bits == 0 || column->kind != ColumnValue::Kind::kBuffer || column->source < 0) {
      return {};
    }
    coded.push_back({column, &sources_[column->source]});
  }
  Type i64 = b_.getI64Type(), i32 = b_.getI32Type();
  Value areCodes = prologueValue([&] {
    Value all;
    for (auto [column, source] : coded) {
      Value isOne = b_.compare(arith::CmpIPredicate::eq, source->encoding, b_.i32(HR_INDICES));
      all = all ? Value(arith::AndIOp::create(b_, b_.loc(), all, isOne)) : isOne;
    }
    return all;
  });
  Value code = b_.slot(i64);
  b_.store(b_.i64(-1), code);
  b_.ifThen(areCodes, [&] {
    Value all = b_.i64(0), areSmall;
    for (auto [column, source] : coded) {
      Value one = source->first
                      ? source->first
                      : b_.zeroExtend(b_.load(i32, b_.element(source->data, row_, 4)), i64);
      if (column->nullable) { // 0 is NULL
        Value valid = b_.callNamed("hr_device_valid", i32, {source->validity, row_});
        one = b_.select(b_.compare(arith::CmpIPredicate::ne, valid, b_.i32(0)),
                        b_.add(one, b_.i64(1)), b_.i64(0));
      }
      Value isSmall = b_.compare(arith::CmpIPredicate::ult, one, b_.i64(int64_t{1} << bits));
      areSmall = areSmall ? Value(arith::AndIOp::create(b_, b_.loc(), areSmall, isSmall)) : isSmall;
      all = arith::OrIOp::create(b_, b_.loc(),
                                 arith::ShLIOp::create(b_, b_.loc(), all, b_.i64(bits)), one);
    }
    b_.store(b_.select(areSmall, all, b_.i64(-1)), code);
  });
  return b_.load(i64, code);
}

void ThreadKernelEmitter::emptyBlockTable(const plan::State &state, const BlockLayout &layout) {
  Type i64 = b_.getI64Type();
  Value thread = b_.zeroExtend(thread_, i64), threads = b_.zeroExtend(threads_, i64);
  b_.forLoop(thread, b_.i64(layout.rows() / 8), threads,
             [&](Value word) { b_.store(b_.i64(0), b_.element(shared_, word, 8)); });
  if (layout.ownGroups == 0) {
    return;
  }
  b_.forLoop(b_.i64(0), b_.i64(layout.ownGroups), 1, [&](Value group) {
    for (const plan::StateField &field : state.fields) {
      if (field.combine == plan::Combine::kKey) {
        continue;
      }
      plan::StateField own = layout.ownField(state, field);
      Value row = ownRow(layout, field, group, thread);
      const uint32_t bytes = abi::bytesOf(field.type);
      for (uint32_t byte = 0; byte < bytes; byte += 8) {
        int64_t identity = 0;
        const uint32_t some = std::min(8u, bytes - byte);
        std::memcpy(&identity, state.identity.data() + field.offset + byte, some);
        b_.storeField(b_.integer(b_.getIntegerType(some * 8), identity), row, own.offset + byte);
      }
      if (field.nullable) {
        b_.storeField(b_.integer(b_.getI8Type(), 0), row, own.validOffset);
      }
    }
  });
}

Value ThreadKernelEmitter::ownRow(const BlockLayout &layout, const plan::StateField &field,
                                  Value group, Value thread) {
  Value groupAt = b_.element(b_.at(shared_, layout.own()), group, layout.ownGroupBytes());
  return b_.element(groupAt, thread, abi::bytesOf(field.type));
}

RowValue ThreadKernelEmitter::loadOwn(const BlockLayout &layout, const plan::State &state,
                                      const plan::StateField &field, ColumnValue column,
                                      Value group, Value thread) {
  plan::StateField own = layout.ownField(state, field);
  column.offset = own.offset;
  column.validOffset = own.validOffset;
  return loadField(b_, column, ownRow(layout, field, group, thread));
}

void ThreadKernelEmitter::foldOwn(pipe::StateOp op, const plan::State &state,
                                  const BlockLayout &layout, Value group, Value into, Value from) {
  std::vector<ColumnValue> columns = fieldColumns(op, state);
  for (auto [field, column] : llvm::zip(state.fields, columns)) {
    if (field.combine != plan::Combine::kKey) {
      RowValue value = loadOwn(layout, state, field, column, group, from);
      combineField(layout.ownField(state, field), ownRow(layout, field, group, into), value,
                   Value());
    }
  }
}

LogicalResult ThreadKernelEmitter::emitBlockRow(pipe::CombineOp combine, const plan::State &state,
                                                const BlockLayout &layout, GroupFinders find) {
  Type i64 = b_.getI64Type(), i32 = b_.getI32Type();
  std::vector<RowValue> values;
  if (failed(readFields(state, Fields::kOthers, values))) {
    return failure();
  }
  Value group = b_.slot(i64);
  Block *search = b_.newBlock(), *known = b_.newBlock(), *found = b_.newBlock(),
        *past = b_.newBlock();
  Value code = codeOfKeys(combine.getKeys());
  Value isCoded = code ? b_.compare(arith::CmpIPredicate::sge, code, b_.i64(0)) : Value();
  auto groupOfCode = [&] { return b_.element(b_.at(shared_, layout.codeGroups()), code, 4); };
  if (code) {
    Block *look = b_.newBlock();
    b_.branch(isCoded, look, search);
    b_.enter(look);
    Value kept = b_.callNamed("hr_block_group_of_code", i32, {groupOfCode()});
    b_.store(b_.add(b_.zeroExtend(kept, i64), b_.i64(-1)), group);
    b_.branch(b_.compare(arith::CmpIPredicate::ne, kept, b_.i32(0)), known, search);
  } else {
    b_.jump(search);
  }

  b_.enter(search);
  FailureOr<Value> hash = failed(readFields(state, Fields::kKeys, values))
                              ? FailureOr<Value>()
                              : hashKeys(*reader_, combine.getKeys(), nullptr);
  if (failed(hash)) {
    return failure();
  }
  Value address = callFind(find.inBlock, shared_, *hash, state, values);
  b_.branch(b_.compare(arith::CmpIPredicate::eq, address, b_.i64(0)), past, found);

  b_.enter(found);
  Value number = b_.add(address, b_.i64(-BlockGroups::kFirst));
  b_.store(number, group);
  if (code) {
    b_.ifThen(isCoded, [&] {
      b_.callNamed("hr_block_keep_group_of_code", Type(),
                   {groupOfCode(), b_.truncate(b_.add(number, b_.i64(1)), i32)});
    });
  }
  b_.jump(known);

  b_.enter(past);
  if (failed(foldIntoState(combine, find.inState, state, *hash, values))) {
    return failure();
  }
  b_.jump(next_);

  b_.enter(known);
  Value mine = b_.load(i64, group);
  if (layout.ownGroups > 0) {
    Block *own = b_.newBlock(), *shared = b_.newBlock();
    b_.branch(b_.compare(arith::CmpIPredicate::ult, mine, b_.i64(layout.ownGroups)), own, shared);
    b_.enter(own);
    Value thread = b_.zeroExtend(thread_, i64);
    for (auto [field, value] : llvm::zip(state.fields, values)) {
      if (field.combine != plan::Combine::kKey) {
        combineField(layout.ownField(state, field), ownRow(layout, field, mine, thread), value,
                     Value());
      }
    }
    b_.jump(next_);
    b_.enter(shared);
  }
  if (failed(foldGroup(state, layout.row(b_, shared_, mine), values, Scope::kBlock))) {
    return failure();
  }
  b_.jump(next_);
  return success();
}

void ThreadKernelEmitter::foldOwnGroups(pipe::StateOp op, const plan::State &state,
                                        const BlockLayout &layout) {
  Type i64 = b_.getI64Type();
  auto used = [&] {
    return Value(arith::MinUIOp::create(b_, b_.loc(),
                                        b_.zeroExtend(b_.load(b_.getI32Type(), shared_), i64),
                                        b_.i64(layout.ownGroups)));
  };
  auto isBelow = [&](Value a, Value b) { return b_.compare(arith::CmpIPredicate::ult, a, b); };
  Value threads = b_.zeroExtend(threads_, i64);
  Value items = arith::MulIOp::create(b_, b_.loc(), used(), b_.i64(kFoldingThreads));
  b_.forLoop(b_.zeroExtend(thread_, i64), items, threads, [&](Value item) {
    Value group = arith::DivUIOp::create(b_, b_.loc(), item, b_.i64(kFoldingThreads));
    Value first = arith::RemUIOp::create(b_, b_.loc(), item, b_.i64(kFoldingThreads));
    b_.ifThen(isBelow(first, threads), [&] {
      b_.forLoop(b_.add(first, b_.i64(kFoldingThreads)), threads, kFoldingThreads,
                 [&](Value other) { foldOwn(op, state, layout, group, first, other); });
    });
  });
  endSuperstep();

  beginSuperstep();
  threads = b_.zeroExtend(threads_, i64);
  Value last = arith::MinUIOp::create(b_, b_.loc(), threads, b_.i64(kFoldingThreads));
  b_.forLoop(b_.zeroExtend(thread_, i64), used(), threads, [&](Value group) {
    b_.forLoop(b_.i64(1), last, 1,
               [&](Value other) { foldOwn(op, state, layout, group, b_.i64(0), other); });
    std::vector<ColumnValue> columns = fieldColumns(op, state);
    for (auto [field, column] : llvm::zip(state.fields, columns)) {
      if (field.combine != plan::Combine::kKey) {
        RowValue value = loadOwn(layout, state, field, column, group, b_.i64(0));
        combineField(field, layout.row(b_, shared_, group), value, Value());
      }
    }
  });
  endSuperstep();
  beginSuperstep();
}

LogicalResult ThreadKernelEmitter::emitBlockGroups(pipe::CombineOp combine, pipe::StateOp op,
                                                   const plan::State &state,
                                                   const BlockLayout &layout) {
  device_kernel_.threads = layout.threads;
  device_kernel_.sharedBytes = layout.bytes();
  device_kernel_.sharesRows = true;
  BlockGroups inBlock(b_, state, layout);
  StateGroups inState(b_, state);
  GroupFinders find{emitFindGroup(op, state, inBlock), emitFindGroup(op, state, inState)};
  find.inBlock.setAlwaysInline(true); // where it is inlined its memory is known to be shared
  find.inState.setNoInline(true);
  emptyBlockTable(state, layout);
  endSuperstep();

  beginSuperstep();
  if (failed(emitRows([&] { return emitBlockRow(combine, state, layout, find); }))) {
    return failure();
  }
  endSuperstep();

  beginSuperstep();
  if (layout.ownGroups > 0) {
    foldOwnGroups(op, state, layout);
  }
  Type i64 = b_.getI64Type();
  std::vector<ColumnValue> columns = fieldColumns(op, state);
  Value used = b_.zeroExtend(b_.load(b_.getI32Type(), shared_), i64);
  LogicalResult merged = success();
  b_.forLoop(b_.zeroExtend(thread_, i64), used, b_.zeroExtend(threads_, i64), [&](Value number) {
    Value row = layout.row(b_, shared_, number);
    std::vector<RowValue> values;
    for (const ColumnValue &column : columns) {
      values.push_back(loadField(b_, column, row));
    }
    if (failed(foldIntoState(combine, find.inState, state, b_.load(i64, row), values))) {
      merged = failure();
    }
  });
  return merged;
}

} // namespace headrace::lower
