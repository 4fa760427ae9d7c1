// Programs that a wrong pass could have made are found out.
// Sources: passes/interpreter/placement.cpp, passes/interpreter/tensor_parts.cpp, passes/interpreter/mesh_ranks.cpp
// RUN: not headrace-interpret %s --tables %S/tables 2>&1 | FileCheck %s

// Each rank returns its own share.
// CHECK: program 1: rank 1 returns something else than the first: row missing
!t = !frame.table<"k": !frame.nullable<!frame.string>>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> !t {
    %t = frame.scan "left" ["k"] {dist.split = ["r"]} : !t
    return %t : !t
  }
}

// -----

// The rows are said to be where the hash of x sends them, but are where that of k does.
// CHECK: program 2: a row is not on the rank that the hash of its keys names
!t = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>>
#all = #dist.layout<@mesh>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> !t {
    %t = frame.scan "left" ["k", "x"] {dist.layouts = [#dist.layout<@mesh, rows = block over ["r"]>]} : !t
    %h = dist.exchange hash %t keys ["k"] over ["r"] {dist.layouts = [#dist.layout<@mesh, rows = hash<["x"]> over ["r"]>]} : !t
    %a = dist.reshard %h : !t from #dist.layout<@mesh, rows = hash<["x"]> over ["r"]> to #all {dist.layouts = [#all]}
    return %a : !t
  }
}

// -----

// Partial sums that nobody adds up.
// CHECK: program 3: rank 1 returns something else than the first: element 0
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> tensor<f32> {
    %x = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
    %zero = arith.constant dense<0.0> : tensor<f32>
    %part = dist.slice %x dim 0 over ["r"] : tensor<3xf32> -> tensor<?xf32>
    %sum = linalg.reduce ins(%part : tensor<?xf32>) outs(%zero : tensor<f32>) dimensions = [0]
      (%in: f32, %out: f32) {
        %r = arith.addf %in, %out : f32
        linalg.yield %r : f32
      }
    return %sum : tensor<f32>
  }
}

// -----

// CHECK: program 4: rows are not on the first rank, though their layout says root
!t = !frame.table<"k": !frame.nullable<!frame.string>>
#root = #dist.layout<@mesh, rows = root over ["r"]>
#all = #dist.layout<@mesh>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> !t {
    %t = frame.scan "left" ["k"] {dist.split = ["r"], dist.layouts = [#root]} : !t
    %a = dist.reshard %t : !t from #root to #all {dist.layouts = [#all]}
    return %a : !t
  }
}

// -----

// CHECK: program 5: copies of a replicated table differ
!t = !frame.table<"k": !frame.nullable<!frame.string>>
#block = #dist.layout<@mesh, rows = block over ["r"]>
#all = #dist.layout<@mesh>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> !t {
    %t = frame.scan "left" ["k"] {dist.split = ["r"], dist.layouts = [#all]} : !t
    %a = dist.reshard %t : !t from #all to #block {dist.layouts = [#block]}
    return %a : !t
  }
}

// -----

// CHECK: program 6: a table is unreduced that no aggregate, distinct, topk or limit makes
!t = !frame.table<"k": !frame.nullable<!frame.string>>
#parts = #dist.layout<@mesh, unreduced = {"r": topk}>
#all = #dist.layout<@mesh>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> !t {
    %t = frame.scan "left" ["k"] {dist.split = ["r"], dist.layouts = [#parts]} : !t
    %a = dist.reshard %t : !t from #parts to #all {dist.layouts = [#all]}
    return %a : !t
  }
}

// -----

// CHECK: program 7: copies of a replicated tensor differ
#all = #dist.layout<@mesh, dims = [[]]>
#even = #dist.layout<@mesh, dims = [["r"]]>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> tensor<?xf32> {
    %x = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
    %part = dist.slice %x dim 0 over ["r"] {dist.layouts = [#all]} : tensor<3xf32> -> tensor<?xf32>
    %a = dist.reshard %part : tensor<?xf32> from #all to #even {dist.layouts = [#even]}
    return %a : tensor<?xf32>
  }
}

// -----

// CHECK: program 8: tensors that are combined have different shapes
#sums = #dist.layout<@mesh, dims = [[]], unreduced = {"r": sum}>
#all = #dist.layout<@mesh, dims = [[]]>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> tensor<?xf32> {
    %x = arith.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
    %part = dist.slice %x dim 0 over ["r"] {dist.layouts = [#sums]} : tensor<3xf32> -> tensor<?xf32>
    %a = dist.reshard %part : tensor<?xf32> from #sums to #all {dist.layouts = [#all]}
    return %a : tensor<?xf32>
  }
}

// -----

// CHECK: program 9: parts of a tensor differ in a dimension that is not split
#even = #dist.layout<@mesh, dims = [["r"], []]>
#all = #dist.layout<@mesh, dims = [[], []]>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> tensor<2x?xf32> {
    %x = arith.constant dense<[[1.0, 2.0, 4.0], [1.0, 2.0, 4.0]]> : tensor<2x3xf32>
    %part = dist.slice %x dim 1 over ["r"] {dist.layouts = [#even]} : tensor<2x3xf32> -> tensor<2x?xf32>
    %a = dist.reshard %part : tensor<2x?xf32> from #even to #all {dist.layouts = [#all]}
    return %a : tensor<2x?xf32>
  }
}

// -----

// CHECK: program 10: an even split is not even: part 0 has extent 2, not 1
!t = !frame.table<"x": i64>
#even = #dist.layout<@mesh, dims = [["r"]]>
#all = #dist.layout<@mesh, dims = [[]]>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> tensor<?xi64> {
    %v = frame.values [[1], [2], [3], [4]] : !t
    %s = dist.keep %v over ["r"] : !t
    %f = frame.filter %s columns ["x"] {
    ^bb0(%x: i64):
      %two = frame.constant 2 : i64
      %p = frame.compare gt %x, %two : (i64, i64) -> i1
      frame.yield %p : i1
    } : !t
    %t = frame.to_tensor %f [["x"]] {dist.layouts = [#even]} : !t -> tensor<?xi64>
    %a = dist.reshard %t : tensor<?xi64> from #even to #all {dist.layouts = [#all]}
    return %a : tensor<?xi64>
  }
}
