// The one place that copies settings into options.
#include "runtime/exec/run_settings.h"

namespace headrace::exec {

SessionOptions sessionOptions(const Settings &settings) {
  SessionOptions options;
  options.threads = settings.workerCount();
  options.memoryBytes = settings.memoryBytes();
  options.retainedBytes = settings.retainedMemory;
  return options;
}

RunOptions runOptions(const Settings &settings) {
  RunOptions options;
  options.ranks = static_cast<uint32_t>(settings.ranks);
  options.determinism = settings.deterministic ? Determinism::kFixed : Determinism::kNone;
  options.tracing = settings.trace.empty() ? Tracing::kOff : Tracing::kOn;
  options.traceEventsMax = settings.traceEvents;
  options.seed = settings.runSeed();
  options.shareMorsels = settings.shareMorsels ? Sharing::kOn : Sharing::kOff;
  options.peerSilenceSecondsMax = static_cast<double>(settings.peerTimeout);
  options.spill = {settings.spillDirectory, settings.spillLimit};
  options.exchange.bufferBytes = settings.exchangeBuffer;
  options.exchange.window = settings.exchangeWindow;
  options.exchange.checksums = settings.checksums ? Checksums::kOn : Checksums::kOff;
  options.collective.bufferBytes = settings.collectiveBuffer;
  options.collective.window = settings.collectiveWindow;
  options.collective.treeBytesMax = settings.collectiveTree;
  return options;
}

} // namespace headrace::exec
