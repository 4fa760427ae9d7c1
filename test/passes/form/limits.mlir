// A limit whose rows are the first that come lets who fills it stop; one by another key does not.
// Sources: passes/form/aggregates.cpp passes/form/scans.cpp
// RUN: headrace-opt %s --form | FileCheck %s

// CHECK: pipe.state @[[BY_ROW:.*]] sort {{.*}} limit 5 offset 2 first_come
// CHECK: pipe.scan "t" {{.*}}#pipe.scan_column<column = "row", logical = i64
// CHECK: pipe.insert {{.*}}@[[BY_ROW]]
func.func @main() -> !frame.table<"a": i64, "row": i64> {
  %0 = frame.scan "t" ["a"] ordinals : !frame.table<"a": i64, "row": i64>
  %1 = frame.topk %0 by [#frame.sort_key<"row" asc nulls_last>] offset 2 count 3 : !frame.table<"a": i64, "row": i64>
  return %1 : !frame.table<"a": i64, "row": i64>
}
