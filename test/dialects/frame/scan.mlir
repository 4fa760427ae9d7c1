// `frame.scan`: reads columns of a stored table.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.scan "nation" ["n_nationkey", "n_name"] {statistics = {columns = {n_nationkey = {max = 24 : i64, min = 0 : i64}}, rows = 25 : i64}} :
func.func @scan() {
  %0 = frame.scan "nation" ["n_nationkey", "n_name"]
      {statistics = {rows = 25 : i64, columns = {n_nationkey = {min = 0 : i64, max = 24 : i64}}}}
      : !frame.table<"n_nationkey_1": i32, "n_name_1": !frame.string>
  return
}

// -----

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

func.func @unknown_attribute() {
  // expected-error @+1 {{'frame.scan' op has an unknown attribute: "statistic"}}
  %0 = frame.scan "t" ["a"] {statistic = {rows = 1 : i64}} : !frame.table<"a": i64>
  return
}
