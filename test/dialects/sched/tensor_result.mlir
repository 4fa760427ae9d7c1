// `sched.tensor_result`: a tensor to the caller, whole on rank 0, or parts that stay on the ranks.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.tensor_result %{{.*}} : <host, tensor<8x4xf32>>
sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>>
  sched.tensor_result %x : !sched.buffer<host, tensor<8x4xf32>>
}

// CHECK: sched.tensor_result %{{.*}} resident : <host, tensor<8xf32>, {{\[\[}}"ranks"]]>
sched.program @resident {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>, [["ranks"]]>
  sched.tensor_result %x resident : !sched.buffer<host, tensor<8xf32>, [["ranks"]]>
}

// -----

sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>, [["ranks"]]>
  // expected-error @+1 {{C1: the tensor is split, gather it first}}
  sched.tensor_result %x : !sched.buffer<host, tensor<8xf32>, [["ranks"]]>
}
