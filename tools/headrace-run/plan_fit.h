// Whether a plan is for the ranks that are to run it.
#pragma once

#include "model/plan/plan.h"
#include "tools/headrace-run/request.h"

namespace headrace::run {

enum class Ranks {
  kOfThisMachine, ///< started by this process
  kOfLauncher,    ///< on machines that nothing tells of
};

/// The content that the plan's topology must have: of the one that is named, else of this machine
/// with its ranks; empty if it is not known, or any will do. Errors: kMismatch if the plan is for
/// another number of ranks, kUser if there is no such topology.
Expected<std::string> topologyToRunOn(const Request &request, const plan::Plan &plan, int64_t ranks,
                                      Ranks where);

} // namespace headrace::run
