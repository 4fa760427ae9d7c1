// The checks between import and optimize.
#include "passes/import/verify_import.h"
#include "dialects/frame/FrameOps.h"
#include "dialects/interfaces/TensorGather.h"
#include "dialects/interfaces/TensorSlice.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::frame;

namespace headrace::import {
namespace {

LogicalResult verifyLevel(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  bool later = dialect == "pipe" || dialect == "sched" ||
               (dialect == "dist" && op->getName().getStringRef() != "dist.constrain");
  if (later) {
    return op->emitOpError("belongs to a later level than import");
  }
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    if (attribute.getName().getValue().starts_with("dist.")) {
      return op->emitOpError("must not carry layouts before shard: ") << attribute.getName();
    }
  }
  if (auto aggregate = dyn_cast<AggregateOp>(op);
      aggregate && aggregate.getStage() != AggregateStage::Complete) {
    return op->emitOpError("must be complete before shard, got ")
           << stringifyAggregateStage(aggregate.getStage());
  }
  if (auto gather = dyn_cast<tensor::GatherOp>(op)) {
    return verifyTensorGather(gather);
  }
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  return slice ? verifyTensorSlice(slice) : LogicalResult(success());
}

void addSorted(ArrayAttr keys, SmallVectorImpl<Attribute> &columns) {
  for (auto key : keys.getAsRange<SortKeyAttr>()) {
    columns.push_back(key.getColumn());
  }
}

/// The columns that an op compares the values of.
SmallVector<Attribute> comparedColumns(Operation *op) {
  SmallVector<Attribute> columns;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](AggregateOp aggregate) {
        llvm::append_range(columns, aggregate.getKeys());
        for (auto measure : aggregate.getMeasures().getAsRange<MeasureAttr>()) {
          if (measure.getFunction() == AggregateFunction::CountDistinct) {
            columns.push_back(measure.getInput());
          }
        }
      })
      .Case([&](DistinctOp distinct) {
        llvm::append_range(columns, distinct.getInput().getType().getNames());
      })
      .Case([&](JoinOp join) { llvm::append_range(columns, join.getLeftKeys()); })
      .Case([&](WindowOp window) {
        llvm::append_range(columns, window.getPartition());
        addSorted(window.getOrder(), columns);
      })
      .Case([&](SortOp sort) { addSorted(sort.getKeys(), columns); })
      .Case([&](TopKOp top) { addSorted(top.getKeys(), columns); });
  return columns;
}

/// Intervals of different bytes may be equal.
LogicalResult verifyIntervals(Operation *op) {
  SmallVector<Type> types;
  if (isa<CompareOp, InOp>(op)) {
    types.push_back(op->getOperand(0).getType());
  }
  for (Attribute column : comparedColumns(op)) {
    auto table = cast<TableType>(op->getOperand(0).getType());
    types.push_back(table.getColumnType(cast<StringAttr>(column).getValue()));
  }
  for (Type type : types) {
    if (type && hasIntervals(type)) {
      return op->emitOpError("must compare what interval_key makes of intervals, got ") << type;
    }
  }
  return success();
}

/// The columns of a result that no operand has.
SmallVector<StringAttr> definedColumns(Operation *op) {
  SmallVector<StringAttr> names;
  for (Value result : op->getResults()) {
    auto table = dyn_cast<TableType>(result.getType());
    for (StringAttr name : table ? table.getNames() : ArrayRef<StringAttr>()) {
      bool passed = llvm::any_of(op->getOperandTypes(), [&](Type type) {
        auto operand = dyn_cast<TableType>(type);
        return operand && operand.hasColumn(name.getValue());
      });
      if (!passed) {
        names.push_back(name);
      }
    }
  }
  return names;
}

} // namespace

LogicalResult verifyImport(ModuleOp module) {
  WalkResult levels = module.walk([](Operation *op) {
    return failed(verifyLevel(op)) || failed(verifyIntervals(op)) ? WalkResult::interrupt()
                                                                  : WalkResult::advance();
  });
  if (levels.wasInterrupted()) {
    return failure();
  }
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal()) {
      continue;
    }
    if (!llvm::hasSingleElement(function.getBody())) {
      return function.emitOpError("needs exactly one block, got ")
             << function.getBody().getBlocks().size();
    }
    llvm::DenseSet<StringAttr> defined;
    for (Operation &op : function.getBody().front()) {
      for (StringAttr name : definedColumns(&op)) {
        if (!defined.insert(name).second) {
          return op.emitOpError("defines a column whose name is taken in the program; rename it: ")
                 << name;
        }
      }
    }
  }
  return success();
}

} // namespace headrace::import
