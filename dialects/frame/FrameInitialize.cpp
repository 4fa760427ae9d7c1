// What belongs to `frame`, and the check of its function attributes.
#include "dialects/frame/FrameConstants.h"
#include "dialects/frame/FrameDialect.h"
#include "dialects/frame/VisitRelation.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace headrace::frame;

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

/// Keeps the constants of an expression region inside it: a region reads on its own.
struct FrameFoldInterface : public DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const override {
    return isa<RelationalOpInterface>(region->getParentOp());
  }
};

} // namespace

void FrameDialect::initialize() {
  addInterfaces<FrameFoldInterface>();
  registerTypes();
  registerAttrs();
  addOperations<
#define GET_OP_LIST
#include "dialects/frame/FrameOps.cpp.inc"
      >();
}

Operation *FrameDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                             Location location) {
  return isScalar(type) && isLiteralOf(value, type)
             ? ConstantOp::create(builder, location, type, value)
             : nullptr;
}

static LogicalResult verifyResultResident(Operation *op, Attribute value) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto table = function && function.getNumResults() == 1
                   ? dyn_cast<TableType>(function.getResultTypes().front())
                   : TableType();
  bool areTensors = function && function.getNumResults() > 0 &&
                    llvm::all_of(function.getResultTypes(), llvm::IsaPred<RankedTensorType>);
  if (!table && !areTensors) {
    return op->emitOpError(
        "frame.result_resident needs a function that returns one table, or tensors");
  }
  auto keys = dyn_cast<ArrayAttr>(value);
  bool areColumns = keys && llvm::all_of(keys, [&](Attribute key) {
                      auto name = dyn_cast<StringAttr>(key);
                      return name && table && llvm::is_contained(table.getNames(), name);
                    });
  return areColumns
             ? success()
             : op->emitOpError("frame.result_resident names columns of the result, got ") << value;
}

LogicalResult FrameDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == getResultResidentAttrName()) {
    return verifyResultResident(op, attribute.getValue());
  }
  if (attribute.getName() != getResultNamesAttrName()) {
    return op->emitOpError("has an unknown attribute of dialect frame: ") << attribute.getName();
  }
  auto names = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!names || !llvm::all_of(names, [](Attribute name) { return isa<StringAttr>(name); })) {
    return op->emitOpError("frame.result_names must be an array of strings");
  }
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || !op->getAttr("function_type") || function.getNumResults() == 0) {
    return op->emitOpError("frame.result_names needs a function that returns a table");
  }
  auto table = dyn_cast<TableType>(function.getResultTypes().front());
  if (!table) {
    return op->emitOpError(
               "frame.result_names needs a function whose first result is a table, got ")
           << function.getResultTypes().front();
  }
  if (names.size() != table.getNumColumns()) {
    return op->emitOpError("frame.result_names must have one name per result column, got ")
           << names.size() << " names for " << table.getNumColumns() << " columns";
  }
  return success();
}
