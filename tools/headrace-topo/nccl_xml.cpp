// Walks system > cpu > pci > (gpu > nvlink | nic > net).
#include "tools/headrace-topo/nccl_xml.h"
#include "tools/headrace-topo/gpus.h"
#include "tools/headrace-topo/xml_file.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>

namespace headrace::topo {
namespace {

constexpr const char *kSwitchClass = "0x068000";
// What a GPU or a network card does is in the first digits of its PCI class.
constexpr const char *kDisplayClass = "0x03";
constexpr const char *kNetworkClass = "0x02";
constexpr double kMegabit = 1e6 / 8;
constexpr double kMegabyte = 1e6;

/// By PCI device; a memory of 0 is that of the model's usual variant.
struct KnownGpu {
  const char *device;
  const char *model;
  const char *architecture;
  double memoryBytes;
  double memoryBytesPerSecond;
};
constexpr KnownGpu kKnownGpus[] = {
    {"0x1db1", "V100", "sm_70", 1.6e10, 9e11},   {"0x1db4", "V100", "sm_70", 1.6e10, 9e11},
    {"0x1db5", "V100", "sm_70", 3.2e10, 9e11},   {"0x1db6", "V100", "sm_70", 3.2e10, 9e11},
    {"0x1db8", "V100", "sm_70", 3.2e10, 9e11},   {"0x20b0", "A100", "sm_80", 4e10, 1.555e12},
    {"0x20b1", "A100", "sm_80", 4e10, 1.555e12}, {"0x20f1", "A100", "sm_80", 4e10, 1.555e12},
    {"0x20b2", "A100", "sm_80", 8e10, 0},        {"0x20b5", "A100", "sm_80", 8e10, 1.935e12},
    {"0x2330", "H100", "sm_90", 8e10, 0},        {"0x2331", "H100", "sm_90", 8e10, 2e12},
    {"0x2321", "H100", "sm_90", 9.4e10, 3.9e12}, {"0x2335", "H200", "sm_90", 1.41e11, 0},
    {"0x233b", "H200", "sm_90", 1.41e11, 0},     {"0x2941", "GB200", "sm_100", 1.86e11, 0},
    {"0x26b9", "L40S", "sm_89", 4.8e10, 0}};

class Reader {
public:
  explicit Reader(NodeStructure &structure) : structure_(structure) {}

  /// Errors: kUser, with the line.
  Status readSystem(const XmlElement &system) {
    structure_.numaNodes = 0;
    structure_.cores = 0;
    for (const XmlElement &child : system.children) {
      if (child.name == "cpu") {
        Place place;
        place.socket = structure_.numaNodes++;
        structure_.cpu.vendor = child.attribute("vendor");
        structure_.cpu.family = static_cast<int64_t>(numberOf(child, "familyid"));
        structure_.cpu.model = static_cast<int64_t>(numberOf(child, "modelid"));
        structure_.cores += coresOf(child.attribute("affinity"));
        structure_.architecture = child.attribute("arch");
        readChildren(child, place);
      }
    }
    structure_.sockets = std::max<int64_t>(1, structure_.numaNodes);
    structure_.threads = std::max<int64_t>(1, structure_.cores);
    finishLinks();
    return status_;
  }

private:
  struct Place {
    int64_t socket = 0;
    int64_t pcieSwitch = -1;
    double linkBytesPerSecond = 0;
    std::string device;
    std::string busId;
  };

  /// Bits of "00000000,0000ffff": logical processors.
  static int64_t coresOf(const std::string &affinity) {
    int64_t bits = 0;
    for (char c : affinity) {
      char text[2] = {c, 0};
      bits += std::popcount(static_cast<unsigned>(std::strtoul(text, nullptr, 16)));
    }
    return bits;
  }

  void note(const std::string &text) {
    std::vector<std::string> &notes = structure_.notes;
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) {
      notes.push_back(text);
    }
  }

  /// 0 if it is not there, or says that it is not known. "16.0 GT/s PCIe" is 16.
  double numberOf(const XmlElement &node, const char *name) {
    std::string text = node.attribute(name);
    char *end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    bool isNumber = end != text.c_str();
    if (isNumber && !(value >= 0 && value < 1e12) && status_.ok()) {
      status_ = makeError(ErrorKind::kUser, "line ", node.line, ": ", name,
                          " must not be negative, got ", text);
    }
    return isNumber && status_.ok() ? value : 0;
  }

  // readXml bounds the depth, and so this recursion.
  void readChildren(const XmlElement &node, const Place &place) {
    for (const XmlElement &child : node.children) {
      if (child.name == "pci") {
        readPci(child, place);
      } else if (child.name == "nic") {
        readChildren(child, place);
      } else if (child.name == "net") {
        readNet(child);
      } else if (child.name == "gpu") {
        readGpu(child, place);
      }
    }
  }

  void readPci(const XmlElement &node, const Place &outer) {
    Place place = outer;
    place.device = node.attribute("device");
    place.busId = node.attribute("busid");
    // "16.0 GT/s PCIe", "16 GT/s", or empty inside a virtual machine.
    place.linkBytesPerSecond =
        pcieBytesPerSecond(numberOf(node, "link_speed"), numberOf(node, "link_width"));
    std::string pciClass = node.attribute("class");
    bool leaf = node.children.empty();
    if (leaf && pciClass.starts_with(kDisplayClass)) {
      readGpu(node, place); // hand-written files name a GPU by its class alone
    } else if (leaf && pciClass.starts_with(kNetworkClass)) {
      structure_.networkCards.push_back({node.attribute("busid"), 0, 0});
    }
    bool holdsPci = false;
    for (const XmlElement &child : node.children) {
      holdsPci |= child.name == "pci";
    }
    if (holdsPci && outer.pcieSwitch < 0) {
      place.pcieSwitch = switches_++;
    }
    readChildren(node, place);
  }

  void readGpu(const XmlElement &node, const Place &place) {
    Gpu gpu;
    gpu.pcieSwitch = place.pcieSwitch;
    gpu.socket = place.socket;
    gpu.linkBytesPerSecond = place.linkBytesPerSecond;
    if (std::string sm = node.attribute("sm"); !sm.empty()) {
      gpu.architecture = "sm_" + std::to_string(static_cast<int64_t>(numberOf(node, "sm")));
    }
    for (const KnownGpu &known : kKnownGpus) {
      bool device = place.device == known.device;
      // Without a device the architecture tells the model, though not the variant.
      bool architecture = place.device.empty() && gpu.architecture == known.architecture;
      if (gpu.model.empty() && (device || architecture)) {
        gpu.model = known.model;
        gpu.architecture = known.architecture;
        gpu.memoryBytes = device ? known.memoryBytes : 0;
        gpu.memoryBytesPerSecond = device ? known.memoryBytesPerSecond : 0;
      }
    }
    if (gpu.model.empty() && !place.device.empty()) {
      note("PCI device " + place.device + ": not a GPU that is known");
    }
    if (node.attribute("gdr") == "1") {
      gpu.networkDirect = Gpu::Direct::kYes;
    }
    Links links{place.busId, {}};
    for (const XmlElement &link : node.children) {
      if (link.name == "c2c") {
        double count = link.attribute("count").empty() ? 1 : numberOf(link, "count");
        gpu.hostLinkBytesPerSecond += numberOf(link, "bw") * count * kMegabyte;
      } else if (link.name == "nvlink") {
        int64_t count = static_cast<int64_t>(numberOf(link, "count"));
        if (link.attribute("tclass") == kSwitchClass) {
          gpu.nvlinks += count;
        } else {
          links.counts[link.attribute("target")] += count;
        }
      }
    }
    structure_.gpus.push_back(std::move(gpu));
    links_.push_back(std::move(links));
  }

  void readNet(const XmlElement &node) {
    NetworkCard card;
    card.name = node.attribute("name");
    card.bytesPerSecond = numberOf(node, "speed") * kMegabit;
    double microseconds = numberOf(node, "latency");
    card.latencySeconds = microseconds * 1e-6;
    structure_.networkCards.push_back(std::move(card));
  }

  /// To a switch, where all have such links; else between pairs, where any has.
  void finishLinks() {
    std::vector<Gpu> &gpus = structure_.gpus;
    auto switched = [](const Gpu &gpu) { return gpu.nvlinks > 0; };
    if (std::any_of(gpus.begin(), gpus.end(), switched)) {
      if (gpus.size() > 1 && std::all_of(gpus.begin(), gpus.end(), switched)) {
        structure_.gpuLinks = NodeStructure::GpuLinks::kSwitch;
        return;
      }
      note("NVLinks of some GPUs to a switch that others are not on: left out");
    }
    for (size_t first = 0; first < gpus.size(); ++first) {
      for (size_t second = first + 1; second < gpus.size(); ++second) {
        int64_t links = std::max(linksTo(first, second), linksTo(second, first));
        if (links > 0) {
          structure_.directLinks.push_back(
              {static_cast<int64_t>(first), static_cast<int64_t>(second), links});
          structure_.gpuLinks = NodeStructure::GpuLinks::kDirect;
        }
      }
      for (const auto &[target, links] : links_[first].counts) {
        if (std::none_of(links_.begin(), links_.end(),
                         [&](const Links &other) { return other.busId == target; })) {
          note("NVLinks to " + target + ", which is not a GPU of the file: left out");
        }
      }
    }
  }

  int64_t linksTo(size_t from, size_t to) const {
    auto found = links_[from].counts.find(links_[to].busId);
    return found == links_[from].counts.end() ? 0 : found->second;
  }

  /// NVLinks of a GPU that are not to a switch, by the bus of what they lead to.
  struct Links {
    std::string busId;
    std::map<std::string, int64_t> counts;
  };

  Status status_;
  std::vector<Links> links_; ///< one a GPU
  NodeStructure &structure_;
  int64_t switches_ = 0;
};

} // namespace

Expected<NodeStructure> readNcclXml(const std::string &path) {
  HR_ASSIGN_OR_RETURN(XmlElement root, readXml(path, "a topology file of NCCL"));
  if (root.name != "system") {
    return makeError(ErrorKind::kUser, "not a topology file of NCCL: expected <system>, got <",
                     root.name, ">")
        .at(path);
  }
  NodeStructure structure;
  if (Status status = Reader(structure).readSystem(root); !status.ok()) {
    return status.at(path);
  }
  if (structure.gpus.empty()) {
    return Status(ErrorKind::kUser,
                  "no GPU in it; dump one with NCCL_TOPO_DUMP_FILE=FILE in a run of NCCL", path);
  }
  return structure;
}

} // namespace headrace::topo
