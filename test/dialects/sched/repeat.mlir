// `sched.repeat`: tasks that run in rounds, each over some parts of streams that are kept in parts.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.repeat room 1048576 after %{{.*}}
pipe.state @count group [#pipe.field<"k", i32, key>, #pipe.field<"n", i64, sum>]
sched.program @main {
  %loaded, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"k": i32>>
  %parted, %parts = sched.run @part from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [] reads [] partitioned -> !sched.stream<!pipe.rows<"k": i32>>
  %done, %groups = sched.repeat room 1048576 after %parted {
    %0 = sched.run @fill from %parts : !sched.stream<!pipe.rows<"k": i32>> fills [@count] reads []
    %1, %2 = sched.run @groups of @count fills [] reads [] after %0 -> !sched.stream<!pipe.rows<"k": i32, "n": i64>>
    sched.yield %2 : !sched.stream<!pipe.rows<"k": i32, "n": i64>>
  } : !sched.stream<!pipe.rows<"k": i32, "n": i64>>
  sched.result %groups : !sched.stream<!pipe.rows<"k": i32, "n": i64>>
}

// -----

sched.program @main {
  // expected-error@+1 {{C3: the room is negative: -1}}
  %done = sched.repeat room -1 {
    sched.yield
  }
}

// -----

sched.program @main {
  // expected-error@+1 {{C1: its tasks end in a yield of streams of types}}
  %done, %rows = sched.repeat room 1 {
    sched.yield
  } : !sched.stream<!pipe.rows<"k": i32>>
  sched.result %rows : !sched.stream<!pipe.rows<"k": i32>>
}
