// Regions for the elements of lists, in every stage of the compiler: with captures, nested, filtered, of constants.
// Sources: passes/analysis/region_evaluation.cpp, passes/lower/code/loop_code.cpp
// RUN: headrace-interpret %s --check --tables %S/tables --layouts 8 --mesh ranks:1 --mesh ranks:3 | FileCheck %s

// CHECK:      s,c
// CHECK-NEXT: 0,0
// CHECK-NEXT: 35,2
// CHECK-NEXT: 135,2
// CHECK:      compared {{[1-9][0-9]+}} stages
!n = !frame.table<"n": i64>
!r = !frame.table<"s": !frame.nullable<i64>, "c": i64>
func.func @elements() -> !r {
  %v = frame.values [[0], [3], [7]] : !n
  %p = frame.project %v keep [] compute ["s", "c"] columns ["n"] {
  ^bb0(%n: i64):
    %null = frame.constant null : !frame.nullable<i64>
    %two = frame.constant 2 : i64
    %zero = frame.constant 0 : i64
    %list = frame.list %n, %null, %two : (i64, !frame.nullable<i64>, i64) -> !frame.list<i64>
    %positive = frame.flat_map %list captures(%zero) {
    ^bb0(%x: !frame.nullable<i64>, %place: i64, %least: i64):
      %one = frame.list %x : (!frame.nullable<i64>) -> !frame.list<i64>
      %none = frame.list : () -> !frame.list<i64>
      %keeps = frame.compare gt %x, %least : (!frame.nullable<i64>, i64) -> !frame.nullable<i1>
      %l = frame.case when %keeps then %one else %none : (!frame.nullable<i1>), (!frame.list<i64>), !frame.list<i64> -> !frame.list<i64>
      frame.yield %l : !frame.list<i64>
    } : (!frame.list<i64>, i64) -> !frame.list<i64>
    %first = frame.element %positive at %two : (!frame.list<i64>, i64) -> !frame.nullable<i64>
    %count = frame.text "list_length"(%positive) : (!frame.list<i64>) -> i64
    %has = frame.compare eq %count, %two : (i64, i64) -> i1
    %c = frame.case when %has then %count else %zero : (i1), (i64), i64 -> i64
    %sum = frame.reduce %positive from %zero captures(%n, %positive) {
    ^bb0(%so_far: !frame.nullable<i64>, %x: !frame.nullable<i64>, %place: i64, %m: i64, %all: !frame.list<i64>):
      %inner = frame.reduce %all from %x captures(%m) {
      ^bb0(%a: !frame.nullable<i64>, %y: !frame.nullable<i64>, %i: i64, %k: i64):
        %more = frame.multiply %y, %k : (!frame.nullable<i64>, i64) -> !frame.nullable<i64>
        %b = frame.add %a, %more : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
        frame.yield %b : !frame.nullable<i64>
      } : (!frame.list<i64>, !frame.nullable<i64>, i64) -> !frame.nullable<i64>
      %next = frame.add %so_far, %inner : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
      frame.yield %next : !frame.nullable<i64>
    } : (!frame.list<i64>, i64, i64, !frame.list<i64>) -> !frame.nullable<i64>
    %known = frame.case when %has then %sum else %zero : (i1), (!frame.nullable<i64>), i64 -> !frame.nullable<i64>
    frame.yield %known, %c : !frame.nullable<i64>, i64
  } : !n -> !r
  %s = frame.sort %p by [#frame.sort_key<"s" asc nulls_last>] : !r
  return %s : !r
}
