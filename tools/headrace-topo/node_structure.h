// What one machine consists of, as hwloc, NCCL and nvidia-smi tell it, and the topology made of it.
#pragma once

#include "model/topology/topology.h"

#include <string>
#include <vector>

namespace headrace::topo {

struct Gpu {
  std::string model;                 ///< as its maker names it, or empty
  std::string architecture;          ///< "sm_90", or empty
  double memoryBytes = 0;            ///< 0 = unknown
  double memoryBytesPerSecond = 0;   ///< as its maker states; 0 = as others of its model
  double linkBytesPerSecond = 0;     ///< of its PCIe slot, each direction; 0 = unknown
  double hostLinkBytesPerSecond = 0; ///< of a link of its own to the CPU (NVLink-C2C); 0 = none
  int64_t nvlinks = 0;               ///< to a switch
  enum class Direct : uint8_t { kNo, kYes } networkDirect = Direct::kNo; ///< GPUDirect RDMA
  int64_t pcieSwitch = -1;                                               ///< -1 = none
  int64_t socket = -1;                                                   ///< -1 = unknown
};

/// By CPUID: what its makers tell of it.
struct CpuModel {
  std::string vendor; ///< "GenuineIntel", "AuthenticAMD", or empty
  int64_t family = 0;
  int64_t model = 0;
};

/// From one CPU socket to the others, as firmware tells; 0 = it does not.
struct SocketLink {
  double bytesPerSecond = 0;
  double latencyRatio = 0; ///< of another socket's memory against the own one's
};

/// NVLinks between two GPUs, by their indexes.
struct GpuLink {
  int64_t first = 0;
  int64_t second = 0;
  int64_t links = 0;
};

struct NetworkCard {
  std::string name;
  double bytesPerSecond = 0; ///< each direction; 0 = unknown
  double latencySeconds = 0; ///< 0 = unknown
};

struct Disk {
  std::string name;
  double capacityBytes = 0;
};

/// One node, before rates are known.
struct NodeStructure {
  std::string name;
  std::string architecture; ///< "x86-64-v3", "aarch64"
  int64_t cores = 1;
  int64_t threads = 1;
  int64_t numaNodes = 1;
  int64_t sockets = 1; ///< each with its part of the memory
  CpuModel cpu;
  SocketLink socketLink;
  double memoryBytes = 0; ///< 0 = unknown
  std::vector<topology::Cache> caches;
  std::vector<Gpu> gpus;
  enum class GpuLinks : uint8_t { kPcie, kDirect, kSwitch } gpuLinks = GpuLinks::kPcie;
  std::vector<GpuLink> directLinks; ///< of kDirect; pairs without are reached over PCIe
  std::vector<NetworkCard> networkCards;
  std::vector<Disk> disks;
  std::vector<std::string> notes; ///< for people: what was assumed, and what was left out
};

/// A rate of this machine.
struct Measured {
  double value = 0;           ///< 0 = not measured
  double relativeError = 0.3; ///< of one run, whose spread nobody knows

  Measured() = default;
  Measured(double once) : value(once) {}
  Measured(double median, double spread) : value(median), relativeError(spread) {}
  operator double() const { return value; }
};

/// What a codec does to rows of tables, on all cores together.
struct CodecRates {
  std::string name;
  double ratio = 1;
  Measured compressBytesPerSecond;   ///< of plain bytes
  Measured decompressBytesPerSecond; ///< of plain bytes
};

/// Copies of the first GPUs; 0 = not measured.
struct GpuRates {
  Measured memoryBytesPerSecond; ///< read and written by a copy within one GPU
  Measured toHostBytesPerSecond; ///< pinned
  Measured fromHostBytesPerSecond;
  Measured hostLatencySeconds;
  Measured peerBytesPerSecond; ///< from the first to the second; 0 also if it has no way there
  Measured peerLatencySeconds;
};

/// Rates of a machine, measured or assumed. What is 0 is replaced by an assumption.
struct Rates {
  topology::Provenance provenance;
  Measured streamBytesPerSecond;   ///< all cores together
  Measured coreCopyBytesPerSecond; ///< one core, bytes copied
  Measured memoryLatencySeconds;   ///< of one dependent access
  Measured handOverSeconds;        ///< from one thread to another and back, halved
  Measured taskLaunchSeconds;
  std::map<std::string, Measured> coreCompute; ///< operations per second of one core
  /// Bytes per second of all cores, by the bytes of the working set.
  std::map<double, Measured> randomAccess;
  Measured diskReadBytesPerSecond;
  Measured diskWriteBytesPerSecond;
  Measured diskLatencySeconds;
  std::vector<CodecRates> codecs;
  GpuRates gpu;
};

struct Placement {
  static constexpr int64_t kRanksMax = 4096;
  static constexpr int64_t kNodesMax = 1048576;
  int64_t ranks = 1; ///< slots that a node without GPUs is divided into
  int64_t nodes = 1; ///< such nodes, behind one switch
};

struct Description {
  topology::Topology topology;
  std::vector<std::string> notes; ///< the structure's, and what was assumed beyond it
};

/// The whole topology. Rates that nobody measured are assumed, and say so.
Expected<Description> describe(const NodeStructure &structure, const Rates &rates,
                               const Placement &placement);

} // namespace headrace::topo
