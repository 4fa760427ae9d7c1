// The flags that every tool of the compiler begins with.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace headrace {

/// --version, --log, and a --help of the tool's own flags: about 600 of LLVM and MLIR that are
/// there by now are left to --help-hidden, but for those named in `shown`. The tool makes its own
/// flags afterwards. `tool` lives as long as the process.
void beginToolFlags(const char *tool, llvm::ArrayRef<llvm::StringRef> shown = {});

} // namespace headrace
