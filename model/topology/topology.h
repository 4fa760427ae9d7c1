// The described cluster: device types, nodes with their shared resources and routes, templates of
// nodes, fabric, and fitted collectives. Plain values, read from JSON (schema topology/1,
// docs/reference/topology.md) or made for this machine.
#pragma once

#include "model/topology/quantity.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::topology {

enum class DeviceClass : uint8_t { kCpu, kGpu, kStorage };
/// "cpu", "gpu", "storage".
const char *deviceClassName(DeviceClass deviceClass);

/// Achieved bytes per second of random access, for one size of the working set.
struct RandomAccessPoint {
  double workingSetBytes = 0;
  Quantity bytesPerSecond;
};

/// One level of a device's caches.
struct Cache {
  int64_t level = 1;
  double capacityBytes = 0; ///< of one such cache
  Quantity bandwidth;       ///< bytes per second of all such caches together; 0 = unknown
  int64_t sharers = 1;      ///< cores that share one
};

/// A way to make bytes fewer, on one kind of device with all of its cores.
struct Codec {
  std::string name;                  ///< "lz4", "bitpack"
  Quantity compressBytesPerSecond;   ///< of plain bytes
  Quantity decompressBytesPerSecond; ///< of plain bytes
  Quantity ratio = 2; ///< plain bytes over compressed ones, where the data do not say; at least 1
  double relativeError = 0.15; ///< the largest of the three
};

/// One kind of device: what it computes and the memory it owns.
struct DeviceType {
  std::string name;
  DeviceClass deviceClass = DeviceClass::kCpu;
  std::string architecture; ///< "sm_90", "x86-64-v4", or empty
  int64_t cores = 1;        ///< CPU cores or streaming multiprocessors
  int64_t numaNodes = 1;
  std::map<std::string, Quantity>
      compute;                        ///< element kind ("f32", "i64") to flop/s, efficiency applied
  double computeRelativeError = 0.15; ///< the largest of `compute`
  /// Seconds a unit of each term of a plan's work on one core (cost/task_time.h), as calibrated on
  /// the device; a term that is missing is assumed.
  std::map<std::string, double> workSeconds;
  double workRelativeError = 0.5;
  Quantity launchSeconds;      ///< fixed time of starting one kernel
  Quantity graphLaunchSeconds; ///< of one kernel inside a recorded graph; 0 = unknown
  Quantity synchronizeSeconds; ///< of waiting for the device from its host; 0 = unknown
  std::string space;           ///< name of its memory space ("hbm", "host", "nvme")
  double capacityBytes = 0;    ///< usable bytes: capacity less what the runtime itself needs
  Quantity totalBytes;         ///< capacity as stated
  Quantity reservedBytes;      ///< what the runtime itself and its libraries need of it
  Quantity memoryBandwidth;    ///< achieved streaming bytes per second, efficiency applied
  Quantity readBandwidth;      ///< storage only
  Quantity writeBandwidth;     ///< storage only
  Quantity latencySeconds;     ///< of one read; for memory the fixed time of a kernel's first bytes
  Quantity writeLatencySeconds; ///< storage only
  int64_t readQueueDepth = 0;   ///< requests in flight that reach the bandwidth; 0 = unknown
  int64_t writeQueueDepth = 0;
  std::vector<RandomAccessPoint> randomAccess; ///< ascending working sets; may be empty
  std::vector<Cache> caches;                   ///< ascending levels; may be empty
  Quantity pinnedBytesMax;           ///< of host memory, what may be pinned; 0 = all of it
  Quantity pinSecondsPerByte;        ///< cost of pinning memory
  Quantity coreCopyBandwidth;        ///< what one core copies; 0 = unknown
  double pageBytes = 0;              ///< granularity of allocation; 0 = unknown
  int64_t saturatingCores = 0;       ///< cores that reach the memory bandwidth; 0 = unknown
  int64_t copyEngines = 0;           ///< copies that run beside kernels; 0 = unknown
  int64_t communicationCoresMax = 0; ///< cores that collectives take from kernels; 0 = none
  std::vector<Codec> codecs;         ///< by name
  enum class DirectAccess : uint8_t {
    kNo,
    kYes
  } directAccess = DirectAccess::kNo; ///< storage: by devices, not through the host
  Quantity meanTimeBetweenFailures;   ///< seconds of one device; 0 = unknown
};

/// How concurrent transfers share a resource's bandwidth (the words are SimGrid's).
enum class Sharing : uint8_t {
  kShared,  ///< the sum of all transfers is bounded
  kFatpipe, ///< every transfer alone is bounded
};

/// A name of a device group with a divisor, as "gpu/2": one for every two GPUs.
struct PerDevice {
  std::string group; ///< empty: unstated
  int64_t divisor = 1;
};

/// What a resource does beside carrying bytes.
struct ResourceAbility {
  bool multicast = false;    ///< a switch sends one message to many
  bool reduce = false;       ///< a switch adds messages on their way
  bool directAccess = false; ///< a network card reads and writes device memory itself
  bool limiter = false;      ///< bounds other resources together, is no link of its own
};

/// A thing inside a node that transfers go through.
struct Resource {
  std::string name;
  int64_t count = 1;
  Quantity bandwidth; ///< bytes per second of each, and of each direction if fullDuplex
  Quantity latencySeconds;
  Sharing sharing = Sharing::kShared;
  bool fullDuplex = false;
  Quantity bothDirectionsMax; ///< bytes per second of both directions together; 0 = no limit
  PerDevice per;
  std::string rail;     ///< device group whose index is the rail; or empty
  Quantity postSeconds; ///< of each message after the first to another rank; 0: its latency
  std::map<std::string, Quantity> byEngine; ///< part of the bandwidth each copying engine reaches
  Quantity pageableFraction;   ///< part of the bandwidth for memory that is not pinned; 0 = unknown
  std::string pageableBoundBy; ///< what bounds such copies as well ("cpu.copy_core"), or empty
  std::vector<std::string> members; ///< resources and device groups behind this one
  ResourceAbility ability;
};

/// The number in brackets: a constant, or the endpoint's index divided by a constant.
struct IndexExpression {
  enum class Base : uint8_t { kConstant, kSource, kTarget } base = Base::kConstant;
  int64_t divisor = 1;
  int64_t constant = 0;
  bool operator==(const IndexExpression &) const = default;
};

enum class Direction : uint8_t { kNone, kOut, kIn, kRead, kWrite };

/// One hop of a route, as `pcie[i].up`.
struct Hop {
  std::string resource; ///< a resource, or a device group of class storage
  IndexExpression index;
  Direction direction = Direction::kNone;
  bool operator==(const Hop &) const = default;
};

/// `gpu[i].hbm`, `gpu[3].hbm`, `host` (the memory of the node's CPU), or `net` (the node's edge).
struct Endpoint {
  static constexpr int64_t kEvery = -1;
  std::string group; ///< device group; empty for the network
  std::string space;
  int64_t index = kEvery; ///< of the one device meant
  bool isNetwork() const { return group.empty(); }
  bool operator==(const Endpoint &) const = default;
};

struct Route {
  Endpoint source;
  Endpoint target;
  std::vector<Hop> via;
  std::string needs = {}; ///< "gds", "gdr", "p2p": what must be set up for it; or empty
  /// How many of its ends mean one device; the source counts more. Goes before less special ones.
  int64_t speciality() const;
};

struct DeviceGroup {
  std::string name; ///< as in routes: "gpu"
  std::string type; ///< key into Topology::deviceTypes
  int64_t count = 1;
};

/// Where data may be kept, fastest first. The runtime's words.
enum class Tier : uint8_t { kDevice, kPinned, kHost, kFile };
/// "device", "pinned", "host", "file".
const char *tierName(Tier tier);

/// One tier of a node.
struct MemoryTier {
  Tier tier = Tier::kHost;
  std::string group; ///< the devices whose memory it is
  std::string space;
  double capacityBytes = 0; ///< of the whole node
};

/// Devices of a node that reach each other at full speed (an NVLink clique).
struct Domain {
  std::string name;
  std::string group;
  std::string clique; ///< the fabric's name for it, or "auto"
};

struct NodeType {
  std::string name;
  std::vector<DeviceGroup> devices;
  std::vector<Resource> resources;
  std::vector<Route> routes;
  std::vector<MemoryTier> tiers; ///< as the file states them; else see memoryTiers()
  std::vector<Domain> domains;
  Quantity meanTimeBetweenFailures; ///< seconds of one node; 0 = unknown

  const DeviceGroup *findGroup(std::string_view group) const;
  const Resource *findResource(std::string_view resource) const;
  /// The most special route from one end to the other, as written; null if there is none. Ends of
  /// every device match routes of every device alone.
  const Route *findRoute(const Endpoint &source, const Endpoint &target) const;
};

struct FabricTier {
  int64_t radix = 0;
  Quantity bandwidth; ///< bytes per second of one port
  Quantity latencySeconds;
  double oversubscription = 1;
};

struct Fabric {
  std::string kind; ///< switch, fat-tree, rail-optimized, dragonfly or torus
  int64_t rails = 1;
  std::vector<FabricTier> tiers;
  Quantity efficiency = {1, 0};
};

/// What fails together. Devices and nodes are levels of their own; templates say the others.
enum class FailureLevel : uint8_t { kDevice, kNode, kRack, kPower };
/// "device", "node", "rack", "power".
const char *failureLevelName(FailureLevel level);

struct Member {
  std::string type; ///< key into Topology::nodeTypes or Topology::groups
  int64_t count = 1;
};

/// A template of nodes and of other templates: a rack, a row, a pod.
struct Group {
  std::string name;
  std::vector<Member> members;
  std::optional<FailureLevel> failureDomain; ///< kRack or kPower, if such a group fails as one
  Quantity meanTimeBetweenFailures;          ///< seconds of one such group; 0 = unknown
};

/// In Topology::instances nodes of one type, in Topology::placements of one type or template.
struct Instance {
  std::string type; ///< key into Topology::nodeTypes (or groups, in placements)
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

/// How many bytes the bandwidth of a fit counts for a buffer of S bytes.
enum class SentBytes : uint8_t {
  kShares, ///< each member's share to the others: v as below
  kWhole,  ///< the buffer: v = 1
  kTree, ///< over a node's port in a tree of k nodes: k−1 edges carry S up and S down, v = 2(k−1)/k
};

/// Fitted time of one algorithm for n members of which p are on other nodes than a given one:
/// base + perStep·steps(n) + perRank·n + perPeer·p + perLog2Node·log2(nodes) + sqrtTerm·√(vS) +
/// sqrtStepTerm·√(steps(n)·vS) + vS/bandwidth,
/// steps n−1 and v = (n−1)/n (both doubled for all-reduce); v = p/n for an all-to-all between
/// nodes; otherwise as `sent` says.
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
  SentBytes sent = SentBytes::kShares;
  double relativeError = 0.15;
  Provenance provenance = {Origin::kFitted, {}, {}};
  std::string library; ///< "own", "nccl", or empty
  std::string domain;  ///< the file's word for the level ("nvlink"); empty means "node" or "net"
  /// Holds for messages of at least this many bytes (a message: the buffer over the members), and
  /// of fewer than the other if that is not 0.
  double messageBytesMin = 0;
  double messageBytesBelow = 0;
};

/// Where figures come from.
struct Source {
  std::string reference;
  std::string date;
  std::string license;
};

struct Topology {
  std::string name;
  std::map<std::string, Source> sources;
  std::map<std::string, DeviceType> deviceTypes;
  std::map<std::string, NodeType> nodeTypes;
  std::map<std::string, Group> groups;
  std::optional<Fabric> fabric;
  /// As the file states them: of node types and groups. May be empty if `instances` is not.
  std::vector<Instance> placements;
  /// All nodes in their order, templates expanded, equal neighbours counted.
  std::vector<Instance> instances;
  std::vector<CollectiveFit> collectives;
  /// 32 hexadecimal digits over the canonical text (formatTopology): equal content, equal hash.
  std::string hash;

  int64_t nodeCount() const;
  /// Compute devices (GPUs where a node has them, else CPUs) of all instances: the places for
  /// ranks.
  int64_t rankCount() const;
};

/// The group of a node type whose devices are ranks: the GPUs, else the CPUs; null if neither.
const DeviceGroup *rankGroup(const Topology &topology, const NodeType &node);

/// The tiers of a node, fastest first: as stated, or one per kind of memory that it has.
std::vector<MemoryTier> memoryTiers(const Topology &topology, const NodeType &node);

/// Fills `instances` from `placements`. Fails (kUser, with the JSON path) if templates contain
/// themselves, nest too deep, or expand to too much. Takes time and memory by the length of the
/// description alone.
Status expandPlacements(Topology &topology);

/// How many domains of a level there are; nodes outside every such template are one each.
int64_t failureDomainCount(const Topology &topology, FailureLevel level);
/// The domain of a node (0 ≤ node < nodeCount()); kDevice is not a level of nodes.
int64_t failureDomainOf(const Topology &topology, FailureLevel level, int64_t node);

/// Reads and checks a topology from JSON text. Errors are of kind kUser and open with the JSON
/// path: "$.node_types.p5.resources.nic.bw: must be positive, got -1".
/// Text is at most 16 MiB, 2^18 values and 32 levels deep.
Expected<Topology> parseTopology(std::string_view json);

/// The checks of parseTopology on structs made otherwise.
Status checkTopology(const Topology &topology);

/// How figures are written: as short as can be, with `defaults` for what most of them say, or
/// each with all of what it says.
enum class FigureText : uint8_t { kShort, kFull };
/// The topology as a file, indented, ending in a newline: parseTopology gives the same again.
std::string formatTopology(const Topology &topology, FigureText figures = FigureText::kShort);
/// What `hash` is for this content.
std::string topologyHash(const Topology &topology);

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

/// The file that `headrace calibrate` writes: HEADRACE_CALIBRATION, or else machine.json in
/// HEADRACE_HOME (default
/// ~/.cache/headrace). Empty if the variable says "off".
std::string calibrationFile();

/// machineTopology of the machine this runs on, with the seconds and rates in the calibration file,
/// if there is one and it is of as many cores. `memoryBytes` 0: all it has. Fails (kUser) on a file
/// that is no topology.
Expected<Topology> hostTopology(int64_t ranks, double memoryBytes = 0);

/// The topology of this name: nothing or "machine" (hostTopology), a shipped one, the text of one,
/// or a file. Where there is none, the error lists the names.
Expected<Topology> openTopology(const std::string &name, int64_t ranks, double memoryBytes = 0);

} // namespace headrace::topology
