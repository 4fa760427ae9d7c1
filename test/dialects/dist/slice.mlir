// `dist.slice`: this rank's even part of a dimension of a replicated tensor; no bytes move.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.slice %{{.*}} dim 0 over ["r"] : tensor<8x4xf32> -> tensor<?x4xf32>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @slice(%x: tensor<8x4xf32>) -> tensor<?x4xf32> {
    %0 = dist.slice %x dim 0 over ["r"] : tensor<8x4xf32> -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{needs input and result of the same rank and element type}}
  %0 = dist.slice %x dim 0 over ["r"] : tensor<8x4xf32> -> tensor<?x4xf64>
  return
}
