// The rows near the ends of ranks are known to be few: they are priced, and have memory, as such.
// Sources: passes/shard/carry_windows.cpp
// RUN: headrace-opt %s --shard="mesh=r:3" --analysis-print-estimates -o /dev/null | FileCheck %s

!t = !frame.table<"k": i64, "x": i64>
!r = !frame.table<"k": i64, "x": i64, "n": !frame.nullable<i64>, "p": !frame.nullable<i64>>

// CHECK: frame.filter rows 0 {{9[0-9]+}} {{.*}} 1e+07
// CHECK: frame.filter rows 0 {{[0-9][0-9]?[0-9]?[0-9]?[0-9]?}} {{.*}} 1e+07
// CHECK: dist.exchange rows 0 {{[0-9][0-9]?[0-9]?[0-9]?[0-9]?}} {{.*}} 1e+07
func.func @main() -> !r {
  %t = frame.scan "t" ["k", "x"] {statistics = {rows = 10000000 : i64, columns = {}}} : !t
  %w = frame.window %t partition [] order [#frame.sort_key<"k" asc nulls_last>] functions [#frame.window_function<lead("x", 2 : i64) -> "n">, #frame.window_function<lag("x", 1 : i64) -> "p">] : !t -> !r
  return %w : !r
}
