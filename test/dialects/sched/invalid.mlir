// RUN: headrace-opt %s -split-input-file -verify-diagnostics

pipe.state @s scalar [#pipe.field<"n", i64, "sum">]
sched.program @main {
  // expected-error @+1 {{C1: a stream needs exactly one consumer, got 0}}
  %loaded, %lines = sched.load "lineitem" [] : !sched.stream<!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  // expected-error @+1 {{C1: the source is a stream or a state, and exactly one of them}}
  %done = sched.run @scan fills [] reads []
}

// -----

sched.program @main {
  %loaded, %lines = sched.load "lineitem" [] : !sched.stream<!pipe.rows<"k": i32>>
  // expected-error @+1 {{C1: unknown kind of exchange: scatter}}
  %done, %out = sched.exchange "scatter" channel 0 %lines : !sched.stream<!pipe.rows<"k": i32>> -> !sched.stream<!pipe.rows<"k": i32>>
  sched.result %out : !sched.stream<!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load "points" [] : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error @+1 {{C1: no such column in the stream: "y"}}
  %y = sched.to_tensor %lines [["y"]] logical ["f64"] : !sched.stream<!pipe.rows<"x": f64>> -> !sched.buffer<"host", tensor<?xf64>>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load "points" [] : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error @+1 {{C1: needs one group of columns per result, got 2}}
  %x = sched.to_tensor %lines [["x"], ["x"]] logical ["f64"] : !sched.stream<!pipe.rows<"x": f64>> -> !sched.buffer<"host", tensor<?xf64>>
}

// -----

sched.program @main {
  %x = sched.input "x" : !sched.buffer<"host", tensor<8xf32>>
  // expected-error @+1 {{C1: unknown action: sort}}
  %y = sched.compute "sort" (%x) parameters [] label "sort" : (!sched.buffer<"host", tensor<8xf32>>) -> !sched.buffer<"host", tensor<8xf32>>
}

// -----

sched.program @main {
  %x = sched.input "x" : !sched.buffer<"host", tensor<8xf32>>
  // expected-error @+1 {{C2: a kernel is named by the action kernel, and by no other}}
  %y = sched.compute "kernel" (%x) parameters [] label "exp" : (!sched.buffer<"host", tensor<8xf32>>) -> !sched.buffer<"host", tensor<8xf32>>
}

// -----

sched.program @main {
  %x = sched.input "x" : !sched.buffer<"host", tensor<8xf32>>
  // expected-error @+1 {{C1: unknown collective: shuffle}}
  %done, %y = sched.collective "shuffle" "sum" %x : !sched.buffer<"host", tensor<8xf32>> -> !sched.buffer<"host", tensor<8xf32>>
}

// -----

sched.program @main {
  %x = sched.input "x" : !sched.buffer<"host", tensor<8xf32>>
  // expected-error @+1 {{C2: input and output are parts of one shape}}
  %done, %y = sched.collective "all_reduce" "sum" %x : !sched.buffer<"host", tensor<8xf32>> -> !sched.buffer<"host", tensor<9xf32>>
}

// -----

sched.program @main {
  %x = sched.input "x" : !sched.buffer<"host", tensor<8xf32>, split = 0>
  // expected-error @+1 {{C1: the tensor is split, gather it first}}
  sched.tensor_result %x : !sched.buffer<"host", tensor<8xf32>, split = 0>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load "lineitem" [] : !sched.stream<!pipe.rows<"k": i32>>
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
  %loaded, %lines = sched.load "lineitem" [] : !sched.stream<!pipe.rows<"k": i32>>
  // expected-error @+1 {{C2: what is counted is a run that fills a state}}
  %chosen, %out = sched.choose by %loaded at_most 5 {
    sched.yield %lines : !sched.stream<!pipe.rows<"k": i32>>
  } else {
    %0, %1 = sched.run @many of @rows0 fills [] reads [] -> !sched.stream<!pipe.rows<"k": i32>>
    sched.yield %1 : !sched.stream<!pipe.rows<"k": i32>>
  } : !sched.stream<!pipe.rows<"k": i32>>
  sched.result %out : !sched.stream<!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  // expected-error @+1 {{C1: needs 0 <= minimum <= expected, got 100 and 50}}
  %granted = sched.reserve "host" for @s minimum 100 expected 50
}

// -----

// expected-error@+1 {{C2: more than one result}}
sched.program @main {
  %a, %first = sched.load "a" [] : !sched.stream<!pipe.rows<"k": i32>>
  %b, %second = sched.load "b" [] : !sched.stream<!pipe.rows<"k": i32>>
  sched.result %first : !sched.stream<!pipe.rows<"k": i32>>
  sched.result %second : !sched.stream<!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  %a, %first = sched.load "a" [] : !sched.stream<!pipe.rows<"k": i32>>
  %b, %second = sched.load "b" [] : !sched.stream<!pipe.rows<"k": i32>>
  // expected-error@+1 {{C1: unites only streams that runs write}}
  %both = sched.unite %first, %second : !sched.stream<!pipe.rows<"k": i32>>, !sched.stream<!pipe.rows<"k": i32>> -> <!pipe.rows<"k": i32>>
  sched.result %both : !sched.stream<!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load "points" [] : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error@+1 {{C1: a group is an array of column names, got "x"}}
  %x = sched.to_tensor %lines ["x"] logical ["f64"] : !sched.stream<!pipe.rows<"x": f64>> -> !sched.buffer<"host", tensor<?xf64>>
}
