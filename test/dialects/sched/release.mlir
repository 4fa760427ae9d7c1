// `sched.release`: gives a reservation back, when all that used it has ended.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.release %{{.*}} after %{{.*}}
pipe.state @count scalar [#pipe.field<"n", i64, sum>]
sched.program @main {
  %granted = sched.reserve host for @count minimum 65536 expected 1048576
  %loaded, %rows = sched.load for @scan : <!pipe.rows<"k": i32>>
  %done = sched.release %granted after %loaded
  sched.result %rows : <!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @points : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error @+1 {{gives back what was not reserved}}
  %done = sched.release %loaded
  sched.result %lines : !sched.stream<!pipe.rows<"x": f64>>
}
