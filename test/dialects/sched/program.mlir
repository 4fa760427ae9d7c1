// `sched.program`: the tasks of one role.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.program @main
pipe.state @count scalar [#pipe.field<"n", i64, sum>]
sched.program @main {
  %loaded, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"k": i32>>
  %done = sched.run @scan from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [@count] reads []
  %read, %out = sched.run @groups of @count fills [] reads [] after %done -> !sched.stream<!pipe.rows<"n": i64>>
  sched.result %out : !sched.stream<!pipe.rows<"n": i64>>
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

// expected-error @+1 {{C3: a chunk has 1 to 2147483647 rows, got 0}}
sched.program @main chunk_rows 0 {
}

// -----

// expected-error@+1 {{'sched.program' op C4: no input is argument 1 of 2}}
sched.program @main {
  %x = sched.input 0 "x" : !sched.buffer<host, tensor<8xf32>>
  %y = sched.input 0 "y" : !sched.buffer<host, tensor<8xf32>>
}
