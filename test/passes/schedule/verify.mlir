// What the plan's writer may rely on is refused where it does not hold.
// Sources: passes/schedule/verify_schedule.cpp, passes/schedule/verify_tensors.cpp
// RUN: headrace-opt %s --verify-schedule --split-input-file --verify-diagnostics

// expected-error@+1 {{needs exactly one sched.program after schedule, got 0}}
module {
}

// -----

sched.program @main {
  // expected-error@+1 {{runs no pipeline of the module: @nowhere}}
  %done = sched.run @nowhere of @state fills [] reads []
}

// -----

pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.stream @out result : !pipe.rows<"n": i64>
// expected-error@+1 {{is run by no task: @groups}}
pipe.pipeline @groups {
  %0 = pipe.read @count : !pipe.rows<"n": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
}
sched.program @main {
}

// -----

pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.stream @out result : !pipe.rows<"n": i64>
pipe.pipeline @groups {
  %0 = pipe.read @count : !pipe.rows<"n": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
}
sched.program @main {
  // expected-error@+1 {{reads a state before it is filled: @count}}
  %read, %out = sched.run @groups of @count fills [] reads [] -> !sched.stream<!pipe.rows<"n": i64>>
  sched.result %out : !sched.stream<!pipe.rows<"n": i64>>
}

// -----

pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.stream @out result : !pipe.rows<"n": i64>
pipe.pipeline @scan {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "n", column = "n">] : !pipe.rows<"n": i64>
  pipe.combine %0, @count keys [] : !pipe.rows<"n": i64>
}
pipe.pipeline @again {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "n", column = "n">] : !pipe.rows<"n": i64>
  pipe.combine %0, @count keys [] : !pipe.rows<"n": i64>
}
pipe.pipeline @groups {
  %0 = pipe.read @count : !pipe.rows<"n": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
}
sched.program @main {
  %l, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"n": i64>>
  %done = sched.run @scan from %lines : !sched.stream<!pipe.rows<"n": i64>> fills [@count] reads []
  %read, %out = sched.run @groups of @count fills [] reads [] after %done -> !sched.stream<!pipe.rows<"n": i64>>
  sched.result %out : !sched.stream<!pipe.rows<"n": i64>>
  %m, %more = sched.load for @again : !sched.stream<!pipe.rows<"n": i64>>
  // expected-error@+1 {{fills a state that was read before: @count}}
  %late = sched.run @again from %more : !sched.stream<!pipe.rows<"n": i64>> fills [@count] reads []
}

// -----

pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.pipeline @scan {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "n", column = "n">] : !pipe.rows<"n": i64>
  pipe.combine %0, @count keys [] : !pipe.rows<"n": i64>
}
sched.program @main {
  %l, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"n": i64>>
  %done = sched.run @scan from %lines : !sched.stream<!pipe.rows<"n": i64>> fills [@count] reads []
  %m, %more = sched.load for @scan : !sched.stream<!pipe.rows<"n": i64>>
  // expected-error@+1 {{runs a pipeline a second time: @scan}}
  %again = sched.run @scan from %more : !sched.stream<!pipe.rows<"n": i64>> fills [@count] reads []
}

// -----

pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.pipeline @scan {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "n", column = "n">] : !pipe.rows<"n": i64>
  pipe.combine %0, @count keys [] : !pipe.rows<"n": i64>
}
sched.program @main {
  // expected-error@+1 {{loads for no pipeline that begins with a scan of such rows: @skan}}
  %l, %lines = sched.load for @skan : !sched.stream<!pipe.rows<"n": i64>>
  %done = sched.run @scan from %lines : !sched.stream<!pipe.rows<"n": i64>> fills [@count] reads []
}

// -----

pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.pipeline @scan {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "n", column = "n">] : !pipe.rows<"n": i64>
  pipe.combine %0, @count keys [] : !pipe.rows<"n": i64>
}
sched.program @main {
  %l, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"n": i64>>
  // expected-error@+1 {{uses other states than its pipeline: @scan}}
  %done = sched.run @scan from %lines : !sched.stream<!pipe.rows<"n": i64>> fills [] reads []
}

// -----

pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.stream @out result : !pipe.rows<"n": i64>
pipe.pipeline @groups {
  %0 = pipe.read @count : !pipe.rows<"n": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
}
sched.program @main {
  // expected-error@+1 {{takes other rows than its pipeline: pipe.read}}
  %read, %rows = sched.run @groups of @other fills [] reads [] -> !sched.stream<!pipe.rows<"n": i64>>
  sched.result %rows : !sched.stream<!pipe.rows<"n": i64>>
}

// -----

sched.program @main {
  // expected-error@+1 {{is for no state of the module: @lost}}
  %granted = sched.reserve host for @lost minimum 1 expected 1
}

// -----

pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.stream @moved broadcast over ["ranks"] : !pipe.rows<"n": i64>
pipe.pipeline @scan {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "n", column = "n">] : !pipe.rows<"n": i64>
  pipe.emit %0, @moved keys [] : !pipe.rows<"n": i64>
}
sched.program @main {
  %l, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"n": i64>>
  %done, %out = sched.run @scan from %lines : !sched.stream<!pipe.rows<"n": i64>> fills [] reads [] -> !sched.stream<!pipe.rows<"n": i64>>
  // expected-error@+1 {{moves chunks in another way than their stream: gather}}
  %moved, %all = sched.exchange gather over ["ranks"] channel 0 %out : !sched.stream<!pipe.rows<"n": i64>> -> !sched.stream<!pipe.rows<"n": i64>>
  sched.result %all : !sched.stream<!pipe.rows<"n": i64>>
}

// -----

// The tasks of tensors are those of the function, each as often.
// expected-error@+1 {{asks for a task that is not in the program: sched.tensor_result}}
func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}
sched.program @tasks {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>>
}

// -----

func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  return %x : tensor<8x8xf32>
}
sched.program @tasks {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x8xf32>>
  // expected-error@+1 {{is a task that no function asks for}}
  %y = sched.compute matmul (%x, %x) parameters [0, 1, 0] label "matmul" : (!sched.buffer<host, tensor<8x8xf32>>, !sched.buffer<host, tensor<8x8xf32>>) -> !sched.buffer<host, tensor<8x8xf32>>
  sched.tensor_result %y : !sched.buffer<host, tensor<8x8xf32>>
}
