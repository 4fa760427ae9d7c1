// Attributes of `frame`: text form of contracts, and checks.
#include "dialects/frame/FrameAttrs.h"
#include "dialects/frame/AggregateFunctions.h"
#include "dialects/frame/FrameDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::frame;

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
    if (!ruleOf(function).combine) { // C1
      return emitError() << "no partial states that combine exist for "
                         << stringifyAggregateFunction(function);
    }
  }
  return success();
}
