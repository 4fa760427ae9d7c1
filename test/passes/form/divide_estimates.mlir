// A state is taken to hold as many rows as the geometric mean of what is expected and the 95th percentile, here 100,000. Rows of a sort leave memory by themselves.
// Sources: passes/form/divide_states.cpp, passes/analysis/state_bytes.cpp
// RUN: headrace-opt %s --divide-states=memory-bytes=8000000 | FileCheck %s --check-prefix=ROOM
// RUN: headrace-opt %s --divide-states=memory-bytes=3000000 | FileCheck %s

// ROOM-NOT: pipe.repeat
// CHECK: pipe.repeat @build_rounds
pipe.state @build join [#pipe.field<"k", i32, key>] holds <expected = 10000, p95 = 1000000, max = 90000000>
pipe.state @ordered sort [#pipe.field<"p", i32, payload>] holds <expected = 90000000, p95 = 90000000, max = 90000000>
pipe.pipeline @fill {
  %0 = pipe.scan "r" [#pipe.scan_column<file = "k", column = "k">] : !pipe.rows<"k": i32>
  pipe.insert %0, @build keys ["k"] : !pipe.rows<"k": i32>
}
pipe.pipeline @probe {
  %0 = pipe.scan "s" [#pipe.scan_column<file = "p", column = "p">] : !pipe.rows<"p": i32>
  %1 = pipe.lookup %0, @build semi keys ["p"] payload [] columns [] {
  } : !pipe.rows<"p": i32> -> !pipe.rows<"p": i32>
  pipe.insert %1, @ordered keys [] : !pipe.rows<"p": i32>
}
