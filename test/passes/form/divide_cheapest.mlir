// Of two states the one is divided for which fewer rows wait, not the larger one; where nobody says how many,
// the larger one.
// Sources: passes/form/waiting_bytes.cpp, passes/form/divide_states.cpp, passes/analysis/source_rows.cpp
// RUN: headrace-opt %s --divide-states=memory-bytes=7000000 | FileCheck %s
// RUN: sed "s/holds [0-9]* :/:/" %s | headrace-opt --divide-states=memory-bytes=7000000 | FileCheck %s --check-prefix=LARGER
// RUN: headrace-opt %s --divide-states=memory-bytes=13000000 | FileCheck %s --check-prefix=ROOM

// CHECK-NOT: @large_rounds
// CHECK: pipe.repeat @small_rounds
// CHECK-NOT: @large_rounds
// LARGER-NOT: @small_rounds
// LARGER: pipe.repeat @large_rounds
// LARGER-NOT: @small_rounds
// ROOM-NOT: pipe.repeat
pipe.state @large join [#pipe.field<"k", i32, key>] holds <expected = 100000, p95 = 100000, max = 100000>
pipe.state @small join [#pipe.field<"k", i32, key>] holds <expected = 90000, p95 = 90000, max = 90000>
pipe.state @kept rows [#pipe.field<"p", i32, payload>]
pipe.pipeline @fill_large {
  %0 = pipe.scan "a" [#pipe.scan_column<file = "k", column = "k">] holds 100000 : !pipe.rows<"k": i32>
  pipe.insert %0, @large keys ["k"] : !pipe.rows<"k": i32>
}
pipe.pipeline @fill_small {
  %0 = pipe.scan "b" [#pipe.scan_column<file = "k", column = "k">] holds 90000 : !pipe.rows<"k": i32>
  pipe.insert %0, @small keys ["k"] : !pipe.rows<"k": i32>
}
pipe.pipeline @probe {
  %0 = pipe.scan "c" [#pipe.scan_column<file = "p", column = "p">] holds 100000000 : !pipe.rows<"p": i32>
  %1 = pipe.lookup %0, @large semi keys ["p"] payload [] columns [] {
  } {selectivity = 1.0e-06 : f64} : !pipe.rows<"p": i32> -> !pipe.rows<"p": i32>
  %2 = pipe.lookup %1, @small semi keys ["p"] payload [] columns [] {
  } : !pipe.rows<"p": i32> -> !pipe.rows<"p": i32>
  pipe.insert %2, @kept keys [] : !pipe.rows<"p": i32>
}
