// Sources: passes/analysis/order_words.cpp passes/form/aggregates.cpp
// RUN: headrace-opt %s --form -split-input-file | FileCheck %s

// In how many words of its keys a row is told from the others: one where they all differ, two where many have the first
// key in common, and of a text as many as tell such a number of rows apart.

!lines = !frame.table<"id": i64, "flag": i64, "note": !frame.string>

// CHECK: pipe.state @{{.*}} sort {{.*}} words 1.0
func.func @main() -> !lines {
  %0 = frame.scan "lines" ["l_id", "l_flag", "l_note"] {statistics = {rows = 1200000 : i64, columns = {
      l_id = {min = 1 : i64, max = 120000000 : i64, distinct = 1200000 : i64}}}} : !lines
  %1 = frame.sort %0 by [#frame.sort_key<"id" asc nulls_last>] : !lines
  return %1 : !lines
}

// -----

!lines = !frame.table<"id": i64, "flag": i64, "note": !frame.string>

// CHECK: pipe.state @{{.*}} sort {{.*}} words 2.0
func.func @main() -> !lines {
  %0 = frame.scan "lines" ["l_id", "l_flag", "l_note"] {statistics = {rows = 1200000 : i64, columns = {
      l_flag = {min = 1 : i64, max = 4 : i64, distinct = 4 : i64}}}} : !lines
  %1 = frame.sort %0 by [#frame.sort_key<"flag" asc nulls_last>, #frame.sort_key<"id" asc nulls_last>] : !lines
  return %1 : !lines
}

// -----

!lines = !frame.table<"id": i64, "flag": i64, "note": !frame.string>

// CHECK: pipe.state @{{.*}} sort {{.*}} words 2.70
func.func @main() -> !lines {
  %0 = frame.scan "lines" ["l_id", "l_flag", "l_note"] {statistics = {rows = 1200000 : i64, columns = {
      l_note = {distinct = 1200000 : i64, average_bytes = 30.5 : f64}}}} : !lines
  %1 = frame.sort %0 by [#frame.sort_key<"note" asc nulls_last>] : !lines
  return %1 : !lines
}
