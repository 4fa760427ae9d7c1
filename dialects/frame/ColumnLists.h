// Lists of column names in what relational ops say: collected, renamed, narrowed.
#ifndef HEADRACE_DIALECTS_FRAME_COLUMNLISTS_H
#define HEADRACE_DIALECTS_FRAME_COLUMNLISTS_H

#include "dialects/frame/FrameOps.h"

namespace headrace::frame {

void addNames(ColumnSet &columns, mlir::ArrayAttr names);
void addSortKeys(ColumnSet &columns, mlir::ArrayAttr keys);

mlir::ArrayAttr renamedNames(mlir::ArrayAttr names, NewName newName);
mlir::ArrayAttr renamedSortKeys(mlir::ArrayAttr keys, NewName newName);
/// The same columns under their new names.
TableType renamed(TableType type, NewName newName);

/// The columns of `type` that are in `kept`.
TableType narrowed(TableType type, const ColumnSet &kept);
/// `columns`, or the first of `type` if there are none: rows that are made in memory are counted by
/// their columns, so one of them stays.
ColumnSet atLeastOne(ColumnSet columns, TableType type);
/// The columns of `from` at the places where `to` has `columns`.
ColumnSet atSamePlaces(const ColumnSet &columns, TableType to, TableType from);

/// All columns of an operand, under their own names.
llvm::SmallVector<PassedColumn> passAll(mlir::Value operand, unsigned number = 0,
                                        Passing passing = Passing::kAlways);
/// All columns of an operand, as the result has them at their places.
llvm::SmallVector<PassedColumn> passByPlace(mlir::Value operand, unsigned number, TableType result,
                                            Passing passing = Passing::kAlways);

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_COLUMNLISTS_H
