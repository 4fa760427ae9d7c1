// What fails in the region of a `frame.try` makes its value NULL, also in a loop and from one; what only its captures raise is an
// error.
// Sources: passes/form/lambdas.cpp
// RUN: headrace-opt %s --form | FileCheck %s

!t = !frame.table<"a": i64, "b": i64, "l": !frame.list<i64>>
!r = !frame.table<"q": !frame.nullable<i64>, "m": !frame.nullable<!frame.list<i64>>, "n": !frame.list<i64>>
func.func @main() -> !r {
  %table = frame.scan "t" ["a", "b", "l"] : !t
  // CHECK: ^bb0(%[[A:[a-z0-9]+]]: i64, %[[B:[a-z0-9]+]]: i64, %[[L:[a-z0-9]+]]: !pipe.string):
  // CHECK: %[[SUM:.*]] = arith.addi
  // CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[B]]
  // CHECK: arith.remsi
  // CHECK: %[[VALID:.*]] = arith.xori %[[ZERO]]
  // CHECK: %[[LOOP:.*]]:2 = pipe.loop
  // CHECK: } : (i1) -> (!pipe.string, i1)
  // CHECK: %[[GOOD:.*]] = arith.xori %[[LOOP]]#1
  // CHECK: pipe.loop
  // CHECK: arith.remsi
  // CHECK-NOT: arith.ori
  // CHECK: pipe.yield
  // CHECK: } : () -> !pipe.string
  // CHECK: pipe.fail_if %{{.*}}, overflow
  // CHECK-NOT: pipe.fail_if
  // CHECK: pipe.yield %{{.*}}, %{{.*}}, %[[LOOP]]#0, %[[GOOD]]
  %p = frame.project %table keep [] compute ["q", "m", "n"] columns ["a", "b", "l"] {
  ^bb0(%a: i64, %b: i64, %l: !frame.list<i64>):
    %sum = frame.add %a, %a : (i64, i64) -> i64
    %q = frame.try captures(%sum, %b) {
    ^bb0(%x: i64, %y: i64):
      %rest = frame.modulus %x, %y : (i64, i64) -> i64
      frame.yield %rest : i64
    } : (i64, i64) -> !frame.nullable<i64>
    %m = frame.try captures(%l, %b) {
    ^bb0(%list: !frame.list<i64>, %by: i64):
      %mapped = frame.flat_map %list captures(%by) {
      ^bb0(%x: !frame.nullable<i64>, %place: i64, %y: i64):
        %rest = frame.modulus %x, %y : (!frame.nullable<i64>, i64) -> !frame.nullable<i64>
        %one = frame.list %rest : (!frame.nullable<i64>) -> !frame.list<i64>
        frame.yield %one : !frame.list<i64>
      } : (!frame.list<i64>, i64) -> !frame.list<i64>
      frame.yield %mapped : !frame.list<i64>
    } : (!frame.list<i64>, i64) -> !frame.nullable<!frame.list<i64>>
    %n = frame.flat_map %l captures(%b) {
    ^bb0(%x: !frame.nullable<i64>, %place: i64, %y: i64):
      %rest = frame.try captures(%x, %y) {
      ^bb0(%u: !frame.nullable<i64>, %v: i64):
        %inner = frame.modulus %u, %v : (!frame.nullable<i64>, i64) -> !frame.nullable<i64>
        frame.yield %inner : !frame.nullable<i64>
      } : (!frame.nullable<i64>, i64) -> !frame.nullable<i64>
      %one = frame.list %rest : (!frame.nullable<i64>) -> !frame.list<i64>
      frame.yield %one : !frame.list<i64>
    } : (!frame.list<i64>, i64) -> !frame.list<i64>
    frame.yield %q, %m, %n : !frame.nullable<i64>, !frame.nullable<!frame.list<i64>>, !frame.list<i64>
  } : !t -> !r
  return %p : !r
}
