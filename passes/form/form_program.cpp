// Cuts a program at its frame.to_tensor ops: what is before becomes pipelines, what is behind
// tensor kernels.
#include "passes/form/passes.h"

#include "passes/form/form_tensors.h"
#include "passes/form/pipelines.h"

#include "dialects/dist/DistDialect.h"
#include "dialects/frame/FrameOps.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace headrace::form {

#define GEN_PASS_DEF_FORMPROGRAM
#include "passes/form/Passes.h.inc"

namespace {

/// A function of its own that returns the table, with clones of all that it needs.
FailureOr<func::FuncOp> tableFunction(func::FuncOp program, Value table, StringRef name) {
  SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  if (failed(getBackwardSlice(table, &slice, options))) {
    // no test: a slice within one block is always found
    return program.emitError("a table cannot be cut out of the program for: ") << name;
  }
  OpBuilder builder(program);
  auto type = builder.getFunctionType({}, {table.getType()});
  auto function = func::FuncOp::create(builder, table.getLoc(), name, type);
  function.setPrivate();
  builder.setInsertionPointToStart(function.addEntryBlock());
  IRMapping mapping;
  for (Operation &op : program.getBody().front()) { // program order
    if (slice.contains(&op)) {
      builder.clone(op, mapping);
    }
  }
  func::ReturnOp::create(builder, table.getLoc(), mapping.lookup(table));
  return function;
}

void eraseTables(func::FuncOp function) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front()))) {
    bool table =
        llvm::any_of(op.getResultTypes(), [](Type type) { return isa<frame::TableType>(type); });
    if (table && op.use_empty()) {
      op.erase();
    }
  }
}

} // namespace

static LogicalResult formProgram(func::FuncOp function) {
  bool tensors = llvm::all_of(function.getResultTypes(), llvm::IsaPred<RankedTensorType>);
  if (!tensors || function.getNumResults() == 0) {
    return formPipelines(function);
  }
  SmallVector<frame::ToTensorOp> cuts(function.getOps<frame::ToTensorOp>());
  SmallVector<func::FuncOp> tables;
  for (auto [index, cut] : llvm::enumerate(cuts)) {
    std::string name = "rows" + std::to_string(index);
    FailureOr<func::FuncOp> table = tableFunction(function, cut.getInput(), name);
    if (failed(table)) {
      return failure();
    }
    tables.push_back(*table);
    OpBuilder builder(cut);
    auto made = pipe::ToTensorOp::create(builder, cut.getLoc(), cut.getResultTypes(),
                                         FlatSymbolRefAttr::get(builder.getContext(), name),
                                         cut.getGroups());
    cut.replaceAllUsesWith(made.getTensors());
    cut.erase();
  }
  eraseTables(function);
  for (func::FuncOp table : tables) {
    if (failed(formPipelines(table, TableSink::kTensor))) {
      return failure();
    }
  }
  return formTensors(function);
}

namespace {
class FormProgramPass : public impl::FormProgramBase<FormProgramPass> {
public:
  using FormProgramBase::FormProgramBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto function = module.lookupSymbol<func::FuncOp>("main");
    auto functions = module.getOps<func::FuncOp>();
    if (!function && llvm::hasSingleElement(functions)) {
      function = *functions.begin();
    }
    if (!function) {
      module.emitError("the program has no function: main");
      return signalPassFailure();
    }
    if (failed(formProgram(function))) {
      signalPassFailure();
    }
  }
};
} // namespace

} // namespace headrace::form
