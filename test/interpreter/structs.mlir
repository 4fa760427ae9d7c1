// Structs made and taken apart, and maps as the lists that they are, in every stage of the compiler.
// Sources: passes/form/lists.cpp, passes/analysis/scalar_evaluation.cpp
// RUN: headrace-interpret %s --check --tables %S/tables --layouts 8 --mesh ranks:1 --mesh ranks:3 | FileCheck %s

// CHECK:      s,y
// CHECK:      "{'k': a, 'x': 1}",1
// CHECK:      compared {{[1-9][0-9]+}} stages
!l = !frame.table<"k": !frame.nullable<!frame.string>, "x": !frame.nullable<i64>>
!s = !frame.struct<"k": !frame.string, "x": i64>
!r = !frame.table<"s": !s, "y": !frame.nullable<i64>>
func.func @made() -> !r {
  %l = frame.scan "left" ["k", "x"] : !l
  %p = frame.project %l keep [] compute ["s"] columns ["k", "x"] {
  ^bb0(%k: !frame.nullable<!frame.string>, %x: !frame.nullable<i64>):
    %s = frame.struct %k, %x : (!frame.nullable<!frame.string>, !frame.nullable<i64>) -> !s
    frame.yield %s : !s
  } : !l -> !frame.table<"s": !s>
  %r = frame.project %p keep ["s"] compute ["y"] columns ["s"] {
  ^bb0(%s: !s):
    %x = frame.field %s[1] : !s -> !frame.nullable<i64>
    frame.yield %x : !frame.nullable<i64>
  } : !frame.table<"s": !s> -> !r
  return %r : !r
}

// -----

// CHECK:      m,v
// CHECK-NEXT: "{a=1}",1
// CHECK:      compared {{[1-9][0-9]+}} stages
!m = !frame.map<!frame.string, i64>
!entry = !frame.struct<"key": !frame.string, "value": i64>
!o = !frame.table<"m": !m, "v": !frame.nullable<i64>>
func.func @map() -> !o {
  %v = frame.values [[1]] : !frame.table<"n": i64>
  %p = frame.project %v keep [] compute ["m", "v"] columns ["n"] {
  ^bb0(%n: i64):
    %a = frame.constant "a" : !frame.string
    %keys = frame.list %a : (!frame.string) -> !frame.list<!frame.string>
    %values = frame.list %n : (i64) -> !frame.list<i64>
    %entries = frame.text "map_entries_of"(%keys, %values)
        : (!frame.list<!frame.string>, !frame.list<i64>) -> !frame.list<!entry>
    %m = frame.cast %entries : !frame.list<!entry> -> !m
    %found = frame.text "map_values_at"(%entries, %keys)
        : (!frame.list<!entry>, !frame.list<!frame.string>) -> !frame.list<i64>
    %one = frame.constant 1 : i64
    %value = frame.element %found at %one : (!frame.list<i64>, i64) -> !frame.nullable<i64>
    frame.yield %m, %value : !m, !frame.nullable<i64>
  } : !frame.table<"n": i64> -> !o
  return %p : !o
}
