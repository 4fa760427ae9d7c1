// Static numbers, and sizes that are a tensor.dim of the source.
#include "dialects/interfaces/TensorSlice.h"

#include "dialects/interfaces/DiagnosticKind.h"

using namespace mlir;

namespace headrace {
namespace {

/// The dimension of the source that dimension `d` of the result is.
int64_t sourceDimension(tensor::ExtractSliceOp op, int64_t d) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  int64_t source = 0;
  for (; dropped.test(source) || d > 0; ++source) {
    d -= dropped.test(source) ? 0 : 1;
  }
  return source;
}

/// Where an extent that only the run knows comes from, through slices that take all of it.
std::pair<Value, int64_t> originOf(Value tensor, int64_t d) {
  while (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    d = sourceDimension(slice, d);
    tensor = slice.getSource();
  }
  return {tensor, d};
}

/// Whether the size is that of a dimension of the source, which only the run knows.
bool isExtentOf(OpFoldResult size, tensor::ExtractSliceOp op, int64_t d) {
  auto value = dyn_cast<Value>(size);
  auto extent = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
  std::optional<int64_t> index = extent ? extent.getConstantIndex() : std::nullopt;
  return index && *index >= 0 && *index < extent.getSource().getType().getRank() &&
         op.getSourceType().isDynamicDim(d) &&
         originOf(extent.getSource(), *index) == originOf(op.getSource(), d);
}

} // namespace

std::optional<SmallVector<SlicedDimension>> slicedDimensions(tensor::ExtractSliceOp op) {
  SmallVector<SlicedDimension> dimensions;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<OpFoldResult> sizes = op.getMixedSizes();
  int64_t results = 0;
  for (int64_t d = 0; d < op.getSourceType().getRank(); ++d) {
    SlicedDimension dimension;
    int64_t extent = op.getSourceType().getDimSize(d);
    dimension.elements = {op.getStaticOffset(d), op.getStaticSize(d), op.getStaticStride(d)};
    dimension.whole = dimension.elements.isAllOf(extent);
    bool open = op.isDynamicSize(d) || ShapedType::isDynamic(extent);
    if (op.isDynamicOffset(d) || op.isDynamicStride(d) ||
        (open && !(dimension.whole && isExtentOf(sizes[d], op, d)))) {
      return std::nullopt;
    }
    if (!dropped.test(d)) {
      dimension.result = results++;
    }
    dimensions.push_back(dimension);
  }
  return dimensions;
}

void sizeBySource(tensor::ExtractSliceOp op) {
  OpBuilder builder(op);
  unsigned next = 0;
  for (int64_t d = 0; d < op.getSourceType().getRank(); ++d) {
    if (op.isDynamicSize(d)) {
      op.getSizesMutable().slice(next++, 1).assign(
          tensor::DimOp::create(builder, op.getLoc(), op.getSource(), d).getResult());
    }
  }
}

LogicalResult verifyTensorSlice(tensor::ExtractSliceOp op) {
  std::optional<SmallVector<SlicedDimension>> dimensions = slicedDimensions(op);
  if (!dimensions) {
    return unsupported(op.emitOpError("takes what only the run knows: its offsets, sizes and "
                                      "strides are numbers, and of dimensions of unknown extent it "
                                      "takes all, by tensor.dim of its source"));
  }
  for (auto [d, dimension] : llvm::enumerate(*dimensions)) {
    int64_t extent = op.getSourceType().getDimSize(static_cast<int64_t>(d));
    if (!dimension.whole && !dimension.elements.isWithin(extent)) {
      return withKind(op.emitOpError("leaves its source along the dimension "), ErrorKind::kUser)
             << d << " of extent " << extent << ", got " << dimension.elements.size
             << " elements from " << dimension.elements.offset << " on in steps of "
             << dimension.elements.stride;
    }
  }
  return success();
}

} // namespace headrace
