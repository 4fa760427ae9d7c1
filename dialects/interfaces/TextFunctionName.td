// The name of a function of texts (runtime/base/text_functions.def), in ops of several dialects.
#ifndef HEADRACE_TEXT_FUNCTION_NAME_TD
#define HEADRACE_TEXT_FUNCTION_NAME_TD

include "mlir/IR/CommonAttrConstraints.td"

def TextFunctionName : ConfinedAttr<StrAttr, [
  AttrConstraint<CPred<"::headrace::textFunctionNamed(::llvm::cast<::mlir::StringAttr>($_self).getValue())">,
                 "that names a function of texts">]>;

#endif // HEADRACE_TEXT_FUNCTION_NAME_TD
