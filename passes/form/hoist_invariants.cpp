// What does not change from time to time is computed once: before the loop of a lambda, and of a
// row that is repeated in columns of their own, which kernels keep from copy to copy.
#include "passes/form/passes.h"

#include "dialects/pipe/PipeDialect.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace headrace::pipe;

namespace headrace::form {

#define GEN_PASS_DEF_HOISTINVARIANTS
#include "passes/form/Passes.h.inc"

namespace {

using Columns = llvm::DenseSet<StringAttr>;

void hoistOutOf(LoopOp loop) {
  auto isOutside = [](Value value, Region *body) {
    return !body->isAncestor(value.getParentRegion());
  };
  moveLoopInvariantCode(
      &loop.getBody(), isOutside, [](Operation *op, Region *) { return isPure(op); },
      [&](Operation *op, Region *) { op->moveBefore(loop); });
}

/// Calls for each column with the arguments of the body that are its value and, if it is nullable,
/// its validity.
void forEachColumn(Operation *op, Block &body, ArrayRef<Attribute> columns,
                   llvm::function_ref<void(StringAttr, ValueRange)> visit) {
  auto rows = cast<RowsType>(op->getOperand(0).getType());
  unsigned next = 0;
  for (auto name : llvm::map_range(columns, llvm::CastTo<StringAttr>)) {
    const unsigned count = rows.getNullable()[rows.indexOf(name)] ? 2 : 1;
    visit(name, ValueRange(body.getArguments()).slice(next, count));
    next += count;
  }
}

/// Ops that nobody reads, then columns.
void dropUnused(Operation *op, Block &body, ArrayRef<Attribute> columns) {
  for (Operation &inner : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (isOpTriviallyDead(&inner)) {
      inner.erase();
    }
  }
  SmallVector<Attribute> used;
  llvm::BitVector dropped(body.getNumArguments());
  bool anyString = false;
  forEachColumn(op, body, columns, [&](StringAttr name, ValueRange arguments) {
    if (llvm::all_of(arguments, [](Value value) { return value.use_empty(); })) {
      for (Value argument : arguments) {
        dropped.set(cast<BlockArgument>(argument).getArgNumber());
      }
      return;
    }
    used.push_back(name);
    anyString |= isa<StringType>(arguments.front().getType());
  });
  body.eraseArguments(dropped);
  op->setAttr("columns", ArrayAttr::get(op->getContext(), used));
  if (!anyString) {
    op->removeAttr("text_bytes");
  }
}

/// The body of a map or filter over copies of rows.
class Body {
public:
  /// `repeated`: the columns that are the same in all copies of a row.
  Body(Operation *op, const Columns &repeated)
      : op_(op), block_(op->getRegion(0).front()),
        columns_(op->getAttrOfType<ArrayAttr>("columns")) {
    forEachColumn(op, block_, columns_.getValue(), [&](StringAttr name, ValueRange arguments) {
      for (Value value : arguments) {
        values_[value] = {repeated.contains(name) ? Change::kWithRow : Change::kWithCopy, false};
      }
    });
    auto isString = [](Type type) { return isa<StringType>(type); };
    for (Operation &inner : block_) {
      Traits traits;
      forEachOperand(inner, [&](Value operand) {
        const Traits of = values_.lookup(operand);
        traits = {std::max(traits.change, of.change), traits.takesLong || of.takesLong};
      });
      traits.takesLong |= inner.getNumRegions() != 0 ||
                          llvm::any_of(inner.getOperandTypes(), isString) ||
                          llvm::any_of(inner.getResultTypes(), isString);
      for (Value result : inner.getResults()) {
        values_[result] = traits;
      }
    }
  }

  bool changesWithCopy(ValueRange values) const {
    return llvm::any_of(
        values, [&](Value value) { return values_.lookup(value).change == Change::kWithCopy; });
  }

  /// Moves what takes long and is the same for all copies, but is read where something else is
  /// made for each, to a map of its own before the op.
  void hoist() {
    SmallVector<Value> found = invariants();
    if (found.empty()) {
      return;
    }
    OpBuilder builder(op_);
    auto input = cast<RowsType>(op_->getOperand(0).getType());
    SmallVector<StringAttr> names(input.getNames());
    SmallVector<Type> types(input.getTypes());
    SmallVector<bool> nullable(input.getNullable());
    SmallVector<Attribute> added;
    for (size_t number = 0; added.size() < found.size(); ++number) {
      StringAttr name = builder.getStringAttr("of_row" + Twine(number));
      if (!llvm::is_contained(names, name)) {
        types.push_back(found[added.size()].getType());
        names.push_back(name);
        nullable.push_back(false);
        added.push_back(name);
      }
    }
    auto map = MapOp::create(builder, op_->getLoc(),
                             RowsType::get(builder.getContext(), names, types, nullable),
                             op_->getOperand(0), builder.getArrayAttr(added), columns_,
                             op_->getAttrOfType<FloatAttr>("text_bytes"));
    Block &body = map.getBody().emplaceBlock();
    IRMapping mapping;
    for (BlockArgument argument : block_.getArguments()) {
      mapping.map(argument, body.addArgument(argument.getType(), argument.getLoc()));
    }
    builder.setInsertionPointToEnd(&body);
    for (Operation &inner : block_) {
      if (inner.getNumResults() != 0 && !changesWithCopy(inner.getResults())) {
        builder.clone(inner, mapping);
      }
    }
    YieldOp::create(builder, op_->getLoc(),
                    llvm::map_to_vector(found, [&](Value value) { return mapping.lookup(value); }));
    for (Value value : found) {
      value.replaceAllUsesWith(block_.addArgument(value.getType(), value.getLoc()));
    }
    op_->setOperand(0, map.getRows());
    SmallVector<Attribute> read(columns_.begin(), columns_.end());
    llvm::append_range(read, added);
    dropUnused(map, body, columns_.getValue());
    dropUnused(op_, block_, read);
  }

private:
  enum class Change : uint8_t { kNever, kWithRow, kWithCopy };
  struct Traits {
    Change change = Change::kNever;
    bool takesLong = false; ///< as a text or a list is long
  };

  SmallVector<Value> invariants() const {
    if (!changesWithCopy(block_.getArguments())) {
      return {};
    }
    llvm::SmallSetVector<Value, 4> found;
    for (Operation &inner : block_) {
      if (inner.getNumResults() != 0 && !changesWithCopy(inner.getResults())) {
        continue;
      }
      forEachOperand(inner, [&](Value operand) {
        const Traits traits = values_.lookup(operand);
        if (operand.getDefiningOp() && traits.change == Change::kWithRow && traits.takesLong) {
          found.insert(operand);
        }
      });
    }
    return found.takeVector();
  }

  void forEachOperand(Operation &op, llvm::function_ref<void(Value)> visit) const {
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (operand.getParentBlock() == &block_) {
          visit(operand);
        }
      }
    });
  }

  Operation *op_;
  Block &block_;
  ArrayAttr columns_;
  llvm::DenseMap<Value, Traits> values_;
};

void hoistBehind(ExpandOp expand) {
  Columns repeated;
  repeated.insert_range(expand.getRows().getType().getNames());
  repeated.erase(expand.getNumberAttr());
  for (Operation *op = expand->getNextNode(); op->getNumResults() != 0; op = op->getNextNode()) {
    auto made = [&](ArrayAttr names) {
      for (auto name : names.getAsRange<StringAttr>()) {
        repeated.erase(name);
      }
    };
    if (auto filter = dyn_cast<FilterOp>(op)) {
      Body(filter, repeated).hoist();
    } else if (auto map = dyn_cast<MapOp>(op)) {
      Body body(map, repeated);
      made(map.getNames());
      Block &block = map.getBody().front();
      ValueRange yielded = block.getTerminator()->getOperands();
      auto rows = map.getRows().getType();
      for (auto name : map.getNames().getAsRange<StringAttr>()) {
        const unsigned count = rows.getNullable()[rows.indexOf(name)] ? 2 : 1;
        if (!body.changesWithCopy(yielded.take_front(count))) {
          repeated.insert(name);
        }
        yielded = yielded.drop_front(count);
      }
      body.hoist();
    } else if (auto lookup = dyn_cast<LookupOp>(op)) {
      made(lookup.getPayload());
      if (StringAttr mark = lookup.getMarkAttr()) {
        repeated.erase(mark);
      }
    } else if (auto other = dyn_cast<ExpandOp>(op)) {
      repeated.erase(other.getNumberAttr());
    }
  }
}

class HoistInvariantsPass : public impl::HoistInvariantsBase<HoistInvariantsPass> {
public:
  using HoistInvariantsBase::HoistInvariantsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    module.walk([](LoopOp loop) { hoistOutOf(loop); }); // inner loops first
    for (auto pipeline : module.getOps<PipelineOp>()) {
      for (ExpandOp expand : llvm::to_vector(pipeline.getOps<ExpandOp>())) {
        hoistBehind(expand);
      }
    }
  }
};
} // namespace
} // namespace headrace::form
