// One function for each relational op: whoever lacks one for an op does not compile.
#ifndef HEADRACE_DIALECTS_FRAME_VISITRELATION_H
#define HEADRACE_DIALECTS_FRAME_VISITRELATION_H

#include "dialects/frame/FrameOps.h"

#include <concepts>
#include <type_traits>

namespace headrace::frame {

template <typename... Ops> struct OpList {};
using AllOps = OpList<
#define GET_OP_LIST
#include "dialects/frame/FrameOps.cpp.inc"
    >;

template <typename Op>
inline constexpr bool kIsRelational = std::is_base_of_v<RelationalOpInterface::Trait<Op>, Op>;

/// Calls the overload of `visit` for the op's class, among all classes that implement the
/// interface. The overloads return the same type, which std::optional can hold.
template <typename Visitor> auto visitRelation(RelationalOpInterface op, Visitor &&visit) {
  std::optional<decltype(visit(FilterOp()))> result;
  auto tryOne = [&]<typename Op>() {
    if constexpr (kIsRelational<Op>) {
      if (auto one = mlir::dyn_cast<Op>(op.getOperation())) {
        result.emplace(visit(one));
      }
    }
  };
  [&]<typename... Ops>(OpList<Ops...>) { (tryOne.template operator()<Ops>(), ...); }(AllOps());
  return std::move(*result);
}

} // namespace headrace::frame

#endif // HEADRACE_DIALECTS_FRAME_VISITRELATION_H
