// show, list, diff and check: what is asked of topologies that exist.
#include "tools/command_line/commands.h"
#include "tools/command_line/options.h"
#include "tools/command_line/text_output.h"
#include "tools/headrace-topo/commands.h"
#include "tools/headrace-topo/difference.h"
#include "tools/headrace-topo/draw.h"
#include "tools/headrace-topo/units.h"

#include <iostream>

namespace headrace::topo {

Status showCommand(const Arguments &arguments) {
  std::string name;
  std::string svg;
  HR_RETURN_IF_ERROR(Options("see headrace-topo show --help")
                         .word("a topology", name)
                         .path("--svg", svg)
                         .read(arguments));
  HR_ASSIGN_OR_RETURN(topology::Topology topology, topology::openTopology(name, 1));
  TextOutput output;
  HR_RETURN_IF_ERROR(output.open(svg));
  return output.write(svg.empty() ? drawText(topology) : drawSvg(topology));
}

Status listCommand(const Arguments &arguments) {
  HR_RETURN_IF_ERROR(Options("see headrace-topo list --help").read(arguments));
  for (const std::string &name : topology::shippedTopologyNames()) {
    HR_ASSIGN_OR_RETURN(topology::Topology topology, topology::shippedTopology(name));
    std::cout << name << ": " << countedText(topology.rankCount(), "rank") << " on "
              << countedText(topology.nodeCount(), "node") << "\n";
  }
  std::cout << "machine: this one, divided among the ranks\n";
  return {};
}

Status checkCommand(const Arguments &arguments) {
  Arguments names;
  HR_RETURN_IF_ERROR(
      Options("see headrace-topo check --help").words("a topology", names).read(arguments));
  Status last;
  for (const std::string &name : names) {
    Expected<topology::Topology> topology = topology::openTopology(name, 1);
    if (!topology.ok()) {
      (void)exitStatus(last); // says what is wrong; the last one is told by the caller
      last = topology.status();
      continue;
    }
    std::cout << name << ": " << countedText(topology->rankCount(), "rank") << " on "
              << countedText(topology->nodeCount(), "node") << ", hash " << topology->hash << "\n";
  }
  return last;
}

Expected<Comparison> diffCommand(const Arguments &arguments) {
  std::string first;
  std::string second;
  HR_RETURN_IF_ERROR(Options("see headrace-topo diff --help")
                         .word("two topologies", first)
                         .word("a second topology", second)
                         .read(arguments));
  HR_ASSIGN_OR_RETURN(topology::Topology left, topology::openTopology(first, 1));
  HR_ASSIGN_OR_RETURN(topology::Topology right, topology::openTopology(second, 1));
  std::vector<Difference> found = differences(left, right);
  for (const Difference &difference : found) {
    const char *sign = difference.left.empty() ? "+ " : difference.right.empty() ? "- " : "~ ";
    bool both = !difference.left.empty() && !difference.right.empty();
    std::cout << sign << difference.path << ": " << difference.left << (both ? " → " : "")
              << difference.right << difference.remark << "\n";
  }
  return found.empty() ? Comparison::kEqual : Comparison::kDiffers;
}

} // namespace headrace::topo
