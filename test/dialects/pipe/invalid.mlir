// RUN: headrace-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{C1: duplicate field: "n"}}
pipe.state @s scalar [#pipe.field<"n", i64, "sum">, #pipe.field<"n", i64, "sum">]

// -----

// expected-error @+1 {{C2: sort key is not a field: "k"}}
pipe.state @s sort [#pipe.field<"n", i64, "payload">] order [#pipe.sort_key<"k", descending = false, nulls_first = false>]

// -----

// expected-error @+1 {{C2: sort keys on a state of kind: group}}
pipe.state @s group [#pipe.field<"n", i64, "key">] order [#pipe.sort_key<"n", descending = false, nulls_first = false>]

// -----

// expected-error @+1 {{C1: one source first and one sink last are needed, got pipe.scan}}
pipe.pipeline @p {
  %0 = pipe.scan "t" [{file = "a", column = "a"}] : !pipe.rows<"a": i32>
}

// -----

pipe.state @s scalar [#pipe.field<"a", i32, "min">]
pipe.pipeline @p {
  %0 = pipe.scan "t" [{file = "a", column = "a"}] : !pipe.rows<"a": i32>
  // expected-error @+1 {{body arguments must be the columns' values and validities}}
  %1 = pipe.filter %0 ["a"] {
  ^bb0(%a: i64):
    %c = arith.constant true
    pipe.yield %c : i1
  } : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.combine %1, @s keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.state @rows0 rows [#pipe.field<"k", i32, "payload">]
// expected-error@+1 {{C1: the bound is negative: -3}}
pipe.choice @choice0 by @rows0 at_most -3
