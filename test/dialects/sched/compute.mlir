// `sched.compute`: a kernel or a library call over this rank's parts of tensors.
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
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x8xf32>>
  // expected-error @+1 {{C2: other inputs or parameters than those of matmul}}
  %y = sched.compute matmul (%x, %x) parameters [0, 2, 0] label "matmul"
      : (!sched.buffer<host, tensor<8x8xf32>>, !sched.buffer<host, tensor<8x8xf32>>) -> !sched.buffer<host, tensor<8x8xf32>>
}
