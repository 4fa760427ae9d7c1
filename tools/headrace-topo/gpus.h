// The GPUs of this machine, as nvidia-smi tells of them.
#pragma once

#include "tools/headrace-topo/node_structure.h"

namespace headrace::topo {

/// Adds GPUs and their links. False if there is no nvidia-smi, or
/// it names no GPU: then the structure stays as it was.
bool addGpusOfThisMachine(NodeStructure &structure);

/// Reads `nvidia-smi --query-gpu=name,memory.total,compute_cap,pcie.link.gen.max,
/// pcie.link.width.max --format=csv,noheader,nounits`.
std::vector<Gpu> parseGpuQuery(const std::string &text);

/// Reads the matrix of `nvidia-smi topo -m`: NVLinks, and which GPUs share a PCIe switch
/// (by each other's cells, or by a network card that both have behind it).
void parseLinkMatrix(const std::string &text, NodeStructure &structure);

/// What a generation and a width of PCIe carry in bytes per second, each direction.
double pcieBytesPerSecond(double gigatransfers, double lanes);

} // namespace headrace::topo
