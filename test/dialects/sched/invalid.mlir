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
