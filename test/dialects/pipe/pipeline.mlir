// `pipe.pipeline`: one kernel's worth of work: source, sub-operators, sink.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.pipeline @p0
pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.pipeline @p0 {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "n_nationkey", column = "n_nationkey">] : !pipe.rows<"n_nationkey": i32>
  %1 = pipe.map %0 ["n"] [] {
    %one = arith.constant 1 : i64
    pipe.yield %one : i64
  } : !pipe.rows<"n_nationkey": i32> -> !pipe.rows<"n": i64>
  pipe.combine %1, @count keys [] : !pipe.rows<"n": i64>
}

// -----

// expected-error @+1 {{C1: one source first and one sink last are needed, got pipe.scan}}
pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
}

// -----

// expected-error@+1 {{C1: empty pipeline}}
pipe.pipeline @p {
^bb0:
}

// -----

// expected-error@+1 {{C2: copies of a state are merged by reading it and combining into it: @s}}
pipe.pipeline @p merges @s {
  %0 = pipe.read @t : !pipe.rows<"a": i32>
  pipe.combine %0, @s keys [] : !pipe.rows<"a": i32>
}

// -----

// expected-error@+1 {{C3: a choice and a way of it go together}}
"pipe.pipeline"() <{sym_name = "p", choice = @c}> ({
  %0 = pipe.read @t : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}) : () -> ()

// -----

pipe.state @n scalar [#pipe.field<"n", i64, sum>]
// expected-error@+1 {{C4: what is in a choice, or merges, repeats nothing: @rounds}}
pipe.pipeline @merge_n merges @n repeats @rounds {
  %0 = pipe.read @n : !pipe.rows<"n": i64>
  pipe.combine %0, @n keys [] : !pipe.rows<"n": i64>
}
