// Walks hwloc's tree for cores, caches, memory, GPUs, network cards and disks.
#include "tools/headrace-topo/machine_structure.h"
#include "tools/headrace-topo/xml_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <hwloc.h>
#include <hwloc/distances.h>
#include <hwloc/memattrs.h>
#include <memory>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headrace::topo {
namespace {

constexpr unsigned kVendorNvidia = 0x10de;
constexpr unsigned kDisplayClass = 0x03;

struct DestroyTopology {
  void operator()(hwloc_topology *topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

int64_t countOf(hwloc_topology_t topology, hwloc_obj_type_t type) {
  return std::max(0, hwloc_get_nbobjs_by_type(topology, type));
}

std::string infoOf(hwloc_obj_t object, const char *name) {
  const char *text = hwloc_obj_get_info_by_name(object, name);
  return text ? text : "";
}

std::vector<topology::Cache> cachesOf(hwloc_topology_t topology) {
  std::vector<topology::Cache> caches;
  constexpr hwloc_obj_type_t kLevels[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                          HWLOC_OBJ_L4CACHE};
  int64_t cores = std::max<int64_t>(1, countOf(topology, HWLOC_OBJ_CORE));
  for (size_t level = 0; level < std::size(kLevels); ++level) {
    hwloc_obj_t first = hwloc_get_obj_by_type(topology, kLevels[level], 0);
    if (first && first->attr->cache.size > 0) {
      topology::Cache cache;
      cache.level = static_cast<int64_t>(level) + 1;
      cache.capacityBytes = static_cast<double>(first->attr->cache.size);
      cache.sharers = std::max<int64_t>(1, cores / countOf(topology, kLevels[level]));
      caches.push_back(cache);
    }
  }
  return caches;
}

/// The topmost bridge below the host's own: what neighbours share.
int64_t switchOf(hwloc_obj_t device) {
  hwloc_obj_t below = nullptr;
  for (hwloc_obj_t object = device->parent; object && object->type == HWLOC_OBJ_BRIDGE;
       object = object->parent) {
    if (object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI) {
      below = object;
    }
  }
  return below ? static_cast<int64_t>(below->gp_index) : -1;
}

/// The package that an object is in, or is; -1 if it is in none alone.
int64_t socketOf(hwloc_topology_t topology, hwloc_obj_t object) {
  hwloc_obj_t package = object->type == HWLOC_OBJ_PACKAGE
                            ? object
                            : hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, object);
  return package ? static_cast<int64_t>(package->logical_index) : -1;
}

/// The first memory of a package.
hwloc_obj_t memoryOf(hwloc_topology_t topology, int64_t socket) {
  hwloc_obj_t memory = nullptr;
  while ((memory = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, memory))) {
    if (socketOf(topology, memory) == socket) {
      return memory;
    }
  }
  return nullptr;
}

/// Packages, if each has memory; else they count as one.
int64_t socketsOf(hwloc_topology_t topology) {
  int64_t packages = countOf(topology, HWLOC_OBJ_PACKAGE);
  for (int64_t socket = 0; socket < packages; ++socket) {
    if (!memoryOf(topology, socket)) {
      return 1;
    }
  }
  return std::max<int64_t>(1, packages);
}

/// What the firmware's tables (SLIT, HMAT) tell of the way from the first socket to the second.
SocketLink socketLinkOf(hwloc_topology_t topology) {
  SocketLink link;
  hwloc_obj_t near = memoryOf(topology, 0);
  hwloc_obj_t far = memoryOf(topology, 1);
  if (!near || !far) {
    return link;
  }
  hwloc_location from = {};
  from.type = HWLOC_LOCATION_TYPE_CPUSET;
  from.location.cpuset = near->cpuset;
  hwloc_uint64_t mebibytes = 0;
  if (hwloc_memattr_get_value(topology, HWLOC_MEMATTR_ID_BANDWIDTH, far, &from, 0, &mebibytes) ==
      0) {
    link.bytesPerSecond = static_cast<double>(mebibytes) * 1048576;
  }
  unsigned count = 1;
  hwloc_distances_s *distances = nullptr;
  if (hwloc_distances_get_by_name(topology, "NUMALatency", &count, &distances, 0) == 0 &&
      count > 0) {
    hwloc_uint64_t across = 0;
    hwloc_uint64_t within = 0;
    hwloc_uint64_t back = 0;
    if (hwloc_distances_obj_pair_values(distances, near, far, &across, &back) == 0 &&
        hwloc_distances_obj_pair_values(distances, near, near, &within, &back) == 0 && within > 0) {
      link.latencyRatio = static_cast<double>(across) / static_cast<double>(within);
    }
    hwloc_distances_release(topology, distances);
  }
  return link;
}

CpuModel cpuOf(hwloc_topology_t topology) {
  CpuModel cpu;
  if (hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0)) {
    cpu.vendor = infoOf(package, "CPUVendor");
    cpu.family = std::strtol(infoOf(package, "CPUFamilyNumber").c_str(), nullptr, 10);
    cpu.model = std::strtol(infoOf(package, "CPUModelNumber").c_str(), nullptr, 10);
  }
  return cpu;
}

void addGpus(hwloc_topology_t topology, NodeStructure &structure) {
  hwloc_obj_t device = nullptr;
  while ((device = hwloc_get_next_pcidev(topology, device))) {
    const auto &pci = device->attr->pcidev;
    if (pci.vendor_id != kVendorNvidia || (pci.class_id >> 8) != kDisplayClass) {
      continue;
    }
    Gpu gpu;
    gpu.model = device->name ? device->name : infoOf(device, "PCIDevice");
    gpu.linkBytesPerSecond = static_cast<double>(pci.linkspeed) * 1e9;
    gpu.pcieSwitch = switchOf(device);
    hwloc_obj_t below = hwloc_get_non_io_ancestor_obj(topology, device);
    gpu.socket = below ? socketOf(topology, below) : -1;
    structure.gpus.push_back(std::move(gpu));
  }
}

void addDevices(hwloc_topology_t topology, NodeStructure &structure) {
  hwloc_obj_t device = nullptr;
  while ((device = hwloc_get_next_osdev(topology, device))) {
    std::string name = device->name ? device->name : "";
    if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS) {
      NetworkCard card;
      card.name = name;
      if (device->parent && device->parent->type == HWLOC_OBJ_PCI_DEVICE) {
        card.bytesPerSecond = static_cast<double>(device->parent->attr->pcidev.linkspeed) * 1e9;
      }
      structure.networkCards.push_back(std::move(card));
    } else if (device->attr->osdev.type == HWLOC_OBJ_OSDEV_BLOCK) {
      // hwloc counts in KiB.
      double kibibytes = std::strtod(infoOf(device, "Size").c_str(), nullptr);
      if (kibibytes > 0 && infoOf(device, "Type") != "Removable Media Device") {
        structure.disks.push_back({name, kibibytes * 1024});
      }
    }
  }
}

Expected<NodeStructure> structureOf(hwloc_topology_t topology) {
  hwloc_obj_t root = hwloc_get_root_obj(topology);
  NodeStructure structure;
  structure.threads = std::max<int64_t>(1, countOf(topology, HWLOC_OBJ_PU));
  structure.cores = countOf(topology, HWLOC_OBJ_CORE);
  if (structure.cores == 0) {
    structure.cores = structure.threads;
  }
  structure.numaNodes = std::max<int64_t>(1, countOf(topology, HWLOC_OBJ_NUMANODE));
  structure.sockets = socketsOf(topology);
  structure.cpu = cpuOf(topology);
  structure.socketLink = socketLinkOf(topology);
  structure.memoryBytes = static_cast<double>(root->total_memory);
  structure.caches = cachesOf(topology);
  structure.architecture = infoOf(root, "Architecture");
  structure.name = infoOf(root, "HostName");
  addGpus(topology, structure);
  addDevices(topology, structure);
  return structure;
}

HwlocTopology makeTopology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) {
    return nullptr;
  }
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  return HwlocTopology(topology);
}

/// Null if hwloc refuses the file.
HwlocTopology loadXml(const std::string &path) {
  HwlocTopology topology = makeTopology();
  bool loaded = topology && hwloc_topology_set_xml(topology.get(), path.c_str()) == 0 &&
                hwloc_topology_load(topology.get()) == 0;
  return loaded ? std::move(topology) : nullptr;
}

/// hwloc (2.9) trusts its files: a damaged one can make it fail in any way. So a child tries first.
/// Only for a process without other threads.
bool loadsInChild(const std::string &path) {
  constexpr unsigned kSecondsMax = 10;
  pid_t child = fork();
  if (child == 0) {
    rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    alarm(kSecondsMax);
    HwlocTopology topology = loadXml(path);
    _exit(topology && structureOf(topology.get()).ok() ? 0 : 1);
  }
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

Expected<NodeStructure> thisStructure() {
  HwlocTopology topology = makeTopology();
  if (!topology || hwloc_topology_load(topology.get()) != 0) {
    // no test: hwloc reads every Linux
    return makeError(ErrorKind::kIo, "hwloc cannot read this machine: ", std::strerror(errno));
  }
  HR_ASSIGN_OR_RETURN(NodeStructure structure, structureOf(topology.get()));
  // hwloc names PCI devices; nvidia-smi knows more of them.
  structure.gpus.clear();
  structure.networkCards.clear(); // as /sys does
#if defined(__x86_64__)
  structure.architecture = __builtin_cpu_supports("x86-64-v4")   ? "x86-64-v4"
                           : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3"
                           : __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2"
                                                                 : "x86-64";
#endif
  return structure;
}

Expected<NodeStructure> readHwlocXml(const std::string &path) {
  // hwloc gives no reason: what is no XML at all is told by readXml.
  HR_ASSIGN_OR_RETURN(XmlElement root, readXml(path, "an hwloc XML file"));
  if (root.name != "topology") {
    return Status(ErrorKind::kUser,
                  "not an hwloc XML file: expected <topology>, got <" + root.name + ">", path);
  }
  setenv("HWLOC_HIDE_ERRORS", "2", 1); // what is wrong is said by us, once
  HwlocTopology topology = loadsInChild(path) ? loadXml(path) : nullptr;
  if (!topology) {
    return Status(ErrorKind::kUser, "not an hwloc XML file: hwloc refuses what is in it", path);
  }
  HR_ASSIGN_OR_RETURN(NodeStructure structure, structureOf(topology.get()));
  if (!structure.gpus.empty()) {
    // hwloc says nothing of who reaches whom over NVLink unless NVML was there.
    structure.gpuLinks = NodeStructure::GpuLinks::kPcie;
    structure.notes.push_back("hwloc does not tell of NVLinks: GPUs reach each other over PCIe");
  }
  return structure;
}

} // namespace headrace::topo
