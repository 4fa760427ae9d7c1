// `dist.reduce_scatter`: combines all ranks' tensors; every rank gets its even part of a dimension.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.reduce_scatter  sum %{{.*}} dim 0 over ["r"] : tensor<8x4xf32> -> tensor<?x4xf32>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @reduce_scatter(%x: tensor<8x4xf32>) -> tensor<?x4xf32> {
    %0 = dist.reduce_scatter sum %x dim 0 over ["r"] : tensor<8x4xf32> -> tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{combines tensors by sum, max, min or product, got limit}}
  %0 = dist.reduce_scatter limit %x dim 0 over ["r"] : tensor<8x4xf32> -> tensor<?x4xf32>
  return
}
