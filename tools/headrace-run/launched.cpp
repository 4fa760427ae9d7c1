// Rank 0 reads and writes; the others do what it asks for.
#include "tools/headrace-run/launched.h"

#include "runtime/exec/run_settings.h"
#include "runtime/session/cluster.h"
#include "runtime/storage/files/store_limits.h"
#include "tools/headrace-run/output.h"
#include "tools/headrace-run/plan_fit.h"

#include <cstdlib>

namespace headrace::run {
namespace {

Status checkRanks(const Request &request, int size) {
  if (request.placement == Placement::kProcesses ||
      (request.ranksGiven && request.settings.ranks != size)) {
    return makeError(ErrorKind::kUser, "the launcher has started ", size,
                     " ranks: leave out --processes, and --ranks or give it as many (--launcher "
                     "none runs without it)");
  }
  return {};
}

Status lead(session::Cluster &cluster, const Request &request, session::Order order,
            session::Part part) {
  HR_RETURN_IF_ERROR(checkRanks(request, cluster.size()));
  HR_RETURN_IF_ERROR(checkOutputs(request));
  HR_ASSIGN_OR_RETURN(exec::StoredPlan stored, exec::loadPlanDirectory(request.plan));
  HR_ASSIGN_OR_RETURN(part.topologyHash, topologyToRunOn(request, stored.program->plan(),
                                                         cluster.size(), Ranks::kOfLauncher));
  order.plan = stored.planText;
  order.kernels = stored.kernels;
  order.manifest = stored.manifestText;
  order.tables = tablesOf(request, stored);
  HR_RETURN_IF_ERROR(order.setShared(request.settings));
  ProgressLine line;
  part.progress = line.teller();
  Expected<session::Ran> ran = cluster.run(order, stored.program, part);
  line.clear();
  HR_RETURN_IF_ERROR(ran.status());
  return writeOutputs(ran->result, stored, request);
}

} // namespace

Status runLaunched(const Request &request, std::string &who) {
  HR_ASSIGN_OR_RETURN(Launch launch, readLaunch(request.launcher, [](const char *name) {
                        return static_cast<const char *>(std::getenv(name));
                      }));
  who += ": rank " + std::to_string(launch.rank);
  HR_ASSIGN_OR_RETURN(auto cluster, session::Cluster::join(launch, request.settings, interrupted));
  who = "headrace-run: " + cluster->name();
  session::Part part;
  part.settings = cluster->ownPart(request.settings);
  part.session = std::make_shared<exec::Session>(exec::sessionOptions(part.settings));
  part.storage = std::make_shared<storage::Storage>();
  part.storage->keepWithin(part.session->hostTier());
  storage::setStoreLimits(part.settings);
  part.interrupted = interrupted;
  session::Order order;
  order.call = "headrace-run " + request.plan;
  if (launch.rank != 0) {
    return cluster->follow(order.call, part).status();
  }
  Status status = lead(*cluster, request, order, part);
  cluster->end(status);
  return status;
}

} // namespace headrace::run
