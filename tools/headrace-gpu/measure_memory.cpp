// Bandwidths of the device's memory and of its link to the host.
#include "tools/headrace-gpu/checks.h"
#include "tools/headrace-gpu/figure_kernels.h"
#include "tools/headrace-gpu/measure.h"

#include "runtime/abi/device_kernel.h"

namespace headrace::gpu {

namespace {

constexpr int kRounds = 10;

int64_t bufferBytes(Session &session) {
  return session.isEmulated() ? int64_t(1) << 16 : int64_t(1) << 30;
}

/// The kernel over two buffers; its best bandwidth over block counts. Fails if the copy is wrong.
Expected<double> copyByKernel(Session &session, DeviceArena &arena) {
  int64_t bytes = bufferBytes(session);
  HR_ASSIGN_OR_RETURN(Kernel copy, session.handKernel("figure_kernels", "copy"));
  uint64_t source = arena.allocate(bytes), target = arena.allocate(bytes);
  std::vector<uint64_t> tail = {1, 2, 3, 4};
  uint64_t last = bytes - tail.size() * 8;
  arena.write(source + last, bytesOf(tail));
  CopyParameters parameters = {reinterpret_cast<void *>(source), reinterpret_cast<void *>(target),
                               static_cast<uint64_t>(bytes) / 16};
  HrArgs args = {};
  args.literals = reinterpret_cast<void *>(arena.put(parameters));
  uint64_t arguments[] = {arena.put(args), arena.put(HrDevice{})}, first = arena.allocate(8);
  HR_RETURN_IF_ERROR(arena.status());
  double best = 0;
  for (uint32_t blocks : {2, 4, 8, 16}) {
    KernelLaunch launch{copy, blocks * session.device().description().multiprocessors, 512,
                        arguments};
    HR_ASSIGN_OR_RETURN(double seconds,
                        medianSeconds(session.device(), first, kRounds, [&](const Event &) {
                          return session.device().launch(launch);
                        }));
    best = std::max(best, 2.0 * static_cast<double>(bytes) / seconds);
  }
  std::vector<std::byte> found = arena.read(target + last, tail.size() * 8);
  HR_RETURN_IF_ERROR(arena.status());
  if (!std::ranges::equal(found, bytesOf(tail))) {
    // no test: what a broken kernel might give
    return Status(ErrorKind::kCorrupt, "the copying kernel did not copy");
  }
  return best;
}

void reportBandwidth(Session &session, const std::string &name, const Expected<double> &found) {
  if (!found.ok()) {
    return session.report("memory/" + name, "figure", found.status());
  }
  Json extra = {{"value", *found / 1e9}, {"unit", "GB/s"}};
  if (double limit = session.device().description().memoryBytesPerSecond; limit > 0) {
    extra["bus"] = limit / 1e9;
  }
  session.report("memory/" + name, "figure", "", extra);
}

} // namespace

Expected<double> copyingBandwidth(Session &session) {
  DeviceArena arena(session.device(), session.reservation());
  return copyByKernel(session, arena);
}

void measureMemory(Session &session) {
  Device &device = session.device();
  reportBandwidth(session, "copying kernel", copyingBandwidth(session));
  int64_t bytes = bufferBytes(session);
  DeviceArena arena(device, session.reservation());
  Place one{Tier::kDevice, arena.zeros(bytes)}, other{Tier::kDevice, arena.zeros(bytes)};
  uint64_t first = arena.allocate(8);
  Expected<DeviceMemory> pinned = device.allocate(Tier::kPinned, bytes, session.pinned());
  Status status = pinned.ok() ? arena.status() : pinned.status();
  if (!status.ok()) {
    return session.report("memory", "figure", status);
  }
  auto measure = [&](const std::string &name, Place source, Place target, double moved) {
    Expected<double> seconds = medianSeconds(device, first, kRounds, [&](const Event &begin) {
      return device.copy(source, target, bytes, {&begin, 1});
    });
    reportBandwidth(session, name,
                    seconds.ok() ? Expected<double>(moved * static_cast<double>(bytes) / *seconds)
                                 : seconds);
  };
  measure("copy within the device", one, other, 2);
  measure("copy to the device", pinned->at(), one, 1);
  measure("copy from the device", one, pinned->at(), 1);
}

} // namespace headrace::gpu
