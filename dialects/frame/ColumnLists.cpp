// Lists of column names in what relational ops say.
#include "dialects/frame/ColumnLists.h"

using namespace mlir;

namespace headrace::frame {

void addNames(ColumnSet &columns, ArrayAttr names) {
  for (StringAttr name : names.getAsRange<StringAttr>()) {
    columns.insert(name);
  }
}

void addSortKeys(ColumnSet &columns, ArrayAttr keys) {
  for (SortKeyAttr key : keys.getAsRange<SortKeyAttr>()) {
    columns.insert(key.getColumn());
  }
}

ArrayAttr renamedNames(ArrayAttr names, NewName newName) {
  SmallVector<Attribute> result;
  for (StringAttr name : names.getAsRange<StringAttr>()) {
    result.push_back(newName(name));
  }
  return ArrayAttr::get(names.getContext(), result);
}

ArrayAttr renamedSortKeys(ArrayAttr keys, NewName newName) {
  SmallVector<Attribute> result;
  for (SortKeyAttr key : keys.getAsRange<SortKeyAttr>()) {
    result.push_back(SortKeyAttr::get(key.getContext(), newName(key.getColumn()),
                                      key.getDirection(), key.getNulls()));
  }
  return ArrayAttr::get(keys.getContext(), result);
}

TableType renamed(TableType type, NewName newName) {
  SmallVector<StringAttr> names;
  for (StringAttr name : type.getNames()) {
    names.push_back(newName(name));
  }
  return TableType::get(type.getContext(), names, type.getColumnTypes());
}

TableType narrowed(TableType type, const ColumnSet &kept) {
  SmallVector<Column> columns;
  for (const Column &column : type.getColumns()) {
    if (kept.contains(column.name)) {
      columns.push_back(column);
    }
  }
  return TableType::get(type.getContext(), columns);
}

ColumnSet atLeastOne(ColumnSet columns, TableType type) {
  if (columns.empty() && type.getNumColumns() > 0) {
    columns.insert(type.getNames().front());
  }
  return columns;
}

ColumnSet atSamePlaces(const ColumnSet &columns, TableType to, TableType from) {
  ColumnSet result;
  for (StringAttr name : columns) {
    result.insert(from.getNames()[*to.findColumn(name)]);
  }
  return result;
}

SmallVector<PassedColumn> passAll(Value operand, unsigned number, Passing passing) {
  SmallVector<PassedColumn> passed;
  for (StringAttr name : cast<TableType>(operand.getType()).getNames()) {
    passed.push_back({number, name, name, passing});
  }
  return passed;
}

SmallVector<PassedColumn> passByPlace(Value operand, unsigned number, TableType result,
                                      Passing passing) {
  SmallVector<PassedColumn> passed;
  for (auto [from, to] :
       llvm::zip_equal(cast<TableType>(operand.getType()).getNames(), result.getNames())) {
    passed.push_back({number, from, to, passing});
  }
  return passed;
}

} // namespace headrace::frame
