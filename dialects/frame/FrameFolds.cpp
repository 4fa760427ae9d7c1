// Folders of `frame`: what is right without looking at statistics or other ops' users.
#include "dialects/frame/FrameOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace headrace::frame;

/// A projection that keeps everything in its place.
OpFoldResult ProjectOp::fold(FoldAdaptor) {
  bool same = getComputed().empty() && getInput().getType() == getResult().getType();
  return same ? OpFoldResult(getInput()) : OpFoldResult();
}

OpFoldResult RenameOp::fold(FoldAdaptor) {
  return getInput().getType() == getResult().getType() ? OpFoldResult(getInput()) : OpFoldResult();
}

OpFoldResult LimitOp::fold(FoldAdaptor) {
  return getOffset() == 0 && !getCount() ? OpFoldResult(getInput()) : OpFoldResult();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getResult().getType() ? OpFoldResult(getOperand())
                                                         : OpFoldResult();
}

/// NOT NOT x is x, also for NULL.
OpFoldResult NotOp::fold(FoldAdaptor) {
  auto inner = getOperand().getDefiningOp<NotOp>();
  return inner ? OpFoldResult(inner.getOperand()) : OpFoldResult();
}

/// A value that cannot be NULL is not.
OpFoldResult IsNullOp::fold(FoldAdaptor) {
  return isNullable(getOperand().getType()) ? OpFoldResult()
                                            : OpFoldResult(BoolAttr::get(getContext(), false));
}
