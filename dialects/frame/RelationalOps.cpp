// What follows for a table from the ops that make it.
#include "dialects/frame/ColumnLists.h"
#include "dialects/frame/VisitRelation.h"

using namespace mlir;

#include "dialects/frame/RelationalOpInterface.cpp.inc"

namespace headrace::frame {
namespace {

template <typename Op>
concept GivesTable = requires(Op op) {
  { op.getResult() } -> std::same_as<TypedValue<TableType>>;
};

/// An op that gives a table and does not say what it means would be taken for one of another
/// dialect, of which nothing is known.
template <typename... Ops> constexpr bool allSayWhatTheyMean(OpList<Ops...>) {
  return ((!GivesTable<Ops> || kIsRelational<Ops>) && ...);
}
static_assert(GivesTable<FilterOp> && allSayWhatTheyMean(AllOps()));

} // namespace

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
