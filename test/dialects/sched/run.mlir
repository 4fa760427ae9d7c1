// `sched.run`: a kernel over all morsels of a stream, or over the rows of a finished state.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.run @scan from %{{.*}} : !sched.stream<!pipe.rows<"k": i32>> fills [@count] reads []
pipe.state @count scalar [#pipe.field<"n", i64, sum>]
sched.program @main {
  %loaded, %rows = sched.load for @scan : <!pipe.rows<"k": i32>>
  %counted = sched.run @scan from %rows : !sched.stream<!pipe.rows<"k": i32>> fills [@count] reads []
  %read, %out = sched.run @groups of @count fills [] reads [] after %counted -> !sched.stream<!pipe.rows<"n": i64>>
  sched.result %out : <!pipe.rows<"n": i64>>
}

// -----

sched.program @main {
  // expected-error @+1 {{C1: the source is a stream or a state, and exactly one of them}}
  %done = sched.run @scan fills [] reads []
}
