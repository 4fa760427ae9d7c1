// The described cluster: device types, nodes with their shared resources and routes, fabric,
// instances, and fitted collectives. Plain values, read from JSON (schema topology/1) or made for
// this machine.
#pragma once

#include "runtime/base/status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::topology {

/// A figure in SI units with the relative error its source claims (0.15 = 15 %).
struct Quantity {
  double value = 0;
  double relativeError = 0.15;
};

enum class DeviceClass : uint8_t { kCpu, kGpu, kStorage };

/// Achieved bytes per second of random access, for one size of the working set.
struct RandomAccessPoint {
  double workingSetBytes = 0;
  double bytesPerSecond = 0;
};

/// A way to make bytes fewer, on one kind of device with all of its cores.
struct Codec {
  std::string name; ///< "lz4", "bitpack"
  double compressBytesPerSecond = 0;   ///< of plain bytes
  double decompressBytesPerSecond = 0; ///< of plain bytes
  double ratio = 2; ///< plain bytes over compressed ones, where the data do not say; above 0
  double relativeError = 0.15;
};

/// One kind of device: what it computes and the memory it owns.
struct DeviceType {
  std::string name;
  DeviceClass deviceClass = DeviceClass::kCpu;
  std::string architecture; ///< "sm_90", "x86-64-v4", or empty
  int64_t cores = 1;        ///< CPU cores or streaming multiprocessors
  std::map<std::string, double>
      compute; ///< element kind ("f32", "i64") to flop/s, efficiency applied
  double computeRelativeError = 0.15;
  double launchSeconds = 0; ///< fixed time of starting one kernel
  std::string space;        ///< name of its memory space ("hbm", "host", "nvme")
  double capacityBytes = 0; ///< usable bytes: capacity less what the runtime itself needs
  Quantity memoryBandwidth; ///< achieved streaming bytes per second, efficiency applied
  Quantity readBandwidth;   ///< storage only
  Quantity writeBandwidth;  ///< storage only
  double latencySeconds = 0;
  std::vector<RandomAccessPoint> randomAccess; ///< ascending working sets; may be empty
  std::vector<Codec> codecs;                   ///< by name
};

/// How concurrent transfers share a resource's bandwidth (the words are SimGrid's).
enum class Sharing : uint8_t {
  kShared,  ///< the sum of all transfers is bounded
  kFatpipe, ///< every transfer alone is bounded
};

/// A thing inside a node that transfers go through.
struct Resource {
  std::string name;
  int64_t count = 1;
  Quantity bandwidth; ///< bytes per second of each, and of each direction if fullDuplex
  double latencySeconds = 0;
  Sharing sharing = Sharing::kShared;
  bool fullDuplex = false;
  double bothDirectionsMax = 0; ///< bytes per second of both directions together; 0 = no limit
};

/// The number in brackets: a constant, or the endpoint's index divided by a constant.
struct IndexExpression {
  enum class Base : uint8_t { kConstant, kSource, kTarget } base = Base::kConstant;
  int64_t divisor = 1;
  int64_t constant = 0;
};

enum class Direction : uint8_t { kNone, kOut, kIn, kRead, kWrite };

/// One hop of a route, as `pcie[i].up`.
struct Hop {
  std::string resource; ///< a resource, or a device group of class storage
  IndexExpression index;
  Direction direction = Direction::kNone;
};

/// `gpu[i].hbm`, `host` (the memory of the node's CPU), or `net` (the node's edge).
struct Endpoint {
  std::string group; ///< device group; empty for the network
  std::string space;
  bool isNetwork() const { return group.empty(); }
};

struct Route {
  Endpoint source;
  Endpoint target;
  std::vector<Hop> via;
};

struct DeviceGroup {
  std::string name; ///< as in routes: "gpu"
  std::string type; ///< key into Topology::deviceTypes
  int64_t count = 1;
};

struct NodeType {
  std::string name;
  std::vector<DeviceGroup> devices;
  std::vector<Resource> resources;
  std::vector<Route> routes;

  const DeviceGroup *findGroup(std::string_view group) const;
  const Resource *findResource(std::string_view resource) const;
};

struct FabricTier {
  int64_t radix = 0;
  Quantity bandwidth; ///< bytes per second of one port
  double latencySeconds = 0;
  double oversubscription = 1;
};

struct Fabric {
  std::string kind;
  int64_t rails = 1;
  std::vector<FabricTier> tiers;
  double efficiency = 1;
};

struct Instance {
  std::string type; ///< key into Topology::nodeTypes
  std::string name;
  int64_t count = 1;
};

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast
};
const char *collectiveName(CollectiveKind kind);

/// Where the members of a collective sit.
enum class Level : uint8_t { kNode, kNetwork };

/// Fitted time of one algorithm for n members of which p are on other nodes than a given one:
/// base + perStep·steps(n) + perRank·n + perPeer·p + perLog2Node·log2(nodes) + sqrtTerm·√(vS) +
/// sqrtStepTerm·√(steps(n)·vS) + vS/bandwidth,
/// steps n−1 and v = (n−1)/n (both doubled for all-reduce); v = p/n for an all-to-all between
/// nodes. With `bandwidthIsAlgorithmic`, v = 1.
struct CollectiveFit {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Level level = Level::kNode;
  std::string algorithm;
  int64_t members = 0; ///< holds for groups of this size and goes before fits of any size; 0 = any
  double baseSeconds = 0;
  double perStepSeconds = 0;
  double perRankSeconds = 0;
  double perPeerSeconds = 0;
  double perLog2NodeSeconds = 0;
  double sqrtTerm = 0;     ///< seconds per √byte: the fill of the best pipeline
  double sqrtStepTerm = 0; ///< seconds per √byte: likewise, growing with the length of the pipeline
  double bandwidth = 0;
  bool bandwidthIsAlgorithmic = false;
  double relativeError = 0.15;
};

struct Topology {
  std::string name;
  std::map<std::string, DeviceType> deviceTypes;
  std::map<std::string, NodeType> nodeTypes;
  std::optional<Fabric> fabric;
  std::vector<Instance> instances;
  std::vector<CollectiveFit> collectives;
  /// 32 hexadecimal digits over the canonical text (sorted keys, no spaces): equal content, equal
  /// hash.
  std::string hash;

  int64_t nodeCount() const;
  /// Compute devices (GPUs where a node has them, else CPUs) of all instances: the places for
  /// ranks.
  int64_t rankCount() const;
};

/// The group of a node type whose devices are ranks: the GPUs, else the CPUs; null if neither.
const DeviceGroup *rankGroup(const Topology &topology, const NodeType &node);

/// Reads and checks a topology from JSON text. Errors are of kind kUser and open with the JSON
/// path:
/// "$.node_types.p5.resources.nic.bw: bandwidth must be positive, got -1".
Expected<Topology> parseTopology(std::string_view json);

/// Reads the file and parses it; errors carry the file's name as place.
Expected<Topology> readTopologyFile(const std::string &path);

/// A topology shipped with headrace, by the name of its file without ".json".
Expected<Topology> shippedTopology(std::string_view name);
std::vector<std::string> shippedTopologyNames();

struct MachineSize {
  int64_t cores = 1;
  double memoryBytes = 8e9; ///< what all ranks together may use
};

/// Cores and physical memory of the machine this runs on.
MachineSize thisMachine();

/// One node whose cores and memory are divided among `ranks` ranks that talk through its memory.
/// All figures are assumed, not measured. `ranks` >= 1.
Topology machineTopology(const MachineSize &machine, int64_t ranks);

} // namespace headrace::topology
