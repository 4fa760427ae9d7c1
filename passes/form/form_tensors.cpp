// Named ops are made generic, elementwise chains are fused, matmuls take over the transposes of
// their operands.
#include "passes/form/form_tensors.h"

#include "dialects/interfaces/DiagnosticKind.h"
#include "passes/analysis/matrix_product.h"
#include "passes/analysis/tensor_kernel.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace headrace::form {

#define GEN_PASS_DEF_FORMTENSORS
#include "passes/form/Passes.h.inc"

namespace {

bool isZeroFill(Value init) {
  TypedAttr value = filledConstant(init);
  return value && (matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero()));
}

bool isOnlyStart(linalg::FillOp fill) {
  return llvm::all_of(fill->getUses(), [](OpOperand &use) {
    auto user = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return user && user.isDpsInit(&use) && !isa<linalg::FillOp>(use.getOwner());
  });
}

/// product(init = X) becomes product(init = 0) + X.
void startFromZero(IRRewriter &rewriter, linalg::LinalgOp product) {
  OpOperand *init = product.getDpsInitOperand(0);
  if (isZeroFill(init->get())) {
    return;
  }
  rewriter.setInsertionPoint(product);
  Location loc = product.getLoc();
  Value addend = init->get();
  auto type = cast<RankedTensorType>(addend.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, addend);
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  Value zeros = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  rewriter.modifyOpInPlace(product, [&] { init->set(zeros); });
  rewriter.setInsertionPointAfter(product);
  Value result = product->getResult(0);
  AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  Value target = tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  auto sum = linalg::GenericOp::create(
      rewriter, loc, type, ValueRange{result, addend}, target,
      ArrayRef<AffineMap>{identity, identity, identity}, loops,
      [&](OpBuilder &b, Location at, ValueRange in) {
        linalg::YieldOp::create(b, at, ValueRange{arith::AddFOp::create(b, at, in[0], in[1])});
      });
  rewriter.replaceAllUsesExcept(result, sum.getResult(0), sum);
}

/// The source of a generic that does nothing but permute, and its permutation.
Value transposedSource(Value value, AffineMap *permutation) {
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  if (!generic || generic.getNumDpsInputs() != 1 || generic->getNumResults() != 1 ||
      generic.getNumParallelLoops() != generic.getNumLoops()) {
    return {};
  }
  Block *body = generic.getBody();
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  if (&body->front() != body->getTerminator() ||
      body->getTerminator()->getOperand(0) != body->getArgument(0) || !maps[0].isPermutation() ||
      !maps[1].isIdentity()) {
    return {};
  }
  *permutation = maps[0];
  return generic.getDpsInputs().front();
}

void takeOverTransposes(IRRewriter &rewriter, linalg::LinalgOp product) {
  for (OpOperand *operand : product.getDpsInputOperands()) {
    AffineMap permutation;
    Value source = transposedSource(operand->get(), &permutation);
    if (!source) {
      continue;
    }
    SmallVector<AffineMap> maps = product.getIndexingMapsArray();
    // Element i of the operand is element permutation(i) of the source.
    AffineMap &map = maps[operand->getOperandNumber()];
    map = permutation.compose(map);
    if (!matrixProduct(maps)) {
      continue; // the library exchanges rows and columns, nothing else
    }
    rewriter.modifyOpInPlace(product, [&] {
      operand->set(source);
      product->setAttr("indexing_maps", rewriter.getAffineMapArrayAttr(maps));
    });
  }
}

LogicalResult generalize(IRRewriter &rewriter, func::FuncOp function) {
  RewritePatternSet elementwise(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(elementwise);
  if (failed(applyPatternsGreedily(function, std::move(elementwise)))) {
    return failure();
  }
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    auto fill = dyn_cast<linalg::FillOp>(op.getOperation());
    if (isa<linalg::GenericOp>(op) || matrixProduct(op) || (fill && isOnlyStart(fill))) {
      continue;
    }
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op))) {
      // no test: there is no such named op today
      return unsupported(op.emitError("has no form as loops: ")) << op->getName();
    }
  }
  return success();
}

// A body of more ops gains nothing from another one, and every fusion copies it.
constexpr size_t kBodyOpsMax = 96;

size_t bodyOps(linalg::LinalgOp op) { return op.getBlock()->getOperations().size(); }

bool isCostly(Operation &op) {
  return isa<math::MathDialect>(op.getDialect()) || isa<arith::DivFOp>(op);
}

/// One user, however often it reads the value: nothing need be kept. And nothing costly is computed
/// more than once: where the user stretches the value (a row, say), it has other loops around.
bool worthFusing(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::LinalgOp>();
  auto user = cast<linalg::LinalgOp>(operand->getOwner());
  if (llvm::any_of(operand->get().getUsers(), [&](Operation *other) { return other != user; })) {
    return false;
  }
  if (producer && bodyOps(producer) + bodyOps(user) > kBodyOpsMax) {
    return false;
  }
  bool stretched = user.getMatchingIndexingMap(operand).getNumResults() < user.getNumLoops();
  return !stretched || !producer || llvm::none_of(*producer.getBlock(), isCostly);
}

LogicalResult fuse(func::FuncOp function) {
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseOpsFusionPatterns(patterns, worthFusing);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, function.getContext());
  return applyPatternsGreedily(function, std::move(patterns));
}

void eraseDead(IRRewriter &rewriter, func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front()))) {
    if (isOpTriviallyDead(&op)) {
      rewriter.eraseOp(&op);
    }
  }
}

class FormTensorsPass : public impl::FormTensorsBase<FormTensorsPass> {
public:
  void runOnOperation() final {
    if (failed(formTensors(getOperation()))) {
      signalPassFailure();
    }
  }
};

} // namespace

LogicalResult formTensors(func::FuncOp function) {
  if (function.isDeclaration()) {
    return success();
  }
  IRRewriter rewriter(function.getContext());
  SmallVector<linalg::LinalgOp> products;
  function.walk([&](linalg::LinalgOp op) {
    if (matrixProduct(op)) {
      products.push_back(op);
    }
  });
  for (linalg::LinalgOp product : products) {
    startFromZero(rewriter, product);
    takeOverTransposes(rewriter, product);
  }
  if (failed(generalize(rewriter, function)) || failed(fuse(function))) {
    return failure();
  }
  eraseDead(rewriter, function);
  unsigned number = 0;
  for (auto generic : function.getOps<linalg::GenericOp>()) {
    setTensorKernelSymbol(generic, (function.getSymName() + "_" + Twine(number++)).str());
  }
  return success();
}

} // namespace headrace::form
