// Union of columns along relations.
#include "passes/shard/column_classes.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::shard {
namespace {

/// (column of an operand, column of the result) for every column that an op passes on unchanged.
struct Passed {
  Value source;
  StringAttr from;
  StringAttr to;
};

SmallVector<Passed> passedColumns(Operation *op) {
  SmallVector<Passed> passed;
  auto byName = [&](Value source) {
    auto result = cast<TableType>(op->getResult(0).getType());
    for (StringAttr name : cast<TableType>(source.getType()).getNames()) {
      if (result.hasColumn(name)) {
        passed.push_back({source, name, name});
      }
    }
  };
  if (auto rename = dyn_cast<RenameOp>(op)) {
    for (auto [from, to] :
         llvm::zip_equal(rename.getInput().getType().getNames(), rename.getType().getNames())) {
      passed.push_back({rename.getInput(), from, to});
    }
    return passed;
  }
  if (auto project = dyn_cast<ProjectOp>(op)) {
    for (StringAttr name : project.getKept().getAsRange<StringAttr>()) {
      passed.push_back({project.getInput(), name, name});
    }
    // A computed column that is only another name.
    Block &body = project.getExpressions().front();
    for (auto [name, value] : llvm::zip_equal(project.getComputed().getAsRange<StringAttr>(),
                                              body.getTerminator()->getOperands())) {
      if (auto argument = dyn_cast<BlockArgument>(value);
          argument && argument.getOwner() == &body) {
        auto from = cast<StringAttr>(project.getColumns()[argument.getArgNumber()]);
        passed.push_back({project.getInput(), from, name});
      }
    }
    return passed;
  }
  if (auto join = dyn_cast<JoinOp>(op)) {
    byName(join.getLeft());
    if (join.getKind() != JoinKind::Semi && join.getKind() != JoinKind::Anti &&
        join.getKind() != JoinKind::Mark) {
      byName(join.getRight());
    }
    return passed;
  }
  if (auto aggregate = dyn_cast<AggregateOp>(op)) {
    for (StringAttr key : aggregate.getKeys().getAsRange<StringAttr>()) {
      passed.push_back({aggregate.getInput(), key, key});
    }
    return passed;
  }
  if (isa<FilterOp, DistinctOp, SortOp, LimitOp, TopKOp>(op) ||
      op->getDialect()->getNamespace() == "dist") {
    byName(op->getOperand(0));
  }
  return passed;
}

} // namespace

StringAttr ColumnClasses::nameOf(Value table, StringAttr column) const {
  auto classes = classes_.find(table);
  if (classes == classes_.end()) {
    return column;
  }
  auto it = classes->second.find(column);
  return it == classes->second.end() ? column : it->second;
}

SmallVector<StringAttr, 2> ColumnClasses::namesOf(Value table, ArrayRef<StringAttr> columns) const {
  SmallVector<StringAttr, 2> names;
  for (StringAttr column : columns) {
    names.push_back(nameOf(table, column));
  }
  return names;
}

void ColumnClasses::add(Operation *op) {
  if (op->getNumResults() != 1 || !isa<TableType>(op->getResult(0).getType())) {
    return;
  }
  Value result = op->getResult(0);
  auto type = cast<TableType>(result.getType());
  // Union-find over the result's columns; a root is named by its position in the type, smallest
  // first.
  llvm::DenseMap<StringAttr, unsigned> position;
  for (auto [index, name] : llvm::enumerate(type.getNames())) {
    position[name] = static_cast<unsigned>(index);
  }
  SmallVector<unsigned> parent(type.getNumColumns());
  for (unsigned i = 0; i < parent.size(); ++i) {
    parent[i] = i;
  }
  auto find = [&](unsigned i) {
    while (parent[i] != i) {
      i = parent[i];
    }
    return i;
  };
  auto unite = [&](StringAttr a, StringAttr b) {
    unsigned left = find(position.lookup(a));
    unsigned right = find(position.lookup(b));
    parent[std::max(left, right)] = std::min(left, right);
  };
  SmallVector<Passed> passed = passedColumns(op);
  for (size_t i = 0; i < passed.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (passed[i].source == passed[j].source &&
          nameOf(passed[i].source, passed[i].from) == nameOf(passed[j].source, passed[j].from)) {
        unite(passed[i].to, passed[j].to);
      }
    }
  }
  if (auto join = dyn_cast<JoinOp>(op); join && join.getKind() == JoinKind::Inner) {
    for (auto [left, right] : llvm::zip_equal(join.getLeftKeys().getAsRange<StringAttr>(),
                                              join.getRightKeys().getAsRange<StringAttr>())) {
      unite(left, right);
    }
  }
  Classes &classes = classes_[result];
  for (auto [index, name] : llvm::enumerate(type.getNames())) {
    classes[name] = type.getNames()[find(static_cast<unsigned>(index))];
  }
}

StringAttr ColumnClasses::follow(Value source, StringAttr column, Operation *op) const {
  for (const Passed &passed : passedColumns(op)) {
    if (passed.source == source && nameOf(source, passed.from) == column) {
      return nameOf(op->getResult(0), passed.to);
    }
  }
  return {};
}

} // namespace headrace::shard
