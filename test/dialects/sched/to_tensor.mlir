// `sched.to_tensor`: the rows of a stream as tensors of this rank, aligned.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.to_tensor %{{.*}} {{\[\[}}"x"]] logical [f64] : <!pipe.rows<"x": f64>> -> !sched.buffer<host, tensor<?x1xf64>, rows = 0>
pipe.state @points sort [#pipe.field<"x", f64, payload>]
sched.program @main {
  %done, %rows = sched.run @read of @points fills [] reads [] -> !sched.stream<!pipe.rows<"x": f64>>
  %x = sched.to_tensor %rows [["x"]] logical [f64]
      : !sched.stream<!pipe.rows<"x": f64>> -> !sched.buffer<host, tensor<?x1xf64>, rows = 0>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @points : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error @+1 {{C1: no such column in the stream: "y"}}
  %y = sched.to_tensor %lines [["y"]] logical [f64] : !sched.stream<!pipe.rows<"x": f64>> -> !sched.buffer<host, tensor<?xf64>, rows = 0>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @points : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error @+1 {{C1: needs one group of columns per result, got 2}}
  %x = sched.to_tensor %lines [["x"], ["x"]] logical [f64] : !sched.stream<!pipe.rows<"x": f64>> -> !sched.buffer<host, tensor<?xf64>, rows = 0>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @points : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error@+1 {{C1: a group is an array of column names, got "x"}}
  %x = sched.to_tensor %lines ["x"] logical [f64] : !sched.stream<!pipe.rows<"x": f64>> -> !sched.buffer<host, tensor<?xf64>, rows = 0>
}
