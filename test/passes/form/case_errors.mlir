// A branch of CASE fails only in rows that take it: the guard of ELSE negates the conditions, and a CASE inside a
// branch adds its own.
// Sources: passes/form/failures.cpp
// RUN: headrace-opt %s --form | FileCheck %s

!t = !frame.table<"a": !frame.nullable<i64>, "c": i1, "d": i1>
!r = !frame.table<"q": !frame.nullable<i64>>
func.func @main() -> !r {
  %t = frame.scan "t" ["a", "c", "d"] : !t
  // CHECK: %[[C:[a-z0-9]+]]: i1, %[[D:[a-z0-9]+]]: i1):
  // CHECK: %[[NOT_C:.*]] = arith.xori %[[C]]
  // CHECK-NEXT: %[[GUARD:.*]] = arith.andi %[[NOT_C]], %[[D]]
  // CHECK: %[[BAD:.*]] = arith.andi %{{.*}}, %[[GUARD]]
  // CHECK: pipe.fail_if %[[BAD]], overflow
  %p = frame.project %t keep [] compute ["q"] columns ["a", "c", "d"] {
  ^bb0(%a: !frame.nullable<i64>, %c: i1, %d: i1):
    %zero = frame.constant 0 : i64
    %bad = frame.add %a, %a : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
    %inner = frame.case when %d then %bad else %zero : (i1), (!frame.nullable<i64>), i64 -> !frame.nullable<i64>
    %outer = frame.case when %c then %zero else %inner : (i1), (i64), !frame.nullable<i64> -> !frame.nullable<i64>
    frame.yield %outer : !frame.nullable<i64>
  } : !t -> !r
  return %p : !r
}
