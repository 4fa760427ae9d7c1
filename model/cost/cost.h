// Predicts seconds for collectives, row exchanges and kernels on a mesh placed on a topology.
#pragma once

#include "model/cost/movement.h"
#include "model/cost/workers.h"
#include "model/topology/topology.h"
#include "runtime/base/status.h"

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

/// A cost by what it is spent on.
struct Breakdown {
  struct Part {
    std::string name; ///< "start", "steps", "pipeline", "bytes", "kernel", "exchange", …
    Cost cost;
  };
  std::vector<Part> parts;

  /// Times add; errors add in quadrature.
  Cost total() const;
  /// One line a part: "bytes        1.250 ms ±7 %  83 %", and the total last.
  std::string text() const;
};

/// Bytes read or written out of order, in whole cache lines, and of how many they are.
struct RandomAccess {
  double bytes = 0;
  double workingSetBytes = 0;
};

/// What a kernel does on one rank.
struct KernelWork {
  double operations = 0; ///< of kind `compute`
  std::string compute =
      "scalar";           ///< key into DeviceType::compute; unknown kinds use the slowest known
  double streamBytes = 0; ///< read and written in order
  std::vector<RandomAccess> random; ///< of each state
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

/// Immutable but for a cache; one thread at a time. Takes time and memory by the length of the
/// topology's description, not by its nodes.
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
  const topology::DeviceType &device() const { return runs_->front().deviceType(); }

  /// A collective among the ranks of every group along `axes`, all groups at once; see
  /// collectiveMovement. Nothing if the axes have size 1 together.
  Movement movement(topology::CollectiveKind kind, AxisSet axes, double bytes) const;
  Cost collective(topology::CollectiveKind kind, AxisSet axes, double bytes) const;
  /// Rows of every rank of every group go elsewhere; see exchangeMovement.
  Movement movement(plan::ExchangeKind kind, AxisSet axes, double bytesPerRank,
                    double fullest = 1) const;
  Cost exchange(plan::ExchangeKind kind, AxisSet axes, double bytesPerRank,
                double fullest = 1) const;

  /// A kernel on the slowest rank's device: launch + t_c + t_m − 0.95·min(t_c, t_m).
  Cost kernel(const KernelWork &work) const;

  /// Every rank reads so many bytes of tables from its node's storage; nothing where that has none.
  Cost load(double bytesPerRank) const {
    return {bytesPerRank * loadOfByte_.seconds, loadOfByte_.relativeError};
  }

  /// Usable bytes of the rank that has least.
  double memoryBytes() const;

private:
  CostModel(std::shared_ptr<const topology::Topology> topology, Mesh mesh, int64_t threads);
  Cost loadOfByte() const;
  const RankGroups &groups(AxisSet axes) const;

  // Shared so that references survive moves.
  std::shared_ptr<const topology::Topology> topology_;
  Mesh mesh_;
  Workers workers_;
  std::shared_ptr<const std::vector<NodeRun>> runs_;
  Cost loadOfByte_; ///< from storage, on every rank
  double doublingBytesMax_;
  mutable std::map<AxisSet, RankGroups> groups_;
};

} // namespace headrace::cost
