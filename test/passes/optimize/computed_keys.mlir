// Joins on equal expressions get columns with their values as keys.
// RUN: headrace-opt %s --pass-pipeline='builtin.module(func.func(optimize-computed-keys))' | FileCheck %s

// CHECK-LABEL: func.func @filter
// CHECK: %[[RIGHT:.*]] = frame.project %arg1 keep ["k"] compute ["key"] columns ["k"]
// CHECK: %[[JOINED:.*]] = frame.join inner %arg0, %[[RIGHT]] on ["id"] = ["key"]
// CHECK: frame.project %[[JOINED]] keep ["id", "x", "k"] compute []
// CHECK: frame.filter {{.*}} columns ["x", "k"]
func.func @filter(%a: !frame.table<"id": i64, "x": i32>, %b: !frame.table<"k": i32>) -> !frame.table<"id": i64, "x": i32, "k": i32> {
  %0 = frame.join inner %a, %b on [] = [] : <"id": i64, "x": i32>, <"k": i32> -> <"id": i64, "x": i32, "k": i32>
  %1 = frame.filter %0 columns ["id", "x", "k"] {
  ^bb0(%id: i64, %x: i32, %k: i32):
    %2 = frame.cast %k : i32 -> i64
    %3 = frame.compare eq %id, %2 : (i64, i64) -> i1
    %4 = frame.compare lt %x, %k : (i32, i32) -> i1
    %5 = frame.and %3, %4 : (i1, i1) -> i1
    frame.yield %5 : i1
  } : <"id": i64, "x": i32, "k": i32>
  return %1 : !frame.table<"id": i64, "x": i32, "k": i32>
}

// CHECK-LABEL: func.func @residual
// CHECK: frame.join anti {{.*}} on ["key"] = ["k"] : <"x": i32, "key": i64>
func.func @residual(%a: !frame.table<"x": i32>, %b: !frame.table<"k": i64>) -> !frame.table<"x": i32> {
  %0 = frame.join anti %a, %b on [] = [] residual ["x", "k"] {
  ^bb0(%x: i32, %k: i64):
    %1 = frame.cast %x : i32 -> i64
    %2 = frame.compare eq %k, %1 : (i64, i64) -> i1
    frame.yield %2 : i1
  } : <"x": i32>, <"k": i64> -> <"x": i32>
  return %0 : !frame.table<"x": i32>
}

// A sum may overflow: it is computed for all rows of its side, as in DuckDB,
// CHECK-LABEL: func.func @may_fail
// CHECK: frame.join semi {{.*}} on ["key"] = ["k"]
func.func @may_fail(%a: !frame.table<"x": i64>, %b: !frame.table<"k": i64>) -> !frame.table<"x": i64> {
  %0 = frame.join semi %a, %b on [] = [] residual ["x", "k"] {
  ^bb0(%x: i64, %k: i64):
    %1 = frame.add %x, %x : (i64, i64) -> i64
    %2 = frame.compare eq %k, %1 : (i64, i64) -> i1
    frame.yield %2 : i1
  } : <"x": i64>, <"k": i64> -> <"x": i64>
  return %0 : !frame.table<"x": i64>
}

// but stays where a condition beside it chooses among these rows alone.
// CHECK-LABEL: func.func @guarded
// CHECK: frame.join semi {{.*}} on [] = [] residual
func.func @guarded(%a: !frame.table<"x": i64>, %b: !frame.table<"k": i64>) -> !frame.table<"x": i64> {
  %0 = frame.join semi %a, %b on [] = [] residual ["x", "k"] {
  ^bb0(%x: i64, %k: i64):
    %1 = frame.add %x, %x : (i64, i64) -> i64
    %2 = frame.compare eq %k, %1 : (i64, i64) -> i1
    %3 = frame.constant 10 : i64
    %4 = frame.compare lt %x, %3 : (i64, i64) -> i1
    %5 = frame.and %2, %4 : (i1, i1) -> i1
    frame.yield %5 : i1
  } : <"x": i64>, <"k": i64> -> <"x": i64>
  return %0 : !frame.table<"x": i64>
}
