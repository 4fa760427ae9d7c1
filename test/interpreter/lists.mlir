// Lists made of the rows of a partition, and rows made of lists, in every stage of the compiler.
// Sources: dialects/frame/FrameExpand.cpp, passes/interpreter/windows.cpp, passes/interpreter/relations.cpp
// RUN: headrace-interpret %s --check --tables %S/tables --layouts 8 --mesh ranks:1 --mesh ranks:3 | FileCheck %s

// CHECK:     k,l
// CHECK:     compared {{[1-9][0-9]+}} stages
!l = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>>
!m = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>, "one": !frame.list<i64>>
!w = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>, "one": !frame.list<i64>, "all": !frame.nullable<!frame.list<i64>>>
!a = !frame.table<"k": !frame.nullable<!frame.string>, "l": !frame.nullable<!frame.list<i64>>>
func.func @collected() -> !a {
  %l = frame.scan "left" ["k", "x"] : !l
  %m = frame.project %l keep ["k", "x"] compute ["one"] columns ["x"] {
  ^bb0(%x: !frame.nullable<i64>):
    %one = frame.list %x : (!frame.nullable<i64>) -> !frame.list<i64>
    frame.yield %one : !frame.list<i64>
  } : !l -> !m
  %w = frame.window %m partition ["k"] order [#frame.sort_key<"x" asc nulls_last>]
      functions [#frame.window_function<collect("one") -> "all">] : !m -> !w
  %a = frame.aggregate %w keys ["k"] measures [#frame.measure<min("all") -> "l">] : !w -> !a
  return %a : !a
}

// -----

// CHECK:      e,i
// CHECK-NEXT: 7,1
// CHECK-NEXT: ,2
// CHECK-NEXT: 7,3
// CHECK:      compared {{[1-9][0-9]+}} stages
!n = !frame.table<"n": i64>
!e = !frame.table<"n": i64, "i": i64>
!r = !frame.table<"e": !frame.nullable<i64>, "i": i64>
func.func @expanded() -> !r {
  %v = frame.values [[0], [3], [-1]] : !n
  %x = frame.expand %v by "n" number "i" : !n -> !e
  %p = frame.project %x keep ["i"] compute ["e"] columns ["i"] {
  ^bb0(%i: i64):
    %null = frame.constant null : !frame.nullable<i64>
    %seven = frame.constant 7 : i64
    %list = frame.list %seven, %null, %seven : (i64, !frame.nullable<i64>, i64) -> !frame.list<i64>
    %e = frame.element %list at %i : (!frame.list<i64>, i64) -> !frame.nullable<i64>
    frame.yield %e : !frame.nullable<i64>
  } : !e -> !r
  %s = frame.sort %p by [#frame.sort_key<"i" asc nulls_last>] : !r
  return %s : !r
}
