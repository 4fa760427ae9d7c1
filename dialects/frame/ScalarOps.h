// What an op of an expression says about its work.
#ifndef HEADRACE_DIALECTS_FRAME_SCALAROPS_H
#define HEADRACE_DIALECTS_FRAME_SCALAROPS_H

#include "mlir/IR/OpDefinition.h"

namespace headrace::frame {

enum class ScalarWork : uint8_t {
  kNone,  ///< it is there already
  kPlain, ///< arithmetic, comparisons, choices
  kDivide,
  kCall,      ///< a function that takes as long as taking a date apart
  kMatchText, ///< reads a string
  kMakeText,  ///< writes one
};

} // namespace headrace::frame

#include "dialects/frame/ScalarOpInterface.h.inc"

#endif // HEADRACE_DIALECTS_FRAME_SCALAROPS_H
