// Forms of contractions, from their indexing maps.
#include "passes/analysis/matrix_product.h"

using namespace mlir;

namespace headrace {

bool isContraction(Operation *op) {
  return isa<linalg::MatmulOp, linalg::BatchMatmulOp, linalg::ContractOp>(op);
}

namespace {

using Loops = SmallVector<unsigned>;

/// The loop along each dimension; nothing if some dimension has none of its own.
std::optional<Loops> loopsOf(AffineMap map) {
  if (!map.isProjectedPermutation()) {
    return std::nullopt;
  }
  Loops loops;
  for (AffineExpr expression : map.getResults()) {
    loops.push_back(cast<AffineDimExpr>(expression).getPosition());
  }
  return loops;
}

} // namespace

std::optional<MatrixProduct> matrixProduct(ArrayRef<AffineMap> maps) {
  std::optional<Loops> left = loopsOf(maps[0]), right = loopsOf(maps[1]), out = loopsOf(maps[2]);
  if (!left || !right || !out || out->size() < 2 || right->size() < 2) {
    return std::nullopt;
  }
  MatrixProduct product;
  auto inAll = [&](size_t d) {
    return d < left->size() && d < right->size() && (*left)[d] == (*right)[d] &&
           (*left)[d] == (*out)[d];
  };
  while (product.batch < out->size() && inAll(product.batch)) {
    ++product.batch;
  }
  auto a = ArrayRef(*left).drop_front(product.batch);
  auto b = ArrayRef(*right).drop_front(product.batch);
  auto c = ArrayRef(*out).drop_front(product.batch);
  if (b.size() != 2 || c.size() < 2 || a.size() != c.size()) {
    return std::nullopt;
  }
  unsigned column = c.back();
  product.rightTransposed = b[0] == column;
  if (b[product.rightTransposed ? 0 : 1] != column) {
    return std::nullopt;
  }
  unsigned inner = b[product.rightTransposed ? 1 : 0];
  product.leftTransposed = a.back() != inner;
  ArrayRef<unsigned> rows = c.drop_back();
  if (product.leftTransposed) {
    return a.size() == 2 && a[0] == inner && a[1] == rows[0] ? std::optional(product)
                                                             : std::nullopt;
  }
  return a.drop_back() == rows ? std::optional(product) : std::nullopt;
}

std::optional<MatrixProduct> matrixProduct(Operation *op) {
  if (!isContraction(op)) {
    return std::nullopt;
  }
  auto structured = cast<linalg::LinalgOp>(op);
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  bool alike = llvm::all_of(structured.getDpsInputs(), [&](Value input) {
    return getElementTypeOrSelf(input.getType()) == element;
  });
  return alike && (element.isF32() || element.isF64())
             ? matrixProduct(structured.getIndexingMapsArray())
             : std::nullopt;
}

} // namespace headrace
