// A plan's layouts are the cheapest for the ranks and links that it was compiled for.
#include "tools/headrace-run/plan_fit.h"

#include "model/plan/mesh.h"
#include "model/topology/topology.h"

namespace headrace::run {

Expected<std::string> topologyToRunOn(const Request &request, const plan::Plan &plan, int64_t ranks,
                                      Ranks where) {
  if (request.topology == "any") {
    return std::string();
  }
  if (ranks != plan::rankCount(plan)) {
    return makeError(ErrorKind::kMismatch, "the plan was compiled for another number of ranks, ",
                     plan::rankCount(plan), ": start as many, compile it again with --ranks ",
                     ranks, ", or run it as it is with --topology any; got ", ranks);
  }
  bool known = where == Ranks::kOfThisMachine && !plan.topologyHash.empty();
  if (request.topology.empty() && !known) {
    return std::string();
  }
  HR_ASSIGN_OR_RETURN(topology::Topology topology,
                      topology::openTopology(request.topology, ranks)); // empty: this machine
  return topology.hash;
}

} // namespace headrace::run
