// `pipe.state`: a state: rows behind a contract.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.state @revenue  scalar [#pipe.field<"revenue", i128, sum>]
pipe.state @revenue scalar [#pipe.field<"revenue", i128, sum>]
pipe.state @orders join [#pipe.field<"key", i32, key>] holds <expected = 10, p95 = 20, max = 20> direct <base = 1, extent = 60>
pipe.state @ranked window [#pipe.field<"k", i64, key>, #pipe.field<"v", i64, payload>, #pipe.field<"place", i64, computed>] order [#pipe.sort_key<"v", descending = true, nulls_first = true>] functions [#frame.window_function<rank -> "place">]
pipe.state @first sort [#pipe.field<"v", i64, payload>] order [#pipe.sort_key<"v", descending = true, nulls_first = true>] words 1.0 limit 10 offset 2

// -----

// expected-error @+1 {{C1: duplicate field: "n"}}
pipe.state @s scalar [#pipe.field<"n", i64, sum>, #pipe.field<"n", i64, sum>]

// -----

// CHECK: pipe.state @own  window {{.*}} within ["r"] functions
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.state @own window [#pipe.field<"v", i64, payload>, #pipe.field<"row", i64, computed>] within ["r"] functions [#frame.window_function<row_number -> "row">]
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  // expected-error @+1 {{C7: only windows without keys are within axes}}
  pipe.state @own window [#pipe.field<"v", i64, key>, #pipe.field<"row", i64, computed>] within ["r"] functions [#frame.window_function<row_number -> "row">]
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  // expected-error @+1 {{names an axis that the mesh does not have: "rank"}}
  pipe.state @own window [#pipe.field<"v", i64, payload>, #pipe.field<"row", i64, computed>] within ["rank"] functions [#frame.window_function<row_number -> "row">]
}

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

// expected-error@+1 {{C4: needs 0 <= offset <= limit, which is not 0, got 5 and 3}}
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
