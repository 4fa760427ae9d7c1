// Casts of constants that an importer sees as constants: lengths, lists of IN, dates; powers of
// ten.
#ifndef HEADRACE_PASSES_IMPORT_CONSTANTCASTS_H
#define HEADRACE_PASSES_IMPORT_CONSTANTCASTS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/APInt.h"

namespace headrace::import {

/// The constant `value` of type `from` (both as `frame.constant` keeps them) as a `to`; null where
/// that is not exact, or fails, so that it has to be done at run time.
mlir::Attribute castConstant(mlir::Attribute value, mlir::Type from, mlir::Type to);

/// 10 to the `exponent`, in so many bits.
llvm::APInt powerOfTen(unsigned exponent, unsigned bits);

} // namespace headrace::import

#endif // HEADRACE_PASSES_IMPORT_CONSTANTCASTS_H
