// pipe.expand: rows as often as they say. A row goes on in the next round where the room of one
// ends.
#include "passes/lower/cpu/kernel_emitter.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace headrace::lower {

/// From which rows the column follows, and whether reading it takes as long as a text or a list is.
KernelEmitter::Reading KernelEmitter::readingOf(const ColumnValue &column) {
  if (!column.expression || column.kind == ColumnValue::Kind::kEntry) {
    return {column.level, false};
  }
  const Expression &expression = *column.expression;
  auto [known, isNew] = readings_.try_emplace({&expression, column.result});
  if (!isNew) {
    return known->second;
  }
  Reading reading;
  llvm::SmallSetVector<Operation *, 8> ops(expression.raising.begin(), expression.raising.end());
  auto read = [&](Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value);
        argument && argument.getOwner() == expression.body) {
      const Reading input = readingOf(*expression.arguments[argument.getArgNumber()].first);
      reading = {std::max(reading.level, input.level), reading.takesLong || input.takesLong};
    } else if (Operation *op = value.getDefiningOp(); op && op->getBlock() == expression.body) {
      ops.insert(op);
    }
  };
  auto isString = [](Type type) { return isa<pipe::StringType>(type); };
  llvm::for_each(
      expression.body->getTerminator()->getOperands().slice(column.result, column.nullable ? 2 : 1),
      read);
  for (size_t index = 0; index < ops.size(); ++index) { // grows
    ops[index]->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), read); });
    reading.takesLong |= ops[index]->getNumRegions() != 0 ||
                         llvm::any_of(ops[index]->getOperandTypes(), isString) ||
                         llvm::any_of(ops[index]->getResultTypes(), isString);
  }
  return readings_[{&expression, column.result}] = reading;
}

/// The copies of a row share what is made of texts and lists: once for the row, not for each.
void KernelEmitter::keepWhileRepeated() {
  for (auto &entry : columns_) {
    Column computed = entry.getValue();
    const Reading reading = readingOf(*computed);
    const Repeating *of = llvm::find_if(
        repeating_, [&](const Repeating &rows) { return reading.level <= rows.level; });
    if (!reading.takesLong || of == repeating_.end()) {
      continue;
    }
    auto column = std::make_shared<ColumnValue>();
    column->kind = ColumnValue::Kind::kRepeated;
    column->level = of->level;
    column->type = computed->type;
    column->nullable = computed->nullable;
    column->base = of->firstRow;
    column->repeated = computed;
    entry.second = column;
    if (!computed->expression->raising.empty()) {
      computed->expression->repeated = column;
      raisingColumns_.push_back(column);
    }
  }
}

LogicalResult KernelEmitter::emitExpand(pipe::ExpandOp op) {
  Type i64 = b_.getI64Type();
  const unsigned from = level();
  Column by = columns_.lookup(op.getBy());
  // Addresses in the scratch: they outlive a jump to the next stage.
  Value row = scratch(8), copies = scratch(8), wanted = scratch(8), count = scratch(8);
  Value firstRow = zeroedScratch(8);
  Value parents = scratch(kBufferRows * 2), numbers = scratch(kBufferRows * 8);
  Block *fill = b_.newBlock(), *step = b_.newBlock(), *more = b_.newBlock(), *take = b_.newBlock(),
        *exhausted = b_.newBlock(), *downstream = b_.newBlock();
  b_.store(b_.i64(0), row);
  b_.store(b_.i64(0), copies);
  b_.store(b_.add(b_.load(i64, firstRow), b_.i64(kBufferRows)), firstRow);
  b_.jump(fill);

  b_.enter(fill);
  leaveIfStopped(); // a row may have many copies
  b_.store(b_.i64(0), count);
  b_.jump(step);

  b_.enter(step);
  Value room = b_.compare(arith::CmpIPredicate::slt, b_.load(i64, count), b_.i64(HR_TILE_ROWS));
  b_.branch(room, more, downstream);
  b_.enter(more);
  Value current = b_.load(i64, row);
  b_.branch(b_.compare(arith::CmpIPredicate::slt, current, b_.load(i64, levels_[from].count)), take,
            exhausted);

  b_.enter(take);
  Value done = b_.load(i64, copies), filled = b_.load(i64, count);
  LogicalResult result = success();
  b_.ifThen(b_.compare(arith::CmpIPredicate::eq, done, b_.i64(0)), [&] {
    FailureOr<RowValue> all = reader(from, current).read(by);
    result = all;
    if (succeeded(all)) {
      b_.store(arith::MaxSIOp::create(b_, b_.loc(), b_.signExtend(all->value, i64), b_.i64(0)),
               wanted);
    }
  });
  if (failed(result)) {
    return failure();
  }
  Value left = arith::SubIOp::create(b_, b_.loc(), b_.load(i64, wanted), done);
  Value fits = arith::SubIOp::create(b_, b_.loc(), b_.i64(HR_TILE_ROWS), filled);
  Value taken = arith::MinSIOp::create(b_, b_.loc(), left, fits);
  Value parent = b_.truncate(current, b_.getI16Type());
  b_.forLoop(b_.i64(0), taken, 1, [&](Value index) {
    Value place = b_.add(filled, index);
    b_.store(parent, b_.element(parents, place, 2));
    b_.store(b_.add(b_.add(done, index), b_.i64(1)), b_.element(numbers, place, 8));
  });
  b_.store(b_.add(filled, taken), count);
  Value ends = b_.compare(arith::CmpIPredicate::eq, taken, left);
  b_.store(b_.select(ends, b_.i64(0), b_.add(done, taken)), copies);
  b_.store(b_.add(current, b_.zeroExtend(ends, i64)), row);
  b_.jump(step);

  b_.enter(exhausted);
  b_.branch(b_.compare(arith::CmpIPredicate::sgt, b_.load(i64, count), b_.i64(0)), downstream,
            next_);

  b_.enter(downstream);
  next_ = fill;
  beginLevel({parents, count}, op.getSelectivity() ? op.getSelectivity()->convertToDouble() : 1);
  auto column = std::make_shared<ColumnValue>();
  column->level = level();
  column->type = i64;
  column->base = numbers;
  columns_[op.getNumber()] = column;
  keepColumns(op.getRows().getType());
  repeating_.push_back({from, firstRow});
  keepWhileRepeated();
  return success();
}

} // namespace headrace::lower
