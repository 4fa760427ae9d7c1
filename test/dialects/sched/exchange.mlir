// `sched.exchange`: chunks to other ranks and from them, streaming, with credits.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.exchange  gather over ["ranks"] channel 0 %{{.*}} : <!pipe.rows<"k": i32>> -> <!pipe.rows<"k": i32>>
sched.program @main {
  %loaded, %rows = sched.load for @scan : <!pipe.rows<"k": i32>>
  %moved, %all = sched.exchange gather over ["ranks"] channel 0 %rows : <!pipe.rows<"k": i32>> -> <!pipe.rows<"k": i32>>
  sched.result %all : <!pipe.rows<"k": i32>>
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
  // expected-error @+1 {{C1: moves rows as they are, over a channel of its own, got}}
  %done, %out = sched.exchange hash over ["ranks"] channel -1 %lines : !sched.stream<!pipe.rows<"x": f64>> -> !sched.stream<!pipe.rows<"x": f64>>
  sched.result %out : !sched.stream<!pipe.rows<"x": f64>>
}
