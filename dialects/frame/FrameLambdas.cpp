// Verifiers of the ops that evaluate a region.
#include "dialects/frame/FrameOps.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::frame;

/// Fails unless the region's arguments, which `are` says, have these types.
static LogicalResult verifyArguments(Operation *op, Region &body, ArrayRef<Type> wanted,
                                     StringRef are) {
  if (body.getNumArguments() != wanted.size()) {
    return op->emitOpError("needs a region with other arguments: ")
           << are << ", got " << body.getNumArguments();
  }
  for (auto [argument, type] : llvm::zip_equal(body.getArguments(), wanted)) {
    if (argument.getType() != type) {
      return op->emitOpError("argument ") << argument.getArgNumber() << " of the region must be "
                                          << type << ", got " << argument.getType();
    }
  }
  return success();
}

/// Fails unless the region gets `first`, an element of the list, its place and the captures.
static LogicalResult verifyLambda(Operation *op, Region &body, ArrayRef<Type> first, Type list,
                                  ValueRange captures) {
  SmallVector<Type> wanted(first);
  wanted.push_back(addNullable(cast<ListType>(dropNullable(list)).getElementType()));
  wanted.push_back(IntegerType::get(op->getContext(), 64));
  llvm::append_range(wanted, captures.getTypes());
  return verifyArguments(op, body, wanted, "an element, its place and the captures");
}

/// The one value that the region yields; null (and an error) if it is another number of them.
static Value verifyYield(Operation *op, Region &body) {
  auto yield = dyn_cast<YieldOp>(body.front().back());
  if (!yield || yield.getValues().size() != 1) {
    op->emitOpError("the region must yield one value");
    return {};
  }
  return yield.getValues().front();
}

LogicalResult FlatMapOp::verify() {
  Type list = getList().getType(), result = getResult().getType();
  if (failed(verifyLambda(*this, getBody(), {}, list, getCaptures()))) { // C1
    return failure();
  }
  Value yielded = verifyYield(*this, getBody());
  if (!yielded) { // C2
    return failure();
  }
  if (yielded.getType() != dropNullable(result)) { // C2
    return emitOpError("the region must yield ")
           << dropNullable(result) << ", got " << yielded.getType();
  }
  if (isNullable(result) != isNullable(list)) { // C3
    return emitOpError("result must be nullable exactly if the list is, got ") << result;
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  Type result = getResult().getType();
  if (!isNullable(result)) { // C3
    return emitOpError("result must be nullable, got ") << result;
  }
  if (failed(verifyLambda(*this, getBody(), {result}, getList().getType(), getCaptures()))) { // C1
    return failure();
  }
  Value yielded = verifyYield(*this, getBody());
  if (!yielded) { // C2
    return failure();
  }
  for (Value value : {getInitial(), yielded}) {
    if (!isSameValueType(value.getType(), result)) { // C2
      return emitOpError("needs values of type ") << result << ", got " << value.getType();
    }
  }
  if (static_cast<int64_t>(getFirst()) < 1) { // C4
    return emitOpError("starts at an element from 1 on, got ") << static_cast<int64_t>(getFirst());
  }
  return success();
}

LogicalResult TryOp::verify() {
  Type result = getResult().getType();
  if (!isNullable(result)) { // C3
    return emitOpError("result must be nullable, got ") << result;
  }
  if (failed(verifyArguments(*this, getBody(), SmallVector<Type>(getCaptures().getTypes()),
                             "the captures"))) { // C1
    return failure();
  }
  Value yielded = verifyYield(*this, getBody());
  if (!yielded) { // C2
    return failure();
  }
  if (!isSameValueType(yielded.getType(), result)) { // C2
    return emitOpError("needs a value of type ") << result << ", got " << yielded.getType();
  }
  return success();
}
