// headrace-topo: writes, imports, checks, draws and compares topology files.
#include "tools/headrace-topo/difference.h"
#include "tools/headrace-topo/draw.h"
#include "tools/headrace-topo/gpus.h"
#include "tools/headrace-topo/machine_structure.h"
#include "tools/headrace-topo/measure.h"
#include "tools/headrace-topo/nccl_xml.h"
#include "tools/headrace-topo/slurm_conf.h"

#include "tools/headrace-run/output_file.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>

namespace {

using namespace headrace;

constexpr const char *kUsage =
    "usage: headrace-topo COMMAND …            (see docs/reference/topology.md)\n"
    "  detect [--ranks N] [--disk FOLDER] [--output FILE]\n"
    "      writes the topology of this machine: its parts, and rates measured in some seconds\n"
    "  import nccl FILE [--nodes N] [--output FILE]     XML of NCCL_TOPO_DUMP_FILE\n"
    "  import hwloc FILE [--ranks N] [--nodes N] [--output FILE]     XML of lstopo\n"
    "  import slurm FILE --node TOPOLOGY [--output FILE]     topology.conf, of such nodes\n"
    "  show TOPOLOGY [--svg FILE]                draws it, as text or as a picture\n"
    "  diff TOPOLOGY TOPOLOGY                    what differs; exits with 1 if anything does\n"
    "  check TOPOLOGY …                          reads and checks it\n"
    "  TOPOLOGY is a file, the name of a shipped one, or machine\n"
    "  --ranks N   slots that a machine without GPUs is divided into (1)\n"
    "  --nodes N   such machines behind one switch (1)\n"
    "  --disk FOLDER   where to measure a disk (TMPDIR, else /tmp); nothing stays there\n"
    "  --output FILE   instead of standard output; appears whole or not at all\n";

constexpr int kDiffers = 1;
constexpr int kTrouble = 2;
constexpr int64_t kRanksMax = 4096;
constexpr int64_t kNodesMax = 1048576;

struct Arguments {
  std::vector<std::string> words;
  std::map<std::string, std::string> options; ///< without the dashes
};

Expected<Arguments> parseArguments(const std::vector<std::string> &all,
                                   const std::vector<std::string> &known) {
  Arguments arguments;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].starts_with("--")) {
      arguments.words.push_back(all[i]);
      continue;
    }
    std::string name = all[i].substr(2);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return makeError(ErrorKind::kUser, "unknown option: ", all[i], "\n", kUsage);
    }
    if (i + 1 == all.size()) {
      return makeError(ErrorKind::kUser, "needs a value: ", all[i]);
    }
    arguments.options[name] = all[++i];
  }
  return arguments;
}

Expected<int64_t> countOption(const Arguments &arguments, const std::string &name, int64_t most) {
  auto option = arguments.options.find(name);
  if (option == arguments.options.end()) {
    return int64_t{1};
  }
  const std::string &text = option->second;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > most) {
    return makeError(ErrorKind::kUser, "--", name, " must be from 1 to ", most, ", got ", text);
  }
  return value;
}

Expected<topo::Placement> placementOf(const Arguments &arguments) {
  topo::Placement placement;
  HR_ASSIGN_OR_RETURN(placement.ranks, countOption(arguments, "ranks", kRanksMax));
  HR_ASSIGN_OR_RETURN(placement.nodes, countOption(arguments, "nodes", kNodesMax));
  return placement;
}

Status writeText(const std::string &text, const std::string &path) {
  if (path.empty()) {
    std::cout << text << std::flush;
    return std::cout ? Status() : makeError(ErrorKind::kIo, "cannot write to standard output");
  }
  run::OutputFile output(path);
  std::ofstream file(output.path(), std::ios::binary);
  file << text;
  if (!file.flush()) {
    return makeError(ErrorKind::kIo, "cannot write: ", path);
  }
  file.close();
  return output.commit();
}

std::string outputOf(const Arguments &arguments, const char *option = "output") {
  auto found = arguments.options.find(option);
  return found == arguments.options.end() ? "" : found->second;
}

std::string today() {
  std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[16];
  std::strftime(text, sizeof(text), "%Y-%m-%d", std::gmtime(&now));
  return text;
}

/// The memory that this process may use: the machine's, or its control group's.
double usableMemory(double machineBytes) {
  std::ifstream file("/sys/fs/cgroup/memory.max");
  double limit = 0;
  return file >> limit && limit > 0 ? std::min(limit, machineBytes) : machineBytes;
}

Status detect(const std::vector<std::string> &words) {
  HR_ASSIGN_OR_RETURN(Arguments arguments, parseArguments(words, {"ranks", "disk", "output"}));
  if (!arguments.words.empty()) {
    return makeError(ErrorKind::kUser, "unexpected argument: ", arguments.words.front());
  }
  HR_ASSIGN_OR_RETURN(topo::Placement placement, placementOf(arguments));
  auto progress = [](const std::string &line) { std::cerr << "headrace-topo: " << line << "\n"; };
  progress("structure");
  HR_ASSIGN_OR_RETURN(topo::NodeStructure structure, topo::thisStructure());
  structure.memoryBytes = usableMemory(structure.memoryBytes);
  progress(topo::addGpusOfThisMachine(structure)
               ? "  " + std::to_string(structure.gpus.size()) + " × " + structure.gpus.front().model
               : "  no GPU");
  topo::MeasureOptions options;
  options.threads = structure.threads;
  options.cacheBytes = structure.caches.empty() ? 0 : structure.caches.back().capacityBytes;
  options.memoryBytes = structure.memoryBytes;
  options.gpus = static_cast<int64_t>(structure.gpus.size());
  const char *temporary = std::getenv("TMPDIR");
  options.diskFolder = arguments.options.contains("disk") ? arguments.options["disk"]
                       : temporary                        ? temporary
                                                          : "/tmp";
  topo::Rates rates = topo::measureRates(options, progress);
  rates.provenance = {topology::Origin::kMeasured, "", today()};
  structure.disks.clear();
  if (rates.diskReadBytesPerSecond > 0) {
    structure.disks.push_back({"disk", topo::fileSystemBytes(options.diskFolder)});
  }
  HR_ASSIGN_OR_RETURN(topology::Topology made, topo::describe(structure, rates, placement));
  return writeText(topology::formatTopology(made), outputOf(arguments));
}

Status import(const std::vector<std::string> &words) {
  HR_ASSIGN_OR_RETURN(Arguments arguments,
                      parseArguments(words, {"ranks", "nodes", "node", "output"}));
  if (arguments.words.size() != 2) {
    return makeError(ErrorKind::kUser, "import needs a format and a file\n", kUsage);
  }
  const std::string &format = arguments.words[0];
  const std::string &path = arguments.words[1];
  HR_ASSIGN_OR_RETURN(topo::Placement placement, placementOf(arguments));
  topology::Topology made;
  if (!std::ifstream(path)) {
    return makeError(ErrorKind::kUser, "cannot open: ", path);
  }
  if (format == "slurm") {
    if (!arguments.options.contains("node")) {
      return makeError(ErrorKind::kUser, "slurm says nothing of the nodes: needs --node TOPOLOGY");
    }
    HR_ASSIGN_OR_RETURN(made, topology::openTopology(arguments.options["node"], 1));
    made.name = "slurm";
    HR_RETURN_IF_ERROR(topo::applySlurmTopology(path, made));
  } else if (format == "nccl" || format == "hwloc") {
    HR_ASSIGN_OR_RETURN(topo::NodeStructure structure,
                        format == "nccl" ? topo::readNcclXml(path) : topo::readHwlocXml(path));
    if (structure.name.empty()) {
      structure.name = format;
    }
    Expected<topology::Topology> described = topo::describe(structure, {}, placement);
    if (!described.ok()) {
      return described.status().at(path);
    }
    made = std::move(*described);
  } else {
    return makeError(ErrorKind::kUser, "format must be nccl, hwloc or slurm, got ", format);
  }
  return writeText(topology::formatTopology(made), outputOf(arguments));
}

Status show(const std::vector<std::string> &words) {
  HR_ASSIGN_OR_RETURN(Arguments arguments, parseArguments(words, {"svg"}));
  if (arguments.words.size() != 1) {
    return makeError(ErrorKind::kUser, "show needs one topology\n", kUsage);
  }
  HR_ASSIGN_OR_RETURN(topology::Topology topology, topology::openTopology(arguments.words[0], 1));
  std::string svg = outputOf(arguments, "svg");
  return svg.empty() ? writeText(topo::drawText(topology), "")
                     : writeText(topo::drawSvg(topology), svg);
}

Status check(const std::vector<std::string> &words) {
  HR_ASSIGN_OR_RETURN(Arguments arguments, parseArguments(words, {}));
  if (arguments.words.empty()) {
    return makeError(ErrorKind::kUser, "check needs a topology\n", kUsage);
  }
  for (const std::string &name : arguments.words) {
    HR_ASSIGN_OR_RETURN(topology::Topology topology, topology::openTopology(name, 1));
    std::cout << name << ": " << topology.rankCount() << " ranks on " << topology.nodeCount()
              << " nodes, hash " << topology.hash << "\n";
  }
  return {};
}

Expected<int> diff(const std::vector<std::string> &words) {
  HR_ASSIGN_OR_RETURN(Arguments arguments, parseArguments(words, {}));
  if (arguments.words.size() != 2) {
    return makeError(ErrorKind::kUser, "diff needs two topologies\n", kUsage);
  }
  HR_ASSIGN_OR_RETURN(topology::Topology left, topology::openTopology(arguments.words[0], 1));
  HR_ASSIGN_OR_RETURN(topology::Topology right, topology::openTopology(arguments.words[1], 1));
  std::vector<topo::Difference> found = topo::differences(left, right);
  for (const topo::Difference &difference : found) {
    const char *sign = difference.left.empty() ? "+ " : difference.right.empty() ? "- " : "~ ";
    bool both = !difference.left.empty() && !difference.right.empty();
    std::cout << sign << difference.path << ": " << difference.left << (both ? " → " : "")
              << difference.right << "\n";
  }
  return found.empty() ? 0 : kDiffers;
}

int report(const Status &status, int code) {
  if (status.ok()) {
    return 0;
  }
  std::cerr << "headrace-topo: " << (status.place().empty() ? "" : status.place() + ": ")
            << status.message() << "\n";
  return code;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    (words.empty() ? std::cerr : std::cout) << kUsage;
    return words.empty() ? 1 : 0;
  }
  std::string command = words[0];
  words.erase(words.begin());
  if (command == "detect") {
    return report(detect(words), 1);
  }
  if (command == "import") {
    return report(import(words), 1);
  }
  if (command == "show") {
    return report(show(words), 1);
  }
  if (command == "check") {
    return report(check(words), 1);
  }
  if (command == "diff") {
    Expected<int> done = diff(words);
    return done.ok() ? *done : report(done.status(), kTrouble);
  }
  return report(makeError(ErrorKind::kUser, "unknown command: ", command, "\n", kUsage), 1);
}
