// detect: the parts of this machine, then measurements of them.
#include "tools/command_line/options.h"
#include "tools/command_line/text_output.h"
#include "tools/headrace-topo/commands.h"
#include "tools/headrace-topo/gpus.h"
#include "tools/headrace-topo/machine_structure.h"
#include "tools/headrace-topo/measure.h"
#include "tools/headrace-topo/measure_disk.h"
#include "tools/headrace-topo/network_cards.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>

namespace headrace::topo {
namespace {

std::string today() {
  std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

void progress(const std::string &line) { std::cerr << "headrace-topo: " << line << "\n"; }

Expected<NodeStructure> structureHere() {
  HR_ASSIGN_OR_RETURN(NodeStructure structure, thisStructure());
  structure.memoryBytes = topology::thisMachine().memoryBytes;
  bool gpus = addGpusOfThisMachine(structure);
  progress(gpus
               ? "  " + std::to_string(structure.gpus.size()) + " × " + structure.gpus.front().model
               : "  no GPU");
  structure.networkCards = networkCardsOfThisMachine();
  for (const NetworkCard &card : structure.networkCards) {
    progress("  network card " + card.name);
  }
  return structure;
}

} // namespace

Status detectCommand(const Arguments &arguments) {
  Placement placement;
  std::string disk;
  std::string path;
  HR_RETURN_IF_ERROR(Options("see headrace-topo detect --help")
                         .count("--ranks", placement.ranks, 1, Placement::kRanksMax)
                         .path("--disk", disk)
                         .path("--output", path)
                         .read(arguments));
  std::error_code error;
  if (!disk.empty() && !std::filesystem::is_directory(disk, error)) {
    return makeError(ErrorKind::kUser, "--disk needs a folder, got ", disk);
  }
  if (disk.empty()) {
    const char *temporary = std::getenv("TMPDIR");
    disk = temporary ? temporary : "/tmp";
  }
  TextOutput output;
  HR_RETURN_IF_ERROR(output.open(path));
  progress("structure");
  HR_ASSIGN_OR_RETURN(NodeStructure structure, structureHere());
  MeasureOptions options;
  options.threads = structure.threads;
  options.cacheBytes = structure.caches.empty() ? 0 : structure.caches.back().capacityBytes;
  options.memoryBytes = structure.memoryBytes;
  options.gpus = static_cast<int64_t>(structure.gpus.size());
  options.diskFolder = disk;
  Rates rates = measureRates(options, progress);
  rates.provenance = {topology::Origin::kMeasured, "", today()};
  structure.disks.clear();
  if (rates.diskReadBytesPerSecond > 0) {
    structure.disks.push_back({"disk", fileSystemBytes(disk)});
  }
  HR_ASSIGN_OR_RETURN(Description made, describe(structure, rates, placement));
  for (const std::string &note : made.notes) {
    progress(note);
  }
  return output.write(topology::formatTopology(made.topology));
}

} // namespace headrace::topo
