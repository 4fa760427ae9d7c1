// Errors of a program's data, and programs that cannot be run.
// RUN: not headrace-interpret %s 2>&1 | FileCheck %s

!t = !frame.table<"a": i64>
// CHECK: program 1: overflow of an integer
func.func @overflow() -> !t {
  %v = frame.values [[9223372036854775807]] : !t
  %0 = frame.project %v keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: i64):
    %r = frame.add %a, %a : (i64, i64) -> i64
    frame.yield %r : i64
  } : !t -> !frame.table<"b": i64>
  %1 = frame.rename %0 : !frame.table<"b": i64> -> !t
  return %1 : !t
}

// -----

!t = !frame.table<"a": i64>
// CHECK: program 2: division by zero
func.func @division() -> !t {
  %v = frame.values [[1], [0]] : !t
  %0 = frame.filter %v columns ["a"] {
  ^bb0(%a: i64):
    %r = frame.divide %a, %a : (i64, i64) -> i64
    %p = frame.compare eq %a, %r : (i64, i64) -> i1
    frame.yield %p : i1
  } : !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": i64>
// CHECK: program 3: overflow of an integer
func.func @sum() -> !frame.table<"s": !frame.nullable<i64>> {
  %v = frame.values [[9223372036854775807], [1]] : !t
  %0 = frame.aggregate %v keys [] measures [#frame.measure<sum("a") -> "s">] : !t -> !frame.table<"s": !frame.nullable<i64>>
  return %0 : !frame.table<"s": !frame.nullable<i64>>
}

// -----

!t = !frame.table<"a": i64>
// CHECK: program 4: a scalar subquery has more than one row: 2
func.func @subquery() -> !t {
  %v = frame.values [[1], [2]] : !t
  %s = frame.scalar_subquery %v : !t -> !frame.nullable<i64>
  return %v : !t
}

// -----

!t = !frame.table<"a": i64>
// CHECK: program 5: there is no table nowhere
func.func @scan() -> !t {
  %v = frame.scan "nowhere" ["a"] : !t
  return %v : !t
}

// -----

// CHECK: program 6: operands of linalg.matmul disagree on an extent: 3 and 4
func.func @extents(%a: tensor<2x3xf32>, %b: tensor<4x2xf32>, %c: tensor<2x2xf32>) -> tensor<?x?xf32> {
  %a0 = tensor.cast %a : tensor<2x3xf32> to tensor<?x?xf32>
  %b0 = tensor.cast %b : tensor<4x2xf32> to tensor<?x?xf32>
  %c0 = tensor.cast %c : tensor<2x2xf32> to tensor<?x?xf32>
  %0 = linalg.matmul ins(%a0, %b0 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

!t = !frame.table<"a": i64>
!r = !frame.table<"b": i64>
!s = !frame.table<"a": i64, "b": !frame.nullable<i64>>
// CHECK: program 7: more than one row returned by a subquery
func.func @single() -> !s {
  %v = frame.values [[1]] : !t
  %w = frame.values [[1], [1]] : !r
  %0 = frame.join single %v, %w on ["a"] = ["b"] : !t, !r -> !s
  return %0 : !s
}

// -----

!t = !frame.table<"a": i64>
// CHECK: program 8: too many: 3
func.func @raise() -> !t {
  %v = frame.values [[2], [3]] : !t
  %0 = frame.project %v keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: i64):
    %two = frame.constant 2 : i64
    %more = frame.compare gt %a, %two : (i64, i64) -> i1
    %e = frame.raise user "too many: 3" : i64
    %r = frame.case when %more then %e else %a : (i1), (i64), i64 -> i64
    frame.yield %r : i64
  } : !t -> !frame.table<"b": i64>
  %1 = frame.rename %0 : !frame.table<"b": i64> -> !t
  return %1 : !t
}

// -----

!t = !frame.table<"d": !frame.timestamp>
// CHECK: program 9: overflow of a timestamp
func.func @timestamp() -> !t {
  %v = frame.values [[9223372036854775807]] : !t
  %0 = frame.project %v keep [] compute ["e"] columns ["d"] {
  ^bb0(%d: !frame.timestamp):
    %r = frame.shift_date %d months 0 days 0 microseconds 1 : !frame.timestamp
    frame.yield %r : !frame.timestamp
  } : !t -> !frame.table<"e": !frame.timestamp>
  %1 = frame.rename %0 : !frame.table<"e": !frame.timestamp> -> !t
  return %1 : !t
}
