// `sched.load`: an input table to a stream of morsels.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.load for @nations : <!pipe.rows<"n": i32>>
pipe.state @all rows [#pipe.field<"n", i32, payload>]
pipe.pipeline @nations {
  %0 = pipe.scan split ["ranks"] "nation" [#pipe.scan_column<file = "n", column = "n">] : <"n": i32>
  pipe.insert %0, @all keys [] : <"n": i32>
}
sched.program @main {
  %loaded, %rows = sched.load for @nations : <!pipe.rows<"n": i32>>
  %kept = sched.run @nations from %rows : !sched.stream<!pipe.rows<"n": i32>> fills [@all] reads []
}

// -----

// CHECK: sched.load for @nations pieces of 8192 : <!pipe.rows<"n": i32>>
pipe.state @all rows [#pipe.field<"n", i32, payload>]
pipe.pipeline @nations {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "n", column = "n">] : <"n": i32>
  pipe.insert %0, @all keys [] : <"n": i32>
}
sched.program @main {
  %loaded, %rows = sched.load for @nations pieces of 8192 : <!pipe.rows<"n": i32>>
  %kept = sched.run @nations from %rows : !sched.stream<!pipe.rows<"n": i32>> fills [@all] reads []
}

// -----

sched.program @main {
  // expected-error @+1 {{attribute 'piece_rows' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 1024}}
  %loaded, %lines = sched.load for @points pieces of 100 : <!pipe.rows<"x": i32>>
  sched.result %lines : <!pipe.rows<"x": i32>>
}

// -----

pipe.state @s scalar [#pipe.field<"n", i64, sum>]
sched.program @main {
  // expected-error @+1 {{C1: a stream needs exactly one consumer, got 0}}
  %loaded, %lines = sched.load for @lineitem : !sched.stream<!pipe.rows<"k": i32>>
}

// -----

sched.program @main {
  // expected-error @+1 {{a stream is of rows, got 'i32'}}
  %loaded, %lines = sched.load for @points : !sched.stream<i32>
}
