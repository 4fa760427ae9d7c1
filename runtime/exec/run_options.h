// What a run takes beside a plan, and what it gives.
#pragma once

#include "model/plan/plan.h"
#include "runtime/base/clock.h"
#include "runtime/exec/task/profile.h"
#include "runtime/exec/task/task.h"
#include "runtime/transport/sim.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::exec {

/// What the slots of a plan are bound to, by slot name.
struct Bindings {
  std::map<std::string, OpenSource> tables;
  std::map<std::string, TensorView> tensors;
  /// Of resident tensors: the part of each rank of this process, in their order.
  std::map<std::string, std::vector<TensorPart>> parts;
};

enum class Determinism : uint8_t {
  kNone,  ///< floating-point sums may differ in their last bits from run to run
  kFixed, ///< one lane a rank: same bits for the same ranks and plan
};
enum class Tracing : uint8_t { kOff, kOn };
/// Whether the error of a run names the rank that failed.
enum class Origin : uint8_t { kLeftOut, kNamed };

struct RunOptions {
  uint32_t ranks = 1; ///< all in this process (run)
  /// Content hash of the topology that the plan must have been compiled for; empty: any will do.
  std::string topologyHash;
  Determinism determinism = Determinism::kNone;
  Tracing tracing = Tracing::kOff;
  int64_t traceEventsMax = 1 << 18; ///< that each track of a trace keeps
  SpillOptions spill;
  ExchangeSettings exchange;
  CollectiveSettings collective;
  /// Of the keys of exchanges by hash, the parts that ranks are to have, as KeyShares has them, if
  /// the plan's are movable and morsels are shared; empty: equal ones.
  std::vector<uint32_t> keyShares = {};
  /// Off too where the run is deterministic: who reads a row decides the order of sums.
  Sharing shareMorsels = Sharing::kOn;
  /// A rank of another process that gives no sign of life for so long is given up; 0: never.
  double peerSilenceSecondsMax = 0;
  /// Memory of the rank that has least: the pools of messages are sized by it on all ranks. 0: they
  /// have the same.
  int64_t leastMemoryBytes = 0;
  int64_t seed = 0; ///< of what `random()` draws; the same on all ranks
  Origin origin = Origin::kLeftOut;
  const Clock *clock = &RealClock::instance();
  /// Ranks on a simulated network in virtual time (`size` and `clock` are set by the run): polls,
  /// morsels and messages interleave as its seed draws them, and a hang is an error. Needs a
  /// session without threads.
  std::optional<SimOptions> simulation = {};
  /// Asked about every 50 ms on the calling thread; true cancels the run.
  std::function<bool()> interrupted;
  /// Told twice a second on the calling thread, from half a second on.
  std::function<void(const Progress &)> progress;
};

struct TensorResult {
  std::string name;
  plan::Element element = plan::Element::kF32;
  std::vector<int64_t> shape;      ///< of the whole
  std::shared_ptr<const void> pin; ///< holds `data`
  const void *data = nullptr;      ///< row-major; null of a resident result
  /// Of a resident result: as Bindings::parts has it.
  std::vector<TensorPart> parts = {};
};

struct RunResult {
  /// Null if the program has only tensors as results, or a resident one.
  std::shared_ptr<const ResultRows> table;
  /// Of a resident result: the rows of each rank of this process, in their order.
  std::vector<std::shared_ptr<const ResultRows>> parts;
  std::vector<TensorResult> tensors; ///< in task order; resident ones on every rank
  Profile profile;
  std::string traceJson; ///< Chrome's trace format, if asked for
};

} // namespace headrace::exec
