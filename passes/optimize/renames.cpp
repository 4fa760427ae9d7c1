// optimize-renames: what is renamed gets the name where it is made.
#include "dialects/frame/ColumnLists.h"
#include "dialects/frame/MadeTable.h"
#include "passes/optimize/Passes.h"
#include "passes/optimize/expressions.h"

namespace headrace::optimize {
#define GEN_PASS_DEF_OPTIMIZERENAMES
#include "passes/optimize/Passes.h.inc"
} // namespace headrace::optimize

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

using Names = llvm::DenseMap<StringAttr, StringAttr>;

class Renames {
public:
  explicit Renames(OpBuilder &builder) : builder_(builder) {}

  void run(RenameOp first) {
    open_.push_back(first);
    while (!open_.empty()) {
      moveDown(open_.pop_back_val());
    }
  }

private:
  void moveDown(RenameOp rename) {
    TableType from = rename.getInput().getType(), to = rename.getType();
    auto op = rename.getInput().getDefiningOp<RelationalOpInterface>();
    Names names;
    for (auto [before, after] : llvm::zip_equal(from.getNames(), to.getNames())) {
      names[before] = after;
    }
    auto newName = [&](StringAttr name) {
      StringAttr known = names.lookup(name);
      return known ? known : name;
    };
    if (!op || !op->hasOneUse()) {
      return;
    }
    if (auto inner = dyn_cast<RenameOp>(op.getOperation())) {
      rename.getInputMutable().assign(inner.getInput());
      inner.erase();
      open_.push_back(rename);
      return;
    }
    bool byPlace = op.getSpareColumns() == SpareColumns::kExact;
    if (!byPlace && !renameOperands(op, names)) {
      return;
    }
    renameResult(op, newName);
    rename.getResult().replaceAllUsesWith(op->getResult(0));
    rename.erase();
  }

  /// Renames the columns that the op has from its operands; false, and nothing is done, if a table
  /// would then have a name twice.
  bool renameOperands(Operation *op, const Names &names) {
    SmallVector<std::pair<unsigned, TableType>> changed;
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      auto type = dyn_cast<TableType>(operand.getType());
      if (!type) {
        continue;
      }
      TableType wanted = renamed(type, [&](StringAttr name) {
        StringAttr known = names.lookup(name);
        return known ? known : name;
      });
      llvm::SmallDenseSet<StringAttr> unique(wanted.getNames().begin(), wanted.getNames().end());
      if (unique.size() != wanted.getNumColumns()) {
        return false;
      }
      if (wanted != type) {
        changed.push_back({static_cast<unsigned>(index), wanted});
      }
    }
    builder_.setInsertionPoint(op);
    for (auto [index, wanted] : changed) {
      auto below = RenameOp::create(builder_, op->getLoc(), wanted, op->getOperand(index));
      op->setOperand(index, below);
      open_.push_back(below);
    }
    return true;
  }

  OpBuilder &builder_;
  SmallVector<RenameOp> open_;
};

struct RenamesPass : optimize::impl::OptimizeRenamesBase<RenamesPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    SmallVector<RenameOp> renames;
    getOperation().walk([&](RenameOp rename) { renames.push_back(rename); });
    for (RenameOp rename : renames) {
      Renames(builder).run(rename);
    }
  }
};

} // namespace
