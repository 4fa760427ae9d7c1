// `sched.reserve`: memory for a state, granted before the run that fills it starts.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.reserve  host for @count minimum 65536 expected 65536
pipe.state @count scalar [#pipe.field<"n", i64, sum>]
sched.program @main {
  %granted = sched.reserve host for @count minimum 65536 expected 65536
  %loaded, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"k": i32>>
  %done = sched.run @scan from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [@count] reads [] after %granted
  %released = sched.release %granted after %done
}

// -----

sched.program @main {
  // expected-error @+1 {{C1: needs 0 <= minimum <= expected, got 100 and 50}}
  %granted = sched.reserve host for @s minimum 100 expected 50
}
