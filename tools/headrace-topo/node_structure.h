// What one machine consists of, as hwloc, NCCL and nvidia-smi tell it, and the topology made of it.
#pragma once

#include "runtime/model/topology/topology.h"

#include <string>
#include <vector>

namespace headrace::topo {

struct Gpu {
  std::string model;             ///< as its maker names it, or empty
  std::string architecture;      ///< "sm_90", or empty
  double memoryBytes = 0;        ///< 0 = unknown
  double linkBytesPerSecond = 0; ///< of its PCIe slot, each direction; 0 = unknown
  int64_t nvlinks = 0;           ///< to all others together
  int64_t nvlinkPeers = 0;       ///< GPUs it is linked to directly; all others if by a switch
  enum class Direct : uint8_t { kNo, kYes } networkDirect = Direct::kNo; ///< GPUDirect RDMA
  int64_t pcieSwitch = -1;                                               ///< -1 = none
};

struct NetworkCard {
  std::string name;
  double bytesPerSecond = 0; ///< each direction
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
  double memoryBytes = 0; ///< 0 = unknown
  std::vector<topology::Cache> caches;
  std::vector<Gpu> gpus;
  enum class GpuLinks : uint8_t { kPcie, kDirect, kSwitch } gpuLinks = GpuLinks::kPcie;
  std::vector<NetworkCard> networkCards;
  std::vector<Disk> disks;
};

/// What a codec does to rows of tables, on all cores together.
struct CodecRates {
  std::string name;
  double ratio = 1;
  double compressBytesPerSecond = 0;   ///< of plain bytes
  double decompressBytesPerSecond = 0; ///< of plain bytes
};

/// Copies of the first GPUs; 0 = not measured.
struct GpuRates {
  double memoryBytesPerSecond = 0; ///< read and written by a copy within one GPU
  double toHostBytesPerSecond = 0; ///< pinned
  double fromHostBytesPerSecond = 0;
  double hostLatencySeconds = 0;
  double peerBytesPerSecond = 0; ///< from the first to the second; 0 also if it has no way there
  double peerLatencySeconds = 0;
};

/// Rates of a machine, measured or assumed. What is 0 is replaced by an assumption.
struct Rates {
  double relativeError = 0.5;
  topology::Provenance provenance;
  double streamBytesPerSecond = 0;   ///< all cores together
  double coreCopyBytesPerSecond = 0; ///< one core, bytes copied
  double memoryLatencySeconds = 0;   ///< of one dependent access
  double handOverSeconds = 0;        ///< from one thread to another and back, halved
  double taskLaunchSeconds = 0;
  std::map<std::string, double> coreCompute;             ///< operations per second of one core
  std::vector<topology::RandomAccessPoint> randomAccess; ///< of all cores
  double diskReadBytesPerSecond = 0;
  double diskWriteBytesPerSecond = 0;
  double diskLatencySeconds = 0;
  std::vector<CodecRates> codecs;
  GpuRates gpu;
};

struct Placement {
  int64_t ranks = 1; ///< slots that a node without GPUs is divided into
  int64_t nodes = 1; ///< such nodes, behind one switch
};

/// The whole topology. Rates that nobody measured are assumed, and say so.
Expected<topology::Topology> describe(const NodeStructure &structure, const Rates &rates,
                                      const Placement &placement);

} // namespace headrace::topo
