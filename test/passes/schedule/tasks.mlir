// Pipelines become tasks: what a state needs is reserved before it is filled and released after the last who reads it;
// a token is waited for, a stream is not.
// Sources: passes/schedule/build_program.cpp, passes/schedule/reservations.cpp
// RUN: headrace-opt %s --schedule-tasks | FileCheck %s

// CHECK: sched.program
// CHECK: %[[LOADED:.*]], %[[ROWS:.*]] = sched.load for @scan
// CHECK: %[[ROOM:.*]] = sched.reserve host for @totals
// CHECK: %[[FILLED:.*]] = sched.run @scan from %[[ROWS]] {{.*}} fills [@totals] reads [] after %[[ROOM]]
// CHECK: %[[READ:.*]], %[[GROUPS:.*]] = sched.run @groups of @totals {{.*}} after %[[FILLED]]
// CHECK: sched.release %[[ROOM]] after %[[FILLED]], %[[READ]]
// CHECK: %[[SENT:.*]], %[[MOVED:.*]] = sched.exchange gather over ["ranks"] channel 0 %[[GROUPS]]
// CHECK: %[[DONE:.*]], %[[OUT:.*]] = sched.run @received from %[[MOVED]]
// CHECK-NOT: after
// CHECK: sched.result %[[OUT]]
pipe.state @totals group [#pipe.field<"k", i32, key>, #pipe.field<"total", i64, sum>] holds <expected = 10, p95 = 20, max = 1000>
pipe.stream @moved gather over ["ranks"] : !pipe.rows<"k": i32, "total": i64>
pipe.stream @out result names ["k", "total"] logical [i32, i64] : !pipe.rows<"k": i32, "total": i64>
pipe.pipeline @scan {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">, #pipe.scan_column<column = "total", file = "total">] : !pipe.rows<"k": i32, "total": i64>
  pipe.combine %0, @totals keys ["k"] : !pipe.rows<"k": i32, "total": i64>
}
pipe.pipeline @groups {
  %0 = pipe.read @totals : !pipe.rows<"k": i32, "total": i64>
  pipe.emit %0, @moved keys [] : !pipe.rows<"k": i32, "total": i64>
}
pipe.pipeline @received {
  %0 = pipe.receive @moved : !pipe.rows<"k": i32, "total": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"k": i32, "total": i64>
}
