// RUN: headrace-opt %s | headrace-opt | FileCheck %s
// CHECK: topo.mesh = #topo.mesh<@cluster, [("node", 2), ("gpu", 8)]>
// CHECK-SAME: topo.topology = #topo.topology<"p5-2node", hash = "00ff">
module attributes {
  topo.mesh = #topo.mesh<@cluster, [("node", 2), ("gpu", 8)]>,
  topo.topology = #topo.topology<"p5-2node", hash = "00ff">
} {}
