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

  // CHECK-LABEL: func.func @hashed
  // CHECK: %[[NEAR:.*]] = dist.exchange hash %arg0 keys ["k"] over ["gpu"] toward ["node", "gpu"]
  // CHECK: dist.exchange hash %[[NEAR]] keys ["k"] over ["node"] toward ["node", "gpu"]
  func.func @hashed(%t: !frame.table<"k": i64>) -> !frame.table<"k": i64> {
    %0 = dist.reshard %t : !frame.table<"k": i64> from #dist.layout<@mesh, rows = block over ["node", "gpu"]>
        to #dist.layout<@mesh, rows = hash<["k"]> over ["node", "gpu"]> in levels
    return %0 : !frame.table<"k": i64>
  }

  // Groups of a node are combined before they leave it.
  // CHECK-LABEL: func.func @groups
  // CHECK: %[[PARTS:.*]] = frame.aggregate stage partial %arg0
  // CHECK: %[[NEAR:.*]] = dist.exchange hash %[[PARTS]] keys ["k"] over ["gpu"] toward ["node", "gpu"]
  // CHECK: %[[FEWER:.*]] = frame.aggregate stage final %[[NEAR]] keys ["k"] measures [#frame.measure<count("n") -> "n">]
  // CHECK: %[[ALL:.*]] = dist.exchange hash %[[FEWER]] keys ["k"] over ["node"] toward ["node", "gpu"]
  // CHECK: frame.aggregate stage final %[[ALL]] keys ["k"] measures [#frame.measure<count("n") -> "n">]
  func.func @groups(%t: !frame.table<"k": i64>) -> !frame.table<"k": i64, "n": i64> {
    %0 = frame.aggregate %t keys ["k"] measures [#frame.measure<count_star -> "n">] : !frame.table<"k": i64> -> !frame.table<"k": i64, "n": i64>
    %1 = dist.reshard %0 : !frame.table<"k": i64, "n": i64> from #dist.layout<@mesh, unreduced = {"node": sum, "gpu": sum}>
        to #dist.layout<@mesh, rows = hash<["k"]> over ["node", "gpu"]> in levels
    return %1 : !frame.table<"k": i64, "n": i64>
  }

  // The first of each node chooses before the first of all; only that one leaves rows out at the front.
  // CHECK-LABEL: func.func @first_rows
  // CHECK: %[[OWN:.*]] = frame.topk %arg0 by {{.*}} count 7
  // CHECK: %[[NODE:.*]] = dist.exchange gather %[[OWN]] over ["gpu"]
  // CHECK: %[[FEWER:.*]] = frame.topk %[[NODE]] by {{.*}} count 7
  // CHECK: %[[ALL:.*]] = dist.exchange gather %[[FEWER]] over ["node"]
  // CHECK: frame.topk %[[ALL]] by {{.*}} offset 2 count 5
  func.func @first_rows(%t: !frame.table<"k": i64>) -> !frame.table<"k": i64> {
    %0 = frame.topk %t by [#frame.sort_key<"k" asc nulls_last>] offset 2 count 5 : !frame.table<"k": i64>
    %1 = dist.reshard %0 : !frame.table<"k": i64> from #dist.layout<@mesh, unreduced = {"node": topk, "gpu": topk}>
        to #dist.layout<@mesh, rows = root over ["node", "gpu"]> in levels
    return %1 : !frame.table<"k": i64>
  }
}
