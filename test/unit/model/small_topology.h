// Two nodes of two CPUs each, as a document, which tests of topologies change.
#pragma once

#include <nlohmann/json.hpp>

namespace headrace::topology {

inline nlohmann::json smallTopology() {
  return nlohmann::json::parse(R"({
    "schema": "topology/1", "name": "small", "units": "SI",
    "device_types": {"cpu-a": {"class": "cpu", "cores": 4,
        "mem": {"space": "host", "capacity": 1e9, "bw": {"v": 1e10, "eff": 0.5, "rel_err": 0.1}}}},
    "node_types": {"n": {"devices": {"cpu": ["cpu-a", 2]},
        "resources": {"nic": {"bw": 1e9, "alpha": 1e-5, "duplex": "full"}, "bus": {"bw": 2e9}},
        "routes": [{"from": "cpu[i].host", "to": "cpu[j].host", "via": ["bus"]},
                   {"from": "cpu[i].host", "to": "net", "via": ["bus", "nic[0].out"]}]}},
    "fabric": {"kind": "switch", "tiers": [{"bw": 1e9}]},
    "instances": [{"type": "n", "count": 2}]
  })");
}

} // namespace headrace::topology
