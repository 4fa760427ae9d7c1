// Tensor kernels: one loop for elementwise ops, sums in vectors, and functions that are computed in place.
// Sources: passes/lower/code/tensor_kernel.cpp, passes/lower/code/tensor_body.cpp, passes/lower/code/tensor_combiner.cpp,
//   passes/lower/code/vector_math.cpp
// RUN: headrace-opt %s --form --lower-kernels | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// Sums within a row: a vector of partial sums, added up at its end.
// CHECK-LABEL: llvm.func @main_0
// CHECK: arith.addf %{{.*}}, %{{.*}} : vector<{{[0-9]+}}xf32>
// CHECK: vector.reduction <add>

// Sums over the rows: the vector lies across them, and needs no reduction.
// CHECK-LABEL: llvm.func @main_1
// CHECK: arith.addf %{{.*}}, %{{.*}} : vector<{{[0-9]+}}xf32>
// CHECK-NOT: vector.reduction
// CHECK-LABEL: llvm.func @main_2

// A tanh is arithmetic on vectors, not a call.
// CHECK-NOT: math.tanh
// CHECK-NOT: llvm.call
// CHECK: arith.divf %{{.*}} : vector<{{[0-9]+}}xf32>
// CHECK: math.copysign %{{.*}} : vector<{{[0-9]+}}xf32>
func.func @main(%x: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<32xf32>, tensor<64x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<64xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<64xf32>) -> tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x32xf32>) outs(%z0 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<64xf32>
  %e1 = tensor.empty() : tensor<32xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<32xf32>) -> tensor<32xf32>
  %1 = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<64x32xf32>) outs(%z1 : tensor<32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<32xf32>
  %e2 = tensor.empty() : tensor<64x32xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x32xf32>) outs(%e2 : tensor<64x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    %y = math.tanh %in : f32
    linalg.yield %y : f32
  } -> tensor<64x32xf32>
  return %0, %1, %2 : tensor<64xf32>, tensor<32xf32>, tensor<64x32xf32>
}
