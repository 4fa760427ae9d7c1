// Runs nvidia-smi, for at most some seconds, and reads its table and its matrix.
#include "tools/headrace-topo/gpus.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

namespace headrace::topo {
namespace {

constexpr double kMebibyte = 1048576;

/// What a command prints; nothing if it fails or takes long.
std::string outputOf(const std::string &command) {
  std::unique_ptr<FILE, int (*)(FILE *)> pipe(
      popen(("timeout 10 " + command + " 2>/dev/null").c_str(), "r"), &pclose);
  std::string text;
  if (!pipe) {
    return text;
  }
  std::array<char, 4096> block;
  constexpr size_t kOutputMax = size_t{1} << 20;
  while (size_t read = std::fread(block.data(), 1, block.size(), pipe.get())) {
    text.append(block.data(), read);
    if (text.size() > kOutputMax) {
      return {};
    }
  }
  return pclose(pipe.release()) == 0 ? text : std::string();
}

std::string trimmed(std::string text) {
  auto space = [](unsigned char c) { return std::isspace(c) != 0; };
  text.erase(text.begin(), std::find_if_not(text.begin(), text.end(), space));
  text.erase(std::find_if_not(text.rbegin(), text.rend(), space).base(), text.end());
  return text;
}

/// A cell of the matrix: itself, NVLinks, or a way through PCIe.
bool isLink(const std::string &cell) {
  return cell == "X" || cell == "SYS" || cell == "NODE" || cell == "PHB" || cell == "PXB" ||
         cell == "PIX" || (cell.starts_with("NV") && cell.size() > 2 && std::isdigit(cell[2]) != 0);
}

/// NVLinks that a cell tells of.
int64_t linksOf(const std::string &cell) {
  return cell.starts_with("NV") ? std::strtol(cell.c_str() + 2, nullptr, 10) : 0;
}

/// NVLinks that one GPU of an architecture has.
int64_t nvlinksMax(const std::string &architecture) {
  if (architecture == "sm_70") {
    return 6;
  }
  return architecture == "sm_80" ? 12 : 18;
}

/// Memories are numbered socket by socket. -1 if it is not one that is known.
int64_t socketOfMemory(const std::string &text, const NodeStructure &structure) {
  bool number =
      !text.empty() && text.size() < 6 && text.find_first_not_of("0123456789") == std::string::npos;
  int64_t memory = number ? std::strtol(text.c_str(), nullptr, 10) : -1;
  bool known = memory >= 0 && memory < structure.numaNodes;
  return known ? memory * structure.sockets / structure.numaNodes : -1;
}

} // namespace

double pcieBytesPerSecond(double gigatransfers, double lanes) {
  // Generations 1 and 2 send ten bits for a byte, later ones hardly more than eight.
  double bitsPerByte = gigatransfers <= 5 ? 10 : 8;
  return gigatransfers * 1e9 * lanes / bitsPerByte;
}

std::vector<Gpu> parseGpuQuery(const std::string &text) {
  std::vector<Gpu> gpus;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, ',');) {
      fields.push_back(trimmed(field));
    }
    if (fields.size() != 5 || fields[0].empty()) {
      continue;
    }
    Gpu gpu;
    gpu.model = fields[0];
    gpu.memoryBytes = std::strtod(fields[1].c_str(), nullptr) * kMebibyte;
    std::string capability = fields[2];
    std::erase(capability, '.');
    gpu.architecture = "sm_" + capability;
    constexpr double kGigatransfers[] = {0, 2.5, 5, 8, 16, 32, 64};
    size_t generation = std::strtoul(fields[3].c_str(), nullptr, 10);
    if (generation < std::size(kGigatransfers)) {
      gpu.linkBytesPerSecond =
          pcieBytesPerSecond(kGigatransfers[generation], std::strtod(fields[4].c_str(), nullptr));
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

void parseLinkMatrix(const std::string &text, NodeStructure &structure) {
  size_t count = structure.gpus.size();
  std::vector<std::vector<std::string>> cells(count);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream parts(line);
    std::string label;
    parts >> label;
    if (!label.starts_with("GPU") || label.size() < 4) {
      continue;
    }
    size_t row = std::strtoul(label.c_str() + 3, nullptr, 10);
    // GPUs, then network cards; behind them come cores. In the heading, what follows is "GPU1".
    std::vector<std::string> entries;
    std::string entry;
    while (parts >> entry && isLink(entry)) {
      entries.push_back(entry);
    }
    if (row < count && entries.size() >= count) {
      cells[row] = entries;
      // The cores that are near ended the loop; behind them is the memory: "0", "0-1" or "N/A".
      entry.clear();
      parts >> entry;
      structure.gpus[row].socket = socketOfMemory(entry, structure);
    }
  }
  bool everyPair = count > 1;
  std::vector<size_t> peers(count, 0);
  for (size_t row = 0; row < count; ++row) {
    Gpu &gpu = structure.gpus[row];
    gpu.pcieSwitch = static_cast<int64_t>(row);
    for (size_t column = 0; column < cells[row].size(); ++column) {
      const std::string &cell = cells[row][column];
      bool behindSwitch = cell == "PIX" || cell == "PXB";
      if (column >= count) {
        // GPUs with NVLinks to each other do not tell of their PCIe switch; a card behind it does.
        for (size_t other = 0; behindSwitch && other < row; ++other) {
          if (column < cells[other].size() && cells[other][column] == cell) {
            gpu.pcieSwitch = std::min(gpu.pcieSwitch, structure.gpus[other].pcieSwitch);
          }
        }
        continue;
      }
      if (int64_t links = linksOf(cell); links > 0) {
        gpu.nvlinks += links;
        ++peers[row];
        if (column > row) {
          structure.directLinks.push_back(
              {static_cast<int64_t>(row), static_cast<int64_t>(column), links});
        }
      }
      if (column < row && behindSwitch) {
        gpu.pcieSwitch = std::min(gpu.pcieSwitch, structure.gpus[column].pcieSwitch);
      }
    }
    everyPair &= peers[row] == count - 1;
  }
  // Behind a switch every pair shows all links of the GPU: more than it has in total.
  const Gpu &first = structure.gpus.front();
  if (everyPair && first.nvlinks > nvlinksMax(first.architecture)) {
    structure.gpuLinks = NodeStructure::GpuLinks::kSwitch;
    structure.directLinks.clear();
    for (Gpu &gpu : structure.gpus) {
      gpu.nvlinks /= static_cast<int64_t>(count) - 1;
    }
  } else if (!structure.directLinks.empty()) {
    structure.gpuLinks = NodeStructure::GpuLinks::kDirect;
  }
}

bool addGpusOfThisMachine(NodeStructure &structure) {
  std::vector<Gpu> gpus = parseGpuQuery(
      outputOf("nvidia-smi --query-gpu=name,memory.total,compute_cap,pcie.link.gen.max,"
               "pcie.link.width.max --format=csv,noheader,nounits"));
  if (gpus.empty()) {
    return false;
  }
  structure.gpus = std::move(gpus);
  parseLinkMatrix(outputOf("nvidia-smi topo -m"), structure);
  return true;
}

} // namespace headrace::topo
