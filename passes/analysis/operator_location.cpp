// A fused location of one part, with the number as its metadata.
#include "passes/analysis/operator_location.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace headrace::analysis {

using Numbered = FusedLocWith<IntegerAttr>;

Location withOperator(Location location, int32_t number) {
  Builder builder(location.getContext());
  return FusedLoc::get(location.getContext(), {location}, builder.getI32IntegerAttr(number));
}

SmallVector<int32_t, 1> operatorsOf(Location location) {
  SmallVector<int32_t, 1> numbers;
  location->walk([&](Location part) {
    if (auto numbered = dyn_cast<Numbered>(part)) {
      auto number = static_cast<int32_t>(numbered.getMetadata().getInt());
      if (!llvm::is_contained(numbers, number)) {
        numbers.push_back(number);
      }
    }
    return WalkResult::advance();
  });
  return numbers;
}

int32_t operatorOf(Location location) {
  SmallVector<int32_t, 1> numbers = operatorsOf(location);
  return numbers.empty() ? -1 : numbers.front();
}

Location withoutOperator(Location location) {
  auto numbered = dyn_cast<Numbered>(location);
  return numbered ? numbered.getLocations().front() : location;
}

} // namespace headrace::analysis
