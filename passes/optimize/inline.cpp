// optimize-inline: what is cheap and used several times is computed for each use.
#include "passes/optimize/Passes.h"

#include "dialects/frame/FreshNames.h"
#include "dialects/frame/MadeTable.h"
#include "passes/optimize/expressions.h"
#include "passes/optimize/provenance.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZEINLINE
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

/// A copy of the chain, every column under another name, and over it the names of the original.
Value copyOf(OpBuilder &builder, ArrayRef<Operation *> chain, FreshNames &names) {
  llvm::DenseMap<StringAttr, StringAttr> fresh;
  auto newName = [&](StringAttr name) {
    StringAttr &known = fresh[name];
    known = known ? known : names.make(name.getValue());
    return known;
  };
  IRMapping mapping;
  for (Operation *op : chain) {
    renameResult(cast<RelationalOpInterface>(builder.clone(*op, mapping)), newName);
  }
  Value table = chain.back()->getResult(0);
  return RenameOp::create(builder, table.getLoc(), cast<TableType>(table.getType()),
                          mapping.lookup(table));
}

struct InlinePass : optimize::impl::OptimizeInlineBase<InlinePass> {
  void runOnOperation() override {
    FreshNames names(getOperation().getOperation());
    OpBuilder builder(&getContext());
    for (Block &block : getOperation().getBody()) {
      SmallVector<Operation *> ops = llvm::map_to_vector(block, [](Operation &op) { return &op; });
      for (Operation *op : llvm::reverse(ops)) {
        if (op->getNumResults() != 1 || op->getResult(0).hasOneUse() ||
            !isa<TableType>(op->getResult(0).getType())) {
          continue;
        }
        SmallVector<Operation *> chain = cheapChain(op->getResult(0));
        if (chain.empty()) {
          continue;
        }
        builder.setInsertionPointAfter(op);
        SmallVector<OpOperand *> uses =
            llvm::map_to_vector(op->getResult(0).getUses(), [](OpOperand &use) { return &use; });
        for (OpOperand *use : ArrayRef(uses).drop_back()) { // the list begins with the last use
          use->set(copyOf(builder, chain, names));
        }
      }
    }
  }
};

} // namespace
