// What may fail, in every stage of the compiler: NULL where it does, also within each other, in loops and of constants.
// Sources: passes/analysis/region_evaluation.cpp
// RUN: headrace-interpret %s --check --tables %S/tables --layouts 8 --mesh ranks:1 --mesh ranks:3 | FileCheck %s

// CHECK:      a,q,n,s
// CHECK-NEXT: 0,,7,
// CHECK-NEXT: 5,20,5,6
// CHECK-NEXT: 9223372036854775807,0,7,
// CHECK:      compared {{[1-9][0-9]+}} stages
!n = !frame.table<"a": i64>
!r = !frame.table<"a": i64, "q": !frame.nullable<i64>, "n": !frame.nullable<i64>, "s": !frame.nullable<i64>>
func.func @failing() -> !r {
  %v = frame.values [[0], [5], [9223372036854775807]] : !n
  %p = frame.project %v keep ["a"] compute ["q", "n", "s"] columns ["a"] {
  ^bb0(%a: i64):
    %q = frame.try captures(%a) {
    ^bb0(%x: i64):
      %hundred = frame.constant 100 : i64
      %quotient = frame.divide %hundred, %x : (i64, i64) -> i64
      frame.yield %quotient : i64
    } : (i64) -> !frame.nullable<i64>
    %n = frame.try captures(%a) {
    ^bb0(%x: i64):
      %seven = frame.constant 7 : i64
      %zero = frame.constant 0 : i64
      // Only what is asked for counts.
      %unused = frame.divide %seven, %zero : (i64, i64) -> i64
      %sum = frame.try captures(%x) {
      ^bb0(%y: i64):
        %more = frame.add %y, %y : (i64, i64) -> i64
        %rest = frame.divide %more, %y : (i64, i64) -> i64
        %same = frame.multiply %rest, %y : (i64, i64) -> i64
        %two = frame.constant 2 : i64
        %half = frame.divide %same, %two : (i64, i64) -> i64
        frame.yield %half : i64
      } : (i64) -> !frame.nullable<i64>
      %out = frame.coalesce %sum, %seven, %unused : (!frame.nullable<i64>, i64, i64) -> i64
      frame.yield %out : i64
    } : (i64) -> !frame.nullable<i64>
    %s = frame.try captures(%q, %n) {
    ^bb0(%x: !frame.nullable<i64>, %y: !frame.nullable<i64>):
      %one = frame.constant 1 : i64
      %list = frame.list %one, %y : (i64, !frame.nullable<i64>) -> !frame.list<i64>
      %none = frame.constant 0 : i64
      %sum = frame.reduce %list from %none captures(%x) {
      ^bb0(%so_far: !frame.nullable<i64>, %each: !frame.nullable<i64>, %place: i64, %by: !frame.nullable<i64>):
        %bad = frame.divide %each, %by : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
        %rest = frame.subtract %bad, %bad : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
        %next = frame.add %so_far, %each : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
        %with = frame.add %next, %rest : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
        frame.yield %with : !frame.nullable<i64>
      } : (!frame.list<i64>, i64, !frame.nullable<i64>) -> !frame.nullable<i64>
      frame.yield %sum : !frame.nullable<i64>
    } : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
    frame.yield %q, %n, %s : !frame.nullable<i64>, !frame.nullable<i64>, !frame.nullable<i64>
  } : !n -> !r
  %s = frame.sort %p by [#frame.sort_key<"a" asc nulls_last>] : !r
  return %s : !r
}
