// Runs a compilation so that its death is not the process's: LLVM's fatal errors, broken
// invariants, faults and overflowed stacks end the work, and the caller goes on.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace headrace::driver {

/// Runs `work` on a thread of its own, with a stack that a deeply nested program does not fill, and
/// waits for it. False if the work died: `death` then says how, no destructor has run in it, and
/// what it was changing is half changed: leave that behind, do not read or free it.
///
/// While it runs, the process's handlers of SIGABRT, SIGSEGV, SIGBUS, SIGFPE and SIGILL are
/// replaced; a signal of another thread goes to the handler that was there before. In a build with
/// a sanitizer they are left alone, so that it reports. Thread-safe.
///
/// `meanwhile` is called about every 50 ms on the calling thread.
bool runContained(llvm::function_ref<void()> work, std::string &death,
                  llvm::function_ref<void()> meanwhile = nullptr);

} // namespace headrace::driver
