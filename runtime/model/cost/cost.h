// Predicts seconds for copies, collectives, row exchanges and kernels on a mesh placed on a
// topology.
#pragma once

#include "runtime/base/status.h"
#include "runtime/model/cost/curve.h"
#include "runtime/model/cost/mesh.h"
#include "runtime/model/cost/network.h"
#include "runtime/model/cost/workers.h"
#include "runtime/model/topology/topology.h"

#include <map>
#include <memory>
#include <optional>
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

/// How rows go to where their key belongs.
enum class ExchangeAlgorithm : uint8_t {
  kFlat,         ///< each rank sends to each other
  kHierarchical, ///< within the node to the rank of the target's place, from there to the one of
                 ///< the same place on each other node: fewer peers, and bytes twice inside the
                 ///< node
};
const char *exchangeName(ExchangeAlgorithm algorithm);

/// The lesser of the algorithms, in parts.
struct ExchangeCost {
  ExchangeAlgorithm algorithm = ExchangeAlgorithm::kFlat;
  /// "start", "peers", "bytes"; of the hierarchical one "within nodes: …", "regroup" and "between
  /// nodes: …".
  Breakdown parts;
  std::string fullest; ///< the link, or the rank, that decides the bytes of the longest step
  std::optional<Cost> rejected; ///< of the other algorithm; none where only one is possible
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
  /// Fails (kUser) if the mesh is malformed or has more ranks than the topology. `threads` as of
  /// workersOf.
  static Expected<CostModel> create(topology::Topology topology, Mesh mesh, int64_t threads = 0);

  const Mesh &mesh() const { return mesh_; }
  const topology::Topology &topology() const { return *topology_; }
  /// Whether costs are of cores or of devices and links.
  const Workers &workers() const { return workers_; }
  /// Of the first rank.
  const topology::DeviceType &device() const { return *network_->places().front().deviceType; }

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
  /// The same in parts, with the algorithm that is less.
  ExchangeCost shuffleParts(AxisSet axes, double bytesPerRank) const;
  /// Every rank of a group sends `bytesPerRank` to the group's first rank.
  Cost gather(AxisSet axes, double bytesPerRank) const;
  /// Any traffic matrix, given sparsely (no pair twice): start and peers as the topology's
  /// all-to-all was fitted, bytes over the fullest link or the fullest rank, so skew costs what it
  /// costs.
  Cost exchange(const std::vector<Flow> &flows) const;
  ExchangeCost exchangeParts(const std::vector<Flow> &flows) const;

  /// A kernel on the slowest rank's device: launch + t_c + t_m − 0.95·min(t_c, t_m).
  Cost kernel(const KernelWork &work) const;

  /// Every rank reads so many bytes of tables from its node's storage; nothing where that has none.
  Cost load(double bytesPerRank) const {
    return {bytesPerRank * loadOfByte_.seconds, loadOfByte_.relativeError};
  }

  /// Usable bytes of the rank that has least.
  double memoryBytes() const;

private:
  /// What a traffic pattern costs per byte and per message; linear, so it is computed once.
  struct Load {
    double secondsPerByte = 0;
    double latencySeconds = 0; ///< of the rank with most, over its messages
    double relativeError = 0;
    std::string fullest;
  };
  /// Within and across nodes are the two steps of a hierarchical exchange.
  enum class Pattern : uint8_t { kRing, kAllPairs, kToFirst, kWithinNodes, kAcrossNodes };
  /// How a group along `axes` sits on nodes: the one with most of each.
  struct Spread {
    int64_t remotePeers = 0; ///< of a rank
    int64_t nodes = 1;
    int64_t ranksPerNode = 1;
  };

  CostModel(std::shared_ptr<const topology::Topology> topology, Mesh mesh, int64_t threads);
  Load routed(const std::vector<Flow> &flows) const;
  /// O(ranks) but for the pairs within nodes, and equal nodes are counted once.
  Load spreadEvenly(Pattern pattern, AxisSet axes) const;
  Cost loadOfByte() const;
  const Load &patternLoad(Pattern pattern, AxisSet axes) const;
  /// The fitted algorithm with the least time; null if the topology has none for this.
  const topology::CollectiveFit *leastFit(topology::CollectiveKind kind, AxisSet axes,
                                          double bytes) const;
  GroupShape shapeOf(AxisSet axes) const;
  Cost derived(topology::CollectiveKind kind, AxisSet axes, double bytes) const;
  topology::Level levelOf(AxisSet axes) const;
  const Spread &spreadOf(AxisSet axes) const;
  /// How many times longer bytes of even traffic take by the topology's links than as fitted.
  double routedOverFitted(const topology::CollectiveFit &fit, Pattern pattern, AxisSet axes) const;
  /// All flows at once, each straight to its target.
  ExchangeCost flat(const std::vector<Flow> &flows) const;
  /// None if no node has two of the ranks, or all are on one node.
  std::optional<ExchangeCost> hierarchical(const std::vector<Flow> &flows) const;
  std::optional<ExchangeCost> hierarchicalShuffle(AxisSet axes, double bytesPerRank) const;
  /// All-to-all of a group of this shape, fitted or by its pattern's load.
  Breakdown step(topology::Level level, const GroupShape &shape, Pattern pattern, AxisSet axes,
                 double bytes) const;

  std::shared_ptr<const topology::Topology>
      topology_; // shared so that the network's pointers survive moves
  Mesh mesh_;
  Workers workers_;
  std::shared_ptr<const Network> network_;
  Cost loadOfByte_; ///< from storage, on every rank
  mutable std::map<std::pair<Pattern, AxisSet>, Load> loads_;
  mutable std::map<AxisSet, Spread> spreads_;
};

} // namespace headrace::cost
