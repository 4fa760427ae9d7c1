// Where a layout is not the one that a user needs stands a reshard, one for all users with the same need.
// RUN: headrace-opt %s --shard-insert-reshards | FileCheck %s

!t = !frame.table<"k": i64>
#block = #dist.layout<@mesh, rows = block over ["r"]>
#hash = #dist.layout<@mesh, rows = hash<["k"]> over ["r"]>
#root = #dist.layout<@mesh, rows = root over ["r"]>
#whole = #dist.layout<@mesh, dims = [[]]>
#half = #dist.layout<@mesh, dims = [["r"]]>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  // CHECK-LABEL: func.func @shared
  func.func @shared() -> (!t, !t) {
    // CHECK: %[[T:.*]] = frame.scan
    // CHECK-NEXT: %[[MOVED:.*]] = dist.reshard %[[T]] : {{.*}} from <@mesh, rows = block over ["r"]> to <@mesh, rows = hash<["k"]> over ["r"]>
    %t = frame.scan "t" ["k"] {dist.layouts = [#block]} : !t
    // CHECK-NEXT: %[[A:.*]] = frame.distinct %[[MOVED]]
    // CHECK-NEXT: %[[B:.*]] = frame.aggregate %[[MOVED]]
    // CHECK-NOT: dist.needs
    %a = frame.distinct %t {dist.layouts = [#hash], dist.needs = [#hash]} : !t
    %b = frame.aggregate %t keys ["k"] measures [] {dist.layouts = [#hash], dist.needs = [#hash]} : !t -> !t
    // What is as it is needed stays.
    // CHECK: return %[[A]], %[[B]]
    return {dist.needs = [#hash, #hash]} %a, %b : !t, !t
  }

  // In levels if the need says so.
  // CHECK-LABEL: func.func @levels
  func.func @levels() -> !t {
    // CHECK: dist.reshard %{{.*}} to <@mesh, rows = root over ["r"]> in levels
    %t = frame.scan "t" ["k"] {dist.layouts = [#block]} : !t
    return {dist.needs = [#root], dist.levels = array<i1: true>} %t : !t
  }

  // An empty tensor is made again in the layout: nothing moves. What the user asked for is done.
  // CHECK-LABEL: func.func @made_again
  func.func @made_again(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {dist.layouts = [#whole]} {
    // CHECK-NOT: dist.reshard
    // CHECK: tensor.empty() {dist.layouts = [#dist.layout<@mesh, dims = {{\[\[}}"r"]]>]}
    // CHECK-NOT: dist.constrain
    %e = tensor.empty() {dist.layouts = [#whole]} : tensor<8xf32>
    %c = dist.constrain %x : tensor<8xf32> to #whole {dist.layouts = [#whole], dist.needs = [#whole]}
    // CHECK: return
    return {dist.needs = [#half, #whole]} %e, %c : tensor<8xf32>, tensor<8xf32>
  }
}
