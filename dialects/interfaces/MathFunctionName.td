// The name of a function of numbers (runtime/base/math_functions.def), in ops of several dialects.
#ifndef HEADRACE_MATH_FUNCTION_NAME_TD
#define HEADRACE_MATH_FUNCTION_NAME_TD

include "mlir/IR/CommonAttrConstraints.td"

def MathFunctionName : ConfinedAttr<StrAttr, [
  AttrConstraint<CPred<"::headrace::mathFunctionNamed(::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
                 "that names a function of numbers">]>;

#endif // HEADRACE_MATH_FUNCTION_NAME_TD
