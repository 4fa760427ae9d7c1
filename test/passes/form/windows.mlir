// A window is a state that keeps all rows and computes fields; what nobody reads is not computed; values and defaults get
// one width.
// Sources: passes/form/windows.cpp, passes/analysis/window_layout.cpp
// RUN: headrace-opt %s --stop-after=form | FileCheck %s
// RUN: headrace-opt %s --stop-after=form | headrace-opt --lower-kernels -o /dev/null

// CHECK: pipe.state @window0 window [#pipe.field<"k", i32, key between 0 : i64 and 9 : i64>,
// CHECK-SAME: #pipe.field<"place", i64, computed>
// CHECK-SAME: #pipe.field<"total", i128, sum, nullable = true>
// CHECK-SAME: #pipe.field<"before", i64, computed, nullable = true>]
// CHECK-SAME: order [#pipe.sort_key<"x", descending = true, nulls_first = false>]
// CHECK-SAME: functions [#frame.window_function<rank -> "place">,
// CHECK-SAME: lag("{{k.value.*}}", 1 : i64, "{{x.value.*}}") -> "before">]
// CHECK-NOT: unread
// CHECK: pipe.insert %{{.*}}, @window0 keys ["k"]
// CHECK: pipe.read @window0
!t = !frame.table<"k": i64, "x": i64>
!w = !frame.table<"k": i64, "x": i64, "place": i64, "total": !frame.nullable<!frame.decimal<38, 0>>, "unread": i64, "before": !frame.nullable<i64>>
!r = !frame.table<"place": i64, "total": !frame.nullable<!frame.decimal<38, 0>>, "before": !frame.nullable<i64>>
func.func @main() -> !r {
  %0 = frame.scan "t" ["tk", "tx"] {statistics = {rows = 1000 : i64, columns = {tk = {min = 0 : i64, max = 9 : i64}}}} : !t
  %1 = frame.window %0 partition ["k"] order [#frame.sort_key<"x" desc nulls_last>] functions [
    #frame.window_function<rank -> "place">,
    #frame.window_function<aggregate sum("x") -> "total" over <rows preceding(2 : i64) to current_row>>,
    #frame.window_function<dense_rank -> "unread">,
    #frame.window_function<lag("k", 1 : i64, "x") -> "before">] : !t -> !w
  %2 = frame.project %1 keep ["place", "total", "before"] compute [] columns [] {
    frame.yield
  } : !w -> !r
  return %2 : !r
}
