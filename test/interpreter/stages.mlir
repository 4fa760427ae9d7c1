// Every stage of the compiler under many layouts gives what the program as written gives.
// Sources: passes/driver/stage_check.cpp, passes/interpreter/movement.cpp
// RUN: headrace-interpret %s --check --tables %S/tables --layouts 8 --mesh ranks:1 --mesh ranks:3 --mesh a:2,b:2 | FileCheck %s

// CHECK:      k,total,n
// CHECK-NEXT: "b",14,4
// CHECK-NEXT: "a",3,9
// CHECK:      compared {{[1-9][0-9]+}} stages
!l = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>>
!r = !frame.table<"k2": !frame.nullable<!frame.string>, "y": i64>
!lr = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>, "k2": !frame.nullable<!frame.string>, "y": !frame.nullable<i64>>
!s = !frame.table<"k": !frame.nullable<!frame.string>, "total": !frame.nullable<i64>, "n": i64>
func.func @main() -> !s {
  %l = frame.scan "left" ["k", "x"] : !l
  %r = frame.scan "right" ["k", "y"] : !r
  %j = frame.join left %l, %r on ["k"] = ["k2"] : !l, !r -> !lr
  %a = frame.aggregate %j keys ["k"] measures [#frame.measure<sum("x") -> "total">, #frame.measure<count("y") -> "n">] : !lr -> !s
  %f = frame.filter %a columns ["n"] {
  ^bb0(%n: i64):
    %one = frame.constant 1 : i64
    %p = frame.compare gt %n, %one : (i64, i64) -> i1
    frame.yield %p : i1
  } : !s
  %t = frame.topk %f by [#frame.sort_key<"total" desc nulls_last>] count 2 : !s
  return %t : !s
}

// -----

// CHECK: compared {{[1-9][0-9]+}} stages
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @network(%x: tensor<7x5xf32>, %w1: tensor<5x9xf32>, %w2: tensor<9x6xf32>, %b: tensor<9xf32>) -> tensor<7x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<7x9xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<7x9xf32>) -> tensor<7x9xf32>
  %h = linalg.matmul ins(%x, %w1 : tensor<7x5xf32>, tensor<5x9xf32>) outs(%z1 : tensor<7x9xf32>) -> tensor<7x9xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %b : tensor<7x9xf32>, tensor<9xf32>) outs(%e1 : tensor<7x9xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %sum = arith.addf %in, %bias : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<7x9xf32>
  %e2 = tensor.empty() : tensor<7x6xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<7x6xf32>) -> tensor<7x6xf32>
  %y = linalg.matmul ins(%r, %w2 : tensor<7x9xf32>, tensor<9x6xf32>) outs(%z2 : tensor<7x6xf32>) -> tensor<7x6xf32>
  return %y : tensor<7x6xf32>
}

// -----

// CHECK: compared {{[1-9][0-9]+}} stages
func.func @slices(%x: tensor<7x6xf32>, %y: tensor<7x2xf32>) -> (tensor<7x8xf32>, tensor<3xf32>, tensor<14x2xf32>) {
  %right = tensor.extract_slice %x[0, 3] [7, 3] [1, 1] : tensor<7x6xf32> to tensor<7x3xf32>
  %turned = tensor.extract_slice %x[6, 5] [7, 3] [-1, -2] : tensor<7x6xf32> to tensor<7x3xf32>
  %wide = tensor.concat dim(1) %right, %y, %turned : (tensor<7x3xf32>, tensor<7x2xf32>, tensor<7x3xf32>) -> tensor<7x8xf32>
  %row = tensor.extract_slice %turned[4, 0] [1, 3] [1, 1] : tensor<7x3xf32> to tensor<3xf32>
  %columns = tensor.extract_slice %wide[0, 1] [7, 2] [1, 4] : tensor<7x8xf32> to tensor<7x2xf32>
  %long = tensor.concat dim(0) %columns, %y : (tensor<7x2xf32>, tensor<7x2xf32>) -> tensor<14x2xf32>
  return %wide, %row, %long : tensor<7x8xf32>, tensor<3xf32>, tensor<14x2xf32>
}

// -----

// The rows of a query are taken whole: of a slice of columns, a column.
// CHECK: compared {{[1-9][0-9]+}} stages
#in = affine_map<(i) -> (i)>
#out = affine_map<(i) -> ()>
func.func @columns() -> tensor<f64> {
  %r = frame.scan "right" ["y"] : !frame.table<"y": i64>
  %t = frame.sort %r by [#frame.sort_key<"y" asc nulls_last>] : !frame.table<"y": i64>
  %x = frame.to_tensor %t [["y", "y"]] : !frame.table<"y": i64> -> tensor<?x2xf64>
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %n = tensor.dim %x, %c0 : tensor<?x2xf64>
  %turned = tensor.extract_slice %x[0, 1] [%n, 2] [1, -1] : tensor<?x2xf64> to tensor<?x2xf64>
  %both = tensor.concat dim(1) %turned, %x : (tensor<?x2xf64>, tensor<?x2xf64>) -> tensor<?x4xf64>
  %m = tensor.dim %both, %c0 : tensor<?x4xf64>
  %some = tensor.extract_slice %both[0, 1] [%m, 2] [1, 2] : tensor<?x4xf64> to tensor<?x2xf64>
  %k = tensor.dim %some, %c0 : tensor<?x2xf64>
  %last = tensor.extract_slice %some[0, 1] [%k, 1] [1, 1] : tensor<?x2xf64> to tensor<?xf64>
  %e = tensor.empty() : tensor<f64>
  %z = linalg.fill ins(%zero : f64) outs(%e : tensor<f64>) -> tensor<f64>
  %sum = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]} ins(%last : tensor<?xf64>) outs(%z : tensor<f64>) {
  ^bb0(%v: f64, %acc: f64):
    %s = arith.addf %acc, %v : f64
    linalg.yield %s : f64
  } -> tensor<f64>
  return %sum : tensor<f64>
}
