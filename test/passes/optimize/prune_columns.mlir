// Unused columns are not scanned or computed, and end where they are used last.
// RUN: headrace-opt --optimize-prune-columns %s | FileCheck %s

!l = !frame.table<"a": i64, "x": i64, "unused": i64>
!r = !frame.table<"b": i64, "y": i64>

// CHECK-LABEL: func.func @main
// CHECK: %[[SCAN:.*]] = frame.scan "l" ["la", "lx"] : <"a": i64, "x": i64>
// CHECK: %[[FILTER:.*]] = frame.filter %[[SCAN]]
// CHECK: %[[RIGHT:.*]] = frame.scan "r" ["rb", "ry"]
// CHECK: %[[LEFT:.*]] = frame.project %[[FILTER]] keep ["a"]
// CHECK: %[[JOIN:.*]] = frame.join inner %[[LEFT]], %[[RIGHT]]
// CHECK: %[[PROJECT:.*]] = frame.project %[[JOIN]] keep ["y"] compute ["two"]
// CHECK: frame.aggregate %[[PROJECT]] keys ["y"] measures [#frame.measure<sum("two") -> "s">]
func.func @main() -> !frame.table<"y": i64, "s": i64> {
  %l = frame.scan "l" ["la", "lx", "lunused"] : !l
  %f = frame.filter %l columns ["x"] {
  ^bb0(%x: i64):
    %c = frame.constant 1 : i64
    %p = frame.compare eq %x, %c : (i64, i64) -> i1
    frame.yield %p : i1
  } : !l
  %r = frame.scan "r" ["rb", "ry"] : !r
  %j = frame.join inner %f, %r on ["a"] = ["b"] : !l, !r
      -> !frame.table<"a": i64, "x": i64, "unused": i64, "b": i64, "y": i64>
  %p = frame.project %j keep ["y"] compute ["two", "three"] columns ["a", "x"] {
  ^bb0(%a: i64, %x: i64):
    %two = frame.add %a, %a : (i64, i64) -> i64
    %three = frame.add %two, %x : (i64, i64) -> i64
    frame.yield %two, %three : i64, i64
  } : !frame.table<"a": i64, "x": i64, "unused": i64, "b": i64, "y": i64>
      -> !frame.table<"y": i64, "two": i64, "three": i64>
  %s = frame.aggregate %p keys ["y"]
      measures [#frame.measure<sum("two") -> "s">, #frame.measure<max("three") -> "m">]
      : !frame.table<"y": i64, "two": i64, "three": i64> -> !frame.table<"y": i64, "s": i64, "m": i64>
  %k = frame.project %s keep ["y", "s"] compute [] columns [] {
    frame.yield
  } : !frame.table<"y": i64, "s": i64, "m": i64> -> !frame.table<"y": i64, "s": i64>
  return %k : !frame.table<"y": i64, "s": i64>
}

// A mark that nobody reads.
// CHECK-LABEL: func.func @mark
// CHECK-NOT: frame.join
// CHECK: return
func.func @mark(%l: !l, %r: !r) -> !frame.table<"a": i64> {
  %0 = frame.join mark %l, %r on ["a"] = ["b"] : !l, !r -> !frame.table<"a": i64, "x": i64, "unused": i64, "m": i1>
  %1 = frame.project %0 keep ["a"] compute [] columns [] {
    frame.yield
  } : !frame.table<"a": i64, "x": i64, "unused": i64, "m": i1> -> !frame.table<"a": i64>
  return %1 : !frame.table<"a": i64>
}
