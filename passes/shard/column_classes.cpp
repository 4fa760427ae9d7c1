// Union of columns along relations.
#include "passes/shard/column_classes.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::shard {
namespace {

struct Passed {
  Value source;
  StringAttr from;
  StringAttr to;
};

/// The columns that are those of one operand in every row, or NULL all together.
SmallVector<Passed> passedColumns(Operation *op) {
  SmallVector<Passed> passed;
  if (auto relation = dyn_cast<RelationalOpInterface>(op)) {
    for (const PassedColumn &column : relation.getPassedColumns()) {
      if (column.passing != Passing::kOneOf) {
        passed.push_back({op->getOperand(column.operand), column.from, column.to});
      }
    }
  } else if (op->getDialect()->getNamespace() == "dist") {
    for (StringAttr name : cast<TableType>(op->getOperand(0).getType()).getNames()) {
      passed.push_back({op->getOperand(0), name, name});
    }
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
  if (auto relation = dyn_cast<RelationalOpInterface>(op)) {
    for (auto [a, b] : relation.getEqualColumns()) {
      unite(a, b);
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
