// The phase as a whole: what one pass leaves is what the next one needs.
// Sources: passes/optimize/pipeline.cpp
// RUN: headrace-opt --optimize %s | FileCheck %s
// RUN: headrace-opt --optimize %s | headrace-opt --verify-optimize -o /dev/null

!l = !frame.table<"a": i64, "x": i64, "unread": i64>
!r = !frame.table<"b": i64, "y": i64>
!j = !frame.table<"a": i64, "x": i64, "unread": i64, "b": i64, "y": i64>

// The filter goes below the join, to the side of its column; then that column is read no more behind it, and what nobody
// reads is not even scanned. A mean becomes a sum and a count, by which its quotient is made at the end.
// CHECK-LABEL: func.func @main
// CHECK-NOT: "unread"
// CHECK: %[[L:.*]] = frame.scan "l" ["a", "x"]
// CHECK: frame.filter %[[L]] columns ["x"]
// CHECK: frame.join inner
// CHECK-NOT: frame.filter
// CHECK-NOT: avg
// CHECK: frame.aggregate {{.*}} keys ["b"] measures {{.*}}sum("y"){{.*}}count
// CHECK: frame.divide
func.func @main() -> !frame.table<"b": i64, "mean": f64> {
  %l = frame.scan "l" ["a", "x", "unread"] : !l
  %r = frame.scan "r" ["b", "y"] : !r
  %0 = frame.join inner %l, %r on ["a"] = ["b"] : !l, !r -> !j
  %1 = frame.filter %0 columns ["x"] {
  ^bb0(%x: i64):
    %c = frame.constant 3 : i64
    %p = frame.compare gt %x, %c : (i64, i64) -> i1
    frame.yield %p : i1
  } : !j
  %2 = frame.aggregate %1 keys ["b"] measures [#frame.measure<avg("y") -> "mean">]
      : !j -> !frame.table<"b": i64, "mean": f64>
  return %2 : !frame.table<"b": i64, "mean": f64>
}
