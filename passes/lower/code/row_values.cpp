// Reading columns of a row, and widening scalar bodies onto vectors by construction.
#include "passes/lower/code/row_values.h"

#include "runtime/abi/type_bytes.h"

#include "passes/analysis/physical.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace headrace::lower {

Value loadValue(CodeBuilder &builder, Type type, Value pointer) {
  if (isa<pipe::StringType>(type)) {
    return pointer;
  }
  if (type.isInteger(1)) {
    Value byte = builder.load(builder.getI8Type(), pointer);
    return builder.compare(arith::CmpIPredicate::ne, byte, builder.integer(builder.getI8Type(), 0));
  }
  return builder.load(type, pointer);
}

void storeValue(CodeBuilder &builder, Type type, Value value, Value pointer) {
  if (isa<pipe::StringType>(type)) {
    for (int64_t half : {0, 8}) {
      builder.storeField(builder.loadField(builder.getI64Type(), value, half), pointer, half);
    }
    return;
  }
  if (type.isInteger(1)) {
    value = builder.zeroExtend(value, builder.getI8Type());
  }
  builder.store(value, pointer);
}

bool isWidenable(Block &body) {
  for (Operation &op : body) {
    if (op.hasTrait<OpTrait::IsTerminator>() || op.hasTrait<OpTrait::ConstantLike>()) {
      continue;
    }
    if (auto owns = dyn_cast<pipe::OwnsOp>(op); owns && owns.getCycle()) {
      continue;
    }
    if (auto bound = dyn_cast<pipe::BoundOp>(op); bound &&
                                                  bound.getKey().getType().isIntOrFloat() &&
                                                  !bound.getKey().getType().isInteger(128)) {
      continue;
    }
    bool known = isa<arith::ArithDialect, math::MathDialect>(op.getDialect());
    if (!known || op.getNumRegions() || !OpTrait::hasElementwiseMappableTraits(&op)) {
      return false;
    }
    // Division traps in lanes that the filter dropped, and wide integers are scalarised badly.
    if (isa<arith::DivSIOp, arith::RemSIOp, arith::DivUIOp, arith::RemUIOp>(op)) {
      return false;
    }
    if (isa<arith::RemFOp>(op)) { // a call
      return false;
    }
    for (Type type : op.getResultTypes()) {
      if (type.isIntOrFloat() && type.getIntOrFloatBitWidth() > 64) {
        return false;
      }
    }
  }
  return true;
}

Expression::Expression(Block &block) : body(&block) {
  for (Operation &op : block.without_terminator()) {
    if (op.getNumResults() == 0) {
      raising.push_back(&op);
    }
  }
}

void Expression::addInput(const std::shared_ptr<ColumnValue> &column) {
  columns.push_back(column);
  arguments.push_back({column, false});
  if (column->nullable) {
    arguments.push_back({column, true});
  }
}

RowReader::RowReader(CodeBuilder &builder, ArrayRef<Level> levels, unsigned level, Value row,
                     unsigned width)
    : builder_(builder), levels_(levels), level_(level), row_(row), width_(width) {
  indices_[level] = row;
}

Value RowReader::indexAt(unsigned level) {
  assert(level <= level_ && "a column cannot be read below its level");
  if (auto found = indices_.find(level); found != indices_.end()) {
    return found->second;
  }
  Value above = indexAt(level + 1);
  Value index =
      builder_.load(builder_.getI16Type(), builder_.element(levels_[level + 1].parents, above, 2));
  return indices_[level] = builder_.zeroExtend(index, builder_.getI64Type());
}

RowValue RowReader::readBuffer(const ColumnValue &column) {
  int64_t bytes = abi::bytesOf(physicalType(column.type));
  RowValue out;
  if (width_) {
    bool isBool = column.type.isInteger(1);
    auto vector = VectorType::get({width_}, isBool ? Type(builder_.getI8Type()) : column.type);
    Value pointer = builder_.element(column.base, row_, bytes);
    out.value = LLVM::LoadOp::create(builder_, builder_.loc(), vector, pointer, 1);
    auto nonZero = [&](Value value) -> Value {
      Value zero = arith::ConstantOp::create(builder_, builder_.loc(),
                                             builder_.getZeroAttr(value.getType()));
      return builder_.compare(arith::CmpIPredicate::ne, value, zero);
    };
    if (isBool) {
      out.value = nonZero(out.value);
    }
    if (column.validity) {
      auto flags = VectorType::get({width_}, builder_.getI8Type());
      out.valid = nonZero(LLVM::LoadOp::create(builder_, builder_.loc(), flags,
                                               builder_.element(column.validity, row_, 1), 1));
    }
    return out;
  }
  Value index = indexAt(column.level);
  out.value = loadValue(builder_, column.type, builder_.element(column.base, index, bytes));
  if (column.validity) {
    out.valid =
        loadValue(builder_, builder_.getI1Type(), builder_.element(column.validity, index, 1));
  }
  return out;
}

RowValue RowReader::readField(const ColumnValue &column) {
  Value index = indexAt(column.level);
  return loadField(builder_, column,
                   builder_.load(builder_.ptrType(), builder_.element(column.base, index, 8)));
}

RowValue loadField(CodeBuilder &builder, const ColumnValue &column, Value row) {
  RowValue out;
  if (!column.mayMiss) {
    out.value = loadValue(builder, column.type, builder.at(row, column.offset));
    if (column.fieldNullable) {
      out.valid = loadValue(builder, builder.getI1Type(), builder.at(row, column.validOffset));
    }
    return out;
  }
  // A missing match: read from a row of zeros, and mark the value NULL.
  Value zeros = builder.slot(builder.getI64Type(), 3);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(zeros.getDefiningOp());
    for (int64_t word : {0, 8, 16}) {
      builder.storeField(builder.i64(0), zeros, word);
    }
  }
  Value missing = builder.isNull(row);
  out.value = loadValue(builder, column.type,
                        builder.select(missing, zeros, builder.at(row, column.offset)));
  Value present = arith::XOrIOp::create(builder, builder.loc(), missing,
                                        builder.integer(builder.getI1Type(), 1));
  if (column.fieldNullable) {
    Value valid = loadValue(builder, builder.getI1Type(),
                            builder.select(missing, zeros, builder.at(row, column.validOffset)));
    present = arith::AndIOp::create(builder, builder.loc(), present, valid);
  }
  out.valid = present;
  return out;
}

RowReader RowReader::inner(unsigned level, Value row) const {
  RowReader rows(builder_, levels_, level, row);
  rows.scalarOps_ = scalarOps_;
  rows.memory_ = memory_;
  rows.raised_ = raised_;
  return rows;
}

FailureOr<RowValue> RowReader::readRepeated(const ColumnValue &column) {
  // The number of the row that it was computed for, validity, value: for this place in the code,
  // whose ops that make strings write to buffers of their own.
  constexpr int64_t kValid = 8, kValue = 16, kBytes = 32;
  Value kept = (*memory_)(kBytes);
  Value index = indexAt(column.level);
  Value number = builder_.add(builder_.load(builder_.getI64Type(), column.base), index);
  LogicalResult result = success();
  Value isOther = builder_.compare(arith::CmpIPredicate::ne, number,
                                   builder_.load(builder_.getI64Type(), kept));
  builder_.ifThen(isOther, [&] {
    RowReader rows = inner(column.level, index);
    rows.work_ = work_;
    FailureOr<RowValue> made = rows.read(column.repeated);
    result = made;
    if (failed(made)) {
      return;
    }
    storeValue(builder_, column.type, made->value, builder_.at(kept, kValue));
    if (made->valid) {
      storeValue(builder_, builder_.getI1Type(), made->valid, builder_.at(kept, kValid));
    }
    builder_.store(number, kept);
  });
  if (failed(result)) {
    return failure();
  }
  RowValue out;
  out.value = loadValue(builder_, column.type, builder_.at(kept, kValue));
  if (column.nullable) {
    out.valid = loadValue(builder_, builder_.getI1Type(), builder_.at(kept, kValid));
  }
  return out;
}

FailureOr<RowValue> RowReader::readEntry(const ColumnValue &column) {
  Value index = indexAt(column.level);
  Value text = builder_.slot(builder_.ptrType());
  builder_.store(builder_.element(column.base, index, abi::bytesOf(HR_STRING)), text);
  Value isComputed =
      builder_.compare(arith::CmpIPredicate::eq,
                       builder_.load(builder_.getI64Type(), column.isLookedUp), builder_.i64(0));
  LogicalResult result = success();
  builder_.ifThen(isComputed, [&] {
    RowReader rows = inner(column.level, index);
    Value yielded = column.expression->body->getTerminator()->getOperand(column.result);
    FailureOr<SmallVector<Value>> computed = rows.evaluate(*column.expression, yielded);
    result = computed;
    if (succeeded(computed)) {
      builder_.store(computed->front(), text);
    }
  });
  if (failed(result)) {
    return failure();
  }
  return RowValue{builder_.load(builder_.ptrType(), text), Value()};
}

FailureOr<RowValue> RowReader::read(const std::shared_ptr<ColumnValue> &column) {
  if (auto found = known_.find(column.get()); found != known_.end()) {
    return found->second;
  }
  RowValue out;
  if (work_ && !width_ && column->kind != ColumnValue::Kind::kExpression) {
    work_->add(plan::WorkKind::kScalar, level_, 1);
  }
  switch (column->kind) {
  case ColumnValue::Kind::kBuffer:
    out = columnLoad_ ? (*columnLoad_)(*column) : readBuffer(*column);
    break;
  case ColumnValue::Kind::kField:
    out = columnLoad_ ? (*columnLoad_)(*column) : readField(*column);
    break;
  case ColumnValue::Kind::kRepeated:
  case ColumnValue::Kind::kEntry: {
    FailureOr<RowValue> kept =
        column->kind == ColumnValue::Kind::kEntry ? readEntry(*column) : readRepeated(*column);
    if (failed(kept)) {
      return failure();
    }
    out = *kept;
    break;
  }
  case ColumnValue::Kind::kExpression: {
    FailureOr<SmallVector<Value>> results = evaluate(
        *column->expression, column->expression->body->getTerminator()->getOperands().slice(
                                 column->result, column->nullable ? 2 : 1));
    if (failed(results)) {
      return failure();
    }
    out.value = results->front();
    if (column->nullable) {
      out.valid = results->back();
    }
    break;
  }
  }
  known_[column.get()] = out;
  return out;
}

SmallVector<Operation *> RowReader::missingOps(const Expression &expression, ValueRange wanted,
                                               const IRMapping &known) {
  llvm::SmallSetVector<Operation *, 8> ops;
  auto want = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == expression.body && !known.contains(value)) {
      ops.insert(op);
    }
  };
  llvm::for_each(wanted, want);
  if (raised_->insert(&expression).second) {
    for (Operation *op : expression.raising) {
      ops.insert(op);
    }
  }
  for (size_t index = 0; index < ops.size(); ++index) { // grows
    ops[index]->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), want); });
  }
  SmallVector<Operation *> ordered = ops.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

LogicalResult RowReader::bindArgument(const Expression &expression, BlockArgument argument,
                                      IRMapping &mapping) {
  const auto &[column, isValidity] = expression.arguments[argument.getArgNumber()];
  FailureOr<RowValue> input = read(column);
  if (failed(input)) {
    return failure();
  }
  Value valid =
      input->valid || !isValidity ? input->valid : builder_.integer(builder_.getI1Type(), 1);
  mapping.map(argument, isValidity ? valid : input->value);
  return success();
}

FailureOr<SmallVector<Value>> RowReader::evaluate(const Expression &expression, ValueRange wanted) {
  if (auto repeated = expression.repeated.lock();
      repeated && repeated->level < level_ && !raised_->contains(&expression)) {
    if (failed(read(repeated))) { // what can fail follows from the repeated row: once for it
      return failure();
    }
  }
  IRMapping &mapping = evaluated_[&expression];
  auto isVector = [](Value value) { return isa<VectorType>(value.getType()); };
  auto widened = [&](Value value) -> Value {
    if (isVector(value)) {
      return value;
    }
    auto type = VectorType::get({width_}, value.getType());
    return vector::BroadcastOp::create(builder_, builder_.loc(), type, value);
  };
  LogicalResult result = success();
  auto bind = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner() == expression.body && !mapping.contains(value) &&
        succeeded(result)) {
      result = bindArgument(expression, argument, mapping);
    }
  };
  Location outer = builder_.loc();
  for (Operation *op : missingOps(expression, wanted, mapping)) {
    op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), bind); });
    if (failed(result)) {
      return failure();
    }
    builder_.setLoc(op->getLoc());
    if (work_) {
      work_->addOp(op, level_, width_, expression.textBytes);
    }
    if (isa<pipe::PipeDialect>(op->getDialect()) || isa<arith::RemFOp>(op)) {
      bool lowered = !width_ || isa<pipe::OwnsOp, pipe::BoundOp>(op);
      if (!lowered || !scalarOps_ || failed((*scalarOps_)(op, mapping))) {
        return op->emitError("cannot be lowered here");
      }
      continue;
    }
    bool anyVector = llvm::any_of(op->getOperands(), [&](Value operand) {
      return isVector(mapping.lookupOrDefault(operand));
    });
    if (!width_ || !anyVector) {
      builder_.clone(*op, mapping); // uniform values stay scalar
      continue;
    }
    OperationState state(op->getLoc(), op->getName());
    for (Value operand : op->getOperands()) {
      state.addOperands(widened(mapping.lookupOrDefault(operand)));
    }
    for (Type type : op->getResultTypes()) {
      state.addTypes(VectorType::get({width_}, type));
    }
    state.addAttributes(op->getDiscardableAttrDictionary().getValue());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    Operation *clone = builder_.create(state);
    mapping.map(op->getResults(), clone->getResults());
  }
  builder_.setLoc(outer);
  SmallVector<Value> results;
  for (Value operand : wanted) {
    bind(operand);
    if (failed(result)) {
      return failure();
    }
    Value value = mapping.lookupOrDefault(operand);
    results.push_back(width_ ? widened(value) : value);
  }
  return results;
}

} // namespace headrace::lower
