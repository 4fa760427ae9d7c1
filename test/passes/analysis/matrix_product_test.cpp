// Which maps are products of matrices, by hand.
#include "passes/analysis/matrix_product.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

/// "batch", and which sides are transposed; "none" of another form.
std::string formOf(const std::string &loops, const char *left, const char *right, const char *out) {
  mlir::MLIRContext context;
  llvm::SmallVector<mlir::AffineMap> maps;
  for (const std::string side : {left, right, out}) {
    mlir::Attribute map =
        mlir::parseAttribute("affine_map<(" + loops + ") -> (" + side + ")>", &context);
    maps.push_back(mlir::cast<mlir::AffineMapAttr>(map).getValue());
  }
  const std::optional<MatrixProduct> product = matrixProduct(maps);
  return !product ? "none"
                  : std::to_string(product->batch) + (product->leftTransposed ? " left" : "") +
                        (product->rightTransposed ? " right" : "");
}

TEST(MatrixProduct, SidesMayBeTransposed) {
  EXPECT_EQ(formOf("m, n, k", "m, k", "k, n", "m, n"), "0");
  EXPECT_EQ(formOf("m, n, k", "k, m", "k, n", "m, n"), "0 left");
  EXPECT_EQ(formOf("m, n, k", "m, k", "n, k", "m, n"), "0 right");
  EXPECT_EQ(formOf("m, n, k", "k, m", "n, k", "m, n"), "0 left right");
}

TEST(MatrixProduct, BatchesAndSeveralDimensionsOfRows) {
  EXPECT_EQ(formOf("b, m, n, k", "b, m, k", "b, k, n", "b, m, n"), "1");
  EXPECT_EQ(formOf("a, b, m, n, k", "a, b, m, k", "a, b, n, k", "a, b, m, n"), "2 right");
  EXPECT_EQ(formOf("l, m, n, k", "l, m, k", "k, n", "l, m, n"), "0");
}

TEST(MatrixProduct, OtherForms) {
  EXPECT_EQ(formOf("m, n, k", "m, k", "k, n", "n, m"), "none"); // a transposed result
  EXPECT_EQ(formOf("m, k", "m, k", "k", "m"), "none");          // a vector
  EXPECT_EQ(formOf("b, k, n", "b", "b, k, n", "b, k, n"), "none");
  EXPECT_EQ(formOf("b, m, n, k", "m, b, k", "b, k, n", "b, m, n"), "none"); // a batch elsewhere
  EXPECT_EQ(formOf("l, m, n, k", "m, l, k", "k, n", "l, m, n"), "none");    // rows in another order
  EXPECT_EQ(formOf("l, m, n, k", "k, l, m", "k, n", "l, m, n"), "none");
  EXPECT_EQ(formOf("m, n, j, k", "m, j, k", "j, k, n", "m, n"), "none"); // two inner dimensions
  EXPECT_EQ(formOf("m, n, k", "m + k, k", "k, n", "m, n"), "none");      // a convolution
}

} // namespace
} // namespace headrace
