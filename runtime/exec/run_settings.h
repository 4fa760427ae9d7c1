// Settings of a process as the options of sessions and runs.
#pragma once

#include "runtime/base/settings.h"
#include "runtime/exec/program.h"

namespace headrace::exec {

/// Threads and memory, with "0" resolved for this machine.
SessionOptions sessionOptions(const Settings &settings);

/// Ranks, determinism, tracing, and the sizes of exchanges and collectives.
RunOptions runOptions(const Settings &settings);

} // namespace headrace::exec
