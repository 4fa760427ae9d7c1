// Sources: passes/form/pipelines.cpp, passes/form/aggregates.cpp, passes/schedule/build_program.cpp
// RUN: headrace-opt %s --stop-after=form | FileCheck %s
// RUN: headrace-opt %s --stop-after=schedule | FileCheck %s --check-prefix=SCHED
// RUN: headrace-opt %s --stop-after=form | headrace-opt --lower-kernels | FileCheck %s --check-prefix=LOWER

// Unread columns are not scanned; statistics make decimals narrow and bound the row groups; the sum of a product
// of narrow values is kept in 64 bits because rows times its range fit.

// CHECK: pipe.state @aggregate0 scalar [#pipe.field<"total", i64, sum, nullable = true>]
// CHECK: pipe.scan "lines" [{{.*}}column = "price"{{.*}}column = "day"
// CHECK-SAME: bounds [#pipe.bound<"l_day" lt 9131 : i64>]
// CHECK-NOT: comment
// CHECK: pipe.filter
// CHECK: arith.cmpi slt, {{.*}} : i32
// CHECK: pipe.map {{.*}} ["total"]
// CHECK: pipe.combine {{.*}}, @aggregate0
// CHECK: pipe.emit {{.*}}, @result

// SCHED: sched.program @main
// SCHED: %[[LOADED:.*]], %[[ROWS:.*]] = sched.load for @scan_lines_0
// SCHED: %[[DONE:.*]] = sched.run @scan_lines_0 from %[[ROWS]] {{.*}} fills [@aggregate0]
// SCHED: sched.run @groups0 of @aggregate0 {{.*}} after %[[DONE]]
// SCHED: sched.result

// LOWER: llvm.func @scan_lines_0(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) -> i32
// LOWER: arith.cmpi slt, {{.*}} : vector<64xi32>

!lines = !frame.table<"price": !frame.decimal<15, 2>, "day": !frame.date, "comment": !frame.string>
func.func @main() -> !frame.table<"total": !frame.nullable<!frame.decimal<25, 2>>> {
  %0 = frame.scan "lines" ["l_price", "l_day", "l_comment"] {statistics = {rows = 1000 : i64, columns = {
      l_price = {min = 1 : i64, max = 100000 : i64}, l_day = {min = 8000 : i64, max = 10000 : i64}}}} : !lines
  %1 = frame.filter %0 columns ["day"] {
  ^bb0(%day: !frame.date):
    %limit = frame.constant "1995-01-01" : !frame.date
    %p = frame.compare lt %day, %limit : (!frame.date, !frame.date) -> i1
    frame.yield %p : i1
  } : !lines
  %2 = frame.aggregate %1 keys [] measures [#frame.measure<sum("price") -> "total">]
      : !lines -> !frame.table<"total": !frame.nullable<!frame.decimal<25, 2>>>
  return %2 : !frame.table<"total": !frame.nullable<!frame.decimal<25, 2>>>
}
