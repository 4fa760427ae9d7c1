// The trait of ops that refuse attributes which they do not declare.
#ifndef HEADRACE_KNOWN_ATTRIBUTES_TD
#define HEADRACE_KNOWN_ATTRIBUTES_TD

include "mlir/IR/OpBase.td"

def KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::headrace";
}

#endif // HEADRACE_KNOWN_ATTRIBUTES_TD
