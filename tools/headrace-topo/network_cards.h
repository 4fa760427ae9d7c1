// The network cards of this machine, as the kernel tells of them.
#pragma once

#include "tools/headrace-topo/node_structure.h"

namespace headrace::topo {

/// InfiniBand ports if there are any; else Ethernet that is up, and in a container the first of its
/// virtual interfaces. The rate is 0 where the kernel does not know it.
std::vector<NetworkCard> networkCardsOfThisMachine();

} // namespace headrace::topo
