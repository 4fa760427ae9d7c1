// States that memory has no room for: pipelines are cut before the op that fills a divided state or looks into it, the
// rows wait in parts by its keys, and the pieces behind belong to a repeat. Who reads the state belongs to it too, unless
// its rounds would wait for each other: then its rows are kept, which leave memory by themselves. A choice's state stays
// as it is.
// Sources: passes/form/divide_states.cpp, passes/form/piece_order.cpp, passes/analysis/state_bytes.cpp
// RUN: headrace-opt %s --split-input-file --divide-states=memory-bytes=1 | FileCheck %s
// RUN: headrace-opt %s --split-input-file --divide-states=memory-bytes=1 --schedule-tasks | FileCheck %s --check-prefix=TASKS
// RUN: headrace-opt %s --split-input-file --divide-states=memory-bytes=1000000000 | FileCheck %s --check-prefix=ENOUGH
// ENOUGH-NOT: repeat

// CHECK: pipe.repeat @totals_rounds room 0
// CHECK: pipe.stream @totals_parts parted parts 128 carries <expected = 10, p95 = 20, max = 1000>
// CHECK: pipe.pipeline @scan {
// CHECK: pipe.emit %0, @totals_parts parted keys ["k"]
// CHECK: pipe.pipeline @scan_rounds repeats @totals_rounds {
// CHECK: pipe.receive @totals_parts
// CHECK: pipe.combine {{.*}}, @totals keys ["k"]
// CHECK: pipe.pipeline @groups repeats @totals_rounds {
// TASKS: %[[WRITTEN:.*]], %[[PARTS:.*]] = sched.run @scan {{.*}} partitioned
// TASKS: %[[ROUNDS:.*]], %[[OUT:.*]] = sched.repeat room 0 after %[[WRITTEN]] {
// TASKS:   %[[ROOM:.*]] = sched.reserve host for @totals
// TASKS:   %[[FILLED:.*]] = sched.run @scan_rounds from %[[PARTS]] {{.*}} fills [@totals]
// TASKS:   %[[READ:.*]], %[[GROUPS:.*]] = sched.run @groups of @totals {{.*}} after %[[FILLED]]
// TASKS:   sched.release %[[ROOM]] after %[[FILLED]], %[[READ]]
// TASKS:   sched.yield %[[GROUPS]]
// TASKS: sched.result %[[OUT]]
pipe.state @totals group [#pipe.field<"k", i32, key>, #pipe.field<"total", i64, sum>] holds <expected = 10, p95 = 20, max = 1000>
pipe.stream @out result names ["k", "total"] logical [i32, i64] : !pipe.rows<"k": i32, "total": i64>
pipe.pipeline @scan {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">, #pipe.scan_column<column = "total", file = "total">] : !pipe.rows<"k": i32, "total": i64>
  pipe.combine %0, @totals keys ["k"] : !pipe.rows<"k": i32, "total": i64>
}
pipe.pipeline @merge_totals merges @totals {
  %0 = pipe.read @totals : !pipe.rows<"k": i32, "total": i64>
  pipe.combine %0, @totals keys ["k"] : !pipe.rows<"k": i32, "total": i64>
}
pipe.pipeline @groups {
  %0 = pipe.read @totals : !pipe.rows<"k": i32, "total": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"k": i32, "total": i64>
}

// -----

// What is looked up waits too; what it fills outside is reserved for all rounds.
// CHECK-NOT: direct
// CHECK: pipe.stream @build_parts parted
// CHECK: pipe.stream @build_probes parted
// CHECK: pipe.pipeline @probe {
// CHECK: pipe.emit %{{.*}}, @build_probes parted keys ["p"]
// CHECK: pipe.pipeline @probe_rounds repeats @build_rounds {
// CHECK: pipe.lookup %{{.*}}, @build inner
// TASKS: %[[COUNTED:.*]] = sched.reserve host for @count
// TASKS: %[[DONE:.*]] = sched.repeat room 0 after %{{.*}}, %{{.*}} {
// TASKS:   fills [@count] reads [@build] after %{{.*}}, %[[COUNTED]]
// TASKS: sched.release %[[COUNTED]] after %[[DONE]]
pipe.state @build join [#pipe.field<"k", i32, key>] holds <expected = 10, p95 = 20, max = 1000> direct <base = 1, extent = 60>
pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.stream @out result names ["n"] logical [i64] : !pipe.rows<"n": i64>
pipe.pipeline @fill {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">] : !pipe.rows<"k": i32>
  pipe.insert %0, @build keys ["k"] : !pipe.rows<"k": i32>
}
pipe.pipeline @probe {
  %0 = pipe.scan "u" [#pipe.scan_column<column = "p", file = "p">] : !pipe.rows<"p": i32>
  %1 = pipe.lookup %0, @build inner keys ["p"] payload [] columns [] {
  } : !pipe.rows<"p": i32> -> !pipe.rows<"p": i32>
  %2 = pipe.map %1 ["n"] [] {
    %one = arith.constant 1 : i64
    pipe.yield %one : i64
  } : !pipe.rows<"p": i32> -> !pipe.rows<"n": i64>
  pipe.combine %2, @count keys [] : !pipe.rows<"n": i64>
}
pipe.pipeline @merge_count merges @count {
  %0 = pipe.read @count : !pipe.rows<"n": i64>
  pipe.combine %0, @count keys [] : !pipe.rows<"n": i64>
}
pipe.pipeline @told {
  %0 = pipe.read @count : !pipe.rows<"n": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
}

// -----

// The rows of a state meet the greatest of them, which is known after all rounds only: they are kept until then.
// CHECK: pipe.state @totals group
// CHECK: pipe.state @totals_kept rows [#pipe.field<"k", i32, payload>, #pipe.field<"total", i64, payload>] holds <expected = 7, p95 = 9, max = 9>
// CHECK: pipe.pipeline @scan_rounds repeats @totals_rounds
// CHECK: pipe.pipeline @totals_keeps repeats @totals_rounds {
// CHECK: %[[KEPT:.*]] = pipe.read @totals
// CHECK: pipe.insert %[[KEPT]], @totals_kept keys []{{.*}}text_bytes = 5.0
// CHECK: pipe.pipeline @greatest {
// CHECK: pipe.read @totals_kept : <"total": i64>
// CHECK: pipe.pipeline @groups {
// CHECK: pipe.read @totals_kept : <"k": i32, "total": i64>
// TASKS: sched.repeat
// TASKS: fills [@totals_kept]
// TASKS: sched.run @greatest of @totals_kept
pipe.state @totals group [#pipe.field<"k", i32, key>, #pipe.field<"total", i64, sum>] holds <expected = 7, p95 = 9, max = 9>
pipe.state @top scalar [#pipe.field<"most", i64, max>]
pipe.state @best join [#pipe.field<"most", i64, key>]
pipe.stream @out result names ["k", "total"] logical [i32, i64] : !pipe.rows<"k": i32, "total": i64>
pipe.pipeline @scan {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">, #pipe.scan_column<column = "total", file = "total">] : !pipe.rows<"k": i32, "total": i64>
  pipe.combine %0, @totals keys ["k"] {text_bytes = 5.0 : f64} : !pipe.rows<"k": i32, "total": i64>
}
pipe.pipeline @merge_totals merges @totals {
  %0 = pipe.read @totals : !pipe.rows<"k": i32, "total": i64>
  pipe.combine %0, @totals keys ["k"] : !pipe.rows<"k": i32, "total": i64>
}
pipe.pipeline @greatest {
  %0 = pipe.read @totals : !pipe.rows<"total": i64>
  %1 = pipe.map %0 ["most"] ["total"] {
  ^bb0(%total: i64):
    pipe.yield %total : i64
  } : !pipe.rows<"total": i64> -> !pipe.rows<"most": i64>
  pipe.combine %1, @top keys [] : !pipe.rows<"most": i64>
}
pipe.pipeline @merge_top merges @top {
  %0 = pipe.read @top : !pipe.rows<"most": i64>
  pipe.combine %0, @top keys [] : !pipe.rows<"most": i64>
}
pipe.pipeline @fill {
  %0 = pipe.read @top : !pipe.rows<"most": i64>
  pipe.insert %0, @best keys ["most"] : !pipe.rows<"most": i64>
}
pipe.pipeline @groups {
  %0 = pipe.read @totals : !pipe.rows<"k": i32, "total": i64>
  %1 = pipe.lookup %0, @best semi keys ["total"] payload [] columns [] {
  } : !pipe.rows<"k": i32, "total": i64> -> !pipe.rows<"k": i32, "total": i64>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32, "total": i64>
}
