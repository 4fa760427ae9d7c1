// Lists and structs: values go into them, and come out, as the bits that a list has of them.
#include "passes/form/expressions.h"

#include "dialects/frame/LogicalTypes.h"
#include "dialects/pipe/PipeDialect.h"
#include "runtime/base/list_values.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace headrace::form {

/// Decimals of more digits than an i64 has.
static bool isWide(Type element) { return elementBytes(elementCode(logicalType(element))) == 16; }

Value ExpressionTranslator::callText(StringRef name, ValueRange operands) {
  const TextFunction &function = *textFunctionNamed(name);
  Type type = function.givesText() ? Type(pipe::StringType::get(b_.getContext()))
              : function.result == TextFunction::Result::kBoolean ? Type(b_.getI1Type())
                                                                  : Type(b_.getI64Type());
  return pipe::TextOp::create(b_, loc_, TypeRange{type}, name, operands).getResult();
}

Value ExpressionTranslator::listOfOne(const Scalar &scalar, Type type) {
  Value code = integer(elementCode(logicalType(type)), 64);
  Value one;
  if (frame::isHeldAsText(type)) {
    one = callText("list_of_text", {scalar.value, code});
  } else if (frame::isFloat(type)) {
    Type bits = b_.getIntegerType(type.getIntOrFloatBitWidth());
    Value value = arith::BitcastOp::create(b_, loc_, bits, scalar.value);
    one = callText("list_of_integer", {toWidth(value, 64), code});
  } else if (frame::isBoolean(type)) {
    Value value = arith::ExtUIOp::create(b_, loc_, b_.getI64Type(), scalar.value);
    one = callText("list_of_integer", {value, code});
  } else if (isWide(type)) {
    Value wide = toWidth(scalar.value, 128);
    Value high = arith::ShRSIOp::create(b_, loc_, wide, integer(64, 128));
    one = callText("list_of_wide", {toWidth(wide, 64), toWidth(high, 64), code});
  } else {
    one = callText("list_of_integer", {toWidth(scalar.value, 64), code});
  }
  return scalar.valid ? selectValue(scalar.valid, one, callText("list_of_null", {code})) : one;
}

Scalar ExpressionTranslator::list(frame::ListOp op) {
  Scalar out;
  out.type = op.getResult().getType();
  SmallVector<Value> lists;
  for (Value operand : op.getOperands()) {
    lists.push_back(
        listOfOne(scalars_.lookup(operand), cast<frame::ListType>(out.type).getElementType()));
  }
  out.value = lists.empty()       ? constant(b_.getStringAttr(""), out.type)->value
              : lists.size() == 1 ? lists.front()
                                  : callText("list_join", lists);
  return out;
}

Scalar ExpressionTranslator::structOf(frame::StructOp op) {
  Scalar out;
  out.type = op.getResult().getType();
  SmallVector<Value> fields;
  for (auto [operand, type] :
       llvm::zip_equal(op.getOperands(), cast<frame::StructType>(out.type).getFieldTypes())) {
    fields.push_back(listOfOne(scalars_.lookup(operand), type));
  }
  out.value = callText("struct_join", fields);
  return out;
}

Scalar ExpressionTranslator::element(frame::ElementOp op) {
  const Scalar &list = scalars_.lookup(op.getOperand());
  const Scalar &position = scalars_.lookup(op.getPosition());
  return elementAt(list.value, toWidth(position.value, 64), andValues(list.valid, position.valid),
                   frame::dropNullable(op.getResult().getType()));
}

Scalar ExpressionTranslator::field(frame::FieldOp op) {
  const Scalar &whole = scalars_.lookup(op.getOperand());
  return elementAt(whole.value, integer(static_cast<__int128>(op.getIndex()) + 1, 64), whole.valid,
                   frame::dropNullable(op.getResult().getType()));
}

Scalar ExpressionTranslator::elementAt(Value list, Value place, Value valid, Type type) {
  auto take = [&](StringRef function) { return callText(function, {list, place}); };
  Scalar out;
  out.type = type;
  out.valid = andValues(valid, take("list_has"));
  if (frame::isHeldAsText(out.type)) {
    out.value = take("list_text");
    return out;
  }
  Value value = take("list_integer");
  if (frame::isBoolean(out.type)) {
    out.value = toWidth(value, 1);
  } else if (frame::isFloat(out.type)) {
    out.value = arith::BitcastOp::create(b_, loc_, out.type,
                                         toWidth(value, out.type.getIntOrFloatBitWidth()));
  } else if (isWide(out.type)) {
    Value low = arith::ExtUIOp::create(b_, loc_, b_.getIntegerType(128), value);
    Value high = arith::ShLIOp::create(b_, loc_, toWidth(take("list_high"), 128), integer(64, 128));
    out.value = arith::OrIOp::create(b_, loc_, low, high);
    out.range = typeRange(out.type);
  } else {
    out.value = value;
    out.range = typeRange(out.type);
    return conform(out, out.range);
  }
  return out;
}

} // namespace headrace::form
