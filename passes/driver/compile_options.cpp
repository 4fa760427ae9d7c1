// The names of phases.
#include "passes/driver/compile_options.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace headrace::driver {

StringRef phaseName(Phase phase) {
  switch (phase) {
  case Phase::kImport:
    return "import";
  case Phase::kOptimize:
    return "optimize";
  case Phase::kShard:
    return "shard";
  case Phase::kForm:
    return "form";
  case Phase::kLower:
    return "lower";
  case Phase::kSchedule:
    return "schedule";
  }
  return "";
}

std::string phaseNames(Phase first) {
  return llvm::join(
      llvm::map_range(llvm::make_filter_range(kPhases, [&](Phase phase) { return phase >= first; }),
                      phaseName),
      ", ");
}

bool parsePhase(StringRef name, Phase *phase) {
  for (Phase candidate : kPhases) {
    if (phaseName(candidate) == name) {
      *phase = candidate;
      return true;
    }
  }
  return false;
}

} // namespace headrace::driver
