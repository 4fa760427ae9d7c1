// New names reach the ops that make the columns; joins have no rename between them.
// RUN: headrace-opt --optimize-renames %s | FileCheck %s

!t = !frame.table<"a": i64, "b": i64>
!u = !frame.table<"c": i64>
!g = !frame.table<"a": i64, "n": i64>
!o = !frame.table<"a2": i64, "n2": i64, "m2": i1>

// CHECK-LABEL: @through
// CHECK: %[[T:.*]] = frame.scan "t" ["a", "b"] : <"a2": i64, "b": i64>
// CHECK: %[[G:.*]] = frame.aggregate %[[T]] keys ["a2"] measures [#frame.measure<max("b") -> "n2">]
// CHECK: %[[F:.*]] = frame.filter %[[G]] columns ["n2"]
// CHECK: %[[J:.*]] = frame.join mark %[[F]], %{{.*}} on ["a2"] = ["c"] : {{.*}} -> <"a2": i64, "n2": i64, "m2": i1>
// CHECK: frame.sort %[[J]] by [#frame.sort_key<"n2" asc nulls_last>]
// CHECK-NEXT: return
func.func @through() -> !o {
  %t = frame.scan "t" ["a", "b"] : !t
  %u = frame.scan "u" ["c"] : !u
  %0 = frame.aggregate %t keys ["a"] measures [#frame.measure<max("b") -> "n">] : !t -> !g
  %1 = frame.filter %0 columns ["n"] {
  ^bb0(%n: i64):
    %zero = frame.constant 0 : i64
    %p = frame.compare gt %n, %zero : (i64, i64) -> i1
    frame.yield %p : i1
  } : !g
  %2 = frame.join mark %1, %u on ["a"] = ["c"] : !g, !u -> !frame.table<"a": i64, "n": i64, "m": i1>
  %3 = frame.sort %2 by [#frame.sort_key<"n" asc nulls_last>] : !frame.table<"a": i64, "n": i64, "m": i1>
  %4 = frame.rename %3 : !frame.table<"a": i64, "n": i64, "m": i1> -> !o
  return %4 : !o
}

// A table with another reader keeps its names.
// CHECK-LABEL: @shared
// CHECK: frame.rename
func.func @shared(%t: !u) -> (!u, !frame.table<"d": i64>) {
  %0 = frame.distinct %t : !u
  %1 = frame.rename %0 : !u -> !frame.table<"d": i64>
  return %0, %1 : !u, !frame.table<"d": i64>
}

// A name that the op below uses for another column stays where it is.
// CHECK-LABEL: @taken
// CHECK: frame.rename
func.func @taken() -> !frame.table<"b": i64> {
  %t = frame.scan "t" ["a", "b"] : !t
  %0 = frame.project %t keep ["a"] compute [] columns [] {
    frame.yield
  } : !t -> !frame.table<"a": i64>
  %1 = frame.rename %0 : !frame.table<"a": i64> -> !frame.table<"b": i64>
  return %1 : !frame.table<"b": i64>
}
