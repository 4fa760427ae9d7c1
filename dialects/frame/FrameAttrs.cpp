// Attributes of `frame`: text form of contracts, checks, and the algebra of measures.
#include "dialects/frame/FrameAttrs.h"
#include "dialects/frame/FrameDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::frame;

#include "dialects/frame/FrameEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/frame/FrameAttrs.cpp.inc"

void FrameDialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/frame/FrameAttrs.cpp.inc"
      >();
}

LogicalResult MeasureAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  AggregateFunction function, StringAttr input, StringAttr name) {
  if ((function == AggregateFunction::CountStar) != !input) {
    return emitError() << "a measure needs an input column exactly if it is not count_star, got "
                       << stringifyAggregateFunction(function);
  }
  if (!name || name.empty()) {
    return emitError() << "a measure needs a result name";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ContractAttr
//===----------------------------------------------------------------------===//

Attribute ContractAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<AggregateFunction> functions;
  SmallVector<Type> types;
  auto parseEntry = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc entry = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword)) {
      return failure();
    }
    std::optional<AggregateFunction> function = symbolizeAggregateFunction(keyword);
    if (!function) {
      return parser.emitError(entry, "unknown function in contract: ") << keyword;
    }
    functions.push_back(*function);
    types.push_back(NoneType::get(parser.getContext()));
    if (succeeded(parser.parseOptionalLess())) {
      return failure(parser.parseType(types.back()) || parser.parseGreater());
    }
    return success();
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseEntry, " in contract") ||
      parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<ContractAttr>(location, parser.getContext(), functions, types);
}

void ContractAttr::print(AsmPrinter &printer) const {
  printer << "<[";
  llvm::interleaveComma(llvm::zip_equal(getFunctions(), getStorageTypes()), printer,
                        [&](auto entry) {
                          auto [function, type] = entry;
                          printer << stringifyAggregateFunction(function);
                          if (!isa<NoneType>(type)) {
                            printer << "<" << type << ">";
                          }
                        });
  printer << "]>";
}

LogicalResult ContractAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<AggregateFunction> functions,
                                   ArrayRef<Type> storageTypes) {
  if (functions.size() != storageTypes.size()) {
    // no test: the parser reads a function and its type together
    return emitError() << "a contract needs one storage type (or none) per function, got "
                       << storageTypes.size() << " for " << functions.size();
  }
  for (AggregateFunction function : functions) {
    if (!combineFunction(function)) { // C1
      return emitError() << "no partial states that combine exist for "
                         << stringifyAggregateFunction(function);
    }
  }
  return success();
}

std::optional<AggregateFunction> headrace::frame::combineFunction(AggregateFunction function) {
  switch (function) {
  case AggregateFunction::Sum:
  case AggregateFunction::Count:
  case AggregateFunction::CountStar:
    return AggregateFunction::Sum;
  case AggregateFunction::Min:
  case AggregateFunction::Max:
    return function;
  case AggregateFunction::CountDistinct:
  case AggregateFunction::SumDistinct:
  case AggregateFunction::Avg:
    return std::nullopt;
  }
  llvm_unreachable("unknown aggregate function");
}

Type headrace::frame::measureType(AggregateFunction function, Type input, Grouping grouping,
                                  MLIRContext *context) {
  auto finish = [&](Type value) -> Type {
    bool nullable = grouping == Grouping::kGlobal || isNullable(input);
    return withNullability(value, nullable ? Nullability::kMaybe : Nullability::kNever);
  };
  Type value = input ? dropNullable(input) : Type();
  switch (function) {
  case AggregateFunction::Count:
  case AggregateFunction::CountStar:
  case AggregateFunction::CountDistinct:
    return IntegerType::get(context, 64);
  case AggregateFunction::Min:
  case AggregateFunction::Max:
    return finish(value);
  case AggregateFunction::Sum:
  case AggregateFunction::SumDistinct:
    if (auto decimal = dyn_cast<DecimalType>(value)) {
      unsigned precision = std::min(38u, decimal.getPrecision() + 10);
      return finish(DecimalType::get(context, precision, decimal.getScale()));
    }
    if (isFloat(value)) {
      return finish(Float64Type::get(context));
    }
    if (isDoubleDouble(value) && function == AggregateFunction::Sum) {
      return finish(value);
    }
    return isInteger(value) ? finish(IntegerType::get(context, 64)) : Type();
  case AggregateFunction::Avg:
    if (auto decimal = dyn_cast<DecimalType>(value)) {
      return finish(DecimalType::get(context, std::min(38u, decimal.getPrecision() + 4),
                                     std::min(38u, decimal.getScale() + 4)));
    }
    return isNumeric(value) ? finish(Float64Type::get(context)) : Type();
  }
  llvm_unreachable("unknown aggregate function");
}
