// Other names for the columns that an op makes, reads or passes on.
#include "passes/optimize/column_names.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace;
using namespace headrace::optimize;
using namespace headrace::frame;

namespace {

ArrayAttr renamedList(ArrayAttr names, NewName newName) {
  SmallVector<Attribute> result;
  for (StringAttr name : names.getAsRange<StringAttr>()) {
    result.push_back(newName(name));
  }
  return ArrayAttr::get(names.getContext(), result);
}

ArrayAttr renamedKeys(ArrayAttr keys, NewName newName) {
  SmallVector<Attribute> result;
  for (SortKeyAttr key : keys.getAsRange<SortKeyAttr>()) {
    result.push_back(SortKeyAttr::get(key.getContext(), newName(key.getColumn()),
                                      key.getDirection(), key.getNulls()));
  }
  return ArrayAttr::get(keys.getContext(), result);
}

ArrayAttr renamedMeasures(ArrayAttr measures, NewName newName) {
  SmallVector<Attribute> result;
  for (MeasureAttr measure : measures.getAsRange<MeasureAttr>()) {
    StringAttr input = measure.getInput();
    result.push_back(MeasureAttr::get(measure.getContext(), measure.getFunction(),
                                      input ? newName(input) : input, newName(measure.getName())));
  }
  return ArrayAttr::get(measures.getContext(), result);
}

} // namespace

TableType headrace::optimize::renamed(TableType type, NewName newName) {
  SmallVector<StringAttr> names;
  for (StringAttr name : type.getNames()) {
    names.push_back(newName(name));
  }
  return TableType::get(type.getContext(), names, type.getColumnTypes());
}

void headrace::optimize::renameColumns(Operation *op, NewName newName) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](FilterOp filter) {
        filter.setColumnsAttr(renamedList(filter.getColumns(), newName));
      })
      .Case([&](ProjectOp project) {
        project.setKeptAttr(renamedList(project.getKept(), newName));
        project.setComputedAttr(renamedList(project.getComputed(), newName));
        project.setColumnsAttr(renamedList(project.getColumns(), newName));
      })
      .Case([&](JoinOp join) {
        join.setLeftKeysAttr(renamedList(join.getLeftKeys(), newName));
        join.setRightKeysAttr(renamedList(join.getRightKeys(), newName));
        if (std::optional<ArrayAttr> columns = join.getResidualColumns()) {
          join.setResidualColumnsAttr(renamedList(*columns, newName));
        }
      })
      .Case([&](AggregateOp aggregate) {
        aggregate.setKeysAttr(renamedList(aggregate.getKeys(), newName));
        aggregate.setMeasuresAttr(renamedMeasures(aggregate.getMeasures(), newName));
      })
      .Case<SortOp, TopKOp>(
          [&](auto sort) { sort.setKeysAttr(renamedKeys(sort.getKeys(), newName)); });
  for (Value result : op->getResults()) {
    if (auto table = dyn_cast<TableType>(result.getType())) {
      result.setType(renamed(table, newName));
    }
  }
}
