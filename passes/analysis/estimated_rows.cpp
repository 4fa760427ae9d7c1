// Reads the attribute.
#include "passes/analysis/estimated_rows.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace headrace {

plan::Cardinality estimatedRows(Operation *op) {
  auto rows = op->getAttrOfType<DictionaryAttr>(kEstimatedRowsAttr);
  if (!rows) {
    return {};
  }
  auto number = [&](StringRef name, uint64_t otherwise) {
    auto value = dyn_cast_or_null<IntegerAttr>(rows.get(name));
    return value ? static_cast<uint64_t>(value.getInt()) : otherwise;
  };
  return {number("min", 0), number("expected", 0), number("p95", 0), number("max", UINT64_MAX)};
}

} // namespace headrace
