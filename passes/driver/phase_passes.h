// The phases as passes, for headrace-opt: form, schedule-tasks, lower-kernels, and those of other
// folders.
#pragma once

#include <string>
#include <vector>

namespace headrace::driver {

/// Registers every pass and phase pipeline of the compiler with MLIR's pass registry.
void registerAllPasses();

/// Replaces `--start-from=PHASE` and `--stop-after=PHASE` in a command line by the passes of the
/// phases between (from the first, or to the last, if only one is given). Returns an error text, or
/// nothing.
std::string expandPhaseFlags(std::vector<std::string> &arguments);

/// What --help says of these flags.
std::string phaseFlagsHelp();

} // namespace headrace::driver
