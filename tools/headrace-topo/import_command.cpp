// import: topologies of other programs' files. Each format has its own options.
#include "tools/command_line/options.h"
#include "tools/command_line/text_output.h"
#include "tools/headrace-topo/commands.h"
#include "tools/headrace-topo/machine_structure.h"
#include "tools/headrace-topo/nccl_xml.h"
#include "tools/headrace-topo/slurm_conf.h"

#include <fstream>
#include <iostream>

namespace headrace::topo {
namespace {

struct Request {
  std::string path;
  std::string output;
};

Options optionsOf(Request &request) {
  Options options("see headrace-topo import --help");
  options.word("a file", request.path).path("--output", request.output);
  return options;
}

Status checkFile(const std::string &path) {
  return std::ifstream(path) ? Status() : makeError(ErrorKind::kUser, "cannot open: ", path);
}

Status write(const Request &request, const Description &made) {
  TextOutput output;
  HR_RETURN_IF_ERROR(output.open(request.output));
  for (const std::string &note : made.notes) {
    std::cerr << "headrace-topo: " << request.path << ": " << note << "\n";
  }
  return output.write(topology::formatTopology(made.topology));
}

Status writeStructure(const Request &request, NodeStructure structure, const char *format,
                      const Placement &placement) {
  if (structure.name.empty()) {
    structure.name = format;
  }
  Expected<Description> made = describe(structure, {}, placement);
  return made.ok() ? write(request, *made) : made.status().at(request.path);
}

Status importNccl(const Arguments &arguments) {
  Request request;
  Placement placement;
  HR_RETURN_IF_ERROR(optionsOf(request)
                         .count("--nodes", placement.nodes, 1, Placement::kNodesMax)
                         .read(arguments));
  HR_RETURN_IF_ERROR(checkFile(request.path));
  HR_ASSIGN_OR_RETURN(NodeStructure structure, readNcclXml(request.path));
  return writeStructure(request, std::move(structure), "nccl", placement);
}

Status importHwloc(const Arguments &arguments) {
  Request request;
  Placement placement;
  HR_RETURN_IF_ERROR(optionsOf(request)
                         .count("--nodes", placement.nodes, 1, Placement::kNodesMax)
                         .count("--ranks", placement.ranks, 1, Placement::kRanksMax)
                         .read(arguments));
  HR_RETURN_IF_ERROR(checkFile(request.path));
  HR_ASSIGN_OR_RETURN(NodeStructure structure, readHwlocXml(request.path));
  return writeStructure(request, std::move(structure), "hwloc", placement);
}

Status importSlurm(const Arguments &arguments) {
  Request request;
  std::string node;
  HR_RETURN_IF_ERROR(optionsOf(request).text("--node", node).read(arguments));
  if (node.empty()) {
    return makeError(ErrorKind::kUser, "slurm says nothing of the nodes: needs --node TOPOLOGY");
  }
  HR_RETURN_IF_ERROR(checkFile(request.path));
  Description made;
  HR_ASSIGN_OR_RETURN(made.topology, topology::openTopology(node, 1));
  made.topology.name = "slurm";
  HR_RETURN_IF_ERROR(applySlurmTopology(request.path, node, made));
  return write(request, made);
}

} // namespace

Status importCommand(const Arguments &arguments) {
  if (arguments.empty()) {
    return makeError(ErrorKind::kUser,
                     "needs a format and a file\nsee headrace-topo import --help");
  }
  Arguments rest(arguments.begin() + 1, arguments.end());
  if (arguments.front() == "nccl") {
    return importNccl(rest);
  }
  if (arguments.front() == "hwloc") {
    return importHwloc(rest);
  }
  if (arguments.front() == "slurm") {
    return importSlurm(rest);
  }
  return makeError(ErrorKind::kUser, "format must be nccl, hwloc or slurm, and come first, got ",
                   arguments.front());
}

} // namespace headrace::topo
