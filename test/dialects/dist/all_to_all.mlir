// `dist.all_to_all`: from parts of one dimension to parts of another.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.all_to_all %{{.*}} split 1 concat 0 over ["r"] : tensor<?x8xf32> -> tensor<16x?xf32>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @all_to_all(%x: tensor<?x8xf32>) -> tensor<16x?xf32> {
    %0 = dist.all_to_all %x split 1 concat 0 over ["r"] : tensor<?x8xf32> -> tensor<16x?xf32>
    return %0 : tensor<16x?xf32>
  }
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error@+1 {{splits and concatenates the same dimension: 0}}
  %0 = dist.all_to_all %x split 0 concat 0 over ["r"] : tensor<8x4xf32> -> tensor<8x4xf32>
  return
}
