// The ranks that share a channel, each with a place among them.
#pragma once

#include "runtime/base/status.h"
#include "runtime/transport/transport.h"

#include <vector>

namespace headrace {

/// `given`, or if there are none all ranks of the transport.
std::vector<int> membersOr(std::vector<int> given, const Transport &transport);

/// The place of a message's source among the members of its channel, which ascend. kCorrupt: it is
/// none of them.
Expected<int> placeOf(int source, const std::vector<int> &members, ChannelId channel);

} // namespace headrace
