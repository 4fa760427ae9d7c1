// Elementwise producers join their only user, products keep to the library's forms, and every kernel has a name.
// RUN: headrace-opt %s --pass-pipeline="builtin.module(func.func(form-tensors))" | FileCheck %s


// One kernel of two ops; the tensor between them is gone.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: linalg.generic {{.*}}library_call = "chain_0"} ins(%arg0 :
  // CHECK: math.exp
  // CHECK-NEXT: arith.addf
  // CHECK-NOT: library_call
  %e = tensor.empty() : tensor<8x4xf32>
  %0 = linalg.exp ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = linalg.add ins(%0, %x : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// A producer with two users is computed once.
// CHECK-LABEL: func.func @two_users
func.func @two_users(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  // CHECK: linalg.generic {{.*}}library_call = "two_users_0"
  // CHECK: linalg.generic {{.*}}library_call = "two_users_1"
  %e = tensor.empty() : tensor<8x4xf32>
  %0 = linalg.exp ins(%x : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = linalg.add ins(%0, %x : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// The transpose of an operand is in the maps of the product.
// CHECK-LABEL: func.func @transposed
func.func @transposed(%x: tensor<8x4xf32>, %y: tensor<8x2xf32>) -> tensor<4x2xf32> {
  // CHECK-NOT: linalg.generic
  // CHECK: linalg.{{matmul|contract}}
  // CHECK-SAME: ins(%arg0, %arg1 : tensor<8x4xf32>, tensor<8x2xf32>)
  %zero = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x4xf32>) outs(%t : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = linalg.matmul ins(%0, %y : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// What a product starts from is added behind it, in a kernel.
// CHECK-LABEL: func.func @started
func.func @started(%x: tensor<8x4xf32>, %y: tensor<4x2xf32>, %start: tensor<8x2xf32>) -> tensor<8x2xf32> {
  // CHECK: %[[ZERO:.*]] = linalg.fill
  // CHECK: %[[PRODUCT:.*]] = linalg.matmul {{.*}} outs(%[[ZERO]] :
  // CHECK: linalg.generic {{.*}}library_call = "started_0"} ins(%[[PRODUCT]], %arg2 :
  // CHECK: arith.addf
  %0 = linalg.matmul ins(%x, %y : tensor<8x4xf32>, tensor<4x2xf32>) outs(%start : tensor<8x2xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// A product of integers is a kernel: the library has none.
// CHECK-LABEL: func.func @integers
func.func @integers(%x: tensor<8x4xi64>, %y: tensor<4x2xi64>) -> tensor<8x2xi64> {
  // CHECK-NOT: linalg.matmul
  // CHECK: linalg.generic {{.*}}"reduction"{{.*}}library_call = "integers_0"
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<8x2xi64>
  %z = linalg.fill ins(%zero : i64) outs(%e : tensor<8x2xi64>) -> tensor<8x2xi64>
  %0 = linalg.matmul ins(%x, %y : tensor<8x4xi64>, tensor<4x2xi64>) outs(%z : tensor<8x2xi64>) -> tensor<8x2xi64>
  return %0 : tensor<8x2xi64>
}
