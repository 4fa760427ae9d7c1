// What the relational ops refuse, by the constraint's number (join and aggregate have their own files).
// RUN: headrace-opt %s -split-input-file -verify-diagnostics

func.func @scan_c1() {
  // expected-error @+1 {{needs one file column per result column, got 1 for 2}}
  %0 = frame.scan "t" ["a"] : !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @scan_c1_ordinals() {
  // expected-error @+1 {{ordinals are i64, got 'i32'}}
  %0 = frame.scan "t" ["a"] ordinals : !frame.table<"a": i64, "row": i32>
  return
}

// -----

func.func @scan_c2() {
  // expected-error @+1 {{lists a file column twice: "a"}}
  %0 = frame.scan "t" ["a", "a"] : !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @scan_c3_rows() {
  // expected-error @+1 {{statistics.rows must be an i64, got "many"}}
  %0 = frame.scan "t" ["a"] {statistics = {rows = "many"}} : !frame.table<"a": i64>
  return
}

// -----

func.func @scan_c3_columns() {
  // expected-error @+1 {{statistics.columns must be a dictionary, got 1 : i64}}
  %0 = frame.scan "t" ["a"] {statistics = {columns = 1}} : !frame.table<"a": i64>
  return
}

// -----

func.func @values_c1() {
  // expected-error @+1 {{needs one literal per column in each row, got 1 for 2}}
  %0 = frame.values [[1]] : !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @values_c1_type() {
  // expected-error @+1 {{literal does not fit column "a": 'i64'}}
  %0 = frame.values [["x"]] : !frame.table<"a": i64>
  return
}

// -----

func.func @values_c1_null() {
  // expected-error @+1 {{literal does not fit column "a": 'i64'}}
  %0 = frame.values [[null]] : !frame.table<"a": i64>
  return
}

// -----

func.func @values_c1_generic() {
  // expected-error @+1 {{literal does not fit column "a" of type 'i64': "x"}}
  %0 = "frame.values"() {rows = [["x"]]} : () -> !frame.table<"a": i64>
  return
}

// -----

func.func @to_tensor_c1(%t: !frame.table<"a": f64>) {
  // expected-error @+1 {{needs one group of columns per result, got 2 for 1}}
  %0 = frame.to_tensor %t [["a"], ["a"]] : !frame.table<"a": f64> -> tensor<?xf64>
  return
}

// -----

func.func @to_tensor_c1_empty(%t: !frame.table<"a": f64>) {
  // expected-error @+1 {{a group of columns must not be empty}}
  %0 = frame.to_tensor %t [[]] : !frame.table<"a": f64> -> tensor<?x0xf64>
  return
}

// -----

func.func @to_tensor_c2(%t: !frame.table<"a": !frame.string>) {
  // expected-error @+1 {{needs numeric columns of the input, got: "a"}}
  %0 = frame.to_tensor %t [["a"]] : !frame.table<"a": !frame.string> -> tensor<?xf64>
  return
}

// -----

func.func @to_tensor_c3(%t: !frame.table<"a": f64, "b": f64>) {
  // expected-error @+1 {{a group of 2 columns needs a result tensor<?x2xT> (or tensor<?xT> for one column), got 'tensor<?x3xf64>'}}
  %0 = frame.to_tensor %t [["a", "b"]] : !frame.table<"a": f64, "b": f64> -> tensor<?x3xf64>
  return
}

// -----

func.func @to_tensor_c4(%t: !frame.table<"a": f64>) {
  // expected-error @+1 {{element type must be f32 or f64, or i64 for whole numbers, got 'i32' for column "a": 'f64'}}
  %0 = frame.to_tensor %t [["a"]] : !frame.table<"a": f64> -> tensor<?xi32>
  return
}

// -----

func.func @from_tensor_c1(%t: tensor<?x?xf64>) {
  // expected-error @+1 {{needs a tensor of rank 1, or of rank 2 with a static second dimension, got 'tensor<?x?xf64>'}}
  %0 = frame.from_tensor %t : tensor<?x?xf64> -> !frame.table<"a": f64>
  return
}

// -----

func.func @from_tensor_c2(%t: tensor<?x2xf64>) {
  // expected-error @+1 {{needs a result of 2 columns of type 'f64', got '!frame.table<"a": f64, "b": f32>'}}
  %0 = frame.from_tensor %t : tensor<?x2xf64> -> !frame.table<"a": f64, "b": f32>
  return
}

// -----

func.func @filter_c1(%t: !frame.table<"a": i1>) {
  // expected-error @+1 {{uses a column that is not in the input: "b"}}
  %0 = frame.filter %t columns ["b"] {
  ^bb0(%b: i1):
    frame.yield %b : i1
  } : !frame.table<"a": i1>
  return
}

// -----

func.func @filter_c1_type(%t: !frame.table<"a": i1>) {
  // expected-error @+1 {{block argument of column "a" must be 'i1', got '!frame.nullable<i1>'}}
  %0 = frame.filter %t columns ["a"] {
  ^bb0(%a: !frame.nullable<i1>):
    frame.yield %a : !frame.nullable<i1>
  } : !frame.table<"a": i1>
  return
}

// -----

func.func @filter_c1_count(%t: !frame.table<"a": i1>) {
  // expected-error @+1 {{needs one block argument per used column, got 1 for 0}}
  %0 = frame.filter %t columns [] {
  ^bb0(%a: i1):
    frame.yield %a : i1
  } : !frame.table<"a": i1>
  return
}

// -----

func.func @filter_c1_unique(%t: !frame.table<"a": i1>) {
  // expected-error @+1 {{lists a column twice: "a"}}
  %0 = frame.filter %t columns ["a", "a"] {
  ^bb0(%a: i1, %b: i1):
    frame.yield %a : i1
  } : !frame.table<"a": i1>
  return
}

// -----

func.func @filter_c2(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{the predicate must yield one i1 or nullable i1}}
  %0 = frame.filter %t columns ["a"] {
  ^bb0(%a: i64):
    frame.yield %a : i64
  } : !frame.table<"a": i64>
  return
}

// -----

func.func @project_c2(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{a kept column must be in input and result with one type, got: "a"}}
  %0 = frame.project %t keep ["a"] compute [] columns [] {
    frame.yield
  } : !frame.table<"a": i64> -> !frame.table<"a": i32>
  return
}

// -----

func.func @project_c3(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{must yield one value per computed column, got 0 for 1}}
  %0 = frame.project %t keep [] compute ["b"] columns [] {
    frame.yield
  } : !frame.table<"a": i64> -> !frame.table<"b": i64>
  return
}

// -----

func.func @project_c3_type(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{yields 'i64' for computed column "b": 'i32'}}
  %0 = frame.project %t keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: i64):
    frame.yield %a : i64
  } : !frame.table<"a": i64> -> !frame.table<"b": i32>
  return
}

// -----

func.func @project_c4(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{every result column must be kept or computed, got 1 kept and 0 computed for 2}}
  %0 = frame.project %t keep ["a"] compute [] columns [] {
    frame.yield
  } : !frame.table<"a": i64> -> !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @project_c4_both(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{a computed column must be in the result and not kept, got: "a"}}
  %0 = frame.project %t keep ["a"] compute ["a"] columns ["a"] {
  ^bb0(%a: i64):
    frame.yield %a : i64
  } : !frame.table<"a": i64> -> !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @rename_c1(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{must keep the column types, got '!frame.table<"a": i64>' and '!frame.table<"b": i32>'}}
  %0 = frame.rename %t : !frame.table<"a": i64> -> !frame.table<"b": i32>
  return
}

// -----

func.func @sort_c1(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{needs at least one key}}
  %0 = frame.sort %t by [] : !frame.table<"a": i64>
  return
}

// -----

func.func @sort_c1_column(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{key is not a column of the input: "b"}}
  %0 = frame.sort %t by [#frame.sort_key<"b" asc nulls_last>] : !frame.table<"a": i64>
  return
}

// -----

func.func @topk_c1_unique(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{lists a key twice: "a"}}
  %0 = frame.topk %t by [#frame.sort_key<"a" asc nulls_last>, #frame.sort_key<"a" desc nulls_last>]
      count 3 : !frame.table<"a": i64>
  return
}

// -----

func.func @topk_c2(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{count must not be negative, got -1}}
  %0 = frame.topk %t by [#frame.sort_key<"a" asc nulls_last>] count -1 : !frame.table<"a": i64>
  return
}

// -----

func.func @limit_c1(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{offset must not be negative, got -5}}
  %0 = frame.limit %t offset -5 : !frame.table<"a": i64>
  return
}

// -----

func.func @union_c1(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{needs at least two inputs, got 1}}
  %0 = frame.union %t : !frame.table<"a": i64> -> !frame.table<"u": i64>
  return
}

// -----

func.func @union_c1_columns(%t: !frame.table<"a": i64>, %s: !frame.table<>) {
  // expected-error @+1 {{needs inputs with as many columns as the result, got '!frame.table<>'}}
  %0 = frame.union %t, %s : !frame.table<"a": i64>, !frame.table<> -> !frame.table<"u": i64>
  return
}

// -----

func.func @union_c2(%t: !frame.table<"a": i64>, %s: !frame.table<"b": !frame.nullable<i64>>) {
  // expected-error @+1 {{result column does not have the type of the inputs' columns: "u": 'i64'}}
  %0 = frame.union %t, %s : !frame.table<"a": i64>, !frame.table<"b": !frame.nullable<i64>>
      -> !frame.table<"u": i64>
  return
}

// -----

func.func @scalar_subquery_c1(%t: !frame.table<"a": i64, "b": i64>) {
  // expected-error @+1 {{needs an input of one column, got 2}}
  %0 = frame.scalar_subquery %t : !frame.table<"a": i64, "b": i64> -> !frame.nullable<i64>
  return
}

// -----

func.func @scalar_subquery_c2(%t: !frame.table<"a": i64>) {
  // expected-error @+1 {{result must be '!frame.nullable<i64>', got 'i64'}}
  %0 = frame.scalar_subquery %t : !frame.table<"a": i64> -> i64
  return
}

// -----

func.func @unknown_attribute() {
  // expected-error @+1 {{'frame.scan' op has an unknown attribute: "statistic"}}
  %0 = frame.scan "t" ["a"] {statistic = {rows = 1 : i64}} : !frame.table<"a": i64>
  return
}

// -----

func.func @expand_c1(%t: !frame.table<"a": i64, "n": i32>) {
  // expected-error @+1 {{needs a column of i64 to expand by, got "n"}}
  %0 = frame.expand %t by "n" number "i"
      : !frame.table<"a": i64, "n": i32> -> !frame.table<"a": i64, "n": i32, "i": i64>
  return
}

// -----

func.func @expand_c2(%t: !frame.table<"n": i64>) {
  // expected-error @+1 {{result must have the columns of the input and "i"}}
  %0 = frame.expand %t by "n" number "i" : !frame.table<"n": i64> -> !frame.table<"n": i64, "j": i64>
  return
}
