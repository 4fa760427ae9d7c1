// One op after the other, each for all ranks.
#include "passes/interpreter/interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/interpreter/compare.h"
#include "passes/interpreter/movement.h"
#include "passes/interpreter/relations.h"
#include "passes/interpreter/tensor_parts.h"
#include "passes/interpreter/tensors.h"

using namespace mlir;
using namespace headrace::dist;

namespace headrace::interpreter {

static bool hasLayout(Type type) { return isa<frame::TableType, RankedTensorType>(type); }

/// The layouts that an op or function carries, one per table or tensor among the values.
static LayoutAttr layoutAmong(Operation *op, ValueRange values, mlir::Value wanted) {
  auto layouts = op->getAttrOfType<ArrayAttr>(DistDialect::getLayoutsAttrName());
  unsigned next = 0;
  for (mlir::Value value : values) {
    if (!layouts || !hasLayout(value.getType())) {
      continue;
    }
    if (value == wanted) {
      return cast<LayoutAttr>(layouts[next]);
    }
    ++next;
  }
  return {};
}

LayoutAttr layoutOf(mlir::Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    return layoutAmong(argument.getOwner()->getParentOp(), argument.getOwner()->getArguments(),
                       value);
  }
  return layoutAmong(value.getDefiningOp(), value.getDefiningOp()->getResults(), value);
}

namespace {

class Interpretation {
public:
  Interpretation(const Inputs &inputs, View view, const Observer &observer)
      : inputs_(inputs), view_(view), observer_(observer) {}

  llvm::Expected<std::vector<Value>> run(func::FuncOp function) {
    if (!llvm::hasSingleElement(function.getBody())) {
      return programError("the interpreter needs a function of one block");
    }
    if (topo::MeshAttr mesh = topo::meshOf(function); mesh && view_ == View::kRanks) {
      ranks_ = MeshRanks(mesh);
    }
    if (inputs_.arguments.size() != function.getNumArguments()) {
      // no test: callers make one for each
      return programError("the function has " + Twine(function.getNumArguments()) +
                          " arguments, got " + Twine(inputs_.arguments.size()));
    }
    for (auto [argument, whole] : llvm::zip_equal(function.getArguments(), inputs_.arguments)) {
      llvm::Expected<Parts> parts = placed(whole, layoutOf(argument));
      if (!parts) {
        return parts.takeError();
      }
      if (llvm::Error error = define(argument, std::move(*parts))) {
        return std::move(error);
      }
    }
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (llvm::Error error = execute(&op)) {
        return std::move(error);
      }
    }
    return results(function.getBody().front().getTerminator());
  }

private:
  llvm::Error define(mlir::Value value, Parts parts) {
    Parts &defined = values_[value] = std::move(parts);
    return observer_ && hasLayout(value.getType()) ? observer_(value, defined)
                                                   : llvm::Error::success();
  }

  /// A whole value where its layout wants it; everywhere without one.
  llvm::Expected<Parts> placed(const Value &whole, LayoutAttr layout) {
    if (!layout || view_ == View::kWhole) {
      return Parts(static_cast<size_t>(ranks_.size()), whole);
    }
    return divide(whole, layout, ranks_);
  }

  llvm::Error execute(Operation *op) {
    llvm::Expected<llvm::SmallVector<Parts>> results = evaluate(op);
    if (!results) {
      return results.takeError();
    }
    for (auto [value, parts] : llvm::zip_equal(op->getResults(), *results)) {
      if (llvm::Error error = define(value, std::move(parts))) {
        return error;
      }
    }
    return llvm::Error::success();
  }

  llvm::Expected<llvm::SmallVector<Parts>> evaluate(Operation *op) {
    auto single = [](llvm::Expected<Parts> parts) -> llvm::Expected<llvm::SmallVector<Parts>> {
      return parts ? llvm::Expected<llvm::SmallVector<Parts>>(
                         llvm::SmallVector<Parts>{std::move(*parts)})
                   : parts.takeError();
    };
    if (auto scan = dyn_cast<frame::ScanOp>(op)) {
      return single(readShare(scan));
    }
    if (auto constrain = dyn_cast<ConstrainOp>(op)) {
      return single(values_[constrain.getInput()]);
    }
    if (auto reshard = dyn_cast<ReshardOp>(op)) {
      return single(moved(reshard));
    }
    if (auto choose = dyn_cast<ChooseOp>(op)) {
      return single(chosen(choose));
    }
    if (auto join = dyn_cast<frame::JoinOp>(op);
        join && join->hasAttr(DistDialect::getChooseAttrName()) && view_ == View::kRanks) {
      return joinedWithAll(join);
    }
    if (auto window = dyn_cast<frame::WindowOp>(op); window && isDivided(window)) {
      return single(windowOfAll(window));
    }
    if (isa<DistDialect>(op->getDialect())) {
      return single(evaluateMovement(op, values_[op->getOperand(0)], ranks_));
    }
    // In the global view these ops' types are those of the whole.
    bool makesWhole = isa<tensor::EmptyOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
    if (LayoutAttr layout = op->getNumResults() == 1 ? layoutOf(op->getResult(0)) : LayoutAttr();
        makesWhole && layout && view_ == View::kRanks) {
      return single(partsOfFresh(op, layout));
    }
    return onEveryRank(op);
  }

  /// The way that the rows of all ranks together lead to.
  llvm::Expected<Parts> chosen(ChooseOp op) {
    uint64_t rows = 0;
    for (const Value &part : values_[op.getCounted()]) {
      rows += std::get<TablePtr>(part)->rows.size();
    }
    Block &way = (rows <= op.getAtMost() ? op.getFew() : op.getMany()).front();
    for (Operation &inner : way.without_terminator()) {
      if (llvm::Error error = execute(&inner)) {
        return std::move(error);
      }
    }
    return values_[way.getTerminator()->getOperand(0)];
  }

  /// A join that has not been expanded to its two ways yet: its sides lie anywhere, so every rank
  /// joins its left rows with all right ones.
  llvm::Expected<llvm::SmallVector<Parts>> joinedWithAll(frame::JoinOp join) {
    Parts right = values_[join.getRight()];
    Table all{join.getRight().getType(), {}};
    for (const Value &part : right) {
      const std::vector<Row> &rows = std::get<TablePtr>(part)->rows;
      all.rows.insert(all.rows.end(), rows.begin(), rows.end());
    }
    values_[join.getRight()] = Parts(right.size(), valueOf(std::move(all)));
    llvm::Expected<llvm::SmallVector<Parts>> joined = onEveryRank(join);
    values_[join.getRight()] = std::move(right);
    return joined;
  }

  /// Whether ranks have parts of partitions: before what is carried between them is made.
  bool isDivided(frame::WindowOp window) {
    LayoutAttr layout = view_ == View::kRanks ? layoutOf(window.getResult()) : LayoutAttr();
    RowsAttr rows = layout ? layout.getRows() : RowsAttr();
    return rows && rows.getKind() != RowKind::Root && window.getPartition().empty();
  }

  llvm::Expected<Parts> windowOfAll(frame::WindowOp window) {
    Table all{window.getInput().getType(), {}};
    for (const Value &part : values_[window.getInput()]) {
      llvm::append_range(all.rows, std::get<TablePtr>(part)->rows);
    }
    llvm::Expected<Table> result = evaluateRelation(window, {&all}, {});
    return result ? divide(valueOf(std::move(*result)), layoutOf(window.getResult()), ranks_)
                  : result.takeError();
  }

  llvm::Expected<Parts> readShare(frame::ScanOp scan) {
    llvm::Expected<TablePtr> whole = inputs_.scan(scan);
    if (!whole) {
      return whole.takeError();
    }
    LayoutAttr layout = layoutOf(scan.getResult());
    if (auto axes = scan->getAttrOfType<ArrayAttr>(DistDialect::getSplitAttrName());
        axes && view_ == View::kRanks) {
      // In the local view: a block of the rows for every rank along the axes.
      MLIRContext *context = scan.getContext();
      auto rows = RowsAttr::get(context, RowKind::Block, {},
                                llvm::to_vector(axes.getAsRange<StringAttr>()), /*order=*/{},
                                /*cycle=*/0);
      layout = LayoutAttr::get(context, topo::meshOf(scan).getName(), {}, rows, {}, {});
    }
    return placed(*whole, layout);
  }

  llvm::Expected<Parts> moved(ReshardOp op) {
    const Parts &parts = values_[op.getInput()];
    if (view_ == View::kWhole) {
      return parts;
    }
    Operation *producer = op.getInput().getDefiningOp();
    llvm::Expected<Value> whole = assemble(parts, op.getSource(), ranks_, producer);
    return whole ? divide(*whole, op.getTarget(), ranks_, parts) : whole.takeError();
  }

  /// Parts of a constant or of an empty tensor in the global view. An extent that comes from an
  /// operand is already that of the rank's part.
  llvm::Expected<Parts> partsOfFresh(Operation *op, LayoutAttr layout) {
    Parts parts;
    for (int64_t rank = 0; rank < ranks_.size(); ++rank) {
      llvm::Expected<llvm::SmallVector<Value>> whole = onRank(op, rank);
      if (!whole) {
        return whole.takeError();
      }
      Tensor part = *std::get<TensorPtr>(whole->front());
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      for (auto [dim, split] : llvm::enumerate(layout.getDims())) {
        if (split.getAxes().empty() || type.isDynamicDim(static_cast<unsigned>(dim))) {
          continue;
        }
        EvenPart piece = evenPart(part.shape[dim], ranks_.parts(split.getAxes()),
                                  ranks_.position(rank, split.getAxes()));
        part = sliceTensor(part, static_cast<int64_t>(dim), piece.offset, piece.extent);
      }
      parts.push_back(valueOf(std::move(part)));
    }
    return parts;
  }

  llvm::Expected<llvm::SmallVector<Parts>> onEveryRank(Operation *op) {
    llvm::SmallVector<Parts> results(op->getNumResults());
    for (int64_t rank = 0; rank < ranks_.size(); ++rank) {
      // Ranks with the very same operands have the same results.
      int64_t twin = 0;
      while (twin < rank && !haveSameOperands(op, rank, twin)) {
        ++twin;
      }
      if (twin < rank) {
        for (Parts &parts : results) {
          parts.push_back(parts[twin]);
        }
        continue;
      }
      llvm::Expected<llvm::SmallVector<Value>> values = onRank(op, rank);
      if (!values) {
        return values.takeError();
      }
      for (auto [parts, value] : llvm::zip_equal(results, *values)) {
        parts.push_back(std::move(value));
      }
    }
    return results;
  }

  bool haveSameOperands(Operation *op, int64_t rank, int64_t other) {
    return llvm::all_of(op->getOperands(), [&](mlir::Value operand) {
      const Parts &parts = values_[operand];
      const Value &a = parts[rank];
      const Value &b = parts[other];
      return a.index() == b.index() && a == b; // tables and tensors: the same object
    });
  }

  llvm::Expected<llvm::SmallVector<Value>> onRank(Operation *op, int64_t rank) {
    using Results = llvm::SmallVector<Value>;
    auto operand = [&](unsigned index) -> const Value & {
      return values_[op->getOperand(index)][rank];
    };
    if (auto toTensor = dyn_cast<frame::ToTensorOp>(op)) {
      return tensorsOfTable(toTensor, *std::get<TablePtr>(operand(0)));
    }
    if (auto fromTensor = dyn_cast<frame::FromTensorOp>(op)) {
      llvm::Expected<Table> table = tableOfTensor(fromTensor, *std::get<TensorPtr>(operand(0)));
      return table ? llvm::Expected<Results>(Results{valueOf(std::move(*table))})
                   : table.takeError();
    }
    if (isa<frame::ScalarSubqueryOp>(op)) {
      const Table &table = *std::get<TablePtr>(operand(0));
      if (table.rows.size() > 1) {
        return dataError("a scalar subquery has more than one row: " + Twine(table.rows.size()));
      }
      return Results{table.rows.empty() ? Scalar::null() : table.rows[0][0]};
    }
    if (auto relation = dyn_cast<frame::RelationalOpInterface>(op)) {
      llvm::Expected<Table> table = this->relation(relation, rank);
      return table ? llvm::Expected<Results>(Results{valueOf(std::move(*table))})
                   : table.takeError();
    }
    return evaluateTensorOp(
        op, [&](mlir::Value value) -> const Value & { return values_[value][rank]; });
  }

  llvm::Expected<Table> relation(frame::RelationalOpInterface op, int64_t rank) {
    SmallVector<const Table *> tables;
    for (mlir::Value value : op->getOperands()) {
      tables.push_back(std::get<TablePtr>(values_[value][rank]).get());
    }
    LayoutAttr layout = view_ == View::kRanks ? layoutOf(op->getResult(0)) : LayoutAttr();
    if (layout && layout.isUnreduced()) {
      // Every rank keeps what the choice among all parts may need.
      Operation *copy = op->clone();
      auto part = cast<frame::RelationalOpInterface>(copy);
      part.makePartial();
      llvm::Expected<Table> table = evaluateRelation(part, tables, {});
      copy->destroy();
      return table;
    }
    return evaluateRelation(op, tables, [&](mlir::Value value) -> llvm::Expected<Scalar> {
      auto known = values_.find(value);
      if (known != values_.end()) {
        if (const auto *scalar = std::get_if<Scalar>(&known->second[rank])) {
          return *scalar;
        }
      }
      return programError("an expression uses something that is not a scalar of frame");
    });
  }

  llvm::Expected<std::vector<Value>> results(Operation *terminator) {
    std::vector<Value> whole;
    for (mlir::Value value : terminator->getOperands()) {
      const Parts &parts = values_[value];
      for (int64_t rank = 1; rank < ranks_.size(); ++rank) {
        const auto *table = std::get_if<TablePtr>(&parts[rank]);
        if (table && (*table)->rows.empty()) {
          continue;
        }
        if (std::optional<std::string> difference = differenceOf(parts[0], parts[rank], {})) {
          return programError("rank " + Twine(rank) +
                              " returns something else than the first: " + *difference);
        }
      }
      whole.push_back(parts[0]);
    }
    return whole;
  }

  const Inputs &inputs_;
  View view_;
  const Observer &observer_;
  MeshRanks ranks_;
  llvm::DenseMap<mlir::Value, Parts> values_;
};

} // namespace

llvm::Expected<std::vector<Value>> interpret(func::FuncOp function, const Inputs &inputs, View view,
                                             const Observer &observer) {
  return Interpretation(inputs, view, observer).run(function);
}

} // namespace headrace::interpreter
