// Verifiers and registration of the sched dialect.
#include "dialects/sched/SchedDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::sched;

#include "dialects/sched/SchedDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/sched/SchedTypes.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/sched/SchedOps.cpp.inc"

void SchedDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/sched/SchedTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/sched/SchedOps.cpp.inc"
      >();
}

LogicalResult ProgramOp::verify() {
  int results = 0;
  for (Operation &op : getBody().front()) {
    results += isa<ResultOp>(op);
    for (Value value : op.getResults()) {
      if (isa<StreamType>(value.getType()) && !value.hasOneUse()) {
        return op.emitOpError("C1: a stream needs exactly one consumer, got ") << llvm::range_size(value.getUses());
      }
    }
  }
  if (results > 1) {
    return emitOpError("C2: more than one result");
  }
  return success();
}

LogicalResult RunOp::verify() {
  if (static_cast<bool>(getInput()) == getSource().has_value()) {
    return emitOpError("C1: the source is a stream or a state, and exactly one of them");
  }
  return success();
}

LogicalResult ExchangeOp::verify() {
  if (!llvm::is_contained({"hash", "broadcast", "gather"}, getKind())) {
    return emitOpError("C1: unknown kind of exchange: ") << getKind();
  }
  return success();
}
