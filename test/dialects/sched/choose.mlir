// `sched.choose`: one of two groups of tasks, by the rows that a task has left in its state.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.choose by %{{.*}} at_most 5000 expected 1200
pipe.state @rows0 rows [#pipe.field<"k", i32, payload>]
sched.program @main {
  %loaded, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"k": i32>>
  %filled = sched.run @scan from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [@rows0] reads []
  %chosen, %out = sched.choose by %filled at_most 5000 expected 1200 {
    %0, %1 = sched.run @few of @rows0 fills [] reads [] after %filled -> !sched.stream<!pipe.rows<"k": i32>>
    sched.yield %1 : !sched.stream<!pipe.rows<"k": i32>>
  } else {
    %0, %1 = sched.run @many of @rows0 fills [] reads [] after %filled -> !sched.stream<!pipe.rows<"k": i32>>
    sched.yield %1 : !sched.stream<!pipe.rows<"k": i32>>
  } : !sched.stream<!pipe.rows<"k": i32>>
  sched.result %out : !sched.stream<!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @lineitem : !sched.stream<!pipe.rows<"k": i32>>
  %filled = sched.run @scan from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [@rows0] reads []
  // expected-error @+1 {{C1: both groups yield a stream of type '!sched.stream<!pipe.rows<"j": i32>>'}}
  %chosen, %out = sched.choose by %filled at_most 5 {
    %0, %1 = sched.run @few of @rows0 fills [] reads [] -> !sched.stream<!pipe.rows<"k": i32>>
    sched.yield %1 : !sched.stream<!pipe.rows<"k": i32>>
  } else {
    %0, %1 = sched.run @many of @rows0 fills [] reads [] -> !sched.stream<!pipe.rows<"k": i32>>
    sched.yield %1 : !sched.stream<!pipe.rows<"k": i32>>
  } : !sched.stream<!pipe.rows<"j": i32>>
  sched.result %out : !sched.stream<!pipe.rows<"j": i32>>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @lineitem : !sched.stream<!pipe.rows<"k": i32>>
  // expected-error @+1 {{C2: what is counted is a run that fills a state}}
  %chosen, %out = sched.choose by %loaded at_most 5 {
    sched.yield %lines : !sched.stream<!pipe.rows<"k": i32>>
  } else {
    %0, %1 = sched.run @many of @rows0 fills [] reads [] -> !sched.stream<!pipe.rows<"k": i32>>
    sched.yield %1 : !sched.stream<!pipe.rows<"k": i32>>
  } : !sched.stream<!pipe.rows<"k": i32>>
  sched.result %out : !sched.stream<!pipe.rows<"k": i32>>
}
