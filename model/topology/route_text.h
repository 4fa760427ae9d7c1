// The small texts inside a topology file: endpoints ("gpu[i].hbm") and hops ("pcisw[i/2]",
// "nvl[j].in"). Private to model/topology.
#pragma once

#include "model/topology/json_reader.h"
#include "model/topology/topology.h"

namespace headrace::topology {

/// Reads an endpoint of `node`; "host" is the memory of the node's CPU group. Fails on the reader.
Endpoint readEndpoint(JsonReader &reader, const NodeType &node);

/// Reads one hop of a route. Fails on the reader if its text is malformed.
Hop readHop(JsonReader &reader);

/// The hop as the file writes it.
std::string hopText(const Hop &hop);
/// The endpoint as the file writes it; `index` is for every device.
std::string endpointText(const Endpoint &endpoint, const char *index);

} // namespace headrace::topology
