// Regions in expressions. Those for the elements of a list are the bodies of loops: what fails in
// one is a value of its loop, so that it is an error only for rows that ask for what the loop
// gives.
#include "passes/form/expressions.h"

#include "dialects/frame/LogicalTypes.h"
#include "runtime/base/list_values.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <memory>

using namespace mlir;

namespace headrace::form {

struct ExpressionTranslator::LoopBody {
  LoopBody(MLIRContext *context, Location location)
      : region(std::make_unique<Region>()), builder(context), inside(builder, location) {
    builder.setInsertionPointToEnd(&region->emplaceBlock());
    inside.raised_ = &raised;
    number = addArgument(builder.getI64Type(), location);
  }

  Value addArgument(Type type, Location location) {
    return region->front().addArgument(type, location);
  }

  std::unique_ptr<Region> region;
  OpBuilder builder;
  ExpressionTranslator inside;
  std::vector<Failure> raised;
  Value number;
  SmallVector<Value> initial; ///< of the values that the body hands on
};

void ExpressionTranslator::bindElement(LoopBody &loop, const Scalar &list, int64_t first,
                                       Region &region, unsigned next, ValueRange captures) {
  Type element = cast<frame::ListType>(list.type).getElementType();
  Value place = loop.number;
  if (first > 1) {
    place = arith::AddIOp::create(loop.builder, loc_, place, loop.inside.integer(first - 1, 64));
  }
  loop.inside.bind(region.getArgument(next++), loop.inside.elementIn(list.value, place, element));
  loop.inside.bind(region.getArgument(next++),
                   {place, Value(), b_.getI64Type(), Range{1, UINT32_MAX}});
  for (Value capture : captures) {
    loop.inside.bind(region.getArgument(next++), scalars_.lookup(capture));
  }
}

Scalar ExpressionTranslator::elementIn(Value list, Value place, Type type) {
  const uint32_t bytes = elementBytes(elementCode(logicalType(type)));
  if (bytes == 0) {
    return elementAt(list, place, Value(), type);
  }
  auto element = pipe::ListElementOp::create(b_, loc_, b_.getIntegerType(8 * bytes), b_.getI1Type(),
                                             list, place);
  Scalar out{element.getValue(), element.getValid(), type, typeRange(type)};
  if (frame::isBoolean(type)) {
    out.value = toWidth(out.value, 1);
    return out;
  }
  if (frame::isFloat(type)) {
    out.value = arith::BitcastOp::create(b_, loc_, type, out.value);
    return out;
  }
  return conform(out, out.range);
}

Value ExpressionTranslator::bitsOf(const Scalar &scalar, Type type) {
  const unsigned bits = 8 * elementBytes(elementCode(logicalType(type)));
  Value out = scalar.value;
  if (frame::isBoolean(type)) {
    out = arith::ExtUIOp::create(b_, loc_, b_.getIntegerType(bits), out);
  } else if (auto real = dyn_cast<FloatType>(type)) { // as ElementBytes has it
    Value zero = arith::ConstantOp::create(b_, loc_, b_.getFloatAttr(real, 0));
    auto is = [&](arith::CmpFPredicate predicate) -> Value {
      return arith::CmpFOp::create(b_, loc_, predicate, out, zero);
    };
    Value isZero = is(arith::CmpFPredicate::OEQ), isNan = is(arith::CmpFPredicate::UNO);
    Value plain = arith::BitcastOp::create(b_, loc_, b_.getIntegerType(bits), out);
    APInt nan = APFloat::getQNaN(real.getFloatSemantics()).bitcastToAPInt();
    Value one =
        arith::ConstantOp::create(b_, loc_, b_.getIntegerAttr(b_.getIntegerType(bits), nan));
    out = selectValue(isZero, integer(0, bits), selectValue(isNan, one, plain));
  } else {
    out = toWidth(out, bits);
  }
  return scalar.valid ? selectValue(scalar.valid, out, integer(0, bits)) : out;
}

/// The value whose list, of nothing else, a region yields.
static Value onlyElement(Value list) {
  auto made = list.getDefiningOp<frame::ListOp>();
  return made && made.getOperands().size() == 1 ? made.getOperands().front() : Value();
}

static bool isEmptyList(Value list) {
  if (auto constant = list.getDefiningOp<frame::ConstantOp>()) {
    auto text = dyn_cast<StringAttr>(constant.getValue());
    return text && text.empty();
  }
  auto made = list.getDefiningOp<frame::ListOp>();
  return made && made.getOperands().empty();
}

ExpressionTranslator::Collected ExpressionTranslator::collectedBy(frame::FlatMapOp op) {
  Value yielded = op.getBody().front().getTerminator()->getOperand(0);
  Type element = cast<frame::ListType>(yielded.getType()).getElementType();
  const ElementCode code = elementCode(logicalType(element));
  if (elementBytes(code) == 0) {
    return {};
  }
  Collected out{onlyElement(yielded), Value(), code};
  auto choice = yielded.getDefiningOp<frame::CaseOp>();
  if (choice && choice.getOtherwise() && isEmptyList(choice.getOtherwise()) &&
      choice.getConditions().size() == 1) {
    out.element = onlyElement(choice.getValues().front());
    out.condition = choice.getConditions().front();
  }
  return out;
}

pipe::LoopOp ExpressionTranslator::finish(LoopBody &loop, const Scalar &list, int64_t first,
                                          ArrayRef<Value> yielded, IntegerAttr collects) {
  SmallVector<Value> all(yielded);
  SmallVector<Type> types;
  const bool joins = !collects && yielded.size() > loop.initial.size();
  if (joins || collects) {
    types.push_back(pipe::StringType::get(b_.getContext()));
  }
  const size_t results = types.size() + loop.initial.size();
  for (const Failure &failure : loop.raised) {
    Value before = loop.addArgument(b_.getI1Type(), failure.location);
    loop.initial.push_back(i1(false));
    all.push_back(arith::OrIOp::create(loop.builder, failure.location, before, failure.condition));
  }
  llvm::append_range(types, ValueRange(loop.initial).getTypes());
  pipe::YieldOp::create(loop.builder, loc_, all);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(loop.region->front()))) {
    if (isOpTriviallyDead(&op)) { // the lists of what is collected
      op.erase();
    }
  }
  Value count = callText("list_length", {list.value});
  if (first > 1) {
    Value left = arith::SubIOp::create(b_, loc_, count, integer(first - 1, 64));
    count = arith::MaxSIOp::create(b_, loc_, left, integer(0, 64));
  }
  if (list.valid) {
    count = selectValue(list.valid, count, integer(0, 64));
  }
  auto made = pipe::LoopOp::create(b_, loc_, types, count, loop.initial,
                                   joins ? b_.getUnitAttr() : UnitAttr(), collects);
  made.getBody().takeBody(*loop.region);
  for (auto [index, failure] : llvm::enumerate(loop.raised)) {
    failures_.push_back({op_, failure.location,
                         made.getResult(static_cast<unsigned>(results + index)), failure.error});
  }
  return made;
}

FailureOr<Scalar> ExpressionTranslator::flatMap(frame::FlatMapOp op) {
  const Scalar list = scalars_.lookup(op.getList());
  LoopBody loop(b_.getContext(), loc_);
  bindElement(loop, list, 1, op.getBody(), 0, op.getCaptures());
  FailureOr<SmallVector<Scalar>> values = loop.inside.translate(op.getBody().front());
  if (failed(values)) {
    return failure();
  }
  Scalar out;
  out.type = frame::dropNullable(op.getResult().getType());
  SmallVector<Value> yielded{values->front().value};
  IntegerAttr code;
  if (Collected collected = collectedBy(op); collected.element) {
    const Scalar element = loop.inside.scalars_.lookup(collected.element);
    Value keeps = collected.condition
                      ? loop.inside.isTrue(loop.inside.scalars_.lookup(collected.condition))
                      : loop.inside.i1(true);
    yielded = {loop.inside.bitsOf(element, frame::dropNullable(collected.element.getType())),
               element.valid ? element.valid : loop.inside.i1(true), keeps};
    code = b_.getI64IntegerAttr(collected.code);
  }
  out.value = finish(loop, list, 1, yielded, code).getResult(0);
  out.valid = list.valid;
  return out;
}

FailureOr<Scalar> ExpressionTranslator::reduce(frame::ReduceOp op) {
  const Scalar list = scalars_.lookup(op.getList());
  Type type = frame::dropNullable(op.getResult().getType());
  const std::optional<Range> range = typeRange(type);
  Scalar initial = asColumn(scalars_.lookup(op.getInitial()), range, frame::Nullability::kMaybe);
  LoopBody loop(b_.getContext(), loc_);
  loop.initial = {initial.value, initial.valid};
  Value value = loop.addArgument(initial.value.getType(), loc_);
  Value valid = loop.addArgument(b_.getI1Type(), loc_);
  loop.inside.bind(op.getBody().getArgument(0), {value, valid, type, range});
  const auto first = static_cast<int64_t>(op.getFirst());
  bindElement(loop, list, first, op.getBody(), 1, op.getCaptures());
  FailureOr<SmallVector<Scalar>> values = loop.inside.translate(op.getBody().front());
  if (failed(values)) {
    return failure();
  }
  Scalar next = loop.inside.asColumn(values->front(), range, frame::Nullability::kMaybe);
  pipe::LoopOp made = finish(loop, list, first, {next.value, next.valid}, IntegerAttr());
  Scalar out;
  out.type = type;
  out.range = range;
  out.value = made.getResult(0);
  out.valid = andValues(list.valid, made.getResult(1));
  return out;
}

FailureOr<Scalar> ExpressionTranslator::attempt(frame::TryOp op) {
  std::vector<Failure> raised;
  ExpressionTranslator inside(b_, loc_);
  inside.raised_ = &raised;
  for (auto [argument, capture] : llvm::zip_equal(op.getBody().getArguments(), op.getCaptures())) {
    inside.bind(argument, scalars_.lookup(capture));
  }
  FailureOr<SmallVector<Scalar>> values = inside.translate(op.getBody().front());
  if (failed(values)) {
    return failure();
  }
  Scalar out = values->front();
  for (const Failure &failure : raised) {
    out.valid = andValues(out.valid, notValue(failure.condition));
  }
  return out;
}

} // namespace headrace::form
