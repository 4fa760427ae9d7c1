// `sched.compute`: a kernel or a library call over this rank's parts of tensors.
// Sources: dialects/sched/SchedCompute.cpp
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.compute  matmul(%{{.*}}, %{{.*}}) parameters [0, 0, 0] label "matmul" : (!sched.buffer<host, tensor<8x4xf32>>, !sched.buffer<host, tensor<4x2xf32>>) ->
sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>>
  %w = sched.input 1 "w" : !sched.buffer<host, tensor<4x2xf32>>
  %y = sched.compute matmul (%x, %w) parameters [0, 0, 0] label "matmul"
      : (!sched.buffer<host, tensor<8x4xf32>>, !sched.buffer<host, tensor<4x2xf32>>)
      -> !sched.buffer<host, tensor<8x2xf32>>
  sched.tensor_result %y : !sched.buffer<host, tensor<8x2xf32>>
}

// -----

sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
  // expected-error@+2 {{to be one of: matmul, kernel, reshape, slice, concat, gather}}
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
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x8xf32>>
  // expected-error @+1 {{C2: other inputs or parameters than those of matmul}}
  %y = sched.compute matmul (%x, %x) parameters [0, 2, 0] label "matmul"
      : (!sched.buffer<host, tensor<8x8xf32>>, !sched.buffer<host, tensor<8x8xf32>>) -> !sched.buffer<host, tensor<8x8xf32>>
}

// -----

// CHECK: sched.compute  slice(%{{.*}}) parameters [3, 1, 1, 2, 1, 3] label "row"
// CHECK: sched.compute  slice(%{{.*}}) parameters [7, 0, 8, 5, -1, 1] label "turned"
// CHECK: sched.compute  slice(%{{.*}}) parameters [0, 0, 8, 5, 1, 1] label "part"
// CHECK: sched.compute  concat(%{{.*}}, %{{.*}}) parameters [1] label "concat"
sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x5xf32>>
  %w = sched.input 1 "w" : !sched.buffer<host, tensor<8x2xf32>, [["r"], []]>
  %row = sched.compute slice (%x) parameters [3, 1, 1, 2, 1, 3] label "row"
      : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<2xf32>>
  %turned = sched.compute slice (%x) parameters [7, 0, 8, 5, -1, 1] label "turned"
      : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<8x5xf32>>
  %part = sched.compute slice (%turned) parameters [0, 0, 8, 5, 1, 1] label "part"
      : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<8x5xf32>, [["r"], []]>
  %both = sched.compute concat (%part, %w) parameters [1] label "concat"
      : (!sched.buffer<host, tensor<8x5xf32>, [["r"], []]>, !sched.buffer<host, tensor<8x2xf32>, [["r"], []]>)
      -> !sched.buffer<host, tensor<8x7xf32>, [["r"], []]>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C2: other inputs or parameters than those of slice}}
  %y = sched.compute slice (%x0) parameters [3, 1, 1, 2, 1] label "slice" : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<2xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C2: other inputs or parameters than those of slice}}
  %y = sched.compute slice (%x0, %x1) parameters [3, 1, 1, 2, 1, 1] label "slice" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<2xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C2: other inputs or parameters than those of concat}}
  %y = sched.compute concat (%x0) parameters [-1] label "concat" : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<8x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C2: other inputs or parameters than those of concat}}
  %y = sched.compute concat (%x0) parameters [] label "concat" : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<8x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C3: takes of}}
  %y = sched.compute slice (%x0) parameters [3, 1, 1, 2, 1, 4] label "slice" : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<2xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C3: takes of}}
  %y = sched.compute slice (%x0) parameters [8, 1, 1, 2, 1, 1] label "slice" : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<2xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C3: takes of}}
  %y = sched.compute slice (%x0) parameters [2, 0, 8, 5, -1, 1] label "slice" : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<8x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C3: takes of}}
  %y = sched.compute slice (%x0) parameters [3, 1, 1, 2, 1, 3] label "slice" : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<3xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C3: takes of}}
  %y = sched.compute slice (%x0) parameters [3, 1, 1, 2, 1, 3] label "slice" : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<2xf64>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C3: takes of}}
  %y = sched.compute slice (%x0) parameters [3, 1, 2, 2, 1, 3] label "slice" : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<2xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>, [[], ["r"]]>
  // expected-error @+1 {{C3: takes of}}
  %y = sched.compute slice (%x0) parameters [0, 1, 8, 2, 1, 1] label "slice" : (!sched.buffer<host, tensor<8x5xf32>, [[], ["r"]]>) -> !sched.buffer<host, tensor<8x2xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>, [[], ["r"]]>
  // expected-error @+1 {{C3: takes of}}
  %y = sched.compute slice (%x0) parameters [0, 1, 8, 2, 1, 1] label "slice" : (!sched.buffer<host, tensor<8x5xf32>, [[], ["r"]]>) -> !sched.buffer<host, tensor<8x2xf32>, [[], ["r"]]>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>, [["r"], []]>
  // expected-error @+1 {{C3: takes of}}
  %y = sched.compute slice (%x0) parameters [0, 0, 8, 5, 1, 1] label "slice" : (!sched.buffer<host, tensor<8x5xf32>, [["r"], []]>) -> !sched.buffer<host, tensor<8x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C3: takes of}}
  %y = sched.compute slice (%x0) parameters [0, 0, 8, 5, 1, 1] label "slice" : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<8x5xf32>, [["r"] ragged, []]>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C4: its inputs along the dimension 0}}
  %y = sched.compute concat (%x0, %x1) parameters [0] label "concat" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<8x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C4: its inputs along the dimension 2}}
  %y = sched.compute concat (%x0, %x1) parameters [2] label "concat" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<16x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<8x4xf32>>
  // expected-error @+1 {{C4: its inputs along the dimension 0}}
  %y = sched.compute concat (%x0, %x1) parameters [0] label "concat" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<8x4xf32>>) -> !sched.buffer<host, tensor<16x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<8xf32>>
  // expected-error @+1 {{C4: its inputs along the dimension 0}}
  %y = sched.compute concat (%x0, %x1) parameters [0] label "concat" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<8xf32>>) -> !sched.buffer<host, tensor<16x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<8x5xf64>>
  // expected-error @+1 {{C4: its inputs along the dimension 0}}
  %y = sched.compute concat (%x0, %x1) parameters [0] label "concat" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<8x5xf64>>) -> !sched.buffer<host, tensor<16x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>, [["r"], []]>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<8x5xf32>, [["r"], []]>
  // expected-error @+1 {{C4: its inputs along the dimension 0}}
  %y = sched.compute concat (%x0, %x1) parameters [0] label "concat" : (!sched.buffer<host, tensor<8x5xf32>, [["r"], []]>, !sched.buffer<host, tensor<8x5xf32>, [["r"], []]>) -> !sched.buffer<host, tensor<16x5xf32>, [["r"], []]>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C4: its inputs along the dimension 0}}
  %y = sched.compute concat (%x0, %x1) parameters [0] label "concat" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<16x5xf32>, [["r"], []]>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>, [["r"], []]>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C4: its inputs along the dimension 1}}
  %y = sched.compute concat (%x0, %x1) parameters [1] label "concat" : (!sched.buffer<host, tensor<8x5xf32>, [["r"], []]>, !sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<8x10xf32>, [["r"], []]>
}

// -----

// CHECK: sched.compute  gather(%{{.*}}, %{{.*}}) parameters [] label "rows"
sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x5xf32>, [[], ["r"]]>
  %i = sched.input 1 "i" : !sched.buffer<host, tensor<3x2x1xi64>>
  %y = sched.compute gather (%x, %i) parameters [] label "rows"
      : (!sched.buffer<host, tensor<8x5xf32>, [[], ["r"]]>, !sched.buffer<host, tensor<3x2x1xi64>>)
      -> !sched.buffer<host, tensor<3x2x5xf32>, [[], [], ["r"]]>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  // expected-error @+1 {{C2: other inputs or parameters than those of gather}}
  %y = sched.compute gather (%x0) parameters [] label "gather" : (!sched.buffer<host, tensor<8x5xf32>>) -> !sched.buffer<host, tensor<3x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<3x1xi64>>
  // expected-error @+1 {{C2: other inputs or parameters than those of gather}}
  %y = sched.compute gather (%x0, %x1) parameters [0] label "gather" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<3x1xi64>>) -> !sched.buffer<host, tensor<3x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<3x1xf32>>
  // expected-error @+1 {{C5: takes of}}
  %y = sched.compute gather (%x0, %x1) parameters [] label "gather" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<3x1xf32>>) -> !sched.buffer<host, tensor<3x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<3x2xi64>>
  // expected-error @+1 {{C5: takes of}}
  %y = sched.compute gather (%x0, %x1) parameters [] label "gather" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<3x2xi64>>) -> !sched.buffer<host, tensor<3x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<3x1xi64>>
  // expected-error @+1 {{C5: takes of}}
  %y = sched.compute gather (%x0, %x1) parameters [] label "gather" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<3x1xi64>>) -> !sched.buffer<host, tensor<3x8xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<3x1xi64>>
  // expected-error @+1 {{C5: takes of}}
  %y = sched.compute gather (%x0, %x1) parameters [] label "gather" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<3x1xi64>>) -> !sched.buffer<host, tensor<3x5xf64>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<3x1xi64>>
  // expected-error @+1 {{C5: takes of}}
  %y = sched.compute gather (%x0, %x1) parameters [] label "gather" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<3x1xi64>>) -> !sched.buffer<host, tensor<15xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>, [["r"], []]>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<3x1xi64>>
  // expected-error @+1 {{C5: takes of}}
  %y = sched.compute gather (%x0, %x1) parameters [] label "gather" : (!sched.buffer<host, tensor<8x5xf32>, [["r"], []]>, !sched.buffer<host, tensor<3x1xi64>>) -> !sched.buffer<host, tensor<3x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>, [[], ["r"]]>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<3x1xi64>>
  // expected-error @+1 {{C5: takes of}}
  %y = sched.compute gather (%x0, %x1) parameters [] label "gather" : (!sched.buffer<host, tensor<8x5xf32>, [[], ["r"]]>, !sched.buffer<host, tensor<3x1xi64>>) -> !sched.buffer<host, tensor<3x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<3x1xi64>, [["r"], []]>
  // expected-error @+1 {{C5: takes of}}
  %y = sched.compute gather (%x0, %x1) parameters [] label "gather" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<3x1xi64>, [["r"], []]>) -> !sched.buffer<host, tensor<3x5xf32>>
}

// -----

sched.program @main {
  %x0 = sched.input 0 "x0" : !sched.buffer<host, tensor<8x5xf32>>
  %x1 = sched.input 1 "x1" : !sched.buffer<host, tensor<3x1xi64>>
  // expected-error @+1 {{C5: takes of}}
  %y = sched.compute gather (%x0, %x1) parameters [] label "gather" : (!sched.buffer<host, tensor<8x5xf32>>, !sched.buffer<host, tensor<3x1xi64>>) -> !sched.buffer<host, tensor<3x5xf32>, [["r"], []]>
}
