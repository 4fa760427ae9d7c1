// Columns, maps, failures and the combination of fields.
#include "passes/lower/code/pipeline_code.h"

#include "runtime/abi/type_bytes.h"

#include "dialects/interfaces/SourcePlace.h"
#include "passes/analysis/double_double.h"
#include "passes/analysis/operator_location.h"
#include "passes/analysis/physical.h"

#include <algorithm>
#include <array>

using namespace mlir;

namespace headrace::lower {

PipelineCode::PipelineCode(pipe::PipelineOp pipeline, SymbolTable &symbols,
                           LLVM::LLVMFuncOp function)
    : pipeline_(pipeline), symbols_(symbols), b_(function, pipeline.getLoc()) {
  scalarOps_ = [this](Operation *op, IRMapping &mapping) { return lowerScalarOp(op, mapping); };
}

Value PipelineCode::prologueValue(llvm::function_ref<Value()> make) {
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPoint(b_.function().getBody().front().getTerminator());
  return make();
}

std::shared_ptr<Expression> PipelineCode::makeExpression(Region &body, ArrayAttr columns,
                                                         std::optional<APFloat> textBytes) {
  auto expression = std::make_shared<Expression>(body.front());
  expression->textBytes = textBytes ? textBytes->convertToDouble() : 0;
  for (auto name : columns.getAsRange<StringAttr>()) {
    expression->inputs.push_back(name.str());
    expression->addInput(columns_.lookup(name.getValue()));
  }
  keepAlive_.push_back(expression);
  return expression;
}

void PipelineCode::keepColumns(pipe::RowsType rows) {
  SmallVector<StringRef> dropped;
  for (auto &entry : columns_) {
    if (rows.indexOf(entry.getKey()) < 0) {
      dropped.push_back(entry.getKey());
    }
  }
  for (StringRef name : dropped) {
    columns_.erase(name);
  }
}

void PipelineCode::emitMap(pipe::MapOp map) {
  std::shared_ptr<Expression> expression =
      makeExpression(map.getBody(), map.getColumns(), map.getTextBytes());
  unsigned result = 0;
  for (auto name : map.getNames().getAsRange<StringAttr>()) {
    auto rows = map.getRows().getType();
    int64_t index = rows.indexOf(name.getValue());
    auto column = std::make_shared<ColumnValue>();
    column->kind = ColumnValue::Kind::kExpression;
    column->type = rows.getTypes()[index];
    column->nullable = rows.getNullable()[index];
    column->expression = expression;
    column->result = result;
    result += column->nullable ? 2 : 1;
    columns_[name.getValue()] = column;
  }
  keepColumns(map.getRows().getType());
}

Value PipelineCode::widenToField(const plan::StateField &field, Value value) {
  Type type = value.getType();
  bool isFloat = isa<FloatType>(type);
  Type stored = isFloat ? (field.type == HR_F32 ? Type(b_.getF32Type()) : Type(b_.getF64Type()))
                : field.type == HR_BOOL ? Type(b_.getI1Type())
                                        : Type(b_.getIntegerType(abi::bytesOf(field.type) * 8));
  if (type == stored) {
    return value;
  }
  return isFloat ? Value(arith::ExtFOp::create(b_, b_.loc(), stored, value))
                 : b_.signExtend(value, stored);
}

void PipelineCode::storeField(const plan::StateField &field, Type type, RowValue input, Value row,
                              Value owner) {
  Value place = b_.at(row, field.offset);
  auto keep = [&] {
    storeValue(b_, type, input.value, place);
    if (field.type == HR_STRING) {
      keepString(owner, place);
    }
  };
  if (field.nullable) {
    // The value under NULL is 0, so that rows compare and copy as a whole.
    for (uint32_t byte = 0; byte < abi::bytesOf(field.type); byte += 8) {
      uint32_t left = std::min(8u, abi::bytesOf(field.type) - byte);
      b_.storeField(b_.integer(b_.getIntegerType(left * 8), 0), place, byte);
    }
    Value valid = input.valid ? input.valid : b_.integer(b_.getI1Type(), 1);
    storeValue(b_, b_.getI1Type(), valid, b_.at(row, field.validOffset));
  }
  if (input.valid) {
    b_.ifThen(input.valid, keep);
  } else {
    keep();
  }
}

PipelineCode::Column PipelineCode::fieldColumn(const plan::StateField &field, Type type,
                                               Value base) {
  auto column = std::make_shared<ColumnValue>();
  column->kind = ColumnValue::Kind::kField;
  column->type = type;
  column->nullable = column->fieldNullable = field.nullable;
  column->base = base;
  column->offset = field.offset;
  column->validOffset = field.validOffset;
  return column;
}

Value PipelineCode::extremeOf(bool least, Value a, Value b) {
  Location location = b_.loc();
  if (isa<FloatType>(a.getType())) {
    // NaN is the largest: the least of it and a number is the number, the largest is NaN.
    return least ? Value(arith::MinNumFOp::create(b_, location, a, b))
                 : Value(arith::MaximumFOp::create(b_, location, a, b));
  }
  if (a.getType().isInteger(1)) { // signed, true would be -1
    return least ? Value(arith::AndIOp::create(b_, location, a, b))
                 : Value(arith::OrIOp::create(b_, location, a, b));
  }
  return least ? Value(arith::MinSIOp::create(b_, location, a, b))
               : Value(arith::MaxSIOp::create(b_, location, a, b));
}

void PipelineCode::combineField(const plan::StateField &field, Value row, RowValue input,
                                Value owner) {
  Value place = b_.at(row, field.offset);
  auto combineAlways = [&] {
    if (field.type == HR_STRING) {
      // Kept if it is the first, or before (min), or after (max) the one there.
      auto type = pipe::StringType::get(b_.getContext());
      Value known = loadValue(b_, b_.getI1Type(), b_.at(row, field.validOffset));
      Block *compare = b_.newBlock(), *replace = b_.newBlock(), *done = b_.newBlock();
      b_.branch(known, compare, replace);
      b_.enter(compare);
      Value order = b_.callImport("hr_string_compare", {input.value, place});
      auto predicate = field.combine == plan::Combine::kMin ? arith::CmpIPredicate::slt
                                                            : arith::CmpIPredicate::sgt;
      b_.branch(b_.compare(predicate, order, b_.i32(0)), replace, done);
      b_.enter(replace);
      storeValue(b_, type, input.value, place);
      keepString(owner, place);
      b_.jump(done);
      b_.enter(done);
      return;
    }
    Value value = widenToField(field, input.value);
    Type stored = value.getType();
    bool isFloat = isa<FloatType>(stored);
    Value old = loadValue(b_, stored, place);
    Value combined;
    if (field.combine == plan::Combine::kSumDoubleDouble) {
      analysis::Generating on{b_, b_.loc()};
      combined = on.pack(analysis::sumOf(on, on.unpack(old), on.unpack(value)));
    } else if (field.combine == plan::Combine::kSum) {
      if (isFloat) {
        combined = arith::AddFOp::create(b_, b_.loc(), old, value);
      } else {
        combined = b_.add(old, value);
        if (input.value.getType() == stored && field.type == HR_I128) {
          // Narrow inputs cannot overflow 128 bits; wide ones can. Overflow: both operands have one
          // sign and the sum the other.
          Value flipped = arith::AndIOp::create(
              b_, b_.loc(), arith::XOrIOp::create(b_, b_.loc(), old, combined),
              arith::XOrIOp::create(b_, b_.loc(), value, combined));
          failIf(b_.compare(arith::CmpIPredicate::slt, flipped, b_.integer(stored, 0)),
                 HR_ERROR_OVERFLOW);
        }
      }
    } else if (field.combine == plan::Combine::kProduct) {
      combined = arith::MulFOp::create(b_, b_.loc(), old, value);
    } else if (field.combine == plan::Combine::kBitAnd) {
      combined = arith::AndIOp::create(b_, b_.loc(), old, value);
    } else if (field.combine == plan::Combine::kBitOr) {
      combined = arith::OrIOp::create(b_, b_.loc(), old, value);
    } else if (field.combine == plan::Combine::kBitXor) {
      combined = arith::XOrIOp::create(b_, b_.loc(), old, value);
    } else {
      combined = extremeOf(field.combine == plan::Combine::kMin, old, value);
    }
    storeValue(b_, stored, combined, place);
  };
  if (!input.valid) {
    combineAlways();
    if (field.nullable) {
      b_.store(b_.integer(b_.getI8Type(), 1), b_.at(row, field.validOffset));
    }
    return;
  }
  b_.ifThen(input.valid, [&] {
    combineAlways();
    if (field.nullable) {
      b_.store(b_.integer(b_.getI8Type(), 1), b_.at(row, field.validOffset));
    }
  });
}

/// Where `texts` stand in `known`, one after the other; added if they do not.
static uint32_t indexOf(std::vector<std::string> &known, ArrayRef<std::string> texts) {
  auto found = std::search(known.begin(), known.end(), texts.begin(), texts.end());
  uint32_t index = found - known.begin();
  if (found == known.end()) {
    known.insert(known.end(), texts.begin(), texts.end());
  }
  return index;
}

/// The message of an error that the query raises, and its place.
static std::array<std::string, 2> raisedTexts(Location location) {
  location = analysis::withoutOperator(location);
  auto raised = dyn_cast<NameLoc>(location);
  return raised ? std::array{raised.getName().str(),
                             sourcePlace(analysis::withoutOperator(raised.getChildLoc()))}
                : std::array{std::string(), sourcePlace(location)};
}

uint32_t PipelineCode::placeOf(Location location) {
  return indexOf(placeTexts_, sourcePlace(analysis::withoutOperator(location)));
}

void PipelineCode::check(Value code) {
  Block *failed = b_.newBlock(), *fine = b_.newBlock();
  b_.branch(b_.compare(arith::CmpIPredicate::ne, code, b_.i32(0)), failed, fine);
  b_.enter(failed);
  // The import may have set the error already, with more detail; then the code is the same.
  leaveWithError(code, b_.i32(placeOf(b_.loc())));
  b_.enter(fine);
}

void PipelineCode::checkNotNull(Value pointer) { failIf(b_.isNull(pointer), HR_ERROR_MEMORY); }

void PipelineCode::failIf(Value condition, int32_t code) {
  Block *failed = b_.newBlock(), *fine = b_.newBlock();
  b_.branch(condition, failed, fine);
  b_.enter(failed);
  bool isRaised = code == HR_ERROR_RAISED; // then a message stands in front of the place
  leaveWithError(b_.i32(code), b_.i32(isRaised ? indexOf(placeTexts_, raisedTexts(b_.loc()))
                                               : placeOf(b_.loc())));
  b_.enter(fine);
}

const plan::StateField *findField(const plan::State &state, StringRef name) {
  for (const plan::StateField &field : state.fields) {
    if (field.name == name) {
      return &field;
    }
  }
  return nullptr;
}

} // namespace headrace::lower
