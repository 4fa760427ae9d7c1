// By what the op's interface says.
#include "dialects/frame/MadeTable.h"
#include "dialects/frame/ColumnLists.h"

using namespace mlir;

namespace headrace::frame {

std::optional<uint64_t> mostRows(Value table) {
  auto op = table.getDefiningOp<RelationalOpInterface>();
  if (!op) {
    return std::nullopt;
  }
  SmallVector<std::optional<uint64_t>, 2> inputs;
  for (Value operand : op->getOperands()) {
    if (isa<TableType>(operand.getType())) {
      inputs.push_back(mostRows(operand));
    }
  }
  return op.getMostRows(inputs);
}

void renameResult(RelationalOpInterface op, NewName newName) {
  op.renameColumns(newName);
  Value result = op->getResult(0);
  result.setType(renamed(cast<TableType>(result.getType()), newName));
}

} // namespace headrace::frame
