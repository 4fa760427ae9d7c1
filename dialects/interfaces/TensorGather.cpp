// Rows of the source along its first dimension.
#include "dialects/interfaces/TensorGather.h"

#include "dialects/interfaces/DiagnosticKind.h"

using namespace mlir;

namespace headrace {

LogicalResult verifyTensorGather(tensor::GatherOp op) {
  RankedTensorType places = op.getIndicesType();
  bool alongFirst = op.getGatherDims() == ArrayRef<int64_t>{0} && places.getShape().back() == 1;
  bool dropsIt = op.getResultType().getRank() ==
                 places.getRank() - 1 + op.getSourceType().getRank() - 1;
  if (!alongFirst || !dropsIt || !places.getElementType().isSignlessInteger(64)) {
    return unsupported(op.emitOpError("takes other than rows by i64 places: gather_dims is [0], "
                                      "and the result lacks that dimension, got "))
           << op.getSourceType() << " by " << places << " to " << op.getResultType();
  }
  return success();
}

} // namespace headrace
