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

// -----

// expected-error@+1 {{duplicate column: "a"}}
pipe.stream @s "none" : !pipe.rows<"a": i32, "a": i64>

// -----

// expected-error@+1 {{C1: empty pipeline}}
pipe.pipeline @p {
^bb0:
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [{file = "a", column = "a"}] : !pipe.rows<"a": i32>
  // expected-error@+1 {{unknown column: "b"}}
  %1 = pipe.filter %0 ["b"] {
  ^bb0(%b: i32):
    %c = arith.constant true
    pipe.yield %c : i1
  } : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [{file = "a", column = "a"}] : !pipe.rows<"a": i32>
  // expected-error@+1 {{the body must end with pipe.yield}}
  %1 = pipe.map %0 ["b"] ["a"] {
  ^bb0(%a: i32):
    %b = arith.addi %a, %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"b": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [{file = "a", column = "a"}] : !pipe.rows<"a": i32>
  // expected-error@+1 {{C1: the body must yield one i1}}
  %1 = pipe.filter %0 ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [{file = "a", column = "a"}] : !pipe.rows<"a": i32>
  // expected-error@+1 {{C2: negative selectivity: -5.000000e-01}}
  %1 = pipe.filter %0 ["a"] {
  ^bb0(%a: i32):
    %c = arith.constant true
    pipe.yield %c : i1
  } {selectivity = -0.5 : f64} : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.state @nations join [#pipe.field<"k", i32, "key">]
pipe.pipeline @p {
  %0 = pipe.scan "t" [{file = "a", column = "a"}] : !pipe.rows<"a": i32>
  // expected-error@+1 {{C1: negative selectivity: -1.000000e+00}}
  %1 = pipe.lookup %0, @nations semi keys ["a"] payload [] columns [] {
  } {selectivity = -1.0 : f64} : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [{file = "a", column = "a"}] : !pipe.rows<"a": i32>
  // expected-error@+1 {{computed column missing in the result: "c"}}
  %1 = pipe.map %0 ["c"] ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"b": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [{file = "a", column = "a"}] : !pipe.rows<"a": i32>
  // expected-error@+1 {{the body must yield the values and validities of the computed columns}}
  %1 = pipe.map %0 ["b"] ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32?>
  pipe.emit %1, @out keys [] : !pipe.rows<"b": i32?>
}

// -----

func.func @body(%a: !pipe.string, %b: !pipe.string) -> i1 {
  // expected-error@+1 {{unknown predicate: like}}
  %0 = pipe.string_compare "like" %a, %b
  return %0 : i1
}
