// `dist.all_gather`: every rank gets the parts of a dimension, put together in rank order.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.all_gather %{{.*}} dim 0 over ["r"] : tensor<?x4xf32> -> tensor<8x4xf32>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @all_gather(%x: tensor<?x4xf32>) -> tensor<8x4xf32> {
    %0 = dist.all_gather %x dim 0 over ["r"] : tensor<?x4xf32> -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{has no dimension 1}}
  %0 = dist.all_gather %x dim 1 over ["r"] : tensor<8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{changes the size of another dimension: 1}}
  %0 = dist.all_gather %x dim 0 over ["r"] : tensor<8x4xf32> -> tensor<16x3xf32>
  return
}
