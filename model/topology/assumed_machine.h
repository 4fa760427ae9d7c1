// What is assumed of a machine that nobody measured: a server of the early 2020s.
#pragma once

namespace headrace::topology {

constexpr double kCoreFlopsF32 = 3.2e10;
constexpr double kCoreFlopsF64 = 1.6e10;
constexpr double kCoreScalarOps = 1.5e9;
constexpr double kCoreStreamBytesPerSecond = 8e9;
constexpr double kMachineStreamBytesPerSecond = 4e10; ///< of a socket
constexpr double kCoreRandomBytesPerSecond = 1.2e9;
constexpr double kCacheBytes = 1e6;
constexpr double kTaskLaunchSeconds = 5e-6;
/// Between in-process ranks: queue, wake-up, and one copy each side.
constexpr double kHandOverSeconds = 1e-5;
constexpr double kAssumedError = 0.5;

} // namespace headrace::topology
