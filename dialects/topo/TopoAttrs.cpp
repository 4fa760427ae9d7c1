// Text form and checks of #topo.mesh and #topo.topology.
#include "dialects/topo/TopoDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace headrace::topo;

#define GET_ATTRDEF_CLASSES
#include "dialects/topo/TopoAttrs.cpp.inc"

namespace {
constexpr size_t kAxesMax = 8;
constexpr int64_t kRanksMax = int64_t{1} << 20; // as cost::kRanksMax
} // namespace

void TopoDialect::registerAttrs() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/topo/TopoAttrs.cpp.inc"
      >();
}

Attribute MeshAttr::parse(AsmParser &parser, Type) {
  SMLoc location = parser.getCurrentLocation();
  FlatSymbolRefAttr name;
  SmallVector<StringAttr> axisNames;
  SmallVector<int64_t> axisSizes;
  auto parseAxis = [&]() -> ParseResult {
    return failure(parser.parseLParen() || parser.parseAttribute(axisNames.emplace_back()) ||
                   parser.parseComma() || parser.parseInteger(axisSizes.emplace_back()) ||
                   parser.parseRParen());
  };
  if (parser.parseLess() || parser.parseAttribute(name) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseAxis, " in mesh axes") ||
      parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<MeshAttr>(location, parser.getContext(), name, axisNames, axisSizes);
}

void MeshAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName() << ", [";
  llvm::interleaveComma(llvm::zip_equal(getAxisNames(), getAxisSizes()), printer, [&](auto axis) {
    printer << "(" << std::get<0>(axis) << ", " << std::get<1>(axis) << ")";
  });
  printer << "]>";
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError, FlatSymbolRefAttr name,
                               ArrayRef<StringAttr> axisNames, ArrayRef<int64_t> axisSizes) {
  if (axisNames.size() != axisSizes.size() || axisNames.empty() || axisNames.size() > kAxesMax) {
    return emitError() << "a mesh has 1 to 8 axes, got " << axisNames.size(); // C3
  }
  llvm::SmallPtrSet<StringAttr, 8> seen;
  int64_t ranks = 1;
  for (auto [axis, size] : llvm::zip_equal(axisNames, axisSizes)) {
    if (axis.empty()) {
      return emitError() << "mesh axis names must not be empty"; // C4
    }
    if (!seen.insert(axis).second) {
      return emitError() << "mesh axis names must be unique, got twice: " << axis; // C4
    }
    if (size < 1 || size > kRanksMax || (ranks *= size) > kRanksMax) {
      return emitError()
             << "mesh axis sizes must be at least 1 and give at most 1048576 ranks, got " << size
             << " for " << axis; // C5
    }
  }
  return success();
}

int64_t MeshAttr::findAxis(StringRef axis) const {
  for (auto [index, name] : llvm::enumerate(getAxisNames())) {
    if (name.getValue() == axis) {
      return static_cast<int64_t>(index);
    }
  }
  return -1;
}

std::string MeshAttr::toText() const {
  std::string text;
  for (auto [name, size] : llvm::zip_equal(getAxisNames(), getAxisSizes())) {
    text += (text.empty() ? "" : ",") + name.str() + ":" + std::to_string(size);
  }
  return text;
}

int64_t MeshAttr::getRankCount() const {
  int64_t ranks = 1;
  for (int64_t size : getAxisSizes()) {
    ranks *= size;
  }
  return ranks;
}

LogicalResult TopologyAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name,
                                   StringAttr hash) {
  if (name.empty() || hash.empty()) {
    return emitError() << "a topology needs a name and a hash"; // C6
  }
  return success();
}
