// RUN: headrace-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{C1: duplicate field: "n"}}
pipe.state @s scalar [#pipe.field<"n", i64, sum>, #pipe.field<"n", i64, sum>]

// -----

// expected-error @+1 {{C2: sort key is not a field: "k"}}
pipe.state @s sort [#pipe.field<"n", i64, payload>] order [#pipe.sort_key<"k", descending = false, nulls_first = false>]

// -----

// expected-error @+1 {{C2: first_come without a limit of a sort}}
pipe.state @s sort [#pipe.field<"n", i64, payload>] order [#pipe.sort_key<"n", descending = false, nulls_first = false>] first_come

// -----

// expected-error @+1 {{C2: words without an order of a sort}}
pipe.state @s sort [#pipe.field<"n", i64, payload>] words 2.0

// -----

// expected-error @+1 {{C2: a row needs at least one word, and no more than there are, got 5.000000e-01}}
pipe.state @s sort [#pipe.field<"n", i64, payload>] order [#pipe.sort_key<"n", descending = false, nulls_first = false>] words 0.5

// -----

// expected-error @+1 {{C2: an order, limit or offset on a state of kind: group}}
pipe.state @s group [#pipe.field<"n", i64, key>] order [#pipe.sort_key<"n", descending = false, nulls_first = false>]

// -----

// expected-error @+1 {{C1: one source first and one sink last are needed, got pipe.scan}}
pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
}

// -----

pipe.state @s scalar [#pipe.field<"a", i32, min>]
pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error @+1 {{body arguments must be the columns' values and validities}}
  %1 = pipe.filter %0 ["a"] {
  ^bb0(%a: i64):
    %c = arith.constant true
    pipe.yield %c : i1
  } : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.combine %1, @s keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.state @rows0 rows [#pipe.field<"k", i32, payload>]
// expected-error@+1 {{C1: the bound is negative: -3}}
pipe.choice @choice0 by @rows0 at_most -3

// -----

// expected-error@+1 {{C1: duplicate column: "a"}}
pipe.stream @s local : !pipe.rows<"a": i32, "a": i64>

// -----

// expected-error@+1 {{C1: empty pipeline}}
pipe.pipeline @p {
^bb0:
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
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
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{the body must end with pipe.yield}}
  %1 = pipe.map %0 ["b"] ["a"] {
  ^bb0(%a: i32):
    %b = arith.addi %a, %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"b": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{C1: the body must yield one i1}}
  %1 = pipe.filter %0 ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{C2: the selectivity is negative: -5.000000e-01}}
  %1 = pipe.filter %0 ["a"] {
  ^bb0(%a: i32):
    %c = arith.constant true
    pipe.yield %c : i1
  } {selectivity = -0.5 : f64} : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.state @nations join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{C1: the selectivity is negative: -1.000000e+00}}
  %1 = pipe.lookup %0, @nations semi keys ["a"] payload [] columns [] {
  } {selectivity = -1.0 : f64} : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.state @nations join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{requires attribute 'kind'}}
  %1 = "pipe.lookup"(%0) <{columns = [], keys = ["a"], payload = [], state = @nations}> ({
  }) : (!pipe.rows<"a": i32>) -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{computed column missing in the result: "c"}}
  %1 = pipe.map %0 ["c"] ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"b": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{the body must yield the values and validities of the computed columns}}
  %1 = pipe.map %0 ["b"] ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32?>
  pipe.emit %1, @out keys [] : !pipe.rows<"b": i32?>
}

// -----

func.func @body(%a: !pipe.string, %b: !pipe.string) -> i1 {
  // expected-error@+2 {{to be one of: eq, ne, lt, le, gt, ge}}
  // expected-error@+1 {{failed to parse}}
  %0 = pipe.string_compare like %a, %b
  return %0 : i1
}

// -----

// expected-error@+1 {{C2: rows have no such type: 'index'}}
pipe.stream @s local : !pipe.rows<"a": index>

// -----

// expected-error@+1 {{'pipe.stream' op has an unknown attribute: "writer"}}
pipe.stream @s local : !pipe.rows<"a": i32> {writer = 2 : i64}

// -----

// expected-error@+2 {{to be one of: local, hash, broadcast, gather, result, to_tensor}}
// expected-error@+1 {{failed to parse}}
pipe.stream @s resultt : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C1: writers are two or more, of a local stream, got 1}}
pipe.stream @s local writers 1 : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C2: names and logical types are of the columns of a result, got ["a", "b"]}}
pipe.stream @s result names ["a", "b"] logical [i32] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C2: names and logical types are of the columns of a result, got [i32, i32]}}
pipe.stream @s to_tensor logical [i32, i32] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{the values of "a" are 'i32', which no column is of type '!frame.string'}}
pipe.stream @s result names ["a"] logical [!frame.string] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{attribute 'logical' failed to satisfy constraint: array of scalar types of frame, none nullable}}
pipe.stream @s result names ["a"] logical [!frame.nullable<i32>] : !pipe.rows<"a": i32>

// -----

pipe.stream @s local : !pipe.rows<"n": i32>
pipe.pipeline @p0 {
  // expected-error@+1 {{has a type for each column of its rows, got []}}
  %0 = pipe.values [[1 : i128]] [] : <"n": i32>
  pipe.emit %0, @s keys [] : <"n": i32>
}

// -----

// expected-error@+1 {{C3: a column has a scalar type of frame that is not nullable, got '!frame.nullable<i32>'}}
#column = #pipe.scan_column<file = "k", column = "k", logical = !frame.nullable<i32>>

// -----

// expected-error@+1 {{C2: a result's columns need names and logical types}}
pipe.stream @s result names ["a"] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C3: the fullest rank gets 1 or more of an exchange by hash, got 5.000000e-01}}
pipe.stream @s hash over ["ranks"] fullest 0.5 : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C4: only a result is resident, by columns that it has, got []}}
pipe.stream @s hash over ["ranks"] resident [] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C4: only a result is resident, by columns that it has, got ["a"]}}
pipe.stream @s result names ["key"] logical [i32] resident ["a"] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C4: only a result is ordered}}
pipe.stream @s hash over ["ranks"] ordered : !pipe.rows<"a": i32>

// -----

// expected-error@+2 {{to be one of: key, sum, sum_double_double, min, max, payload}}
// expected-error@+1 {{failed to parse}}
pipe.state @s scalar [#pipe.field<"n", i64, summ>]

// -----

// expected-error@+1 {{C1: a field has no such type: 'index'}}
pipe.state @s scalar [#pipe.field<"n", index, sum>]

// -----

// expected-error@+1 {{C2: values of this type have no sum: '!pipe.string'}}
pipe.state @s scalar [#pipe.field<"n", !pipe.string, sum>]

// -----

// expected-error@+1 {{C3: expected the bounds, as i64, of a key that is an integer}}
pipe.state @s group [#pipe.field<"k", i32, key between 5 : i64 and 4 : i64>]

// -----

// expected-error@+1 {{C3: expected the bounds, as i64, of a key that is an integer}}
pipe.state @s group [#pipe.field<"k", !pipe.string, key between 1 : i64 and 4 : i64>]

// -----

// expected-error@+1 {{C2: values of this type have no sum_double_double: 'f64'}}
pipe.state @s scalar [#pipe.field<"n", f64, sum_double_double>]

// -----

// expected-error@+1 {{C3: a state of kind sort has no such field: #pipe.field<"n", i64, key>}}
pipe.state @s sort [#pipe.field<"n", i64, key>]

// -----

// expected-error@+1 {{C3: groups need a key}}
pipe.state @s group [#pipe.field<"n", i64, sum>]

// -----

// expected-error@+1 {{C4: needs 0 <= offset <= limit, got 5 and 3}}
pipe.state @s sort [#pipe.field<"n", i64, payload>] limit 3 offset 5

// -----

// expected-error@+1 {{C5: no array is indexed by the key: #pipe.field<"k", f64, key>}}
pipe.state @s join [#pipe.field<"k", f64, key>] direct <base = 0, extent = 5>

// -----

// expected-error@+1 {{C5: only a join state with one key is direct}}
pipe.state @s group [#pipe.field<"k", i32, key>] direct <base = 0, extent = 5>

// -----

// expected-error@+1 {{C1: the keys of a directory are i64, one or more, got 0 from 7}}
pipe.state @s join [#pipe.field<"k", i32, key>] direct <base = 7, extent = 0>

// -----

// expected-error@+1 {{C1: an estimate lies between its bounds, got 0 to 5 around 10 and 10}}
pipe.state @s join [#pipe.field<"k", i32, key>] holds <expected = 10, p95 = 10, max = 5>

// -----

pipe.state @rows0 rows [#pipe.field<"k", i32, payload>]
// expected-error@+1 {{C1: the estimate is negative: -1}}
pipe.choice @choice0 by @rows0 at_most 3 expected -1

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  %1 = pipe.map %0 ["b"] ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32>
  // expected-error@+1 {{C1: uses other rows than those of the op before}}
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
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

pipe.pipeline @p {
  // expected-error@+1 {{C1: columns must be those of the rows, got [#pipe.scan_column<file = "a", column = "b">]}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "b">] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{C2: bounds a column that is not read: #pipe.bound<"b" lt 3 : i64>}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] bounds [#pipe.bound<"b" lt 3 : i64>] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{C3: a table holds no negative number of rows: -3}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] holds -3 : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{a bound of the column "a" is an i64, a float or a string, got 3 : i32}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] bounds [#pipe.bound<"a" lt 3 : i32>] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{C1: statistics are a least and a greatest i64, of the column "a"}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a", min = 3 : i64>] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{C2: a figure of the column "a" is negative: -1.000000e+00 : f64}}
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a", page_bytes = -1.0 : f64>] : !pipe.rows<"a": i32>
  pipe.emit %0, @out keys [] : !pipe.rows<"a": i32>
}

// -----

pipe.state @nations join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{C2: exactly the kinds mark, full and seen mark something, got semi}}
  %1 = pipe.lookup %0, @nations semi keys ["a"] payload [] mark "m" columns [] {
  } : !pipe.rows<"a": i32> -> !pipe.rows<"a": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"a": i32>
}

// -----

func.func @body(%a: f64) -> f64 {
  // expected-error@+1 {{C1: needs the arguments of its function, got 1 for atan2}}
  %0 = pipe.math "atan2" %a
  return %0 : f64
}

// -----

func.func @body(%a: i64) -> i64 {
  // expected-error@+1 {{C1: needs the arguments of its function, got 1 for exp}}
  %0, %1 = pipe.integer_math "exp" %a : i64 -> i64
  return %0 : i64
}

// -----

func.func @body(%a: i64, %b: i128) -> i128 {
  // expected-error@+1 {{C2: needs operands of its result's type, got 'i64'}}
  %0, %1 = pipe.integer_math "gcd" %a, %b : i64, i128 -> i128
  return %0 : i128
}

// -----

func.func @body(%a: !pipe.string) -> i64 {
  // expected-error@+1 {{C2: has no result of type: '!pipe.string'}}
  %0 = pipe.text "length"(%a) : (!pipe.string) -> !pipe.string
  return %0 : !pipe.string
}

// -----

func.func @body(%a: !pipe.string) -> !pipe.string {
  // expected-error@+1 {{C2: upper always has a value}}
  %0, %1 = pipe.text "upper"(%a) : (!pipe.string) -> (!pipe.string, i1)
  return %0 : !pipe.string
}

// -----

func.func @body(%a: !pipe.string, %n: i64) -> !pipe.string {
  // expected-error@+1 {{C2: lpad needs a result that says whether it has a value}}
  %0 = pipe.text "lpad"(%a, %n, %a) : (!pipe.string, i64, !pipe.string) -> !pipe.string
  return %0 : !pipe.string
}

// -----

func.func @body(%a: i64) -> !pipe.string {
  // expected-error@+1 {{C1: upper has no argument of type: 'i64'}}
  %0 = pipe.text "upper"(%a) : (i64) -> !pipe.string
  return %0 : !pipe.string
}

// -----

func.func @body(%a: !pipe.string) -> !pipe.string {
  // expected-error@+1 {{C1: replace takes another number of arguments than 1}}
  %0 = pipe.text "replace"(%a) : (!pipe.string) -> !pipe.string
  return %0 : !pipe.string
}

// -----

func.func @body(%a: i64) -> !pipe.string {
  // expected-error@+1 {{C1: integer is of another type than 'i64'}}
  %0 = pipe.print integer %a scale 0 : i64
  return %0 : !pipe.string
}

// -----

func.func @body(%a: !pipe.string) -> i128 {
  // expected-error@+1 {{C2: the scale of an integer is 0 to 38, of a time or timestamp 0, 3, 6 or 9, of others 0, got 3}}
  %0, %1 = pipe.parse date %a scale 3 : i128
  return %0 : i128
}

// -----

pipe.pipeline @p {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "a", column = "a">] : !pipe.rows<"a": i32>
  // expected-error@+1 {{gives a column that it neither gets nor computes: "b"}}
  %1 = pipe.map %0 ["c"] ["a"] {
  ^bb0(%a: i32):
    pipe.yield %a : i32
  } : !pipe.rows<"a": i32> -> !pipe.rows<"b": i32, "c": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"b": i32, "c": i32>
}

// -----

func.func @body(%key: i32) -> i1 {
  // expected-error@+1 {{needs a value, and a validity where it is nullable, for each of 1 keys, got 1}}
  %0 = pipe.owns (%key) [true] over ["ranks"] : i32
  return %0 : i1
}

// -----

// expected-error@+1 {{has an attribute that pipe does not have: "pipe.writer"}}
pipe.stream @s local : !pipe.rows<"a": i32> {pipe.writer = 2 : i64}

// -----

// expected-error @+1 {{C6: functions belong to a window, got rows}}
pipe.state @s rows [#pipe.field<"n", i64, payload>] functions [#frame.window_function<rank -> "n">]

// -----

// expected-error @+1 {{C6: a function of no fields, or into none: #frame.window_function<rank -> "m">}}
pipe.state @s window [#pipe.field<"n", i64, computed>] functions [#frame.window_function<rank -> "m">]

// -----

// expected-error @+1 {{C6: the field of #frame.window_function<rank -> "n"> cannot be #pipe.field<"n", i32, computed>}}
pipe.state @s window [#pipe.field<"n", i32, computed>] functions [#frame.window_function<rank -> "n">]

// -----

// expected-error @+1 {{C6: no function computes: #pipe.field<"m", i64, computed>}}
pipe.state @s window [#pipe.field<"n", i64, computed>, #pipe.field<"m", i64, computed>] functions [#frame.window_function<rank -> "n">]

// -----

// expected-error @+1 {{C6: a frame of groups of peers needs an order: #frame.window_function<first_value("v") -> "f" over <groups current_row to current_row>>}}
pipe.state @s window [#pipe.field<"v", i64, payload, nullable = true>, #pipe.field<"f", i64, computed, nullable = true>] functions [#frame.window_function<first_value("v") -> "f" over <groups current_row to current_row>>]

// -----

// expected-error @+1 {{C6: a frame by values needs one order key, got 0}}
pipe.state @s window [#pipe.field<"v", i64, payload, nullable = true>, #pipe.field<"f", i64, computed, nullable = true>] functions [#frame.window_function<first_value("v") -> "f" over <range preceding("v") to current_row>>]

// -----

// expected-error @+1 {{C6: rows that are left out change #frame.window_function<dense_rank -> "n">}}
pipe.state @s window [#pipe.field<"n", i64, computed>] functions [#frame.window_function<dense_rank -> "n">] limit 2

// -----

// expected-error @+1 {{C2: an order, limit or offset on a state of kind: window}}
pipe.state @s window [#pipe.field<"n", i64, computed>] functions [#frame.window_function<rank -> "n">] limit 2 offset 1

// -----

// expected-error @+1 {{C5: exactly what goes to other ranks has axes, got hash}}
pipe.stream @s hash : !pipe.rows<"k": i32>

// -----

// expected-error @+1 {{C5: exactly what goes to other ranks has axes, got local}}
pipe.stream @s local over ["ranks"] : !pipe.rows<"k": i32>

// -----

// expected-error @+1 {{names an axis twice: "ranks"}}
pipe.stream @s hash over ["ranks", "ranks"] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C6: exactly what goes by range has an order, got range}}
pipe.stream @s range over ["ranks"] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C6: exactly what goes by range has an order, got hash}}
pipe.stream @s hash over ["ranks"] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C6: sort key is not a column: "x"}}
pipe.stream @s range over ["ranks"] order [#pipe.sort_key<"x", descending = false, nulls_first = false>] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C8: only an exchange by hash has skew, got gather}}
pipe.stream @s gather over ["ranks"] skew(#dist.skew<pair = 0, heavy = spread>) : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C7: exactly what is parted has parts, two or more, got parted}}
pipe.stream @s parted parts 1 : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C7: exactly what is parted has parts, two or more, got local}}
pipe.stream @s local parts 2 : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C1: the room is negative: -1}}
pipe.repeat @rounds room -1

// -----

pipe.state @n scalar [#pipe.field<"n", i64, sum>]
// expected-error@+1 {{C4: what is in a choice, or merges, repeats nothing: @rounds}}
pipe.pipeline @merge_n merges @n repeats @rounds {
  %0 = pipe.read @n : !pipe.rows<"n": i64>
  pipe.combine %0, @n keys [] : !pipe.rows<"n": i64>
}

// -----

pipe.stream @in local : !pipe.rows<"n": i64?>
pipe.stream @out result : !pipe.rows<"i": i64>
pipe.pipeline @expand_c1 {
  %0 = pipe.receive @in : <"n": i64?>
  // expected-error@+1 {{C1: needs an integer that is not nullable to expand by, got "n"}}
  %1 = pipe.expand %0 by "n" number "i" : <"n": i64?> -> <"i": i64>
  pipe.emit %1, @out keys [] : <"i": i64>
}

// -----

pipe.stream @in local : !pipe.rows<"n": i64>
pipe.stream @out result : !pipe.rows<"i": i32>
pipe.pipeline @expand_c2 {
  %0 = pipe.receive @in : <"n": i64>
  // expected-error@+1 {{C2: needs an i64 for the number, got "i"}}
  %1 = pipe.expand %0 by "n" number "i" : <"n": i64> -> <"i": i32>
  pipe.emit %1, @out keys [] : <"i": i32>
}

// -----

pipe.stream @in local : !pipe.rows<"n": i64>
pipe.stream @out result : !pipe.rows<"i": i64>
pipe.pipeline @expand_c3 {
  %0 = pipe.receive @in : <"n": i64>
  // expected-error@+1 {{C3: the selectivity}}
  %1 = pipe.expand %0 by "n" number "i" {selectivity = -1.0 : f64} : <"n": i64> -> <"i": i64>
  pipe.emit %1, @out keys [] : <"i": i64>
}

// -----

pipe.pipeline @p {
  // expected-error @+1 {{C4: ordinals are i64 without statistics, got those of "row"}}
  %0 = pipe.scan "t" [#pipe.scan_column<column = "row", logical = i32>] : !pipe.rows<"row": i32>
}

// -----

// expected-error@+1 {{C9: rows go toward ranks only by hash, without skew, got gather}}
pipe.stream @s gather over ["node"] toward ["node", "gpu"] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{goes toward ranks along its own axes and others, in the order of the mesh, got ["gpu"] over ["node"]}}
pipe.stream @s hash over ["node"] toward ["gpu"] : !pipe.rows<"k": i32>
