// `dist.constrain`: a layout that the user asks for, a hard constraint of the solver.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.constrain %{{.*}} : tensor<8x4xf32> to <@mesh, dims = {{\[\[}}"r"], []]>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @constrain(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = dist.constrain %x : tensor<8x4xf32> to #dist.layout<@mesh, dims = [["r"], []]>
    return %0 : tensor<8x4xf32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @f(%x: tensor<8x4xf32>) {
    // expected-error@+1 {{a layout needs one entry in dims per dimension, got 1 for 'tensor<8x4xf32>'}}
    %0 = dist.constrain %x : tensor<8x4xf32> to #dist.layout<@mesh, dims = [["r"]]>
    return
  }
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{only a table has rows}}
  %0 = dist.constrain %x : tensor<8xf32> to #dist.layout<@mesh, rows = block over ["r"]>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{a table has rows, not dims}}
  %0 = dist.constrain %x : !frame.table<"a": i64> to #dist.layout<@mesh, dims = [["r"]]>
  return
}

// -----

func.func @f(%x: !frame.table<"a": i64>) {
  // expected-error@+1 {{the table has no column "b"}}
  %0 = dist.constrain %x : !frame.table<"a": i64> to #dist.layout<@mesh, rows = hash<["b"]> over ["r"]>
  return
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @f(%x: tensor<8xf32>) {
    // expected-error@+1 {{has a layout on another mesh than the module's: @mush}}
    %0 = dist.constrain %x : tensor<8xf32> to #dist.layout<@mush, dims = [["r"]]>
    return
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @f(%x: tensor<8xf32>) {
    // expected-error@+1 {{names an axis that the mesh does not have: "q"}}
    %0 = dist.constrain %x : tensor<8xf32> to #dist.layout<@mesh, dims = [["q"]]>
    return
  }
}

// -----

func.func @f(%x: !frame.table<"a": f64>) {
  // expected-error@+1 {{only integers, dates and timestamps go in a cycle, got "a"}}
  %0 = dist.constrain %x : !frame.table<"a": f64> to #dist.layout<@mesh, rows = hash<["a"] cycle 10> over ["r"]>
  return
}
