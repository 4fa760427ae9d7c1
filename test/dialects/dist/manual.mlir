// `dist.manual`: a part written in the local view of every rank.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.manual(%{{.*}}) in [#dist.layout<@mesh, dims = {{\[\[}}"r"], []]>] out [#dist.layout<@mesh, dims = {{\[\[}}"r"], []]>]
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @manual(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = dist.manual (%x) in [#dist.layout<@mesh, dims = [["r"], []]>]
        out [#dist.layout<@mesh, dims = [["r"], []]>] {
    ^bb0(%local: tensor<?x4xf32>):
      dist.yield %local : tensor<?x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{needs one layout per operand and result}}
  %0 = dist.manual (%x) in [] out [#dist.layout<@mesh, dims = [["r"]]>] {
  ^bb0(%local: tensor<?xf32>):
    dist.yield %local : tensor<?xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{needs as many block arguments as layouts, got 0}}
  %0 = dist.manual (%x) in [#dist.layout<@mesh, dims = [["r"]]>] out [#dist.layout<@mesh, dims = [[]]>] {
    %1 = tensor.empty() : tensor<8xf32>
    dist.yield %1 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{needs local type 'tensor<?xf32>' among its block arguments, got 'tensor<8xf32>'}}
  %0 = dist.manual (%x) in [#dist.layout<@mesh, dims = [["r"]]>] out [#dist.layout<@mesh, dims = [[]]>] {
  ^bb0(%local: tensor<8xf32>):
    dist.yield %local : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
