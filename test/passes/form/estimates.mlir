// Sources: passes/form/scans.cpp
// RUN: headrace-opt %s --stop-after=form | FileCheck %s

// What the statistics say goes with the ops, for the cost model: in which form kernels will find pages (a small
// dictionary is in registers; values that hardly repeat are kept as values), whether rows come in an order, how long
// texts are, what a value takes in the file, and how many rows each stage lets through.

// CHECK: pipe.scan "lines"
// CHECK-SAME: column = "id"{{.*}}page_bytes = 4.000000e+00 : f64, {{.*}}ordered = true
// CHECK-SAME: column = "day"{{.*}}pages = gathered, page_bytes = 1.375000e+00 : f64
// CHECK-SAME: column = "flag"{{.*}}pages = code, page_bytes = 2.500000e-01 : f64, {{.*}}text_bytes = 7.000000e+00 : f64
// CHECK-SAME: column = "note"{{.*}}page_bytes = 1.600000e+01 : f64, file_bytes = 1.250000e+01 : f64, text_bytes = 3.050000e+01 : f64
// CHECK: pipe.filter
// CHECK: {selectivity = {{.*}} : f64, text_bytes = 3.050000e+01 : f64}
// CHECK: pipe.combine {{.*}} keys ["flag", "note"] {text_bytes = 3.750000e+01 : f64}

!lines = !frame.table<"id": i64, "day": !frame.date, "flag": !frame.string, "note": !frame.string>
func.func @main() -> !frame.table<"flag": !frame.string, "note": !frame.string, "last": i64> {
  %0 = frame.scan "lines" ["l_id", "l_day", "l_flag", "l_note"] {statistics = {rows = 1200000 : i64, row_groups = 10 : i64, columns = {
      l_id = {min = 1 : i64, max = 1200000 : i64, distinct = 1200000 : i64, ordered = true},
      l_day = {min = 8001 : i64, max = 10000 : i64, distinct = 2000 : i64, dictionary_entries = 20000 : i64},
      l_flag = {distinct = 4 : i64, dictionary_entries = 40 : i64, average_bytes = 7.0 : f64},
      l_note = {average_bytes = 30.5 : f64, file_bytes = 12.5 : f64}}}} : !lines
  %1 = frame.filter %0 columns ["day"] {
  ^bb0(%day: !frame.date):
    %limit = frame.constant "1993-04-16" : !frame.date
    %p = frame.compare lt %day, %limit : (!frame.date, !frame.date) -> i1
    frame.yield %p : i1
  } : !lines
  %2 = frame.filter %1 columns ["note"] {
  ^bb0(%note: !frame.string):
    %p = frame.like %note "%special%" : (!frame.string) -> i1
    frame.yield %p : i1
  } : !lines
  %3 = frame.aggregate %2 keys ["flag", "note"] measures [#frame.measure<max("id") -> "last">]
      : !lines -> !frame.table<"flag": !frame.string, "note": !frame.string, "last": i64>
  return %3 : !frame.table<"flag": !frame.string, "note": !frame.string, "last": i64>
}
