// `sched.result`: the rows of a stream to the caller.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.result %{{.*}} ordered names ["key"] logical [i32] : <!pipe.rows<"k": i32>>
sched.program @main {
  %loaded, %rows = sched.load for @scan : <!pipe.rows<"k": i32>>
  sched.result %rows ordered names ["key"] logical [i32] : <!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @points : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error @+1 {{C1: needs a name and a logical type for each of its columns: '!pipe.rows<"x": f64>'}}
  sched.result %lines names ["x", "y"] : !sched.stream<!pipe.rows<"x": f64>>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @points : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error @+1 {{C2: is resident by columns that it lacks: ["y"]}}
  sched.result %lines resident ["y"] names ["x"] logical [f64] : !sched.stream<!pipe.rows<"x": f64>>
}

// -----

pipe.state @lines rows [#pipe.field<"x", f64, payload>]
sched.program @result_type {
  %d, %lines = sched.run @read of @lines fills [] reads [] -> !sched.stream<!pipe.rows<"x": f64>>
  // expected-error @+1 {{the values of "x" are 'f64', which no column is of type '!frame.decimal<15, 2>'}}
  sched.result %lines names ["x"] logical [!frame.decimal<15, 2>] : !sched.stream<!pipe.rows<"x": f64>>
}

// -----

pipe.state @lines rows [#pipe.field<"x", f64, payload>]
sched.program @result_text {
  %d, %lines = sched.run @read of @lines fills [] reads [] -> !sched.stream<!pipe.rows<"x": f64>>
  // expected-error @+1 {{attribute 'logical' failed to satisfy constraint: array of scalar types of frame, none nullable}}
  sched.result %lines names ["x"] logical ["f64"] : !sched.stream<!pipe.rows<"x": f64>>
}
