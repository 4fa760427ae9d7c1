// Types, verifiers and registration of the pipe dialect.
#include "dialects/pipe/PipeDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::pipe;

#include "dialects/pipe/PipeDialect.cpp.inc"
#include "dialects/pipe/PipeEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/pipe/PipeTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/pipe/PipeAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/pipe/PipeOps.cpp.inc"

void PipeDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/pipe/PipeTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/pipe/PipeAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/pipe/PipeOps.cpp.inc"
      >();
}

// ---- !pipe.rows ----

Type RowsType::parse(AsmParser &parser) {
  SmallVector<StringAttr> names;
  SmallVector<Type> types;
  SmallVector<bool> nullable;
  SMLoc start = parser.getCurrentLocation();
  auto parseColumn = [&]() -> ParseResult {
    std::string name;
    Type type;
    if (parser.parseString(&name) || parser.parseColon() || parser.parseType(type)) {
      return failure();
    }
    names.push_back(StringAttr::get(parser.getContext(), name));
    types.push_back(type);
    nullable.push_back(succeeded(parser.parseOptionalQuestion()));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseColumn)) {
    return {};
  }
  return RowsType::getChecked([&] { return parser.emitError(start); }, parser.getContext(), names,
                              types, nullable);
}

void RowsType::print(AsmPrinter &printer) const {
  printer << '<';
  for (size_t index = 0; index < size(); ++index) {
    printer << (index ? ", " : "");
    printer.printString(getNames()[index].getValue());
    printer << ": " << getTypes()[index] << (getNullable()[index] ? "?" : "");
  }
  printer << '>';
}

LogicalResult RowsType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names, ArrayRef<Type> types,
                               ArrayRef<bool> nullable) {
  if (names.size() != types.size() || names.size() != nullable.size()) {
    // no test: the parser reads the three together
    return emitError() << "a name, a type and a nullability are needed for every column";
  }
  llvm::StringSet<> seen;
  for (StringAttr name : names) {
    if (!seen.insert(name.getValue()).second) {
      return emitError() << "duplicate column: " << name;
    }
  }
  return success();
}

int64_t RowsType::indexOf(StringRef name) const {
  for (auto [index, column] : llvm::enumerate(getNames())) {
    if (column.getValue() == name) {
      return index;
    }
  }
  return -1;
}

// ---- ops ----

LogicalResult StateOp::verify() {
  llvm::StringSet<> names;
  for (auto field : getFields().getAsRange<FieldAttr>()) {
    if (!names.insert(field.getName().getValue()).second) {
      return emitOpError("C1: duplicate field: ") << field.getName();
    }
  }
  if (getSortKeys() && getKind() != StateKind::Sort) {
    return emitOpError("C2: sort keys on a state of kind: ") << stringifyStateKind(getKind());
  }
  if (getSortKeys()) {
    for (auto key : getSortKeys()->getAsRange<SortKeyAttr>()) {
      if (!names.contains(key.getField().getValue())) {
        return emitOpError("C2: sort key is not a field: ") << key.getField();
      }
    }
  }
  return success();
}

LogicalResult ChoiceOp::verify() {
  if (static_cast<int64_t>(getAtMost()) < 0) {
    return emitOpError("C1: the bound is negative: ") << static_cast<int64_t>(getAtMost());
  }
  return success();
}

LogicalResult PipelineOp::verify() {
  Block &block = getBody().front();
  if (block.empty()) {
    return emitOpError("C1: empty pipeline");
  }
  for (Operation &op : block) {
    bool first = &op == &block.front(), last = &op == &block.back();
    bool source = isa<ScanOp, ValuesOp, ReadOp, ReceiveOp>(op);
    bool sink = isa<InsertOp, CombineOp, EmitOp>(op);
    if (source != first || sink != last) {
      return emitOpError("C1: one source first and one sink last are needed, got ") << op.getName();
    }
  }
  return success();
}

namespace {
/// Body arguments must be the values (and validities) of the listed columns.
LogicalResult verifyBody(Operation *op, RowsType rows, ArrayAttr columns, Region &body) {
  SmallVector<Type> expected;
  for (auto name : columns.getAsRange<StringAttr>()) {
    int64_t index = rows.indexOf(name.getValue());
    if (index < 0) {
      return op->emitOpError("unknown column: ") << name;
    }
    expected.push_back(rows.getTypes()[index]);
    if (rows.getNullable()[index]) {
      expected.push_back(IntegerType::get(op->getContext(), 1));
    }
  }
  if (body.getArgumentTypes() != TypeRange(expected)) {
    return op->emitOpError("body arguments must be the columns' values and validities");
  }
  if (!isa<YieldOp>(body.front().back())) {
    return op->emitOpError("the body must end with pipe.yield");
  }
  return success();
}
} // namespace

LogicalResult FilterOp::verify() {
  if (failed(verifyBody(*this, getInput().getType(), getColumns(), getBody()))) {
    return failure();
  }
  auto yield = cast<YieldOp>(getBody().front().back());
  if (yield.getNumOperands() != 1 || !yield.getOperand(0).getType().isInteger(1)) {
    return emitOpError("C1: the body must yield one i1");
  }
  if (getSelectivity() && getSelectivity()->isNegative()) {
    return emitOpError("C2: negative selectivity: ") << getSelectivityAttr();
  }
  return success();
}

LogicalResult LookupOp::verify() {
  if (getSelectivity() && getSelectivity()->isNegative()) {
    return emitOpError("C1: negative selectivity: ") << getSelectivityAttr();
  }
  return success();
}

LogicalResult MapOp::verify() {
  if (failed(verifyBody(*this, getInput().getType(), getColumns(), getBody()))) {
    return failure();
  }
  SmallVector<Type> expected;
  for (auto name : getNames().getAsRange<StringAttr>()) {
    int64_t index = getRows().getType().indexOf(name.getValue());
    if (index < 0) {
      return emitOpError("computed column missing in the result: ") << name;
    }
    expected.push_back(getRows().getType().getTypes()[index]);
    if (getRows().getType().getNullable()[index]) {
      expected.push_back(IntegerType::get(getContext(), 1));
    }
  }
  if (TypeRange(getBody().front().back().getOperandTypes()) != TypeRange(expected)) {
    return emitOpError("the body must yield the values and validities of the computed columns");
  }
  return success();
}

LogicalResult StringCompareOp::verify() {
  if (!llvm::is_contained({"eq", "ne", "lt", "le", "gt", "ge"}, getPredicate())) {
    return emitOpError("unknown predicate: ") << getPredicate();
  }
  return success();
}
