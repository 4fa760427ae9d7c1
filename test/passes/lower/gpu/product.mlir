// A product of matrices as a kernel of its own (`form` leaves products to the machine's library): an output a thread, its
// sum inside the thread. The GPU bundle measures it (tools/dev/gpu_bundle).
// Sources: passes/lower/gpu/thread_tensor.cpp
// RUN: headrace-translate --kernel-to-ptx %s | FileCheck %s

// CHECK: .entry product(
// CHECK: add.rn.f32
func.func @main(%a: tensor<64x48xf32>, %b: tensor<48x32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x32xf32>) -> tensor<64x32xf32>
  %out = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"], library_call = "product"}
      ins(%a, %b : tensor<64x48xf32>, tensor<48x32xf32>) outs(%start : tensor<64x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %xy = arith.mulf %x, %y : f32
    %next = arith.addf %sum, %xy : f32
    linalg.yield %next : f32
  } -> tensor<64x32xf32>
  return %out : tensor<64x32xf32>
}
