// `sched.values`: literal rows to a stream of morsels.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.values {{\[\[}}1 : i128], [2 : i128]] [i64] : <!pipe.rows<"n": i32>>
sched.program @main {
  %done, %rows = sched.values [[1 : i128], [2 : i128]] [i64] : <!pipe.rows<"n": i32>>
  sched.result %rows : <!pipe.rows<"n": i32>>
}

// -----

sched.program @main {
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  %done, %rows = sched.values [[1 : i128], [2 : i128]] [i64] {unknown} : <!pipe.rows<"n": i32>>
  sched.result %rows : <!pipe.rows<"n": i32>>
}
