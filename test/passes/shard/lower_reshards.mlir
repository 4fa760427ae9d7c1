// A reshard becomes the steps of its plan: collectives of tensors, exchanges of tables, a second op for parts.
// RUN: headrace-opt %s --shard-lower-reshards | FileCheck %s
// CHECK-NOT: dist.reshard

!t = !frame.table<"k": i64, "n": i64>
#block = #dist.layout<@mesh, rows = block over ["r"]>
#hash = #dist.layout<@mesh, rows = hash<["k"]> over ["r"]>
#root = #dist.layout<@mesh, rows = root over ["r"]>
#all = #dist.layout<@mesh>
#whole = #dist.layout<@mesh, dims = [[], []]>
#rows = #dist.layout<@mesh, dims = [["r"], []]>
#columns = #dist.layout<@mesh, dims = [[], ["r"]]>
#sums = #dist.layout<@mesh, dims = [[], []], unreduced = {"r": sum}>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  // CHECK-LABEL: func.func @tensors
  func.func @tensors(%x: tensor<8x4xf32>) {
    // CHECK: dist.slice %{{.*}} dim 0 over ["r"]
    %0 = dist.reshard %x : tensor<8x4xf32> from #whole to #rows
    // CHECK: dist.all_gather %{{.*}} dim 0 over ["r"]
    %1 = dist.reshard %x : tensor<8x4xf32> from #rows to #whole
    // CHECK: dist.all_to_all %{{.*}} split 1 concat 0 over ["r"]
    %2 = dist.reshard %x : tensor<8x4xf32> from #rows to #columns
    // CHECK: dist.all_reduce sum %{{.*}} over ["r"]
    %3 = dist.reshard %x : tensor<8x4xf32> from #sums to #whole
    // CHECK: dist.reduce_scatter sum %{{.*}} dim 1 over ["r"]
    %4 = dist.reshard %x : tensor<8x4xf32> from #sums to #columns
    return
  }

  // CHECK-LABEL: func.func @tables
  func.func @tables(%t: !t) {
    // CHECK: dist.exchange hash %{{.*}} keys ["k"] over ["r"]
    %0 = dist.reshard %t : !t from #block to #hash
    // CHECK: dist.exchange broadcast %{{.*}} over ["r"]
    %1 = dist.reshard %t : !t from #block to #all
    // CHECK: dist.exchange gather %{{.*}} over ["r"]
    %2 = dist.reshard %t : !t from #block to #root
    // What every rank has does not move.
    // CHECK: dist.keep %{{.*}} keys ["k"] over ["r"]
    %3 = dist.reshard %t : !t from #all to #hash
    return
  }

  // Parts come together, and the op finishes them: a count adds up counts.
  // CHECK-LABEL: func.func @parts
  func.func @parts(%t: !t) -> !t {
    // CHECK: %[[PART:.*]] = frame.aggregate stage partial %{{.*}} measures [#frame.measure<count("n") -> "n">]
    // CHECK: %[[TOGETHER:.*]] = dist.exchange hash %[[PART]] keys ["k"] over ["r"]
    // CHECK: %[[WHOLE:.*]] = frame.aggregate stage final %[[TOGETHER]] keys ["k"] measures [#frame.measure<count("n") -> "n">]
    // CHECK: return %[[WHOLE]]
    %a = frame.aggregate %t keys ["k"] measures [#frame.measure<count("n") -> "n">] : !t -> !t
    %0 = dist.reshard %a : !t from #dist.layout<@mesh, unreduced = {"r": #frame.contract<[count]>}> to #hash
    return %0 : !t
  }
}
