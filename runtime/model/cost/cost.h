// Predicts seconds for copies, collectives, row exchanges and kernels on a mesh placed on a
// topology.
#pragma once

#include "runtime/base/status.h"
#include "runtime/model/cost/curve.h"
#include "runtime/model/cost/mesh.h"
#include "runtime/model/cost/network.h"
#include "runtime/model/topology/topology.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::cost {

/// A predicted time and its relative error (0.15 = 15 %).
struct Cost {
  double seconds = 0;
  double relativeError = 0;
};

/// Times add; absolute errors add in quadrature, as independent ones do.
Cost operator+(const Cost &left, const Cost &right);

/// Whether the errors of parts are drawn one by one, or come from one figure behind them all.
enum class Dependence : uint8_t { kIndependent, kCommon };

/// A cost by what it is spent on.
struct Breakdown {
  struct Part {
    std::string name; ///< "start", "steps", "pipeline", "bytes", "kernel", "exchange", …
    Cost cost;
  };
  std::vector<Part> parts;
  Dependence dependence = Dependence::kIndependent;

  /// Times add; errors add in quadrature, or as they are if they are common.
  Cost total() const;
  /// One line a part: "bytes        1.250 ms ±7 %  83 %", and the total last.
  std::string text() const;
};

/// Bytes that go from one rank to another.
struct Flow {
  int64_t source = 0;
  int64_t target = 0;
  double bytes = 0;
};

/// What a kernel does on one rank.
struct KernelWork {
  double operations = 0; ///< of kind `compute`
  std::string compute =
      "scalar";               ///< key into DeviceType::compute; unknown kinds use the slowest known
  double streamBytes = 0;     ///< read and written in order
  double randomBytes = 0;     ///< read or written out of order, whole cache lines
  double workingSetBytes = 0; ///< where the random bytes fall
  double launches = 1;
};

/// The parts of a kernel's time on one device.
struct KernelTime {
  double launchSeconds = 0;
  double computeSeconds = 0;
  double memorySeconds = 0;
  double relativeError = 0;
  /// launch + t_c + t_m − 0.95·min(t_c, t_m).
  double total() const;
};
KernelTime kernelTime(const topology::DeviceType &device, const KernelWork &work);

/// Immutable but for a cache; one thread at a time.
class CostModel {
public:
  /// Fails (kUser) if the mesh is malformed or has more ranks than the topology.
  static Expected<CostModel> create(topology::Topology topology, Mesh mesh);

  const Mesh &mesh() const { return mesh_; }
  const topology::Topology &topology() const { return *topology_; }

  /// One copy between two ranks' memories, alone.
  Cost copy(int64_t source, int64_t target, double bytes) const;

  /// A collective among the ranks of every group along `axes`, all groups at once. `bytes` is the
  /// whole buffer of one rank: input of all_reduce, reduce_scatter, all_to_all and broadcast,
  /// output of all_gather. The least over the fitted algorithms of that level; without fits, over
  /// formulas on the routes. Zero if the axes have size 1 together.
  Cost collective(topology::CollectiveKind kind, AxisSet axes, double bytes) const;

  /// The same in parts: start-up, steps, peers, filling of the pipeline, bytes.
  Breakdown collectiveParts(topology::CollectiveKind kind, AxisSet axes, double bytes) const;

  /// Rows moved to where their key belongs: each rank of a group sends `bytesPerRank` spread evenly
  /// over the group (its own share stays). Includes the exchange of sizes.
  Cost shuffle(AxisSet axes, double bytesPerRank) const;
  /// Every rank of a group sends `bytesPerRank` to the group's first rank.
  Cost gather(AxisSet axes, double bytesPerRank) const;
  /// Any traffic matrix, given sparsely: skew costs what its fullest link costs.
  Cost exchange(const std::vector<Flow> &flows) const;

  /// A kernel on the slowest rank's device: launch + t_c + t_m − 0.95·min(t_c, t_m).
  Cost kernel(const KernelWork &work) const;

  /// Usable bytes of the rank that has least.
  double memoryBytes() const;

private:
  /// What a traffic pattern costs per byte and per message; linear, so it is computed once.
  struct Load {
    double secondsPerByte = 0;
    double latencySeconds = 0; ///< of the rank with most, over its messages
    double relativeError = 0;
  };
  enum class Pattern : uint8_t { kRing, kAllPairs, kToFirst };

  CostModel(std::shared_ptr<const topology::Topology> topology, Mesh mesh);
  Load loadOf(const std::vector<Flow> &flows) const;
  const Load &patternLoad(Pattern pattern, AxisSet axes) const;
  /// The fitted algorithm with the least time; null if the topology has none for this.
  const topology::CollectiveFit *leastFit(topology::CollectiveKind kind, AxisSet axes,
                                          double bytes) const;
  GroupShape shapeOf(AxisSet axes) const;
  Cost derived(topology::CollectiveKind kind, AxisSet axes, double bytes) const;
  topology::Level levelOf(AxisSet axes) const;
  /// For each rank of the first group along `axes`: how many of its peers are on other nodes, and
  /// how many nodes the group spans.
  struct Spread {
    int64_t remotePeers = 0;
    int64_t nodes = 1;
  };
  Spread spreadOf(AxisSet axes) const;

  std::shared_ptr<const topology::Topology>
      topology_; // shared so that the network's pointers survive moves
  Mesh mesh_;
  std::shared_ptr<const Network> network_;
  mutable std::map<std::pair<Pattern, AxisSet>, Load> loads_;
};

} // namespace headrace::cost
