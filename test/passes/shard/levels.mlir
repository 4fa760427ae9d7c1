// What goes over several axes goes over one after the other where the reshard says so: a sum over the outer axis of the part
// that each rank has of it, rows that all ranks get over the outer axis first.
// Sources: passes/shard/reshard_plan.cpp, passes/shard/lower_reshards.cpp
// RUN: headrace-opt %s --shard-lower-reshards | FileCheck %s

module attributes {topo.mesh = #topo.mesh<@mesh, [("node", 2), ("gpu", 4)]>} {
  // CHECK-LABEL: func.func @sum
  // CHECK: %[[PART:.*]] = dist.reduce_scatter sum %arg0 dim 1 over ["gpu"]
  // CHECK: %[[SUM:.*]] = dist.all_reduce sum %[[PART]] over ["node"]
  // CHECK: dist.all_gather %[[SUM]] dim 1 over ["gpu"]
  func.func @sum(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
    %0 = dist.reshard %x : tensor<2x8xf32> from #dist.layout<@mesh, dims = [[], []], unreduced = {"node": sum, "gpu": sum}>
        to #dist.layout<@mesh, dims = [[], []]> in levels
    return %0 : tensor<2x8xf32>
  }

  // A dimension that is too small for a part on each rank is no help.
  // CHECK-LABEL: func.func @small
  // CHECK: dist.all_reduce sum %arg0 over ["node", "gpu"]
  func.func @small(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = dist.reshard %x : tensor<2x3xf32> from #dist.layout<@mesh, dims = [[], []], unreduced = {"node": sum, "gpu": sum}>
        to #dist.layout<@mesh, dims = [[], []]> in levels
    return %0 : tensor<2x3xf32>
  }

  // CHECK-LABEL: func.func @rows
  // CHECK: %[[NEAR:.*]] = dist.exchange broadcast %arg0 over ["node"]
  // CHECK: dist.exchange broadcast %[[NEAR]] over ["gpu"]
  func.func @rows(%t: !frame.table<"k": i64>) -> !frame.table<"k": i64> {
    %0 = dist.reshard %t : !frame.table<"k": i64> from #dist.layout<@mesh, rows = block over ["node", "gpu"]>
        to #dist.layout<@mesh> in levels
    return %0 : !frame.table<"k": i64>
  }

  // CHECK-LABEL: func.func @at_once
  // CHECK: dist.exchange broadcast %arg0 over ["node", "gpu"]
  // CHECK-NOT: dist.exchange
  func.func @at_once(%t: !frame.table<"k": i64>) -> !frame.table<"k": i64> {
    %0 = dist.reshard %t : !frame.table<"k": i64> from #dist.layout<@mesh, rows = block over ["node", "gpu"]>
        to #dist.layout<@mesh>
    return %0 : !frame.table<"k": i64>
  }
}
