// Common conjuncts come out of an OR; what every branch says of one side becomes a conjunct.
// RUN: headrace-opt --optimize-or-factoring --optimize-pushdown %s | FileCheck %s

!l = !frame.table<"a": i64, "x": i64>
!r = !frame.table<"b": i64, "y": i64>
!j = !frame.table<"a": i64, "x": i64, "b": i64, "y": i64>

// (a = b and x = 1 and y = 2) or (a = b and x = 3 and y = 4)
// CHECK-LABEL: func.func @q19
// CHECK: %[[L:.*]] = frame.filter %arg0 columns ["x"]
// CHECK: %[[P:.*]] = frame.or
// CHECK-NEXT: frame.yield %[[P]]
// CHECK: %[[R:.*]] = frame.filter %arg1 columns ["y"]
// CHECK: frame.join inner %[[L]], %[[R]] on ["a"] = ["b"] residual ["x", "y"]
func.func @q19(%l: !l, %r: !r) -> !j {
  %0 = frame.join inner %l, %r on [] = [] residual ["a", "x", "b", "y"] {
  ^bb0(%a: i64, %x: i64, %b: i64, %y: i64):
    %c1 = frame.constant 1 : i64
    %c2 = frame.constant 2 : i64
    %c3 = frame.constant 3 : i64
    %c4 = frame.constant 4 : i64
    %k1 = frame.compare eq %a, %b : (i64, i64) -> i1
    %k2 = frame.compare eq %a, %b : (i64, i64) -> i1
    %p1 = frame.compare eq %x, %c1 : (i64, i64) -> i1
    %p2 = frame.compare eq %y, %c2 : (i64, i64) -> i1
    %p3 = frame.compare eq %x, %c3 : (i64, i64) -> i1
    %p4 = frame.compare eq %y, %c4 : (i64, i64) -> i1
    %and1 = frame.and %k1, %p1, %p2 : (i1, i1, i1) -> i1
    %and2 = frame.and %k2, %p3, %p4 : (i1, i1, i1) -> i1
    %or = frame.or %and1, %and2 : (i1, i1) -> i1
    frame.yield %or : i1
  } : !l, !r -> !j
  return %0 : !j
}

// x = 1 or (x = 1 and x = a): the second branch adds nothing.
// CHECK-LABEL: func.func @absorbed
// CHECK: %[[P:.*]] = frame.compare eq %x
// CHECK-NEXT: frame.yield %[[P]]
func.func @absorbed(%l: !l) -> !l {
  %0 = frame.filter %l columns ["a", "x"] {
  ^bb0(%a: i64, %x: i64):
    %c1 = frame.constant 1 : i64
    %p = frame.compare eq %x, %c1 : (i64, i64) -> i1
    %q = frame.compare eq %x, %a : (i64, i64) -> i1
    %and = frame.and %p, %q : (i1, i1) -> i1
    %or = frame.or %p, %and : (i1, i1) -> i1
    frame.yield %or : i1
  } : !l
  return %0 : !l
}
