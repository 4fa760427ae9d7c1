// RUN: headrace-opt %s -split-input-file -verify-diagnostics

pipe.state @s scalar [#pipe.field<"n", i64, sum>]
sched.program @main {
  // expected-error @+1 {{C1: a stream needs exactly one consumer, got 0}}
  %loaded, %lines = sched.load for @lineitem : !sched.stream<!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  // expected-error @+1 {{C1: the source is a stream or a state, and exactly one of them}}
  %done = sched.run @scan fills [] reads []
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @lineitem : !sched.stream<!pipe.rows<"k": i32>>
  // expected-error@+2 {{to be one of: hash, broadcast, gather}}
  // expected-error@+1 {{failed to parse}}
  %done, %out = sched.exchange scatter channel 0 %lines : !sched.stream<!pipe.rows<"k": i32>> -> !sched.stream<!pipe.rows<"k": i32>>
  sched.result %out : !sched.stream<!pipe.rows<"k": i32>>
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
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
  // expected-error@+2 {{to be one of: matmul, kernel, reshape, slice}}
  // expected-error@+1 {{failed to parse}}
  %y = sched.compute sort (%x) parameters [] label "sort" : (!sched.buffer<host, tensor<8xf32>>) -> !sched.buffer<host, tensor<8xf32>>
}

// -----

sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
  // expected-error @+1 {{C1: a kernel is named by the action kernel, and by no other}}
  %y = sched.compute kernel (%x) parameters [] label "exp" : (!sched.buffer<host, tensor<8xf32>>) -> !sched.buffer<host, tensor<8xf32>>
}

// -----

sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
  // expected-error@+2 {{to be one of: all_reduce, all_gather, reduce_scatter, all_to_all}}
  // expected-error@+1 {{failed to parse}}
  %done, %y = sched.collective shuffle over ["ranks"] %x : !sched.buffer<host, tensor<8xf32>> -> !sched.buffer<host, tensor<8xf32>>
}

// -----

sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
  // expected-error @+1 {{C2: input and output are parts of one shape}}
  %done, %y = sched.collective all_reduce by sum over ["ranks"] %x : !sched.buffer<host, tensor<8xf32>> -> !sched.buffer<host, tensor<9xf32>>
}

// -----

sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>, [["ranks"]]>
  // expected-error @+1 {{C1: the tensor is split, gather it first}}
  sched.tensor_result %x : !sched.buffer<host, tensor<8xf32>, [["ranks"]]>
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

// -----

sched.program @main {
  // expected-error @+1 {{C1: needs 0 <= minimum <= expected, got 100 and 50}}
  %granted = sched.reserve host for @s minimum 100 expected 50
}

// -----

// expected-error@+1 {{C2: more than one result}}
sched.program @main {
  %a, %first = sched.load for @a : !sched.stream<!pipe.rows<"k": i32>>
  %b, %second = sched.load for @b : !sched.stream<!pipe.rows<"k": i32>>
  sched.result %first : !sched.stream<!pipe.rows<"k": i32>>
  sched.result %second : !sched.stream<!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  %a, %first = sched.load for @a : !sched.stream<!pipe.rows<"k": i32>>
  %b, %second = sched.load for @b : !sched.stream<!pipe.rows<"k": i32>>
  // expected-error@+1 {{C1: unites only streams that runs write}}
  %both = sched.unite %first, %second : !sched.stream<!pipe.rows<"k": i32>>, !sched.stream<!pipe.rows<"k": i32>> -> <!pipe.rows<"k": i32>>
  sched.result %both : !sched.stream<!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @points : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error@+1 {{C1: a group is an array of column names, got "x"}}
  %x = sched.to_tensor %lines ["x"] logical [f64] : !sched.stream<!pipe.rows<"x": f64>> -> !sched.buffer<host, tensor<?xf64>, rows = 0>
}

// -----

sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
  // expected-error @+1 {{C1: exactly what reduces has a reduction, got all_reduce}}
  %done, %y = sched.collective all_reduce over ["ranks"] %x : !sched.buffer<host, tensor<8xf32>> -> !sched.buffer<host, tensor<8xf32>>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @points : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error @+1 {{C1: moves rows as they are, over a channel of its own, got}}
  %done, %out = sched.exchange hash over ["ranks"] channel -1 %lines : !sched.stream<!pipe.rows<"x": f64>> -> !sched.stream<!pipe.rows<"x": f64>>
  sched.result %out : !sched.stream<!pipe.rows<"x": f64>>
}

// -----

sched.program @main {
  // expected-error @+1 {{has an unknown attribute: "offst"}}
  %x = sched.input 0 "x" {offst = 5 : i64} : !sched.buffer<host, tensor<8xf32>>
}

// -----

sched.program @main {
  // expected-error@+1 {{expected a tier, got hosts}}
  %x = sched.input 0 "x" : !sched.buffer<hosts, tensor<8xf32>>
}

// -----

sched.program @main {
  // expected-error @+1 {{C1: a buffer is of a ranked tensor of f32, f64 or i64, got 'tensor<8xf16>'}}
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf16>>
}

// -----

sched.program @main {
  // expected-error @+1 {{C2: the dimensions of 'tensor<8xf32>' are not divided so}}
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>, [[]]>
}

// -----

sched.program @main {
  // expected-error @+1 {{C3: unknown extents, and no others, are the rows of a to_tensor, got 'tensor<?xf32>' and -1}}
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<?xf32>>
}

// -----

sched.program @main {
  // expected-error @+1 {{a stream is of rows, got 'i32'}}
  %loaded, %lines = sched.load for @points : !sched.stream<i32>
}

// -----

sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x8xf32>>
  // expected-error @+1 {{C2: other inputs or parameters than those of matmul}}
  %y = sched.compute matmul (%x, %x) parameters [0, 2, 0] label "matmul"
      : (!sched.buffer<host, tensor<8x8xf32>>, !sched.buffer<host, tensor<8x8xf32>>) -> !sched.buffer<host, tensor<8x8xf32>>
}

// -----

sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
  // expected-error @+1 {{C3: all_gather over ["ranks"] does not lead from '!sched.buffer<host, tensor<8xf32>>' to}}
  %done, %y = sched.collective all_gather over ["ranks"] %x : !sched.buffer<host, tensor<8xf32>> -> !sched.buffer<host, tensor<8xf32>>
}

// -----

sched.program @main {
  // expected-error @+1 {{has no name}}
  %x = sched.input 0 "" : !sched.buffer<host, tensor<8xf32>>
}

// -----

sched.program @main {
  %loaded, %lines = sched.load for @points : !sched.stream<!pipe.rows<"x": f64>>
  // expected-error @+1 {{gives back what was not reserved}}
  %done = sched.release %loaded
  sched.result %lines : !sched.stream<!pipe.rows<"x": f64>>
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

sched.program @main {
  // expected-error @+1 {{has an attribute that sched does not have: "sched.offset"}}
  %x = sched.input 0 "x" {sched.offset = 5 : i64} : !sched.buffer<host, tensor<8xf32>>
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

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C1: a block has no negative size}}
  sched.kernel @scan {scratch_bytes = -8 : i64}
}

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C2: needs an operator for each selecting stage, got 1 for 2}}
  sched.kernel @scan {selectivity = array<f64: 5.000000e-01, 1.000000e+00>, stage_operators = array<i32: 3>}
}

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C1: work is on the rows of a level and looks into a state, got -1 and -1}}
  sched.kernel @scan {work = [#sched.work<row, -1, 1.000000e+00>]}
}

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C2: an amount of work is a number and not negative, got -1.000000e+00 : f64}}
  sched.kernel @scan {work = [#sched.work<row, 0, -1.000000e+00>]}
}

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C1: a literal lies at a multiple of 8 bytes, got 4}}
  sched.kernel @scan {literals = [#sched.literal<4, 7 : i64>]}
}

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C2: a literal is an i64, i128, f64 or a string, got 7 : i32}}
  sched.kernel @scan {literals = [#sched.literal<0, 7 : i32>]}
}

// -----

// expected-error @+1 {{C3: a chunk has 1 to 2147483647 rows, got 0}}
sched.program @main chunk_rows 0 {
}

// -----

sched.program @main {
  // expected-error @+1 {{C2: the dimensions of 'tensor<8x4xf32>' are not divided so}}
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>, [["a"], ["a"]]>
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("a", 2), ("b", 2)]>} {
  sched.program @main {
    %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>, [["a"], ["b"]]>
    // expected-error @+1 {{C3: all_gather over ["b"] does not lead from}}
    %done, %y = sched.collective all_gather over ["b"] %x : !sched.buffer<host, tensor<8x4xf32>, [["a"], ["b"]]> -> !sched.buffer<host, tensor<8x4xf32>, [[], ["b"]]>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("a", 2), ("b", 2)]>} {
  sched.program @main {
    %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
    // expected-error @+1 {{names an axis that the mesh does not have: "c"}}
    %done, %y = sched.collective all_reduce by sum over ["c"] %x : !sched.buffer<host, tensor<8xf32>> -> !sched.buffer<host, tensor<8xf32>>
  }
}

// -----

// expected-error@+1 {{'sched.program' op C4: no input is argument 1 of 2}}
sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
  %y = sched.input 0 "y" : !sched.buffer<host, tensor<8xf32>>
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

// -----

sched.program @main {
  %done = sched.repeat room 1 {
    // expected-error@+1 {{C2: is no task that is repeated}}
    %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
    sched.yield
  }
}
