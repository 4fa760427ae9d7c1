// Which contractions are products of matrices as a library computes them. Shared by `shard`, which
// prices them, `form`, which leaves them to the library, and `schedule`, which writes the task.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <optional>

namespace headrace {

/// (b…, m…, k) x (b…, k, n) -> (b…, m…, n): for each index of the batch b… a product of two
/// matrices, of which the left one has all of m… as its rows. A transposed side has its last two
/// dimensions exchanged, the left one then has a single m.
struct MatrixProduct {
  unsigned batch = 0; ///< dimensions
  bool leftTransposed = false;
  bool rightTransposed = false;
};

/// Whether the op multiplies two tensors, by its name: linalg.matmul, linalg.batch_matmul,
/// linalg.contract.
bool isContraction(mlir::Operation *op);

/// The form of a contraction with these maps of its operands and its result; nothing if it has
/// another one.
std::optional<MatrixProduct> matrixProduct(llvm::ArrayRef<mlir::AffineMap> maps);

/// Likewise, of an op of floats of one type; nothing for other ops.
std::optional<MatrixProduct> matrixProduct(mlir::Operation *op);

} // namespace headrace
