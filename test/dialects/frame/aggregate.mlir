// `frame.aggregate`: groups rows by keys and computes measures per group.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.aggregate %{{.*}} keys ["k"] measures [#frame.measure<sum("x") -> "total">, #frame.measure<count_star -> "n">] : <"k": i64, "x":
func.func @aggregate(%t: !frame.table<"k": i64, "x": !frame.decimal<15, 2>>) {
  %0 = frame.aggregate %t keys ["k"]
      measures [#frame.measure<sum("x") -> "total">, #frame.measure<count_star -> "n">]
      : !frame.table<"k": i64, "x": !frame.decimal<15, 2>>
      -> !frame.table<"k": i64, "total": !frame.decimal<25, 2>, "n": i64>
  return
}

// -----

!t = !frame.table<"k": i64>

func.func @aggregate_c1(%t: !t) {
  // expected-error @+1 {{key is not a column of the input: "z"}}
  %0 = frame.aggregate %t keys ["z"] measures [] : !t -> !frame.table<"z": i64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @aggregate_c1_unique(%t: !t) {
  // expected-error @+1 {{lists a key twice: "k"}}
  %0 = frame.aggregate %t keys ["k", "k"] measures [] : !t -> !frame.table<"k": i64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @aggregate_c2(%t: !t) {
  // expected-error @+1 {{measure input is not a column of the input: "z"}}
  %0 = frame.aggregate %t keys [] measures [#frame.measure<sum("z") -> "s">]
      : !t -> !frame.table<"s": i64>
  return
}

// -----

!t = !frame.table<"s": !frame.string>
func.func @aggregate_c2_numeric(%t: !t) {
  // expected-error @+1 {{measure needs a numeric input, got avg of '!frame.string'}}
  %0 = frame.aggregate %t keys [] measures [#frame.measure<avg("s") -> "a">]
      : !t -> !frame.table<"a": f64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @aggregate_c4_sum(%t: !t) {
  // expected-error @+1 {{result column "s" must be 'i64', got '!frame.decimal<18, 0>'}}
  %0 = frame.aggregate %t keys ["k"] measures [#frame.measure<sum("k") -> "s">]
      : !t -> !frame.table<"k": i64, "s": !frame.decimal<18, 0>>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @aggregate_c4_avg(%t: !t) {
  // expected-error @+1 {{result column "s" must be 'f64', got '!frame.decimal<38, 0>'}}
  %0 = frame.aggregate %t keys ["k"] measures [#frame.measure<avg("k") -> "s">]
      : !t -> !frame.table<"k": i64, "s": !frame.decimal<38, 0>>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @aggregate_c3(%t: !t) {
  // expected-error @+1 {{result must have one column per key and measure, got 1 for 1 keys and 1 measures}}
  %0 = frame.aggregate %t keys ["k"] measures [#frame.measure<count_star -> "n">]
      : !t -> !frame.table<"k": i64>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @aggregate_c3_key(%t: !t) {
  // expected-error @+1 {{result column of key "k": 'i64' is "k": 'i32'}}
  %0 = frame.aggregate %t keys ["k"] measures [] : !t -> !frame.table<"k": i32>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @aggregate_c3_measure(%t: !t) {
  // expected-error @+1 {{result column must be named like its key or measure "n", got "m"}}
  %0 = frame.aggregate %t keys [] measures [#frame.measure<count_star -> "n">]
      : !t -> !frame.table<"m": i64>
  return
}

// -----

!t = !frame.table<"x": !frame.decimal<15, 2>>
func.func @aggregate_c4_scale(%t: !t) {
  // expected-error @+1 {{result column "s" must be '!frame.nullable<!frame.decimal<25, 2>>', got '!frame.nullable<!frame.decimal<25, 3>>'}}
  %0 = frame.aggregate %t keys [] measures [#frame.measure<sum("x") -> "s">]
      : !t -> !frame.table<"s": !frame.nullable<!frame.decimal<25, 3>>>
  return
}

// -----

!t = !frame.table<"x": !frame.decimal<15, 2>>
func.func @aggregate_c4_global_null(%t: !t) {
  // expected-error @+1 {{result column "s" must be '!frame.nullable<!frame.decimal<15, 2>>', got '!frame.decimal<15, 2>'}}
  %0 = frame.aggregate %t keys [] measures [#frame.measure<max("x") -> "s">]
      : !t -> !frame.table<"s": !frame.decimal<15, 2>>
  return
}

// -----

!t = !frame.table<"k": i64>
func.func @aggregate_c6_no_input(%t: !t) {
  // expected-error @+1 {{of stage final needs inputs of its results' types, got #frame.measure<count_star -> "n"> of type 'i64'}}
  %0 = frame.aggregate stage final %t keys [] measures [#frame.measure<count_star -> "n">]
      : !t -> !frame.table<"n": i64>
  return
}

// -----

!t = !frame.table<"n": i32>
func.func @aggregate_c6_other_type(%t: !t) {
  // expected-error @+1 {{of stage final needs inputs of its results' types, got #frame.measure<count("n") -> "n"> of type 'i64'}}
  %0 = frame.aggregate stage final %t keys [] measures [#frame.measure<count("n") -> "n">]
      : !t -> !frame.table<"n": i64>
  return
}
