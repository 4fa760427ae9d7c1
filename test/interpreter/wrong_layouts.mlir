// Programs that a wrong pass could have made are found out.
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
