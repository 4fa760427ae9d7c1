// Grouped aggregates: the group of each row is found, by small numbers for its keys
// (kernel_group_codes.cpp) or by hash; then rows are combined.
#include "passes/lower/cpu/kernel_emitter.h"

#include "passes/analysis/physical.h"
#include "runtime/abi/row_pointer.h"

#include <cstddef>

using namespace mlir;

namespace headrace::lower {

namespace {
/// Rows whose groups are found before the first of them is combined.
constexpr int64_t kBatchRows = 64;
/// A directory with more entries does not stay in the first-level cache: fetching the rows ahead
/// pays.
constexpr int64_t kSmallDirectoryMask = 4095;
} // namespace

LogicalResult KernelEmitter::emitGroupCombine(pipe::CombineOp combine, const plan::State &state) {
  Value table = statePointer(combine.getState());
  Value hashes = scratch(kBatchRows * 8), groups = scratch(kBatchRows * 8);
  bool coded = codesExpected_;
  if (!coded) {
    if (!pipeline_.getMerges()) {
      logKeys(combine.getKeys());
      logTexts(plan::WorkKind::kHashByte, combine.getTextBytes());
    }
    work_.add(plan::WorkKind::kGroup, level(), 1, statePosition(combine.getState()));
  }
  for (const plan::StateField &field : state.fields) {
    if (!coded || field.combine != plan::Combine::kKey) {
      logFold(field, plan::WorkKind::kFoldGroup);
    }
  }
  LogicalResult result = success();
  b_.forLoop(b_.i64(0), rowCount(), kBatchRows, [&](Value base) {
    Value end = arith::MinSIOp::create(b_, b_.loc(), b_.add(base, b_.i64(kBatchRows)), rowCount());
    Block *byHash = b_.newBlock(), *update = b_.newBlock();
    if (!hasCodes_) {
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
    if (hasCodes_) { // seldom: a combination met for the first time
      work_.set(WorkLog::Counting::kPaused);
      decodeTexts();
    }
    if (failed(emitGroupHashes(combine, state, table, hashes, base, end)) ||
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

/// The one that a row of the same state has in front of its keys.
Value KernelEmitter::hashOfStateRow(ArrayAttr keys, Value index) {
  const auto &key = columns_.lookup(cast<StringAttr>(keys[0]).getValue());
  Value row = b_.load(b_.ptrType(), b_.element(key->base, index, 8));
  return b_.load(b_.getI64Type(), row);
}

LogicalResult KernelEmitter::emitGroupHashes(pipe::CombineOp combine, const plan::State &state,
                                             Value table, Value hashes, Value base, Value end) {
  Type i64 = b_.getI64Type(), pointer = b_.ptrType();
  std::vector<const plan::StateField *> texts;
  for (const plan::StateField &field : state.fields) {
    if (field.combine == plan::Combine::kKey && field.type == HR_STRING) {
      texts.push_back(&field);
    }
  }
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
    FailureOr<Value> hash = pipeline_.getMerges() ? hashOfStateRow(combine.getKeys(), index)
                                                  : hashKeys(rows, combine.getKeys(), nullptr);
    if (failed(hash)) {
      result = failure();
      return;
    }
    b_.store(*hash, inBatch(index));
    b_.prefetch(slotOf(*hash));
    if (pipeline_.getMerges()) { // hashed long ago
      for (const plan::StateField *text : texts) {
        FailureOr<RowValue> key = rows.read(columns_.lookup(text->name));
        b_.prefetch(b_.loadField(pointer, key->value, offsetof(HrString, data)));
      }
    }
  });
  auto rowOf = [&](Value index) -> Value {
    Value entry = b_.load(i64, slotOf(b_.load(i64, inBatch(index))));
    Value address = arith::AndIOp::create(b_, b_.loc(), entry, b_.i64(abi::kRowPointerMask));
    return LLVM::IntToPtrOp::create(b_, b_.loc(), pointer, address);
  };
  Value isLarge = b_.compare(arith::CmpIPredicate::ugt, mask, b_.i64(kSmallDirectoryMask));
  b_.ifThen(isLarge, [&] {
    b_.forLoop(base, end, 1, [&](Value index) { b_.prefetchRow(rowOf(index), state.rowBytes); });
  });
  if (texts.empty()) {
    return result;
  }
  // The texts that keys are compared with. Parts of a merge are small, and their texts anywhere.
  b_.ifThen(pipeline_.getMerges() ? b_.integer(b_.getI1Type(), 1) : isLarge, [&] {
    b_.forLoop(base, end, 1, [&](Value index) {
      Value row = rowOf(index);
      Value isThere =
          arith::XOrIOp::create(b_, b_.loc(), b_.isNull(row), b_.integer(b_.getI1Type(), 1));
      b_.ifThen(isThere, [&] {
        for (const plan::StateField *text : texts) {
          Value place = b_.at(row, text->offset + offsetof(HrString, data));
          b_.prefetch(b_.load(pointer, place));
        }
      });
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
    Value address = arith::AndIOp::create(b_, b_.loc(), entry, b_.i64(abi::kRowPointerMask));
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
    if (hasCodes_) {
      Value isCoded = b_.compare(arith::CmpIPredicate::ne, b_.load(i64, codedTile_), b_.i64(0));
      b_.ifThen(isCoded, [&] {
        RowReader codes = reader(level(), index);
        FailureOr<CodedPlace> place = codedPlace(codes);
        if (failed(place)) {
          result = failure();
          return;
        }
        auto keep = [&] { b_.store(group, place->pointer); };
        place->isIn ? b_.ifThen(place->isIn, keep) : keep();
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
