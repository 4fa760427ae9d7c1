// Walks system > cpu > pci > (gpu > nvlink | nic > net) with libxml2.
#include "tools/headrace-topo/nccl_xml.h"
#include "tools/headrace-topo/gpus.h"

#include <bit>
#include <cstdlib>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <memory>

namespace headrace::topo {
namespace {

constexpr const char *kSwitchClass = "0x068000";
// What a GPU or a network card does is in the first digits of its PCI class.
constexpr const char *kDisplayClass = "0x03";
constexpr const char *kNetworkClass = "0x02";
constexpr double kMegabit = 1e6 / 8;

struct KnownGpu {
  const char *device;
  const char *model;
  const char *architecture;
};
constexpr KnownGpu kKnownGpus[] = {{"0x1db", "V100", "sm_70"},  {"0x20b", "A100", "sm_80"},
                                   {"0x2330", "H100", "sm_90"}, {"0x2331", "H100", "sm_90"},
                                   {"0x2335", "H200", "sm_90"}, {"0x2941", "GB200", "sm_100"},
                                   {"0x26b9", "L40S", "sm_89"}, {"", "", ""}};

std::string attribute(xmlNodePtr node, const char *name) {
  std::unique_ptr<xmlChar, void (*)(void *)> text(
      xmlGetProp(node, reinterpret_cast<const xmlChar *>(name)), [](void *p) { xmlFree(p); });
  return text ? reinterpret_cast<const char *>(text.get()) : "";
}

double numberOf(xmlNodePtr node, const char *name) {
  double value = std::strtod(attribute(node, name).c_str(), nullptr);
  return value > 0 && value < 1e12 ? value : 0;
}

bool named(xmlNodePtr node, const char *name) {
  return node->type == XML_ELEMENT_NODE &&
         xmlStrEqual(node->name, reinterpret_cast<const xmlChar *>(name));
}

class Reader {
public:
  explicit Reader(NodeStructure &structure) : structure_(structure) {}

  void readSystem(xmlNodePtr system) {
    structure_.numaNodes = 0;
    structure_.cores = 0;
    for (xmlNodePtr child = system->children; child; child = child->next) {
      if (named(child, "cpu")) {
        ++structure_.numaNodes;
        structure_.cores += coresOf(attribute(child, "affinity"));
        structure_.architecture = attribute(child, "arch");
        readChildren(child, Place{});
      }
    }
    structure_.cores = std::max<int64_t>(1, structure_.cores);
    structure_.threads = structure_.cores;
    finishLinks();
  }

private:
  struct Place {
    int64_t pcieSwitch = -1;
    double linkBytesPerSecond = 0;
    std::string device;
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

  // libxml2 refuses documents deeper than 256, which bounds this recursion.
  void readChildren(xmlNodePtr node, const Place &place) {
    for (xmlNodePtr child = node->children; child; child = child->next) {
      if (named(child, "pci")) {
        readPci(child, place);
      } else if (named(child, "nic")) {
        readChildren(child, place);
      } else if (named(child, "net")) {
        readNet(child);
      } else if (named(child, "gpu")) {
        readGpu(child, place);
      }
    }
  }

  void readPci(xmlNodePtr node, const Place &outer) {
    Place place = outer;
    place.device = attribute(node, "device");
    // "16.0 GT/s PCIe", "16 GT/s", or empty inside a virtual machine.
    place.linkBytesPerSecond =
        pcieBytesPerSecond(numberOf(node, "link_speed"), numberOf(node, "link_width"));
    std::string pciClass = attribute(node, "class");
    bool leaf = xmlFirstElementChild(node) == nullptr;
    if (leaf && pciClass.starts_with(kDisplayClass)) {
      readGpu(node, place); // hand-written files name a GPU by its class alone
    } else if (leaf && pciClass.starts_with(kNetworkClass)) {
      structure_.networkCards.push_back({attribute(node, "busid"), 0, 0});
    }
    bool holdsPci = false;
    for (xmlNodePtr child = node->children; child; child = child->next) {
      holdsPci |= named(child, "pci");
    }
    if (holdsPci && outer.pcieSwitch < 0) {
      place.pcieSwitch = switches_++;
    }
    readChildren(node, place);
  }

  void readGpu(xmlNodePtr node, const Place &place) {
    Gpu gpu;
    gpu.pcieSwitch = place.pcieSwitch;
    gpu.linkBytesPerSecond = place.linkBytesPerSecond;
    if (std::string sm = attribute(node, "sm"); !sm.empty()) {
      gpu.architecture = "sm_" + std::to_string(static_cast<int64_t>(numberOf(node, "sm")));
    }
    for (const KnownGpu &known : kKnownGpus) {
      bool device = *known.device && place.device.starts_with(known.device);
      bool architecture = *known.device && place.device.empty() && !gpu.architecture.empty() &&
                          gpu.architecture == known.architecture;
      if (gpu.model.empty() && (device || architecture)) {
        gpu.model = known.model;
        gpu.architecture = known.architecture;
      }
    }
    if (attribute(node, "gdr") == "1") {
      gpu.networkDirect = Gpu::Direct::kYes;
    }
    for (xmlNodePtr link = node->children; link; link = link->next) {
      if (named(link, "nvlink")) {
        gpu.nvlinks += static_cast<int64_t>(numberOf(link, "count"));
        ++gpu.nvlinkPeers;
        switched_ |= attribute(link, "tclass") == kSwitchClass;
      }
    }
    structure_.gpus.push_back(std::move(gpu));
  }

  void readNet(xmlNodePtr node) {
    NetworkCard card;
    card.name = attribute(node, "name");
    card.bytesPerSecond = numberOf(node, "speed") * kMegabit;
    double microseconds = numberOf(node, "latency");
    card.latencySeconds = microseconds * 1e-6;
    structure_.networkCards.push_back(std::move(card));
  }

  void finishLinks() {
    int64_t others = static_cast<int64_t>(structure_.gpus.size()) - 1;
    bool every = others > 0;
    for (const Gpu &gpu : structure_.gpus) {
      every &= gpu.nvlinks > 0 && (switched_ || gpu.nvlinkPeers == others);
    }
    if (every) {
      structure_.gpuLinks =
          switched_ ? NodeStructure::GpuLinks::kSwitch : NodeStructure::GpuLinks::kDirect;
    }
  }

  NodeStructure &structure_;
  int64_t switches_ = 0;
  bool switched_ = false;
};

} // namespace

Expected<NodeStructure> readNcclXml(const std::string &path) {
  // No network, no entities, no huge documents; what is wrong is said by us, once.
  constexpr int kOptions = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
  std::unique_ptr<xmlDoc, void (*)(xmlDocPtr)> document(
      xmlReadFile(path.c_str(), nullptr, kOptions), &xmlFreeDoc);
  if (!document) {
    const xmlError *error = xmlGetLastError();
    std::string reason = error && error->message ? error->message : "not XML";
    while (!reason.empty() && reason.back() == '\n') {
      reason.pop_back();
    }
    int line = error ? error->line : 0;
    return makeError(ErrorKind::kUser, "not a topology file of NCCL: ", reason,
                     line > 0 ? ", line " + std::to_string(line) : "")
        .at(path);
  }
  xmlNodePtr root = xmlDocGetRootElement(document.get());
  if (!root || !named(root, "system")) {
    return makeError(ErrorKind::kUser, "not a topology file of NCCL: expected <system>, got <",
                     root ? reinterpret_cast<const char *>(root->name) : "", ">")
        .at(path);
  }
  NodeStructure structure;
  Reader(structure).readSystem(root);
  if (structure.gpus.empty()) {
    return Status(ErrorKind::kUser,
                  "no GPU in it; dump one with NCCL_TOPO_DUMP_FILE=FILE in a run of NCCL", path);
  }
  return structure;
}

} // namespace headrace::topo
