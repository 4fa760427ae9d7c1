// The network's elementwise parts in threads: one output a thread by stride, reductions inside the thread.
// Sources: passes/lower/gpu/thread_tensor.cpp
// RUN: headrace-opt %s --form | headrace-opt --lower-gpu-kernels | FileCheck %s
// RUN: headrace-opt %s --form | headrace-translate --kernel-to-ptx | FileCheck %s --check-prefix=PTX

// CHECK: arith.remui
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK-NOT: vector
// PTX: max.NaN.f32
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
func.func @main(%x: tensor<64x32xf32>, %w1: tensor<32x48xf32>, %b: tensor<48xf32>, %w2: tensor<48x16xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<64x48xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x48xf32>) -> tensor<64x48xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<64x32xf32>, tensor<32x48xf32>) outs(%z1 : tensor<64x48xf32>) -> tensor<64x48xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %b : tensor<64x48xf32>, tensor<48xf32>) outs(%e1 : tensor<64x48xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %sum = arith.addf %in, %bias : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<64x48xf32>
  %e2 = tensor.empty() : tensor<64x16xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %y = linalg.matmul ins(%r, %w2 : tensor<64x48xf32>, tensor<48x16xf32>) outs(%z2 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %e3 = tensor.empty() : tensor<64xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<64x16xf32>) outs(%z3 : tensor<64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %power = math.exp %in : f32
    %sum = arith.addf %power, %out : f32
    linalg.yield %sum : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}
