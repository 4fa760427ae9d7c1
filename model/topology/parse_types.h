// Reads the entries of `device_types` and `node_types`. Private to model/topology.
#pragma once

#include "model/topology/figure.h"

namespace headrace::topology {

DeviceType readDeviceType(const std::string &name, JsonReader &reader,
                          const FigureDefaults &defaults);
NodeType readNodeType(const std::string &name, JsonReader &reader, const FigureDefaults &defaults);
/// Fails on the reader unless `name` can stand in a route: letters, digits, - and _.
bool expectName(JsonReader &reader, const std::string &name);

} // namespace headrace::topology
