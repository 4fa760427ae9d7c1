// `dist.all_reduce`: every rank gets the combination of all ranks' tensors.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.all_reduce  sum %{{.*}} over ["r"] : tensor<8x4xf32>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @all_reduce(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = dist.all_reduce sum %x over ["r"] : tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{combines tensors by sum, max, min or product, got topk}}
  %0 = dist.all_reduce topk %x over ["r"] : tensor<8xf32>
  return
}
