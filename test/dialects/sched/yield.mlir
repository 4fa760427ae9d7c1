// `sched.yield`: ends a group of a `sched.choose`, or the tasks of a `sched.repeat`.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.yield %{{.*}} : !sched.stream<!pipe.rows<"k": i32>>
pipe.state @rows0 rows [#pipe.field<"k", i32, payload>]
sched.program @main {
  %loaded, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"k": i32>>
  %filled = sched.run @scan from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [@rows0] reads []
  %chosen, %out = sched.choose by %filled at_most 10 {
    %0, %few = sched.run @few of @rows0 fills [] reads [] -> !sched.stream<!pipe.rows<"k": i32>>
    sched.yield %few : !sched.stream<!pipe.rows<"k": i32>>
  } else {
    %0, %many = sched.run @many of @rows0 fills [] reads [] -> !sched.stream<!pipe.rows<"k": i32>>
    sched.yield %many : !sched.stream<!pipe.rows<"k": i32>>
  } : !sched.stream<!pipe.rows<"k": i32>>
  sched.result %out : !sched.stream<!pipe.rows<"k": i32>>
}

// -----

pipe.state @rows0 rows [#pipe.field<"k", i32, payload>]
sched.program @main {
  %loaded, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"k": i32>>
  %filled = sched.run @scan from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [@rows0] reads []
  %chosen, %out = sched.choose by %filled at_most 10 {
    %0, %few = sched.run @few of @rows0 fills [] reads [] -> !sched.stream<!pipe.rows<"k": i32>>
    // expected-error@+1 {{has an unknown attribute: "unknown"}}
    sched.yield %few : !sched.stream<!pipe.rows<"k": i32>> {unknown}
  } else {
    %0, %many = sched.run @many of @rows0 fills [] reads [] -> !sched.stream<!pipe.rows<"k": i32>>
    sched.yield %many : !sched.stream<!pipe.rows<"k": i32>>
  } : !sched.stream<!pipe.rows<"k": i32>>
  sched.result %out : !sched.stream<!pipe.rows<"k": i32>>
}
