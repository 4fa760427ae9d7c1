// What a launch costs: one after the other in a stream, each with its event, and as nodes of a
// graph.
#include "tools/headrace-gpu/checks.h"
#include "tools/headrace-gpu/figure_kernels.h"
#include "tools/headrace-gpu/measure.h"

#include "runtime/abi/device_kernel.h"

namespace headrace::gpu {

namespace {

constexpr double kGraphSecondsMost = 5e-6; ///< of a node: the target

struct LaunchTimes {
  double stream, graph; ///< seconds of one
};

Expected<LaunchTimes> timeLaunches(Session &session) {
  const int launches = session.isEmulated() ? 10 : 1000;
  constexpr int kRounds = 10;
  Device &device = session.device();
  DeviceArena arena(device, session.reservation());
  HR_ASSIGN_OR_RETURN(Kernel nothing, session.handKernel("figure_kernels", "nothing"));
  HrArgs args = {};
  args.literals = reinterpret_cast<void *>(arena.put(CopyParameters{}));
  uint64_t arguments[] = {arena.put(args), arena.put(HrDevice{})}, first = arena.allocate(8);
  HR_RETURN_IF_ERROR(arena.status());
  std::vector<KernelLaunch> all(launches, KernelLaunch{nothing, 1, 32, arguments});
  LaunchTimes times = {};
  HR_ASSIGN_OR_RETURN(times.stream, medianSeconds(device, first, kRounds, [&](const Event &begin) {
                        Expected<Event> last = begin;
                        for (const KernelLaunch &launch : all) {
                          last = last.ok() ? device.launch(launch) : last;
                        }
                        return last;
                      }));
  HR_ASSIGN_OR_RETURN(std::unique_ptr<LaunchGraph> graph, device.record(all));
  HR_ASSIGN_OR_RETURN(times.graph, medianSeconds(device, first, kRounds, [&](const Event &) {
                        return device.launch(*graph);
                      }));
  return LaunchTimes{times.stream / launches, times.graph / launches};
}

} // namespace

void measureLaunches(Session &session) {
  Expected<LaunchTimes> times = timeLaunches(session);
  if (!times.ok()) {
    return session.report("launches", "figure", times.status());
  }
  auto figure = [](double seconds) { return Json{{"value", seconds * 1e6}, {"unit", "us"}}; };
  session.report("launches/in a stream", "figure", "", figure(times->stream));
  Json inGraph = figure(times->graph);
  inGraph["target"] = kGraphSecondsMost * 1e6;
  inGraph["reached"] = times->graph <= kGraphSecondsMost;
  session.report("launches/in a graph", "figure", "", inGraph);
}

} // namespace headrace::gpu
