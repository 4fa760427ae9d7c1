// `sched.input`: a tensor of the caller, each rank its part.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.input 0 "x" : <host, tensor<8x4xf32>, {{\[\[}}"ranks"], []]>
sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>, [["ranks"], []]>
}

// CHECK: sched.input 0 "x" resident : <host, tensor<8x4xf32>, {{\[\[}}"ranks"], []]>
sched.program @resident {
  %x = sched.input 0 "x" resident : !sched.buffer<host, tensor<8x4xf32>, [["ranks"], []]>
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
  // expected-error @+1 {{has no name}}
  %x = sched.input 0 "" : !sched.buffer<host, tensor<8xf32>>
}

// -----

sched.program @main {
  // expected-error @+1 {{has an attribute that sched does not have: "sched.offset"}}
  %x = sched.input 0 "x" {sched.offset = 5 : i64} : !sched.buffer<host, tensor<8xf32>>
}

// -----

sched.program @main {
  // expected-error @+1 {{C2: the dimensions of 'tensor<8x4xf32>' are not divided so}}
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>, [["a"], ["a"]]>
}

// -----

sched.program @main {
  %done = sched.repeat room 1 {
    // expected-error@+1 {{C2: is no task that is repeated}}
    %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
    sched.yield
  }
}
