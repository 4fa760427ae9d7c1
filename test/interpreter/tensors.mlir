// Tensor ops: linalg by its loops, elementwise ops, reshapes; printed as extents, then elements.
// Sources: passes/interpreter/elements.cpp
// RUN: headrace-interpret %s | FileCheck %s --strict-whitespace --match-full-lines

//      CHECK:2 2
// CHECK-NEXT:22 28
// CHECK-NEXT:49 64
// CHECK-EMPTY:
func.func @matmul() -> tensor<2x2xf32> {
  %a = arith.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// A row added to every row, relu, then the sum of every column.
//      CHECK:3
// CHECK-NEXT:0 5 0.5
// CHECK-EMPTY:
#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>
func.func @generic() -> tensor<3xf64> {
  %a = arith.constant dense<[[-1.0, 2.0, 0.25], [-2.0, 1.0, 0.25]]> : tensor<2x3xf64>
  %b = arith.constant dense<[0.5, 1.0, 0.0]> : tensor<3xf64>
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<3xf64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<3xf64>) -> tensor<3xf64>
  %0 = linalg.generic {indexing_maps = [#id, #column, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a, %b : tensor<2x3xf64>, tensor<3xf64>) outs(%z : tensor<3xf64>) {
  ^bb0(%x: f64, %y: f64, %sum: f64):
    %biased = arith.addf %x, %y : f64
    %relu = arith.maximumf %biased, %zero : f64
    %next = arith.addf %sum, %relu : f64
    linalg.yield %next : f64
  } -> tensor<3xf64>
  return %0 : tensor<3xf64>
}

// -----

//      CHECK:6
// CHECK-NEXT:1 4 2 5 3 6
// CHECK-EMPTY:
func.func @transpose_and_reshape() -> tensor<6xi64> {
  %a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %e = tensor.empty() : tensor<3x2xi64>
  %t = linalg.transpose ins(%a : tensor<2x3xi64>) outs(%e : tensor<3x2xi64>) permutation = [1, 0]
  %0 = tensor.collapse_shape %t [[0, 1]] : tensor<3x2xi64> into tensor<6xi64>
  return %0 : tensor<6xi64>
}

// -----

//      CHECK:2 2
// CHECK-NEXT:1.25 3
// CHECK-NEXT:-1 0
// CHECK-EMPTY:
!t = !frame.table<"a": !frame.decimal<5, 2>, "b": i32>
func.func @table_to_tensor() -> tensor<?x2xf64> {
  %v = frame.values [[125, 3], [-100, 0]] : !t
  %0 = frame.to_tensor %v [["a", "b"]] : !t -> tensor<?x2xf64>
  return %0 : tensor<?x2xf64>
}

// -----

// Of a matrix every other column, from the last on, and a row without its dimension.
//      CHECK:2 2
// CHECK-NEXT:3 1
// CHECK-NEXT:6 4
//      CHECK:2
// CHECK-NEXT:5 6
// CHECK-EMPTY:
func.func @slices() -> (tensor<2x2xi64>, tensor<2xi64>) {
  %a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %0 = tensor.extract_slice %a[0, 2] [2, 2] [1, -2] : tensor<2x3xi64> to tensor<2x2xi64>
  %1 = tensor.extract_slice %a[1, 1] [1, 2] [1, 1] : tensor<2x3xi64> to tensor<2xi64>
  return %0, %1 : tensor<2x2xi64>, tensor<2xi64>
}

// -----

// Rows at places, of which negative ones count from the end.
//      CHECK:2 2 2
// CHECK-NEXT:5 6
// CHECK-NEXT:1 2
// CHECK-NEXT:3 4
// CHECK-NEXT:5 6
// CHECK-EMPTY:
func.func @gather() -> tensor<2x2x2xi64> {
  %a = arith.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi64>
  %i = arith.constant dense<[[[2], [0]], [[-2], [-1]]]> : tensor<2x2x1xi64>
  %0 = tensor.gather %a[%i] gather_dims([0]) : (tensor<3x2xi64>, tensor<2x2x1xi64>) -> tensor<2x2x2xi64>
  return %0 : tensor<2x2x2xi64>
}

// -----

//      CHECK:2 5
// CHECK-NEXT:1 2 3 7 8
// CHECK-NEXT:4 5 6 9 0
// CHECK-EMPTY:
func.func @concat() -> tensor<2x5xi64> {
  %a = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %b = arith.constant dense<[[7, 8], [9, 0]]> : tensor<2x2xi64>
  %0 = tensor.concat dim(1) %a, %b : (tensor<2x3xi64>, tensor<2x2xi64>) -> tensor<2x5xi64>
  return %0 : tensor<2x5xi64>
}
