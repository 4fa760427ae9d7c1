// runtime/primitives/gpu/device.cpp as LLVM bitcode, compiled with the project and kept in this
// library.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace headrace::lower {

llvm::StringRef nvptxPrimitives();
llvm::StringRef hostPrimitives();

} // namespace headrace::lower
