// `sched.collective`: a tensor collective between ranks, in one order on every rank.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.collective  all_gather over ["node"] %{{.*}} : <host, tensor<8x4xf32>, {{\[\[}}"node"], []]> -> <host, tensor<8x4xf32>>
sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>, [["node"], []]>
  %done, %all = sched.collective all_gather over ["node"] %x
      : !sched.buffer<host, tensor<8x4xf32>, [["node"], []]> -> !sched.buffer<host, tensor<8x4xf32>>
  %again, %sum = sched.collective all_reduce by sum over ["node", "gpu"] %all after %done
      : !sched.buffer<host, tensor<8x4xf32>> -> !sched.buffer<host, tensor<8x4xf32>>
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
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
  // expected-error @+1 {{C1: exactly what reduces has a reduction, got all_reduce}}
  %done, %y = sched.collective all_reduce over ["ranks"] %x : !sched.buffer<host, tensor<8xf32>> -> !sched.buffer<host, tensor<8xf32>>
}

// -----

sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
  // expected-error @+1 {{C3: all_gather over ["ranks"] does not lead from '!sched.buffer<host, tensor<8xf32>>' to}}
  %done, %y = sched.collective all_gather over ["ranks"] %x : !sched.buffer<host, tensor<8xf32>> -> !sched.buffer<host, tensor<8xf32>>
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
