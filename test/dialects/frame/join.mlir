// `frame.join`: joins two tables on equal keys and an optional residual predicate.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.join inner %{{.*}}, %{{.*}} on ["o_key"] = ["l_key"] residual ["o_date", "l_date"]
!orders = !frame.table<"o_key": i64, "o_date": !frame.date>
!lines = !frame.table<"l_key": i64, "l_date": !frame.date>
func.func @join(%orders: !orders, %lines: !lines) {
  %0 = frame.join inner %orders, %lines on ["o_key"] = ["l_key"]
      residual ["o_date", "l_date"] {
  ^bb0(%o: !frame.date, %l: !frame.date):
    %p = frame.compare lt %o, %l : (!frame.date, !frame.date) -> i1
    frame.yield %p : i1
  } : !orders, !lines -> !frame.table<
      "o_key": i64, "o_date": !frame.date, "l_key": i64, "l_date": !frame.date>
  %1 = frame.join mark %orders, %lines null_aware on ["o_date", "o_key"] = ["l_date", "l_key"]
      null_safe [true, false]
      : !orders, !lines -> !frame.table<
          "o_key": i64, "o_date": !frame.date, "in": !frame.nullable<i1>>
  return
}

// -----

func.func @join_c1(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{needs as many left as right keys, got 1 and 0}}
  %0 = frame.join inner %l, %r on ["a"] = []
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @join_c1_left(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{left key is not a column of the left side: "b"}}
  %0 = frame.join inner %l, %r on ["b"] = ["b"]
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @join_c1_right(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{right key is not a column of the right side: "a"}}
  %0 = frame.join inner %l, %r on ["a"] = ["a"]
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @join_c2(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i32>) {
  // expected-error @+1 {{keys must have the same type, got "a": 'i64' and "b": 'i32'}}
  %0 = frame.join inner %l, %r on ["a"] = ["b"]
      : !frame.table<"a": i64>, !frame.table<"b": i32> -> !frame.table<"a": i64, "b": i32>
  return
}

// -----

func.func @join_c3(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{needs residual columns exactly if it has a residual region}}
  %0 = "frame.join"(%l, %r) ({}) {kind = 0 : i32, left_keys = [], right_keys = [], residual_columns = []}
      : (!frame.table<"a": i64>, !frame.table<"b": i64>) -> !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @join_c4(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{the predicate must yield one i1 or nullable i1}}
  %0 = frame.join inner %l, %r on [] = [] residual ["a"] {
  ^bb0(%a: i64):
    frame.yield %a : i64
  } : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @join_c5_nullable(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{result type must be '!frame.table<"a": i64, "b": !frame.nullable<i64>>', got '!frame.table<"a": i64, "b": i64>'}}
  %0 = frame.join left %l, %r on ["a"] = ["b"]
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @join_c5_names(%l: !frame.table<"a": i64>, %r: !frame.table<"a": i64>) {
  // expected-error @+1 {{left and right must not share a column name, got: "a"}}
  %0 = frame.join inner %l, %r on ["a"] = ["a"]
      : !frame.table<"a": i64>, !frame.table<"a": i64> -> !frame.table<"a": i64>
  return
}

// -----

func.func @join_c5_mark(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{a mark join must add one new column to the left side, got '!frame.table<"a": i64>'}}
  %0 = frame.join mark %l, %r on ["a"] = ["b"]
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64>
  return
}

// -----

func.func @join_c5_mark_null(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{result type must be '!frame.table<"a": i64, "m": !frame.nullable<i1>>', got '!frame.table<"a": i64, "m": i1>'}}
  %0 = frame.join mark %l, %r null_aware on ["a"] = ["b"]
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64, "m": i1>
  return
}

// -----

func.func @join_c5_single(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{result type must be '!frame.table<"a": i64, "b": !frame.nullable<i64>>', got '!frame.table<"a": i64, "b": i64>'}}
  %0 = frame.join single %l, %r on ["a"] = ["b"]
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64, "b": i64>
  return
}

// -----

func.func @join_c6(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{null_aware needs an anti or mark join with a key or a residual}}
  %0 = frame.join semi %l, %r null_aware on ["a"] = ["b"]
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64>
  return
}

// -----

func.func @join_c6_no_predicate(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{null_aware needs an anti or mark join with a key or a residual}}
  %0 = frame.join anti %l, %r null_aware on [] = []
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64>
  return
}

// -----

func.func @join_c7(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{null_safe needs one entry per key, got 2 for 1}}
  %0 = frame.join semi %l, %r on ["a"] = ["b"] null_safe [true, false]
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64>
  return
}

// -----

func.func @join_c7_membership(%l: !frame.table<"a": i64>, %r: !frame.table<"b": i64>) {
  // expected-error @+1 {{the last key of a null_aware join must not be null_safe}}
  %0 = frame.join anti %l, %r null_aware on ["a"] = ["b"] null_safe [true]
      : !frame.table<"a": i64>, !frame.table<"b": i64> -> !frame.table<"a": i64>
  return
}
