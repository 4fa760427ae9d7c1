// Errors of a program's data, and programs that cannot be run.
// Sources: passes/analysis/scalar_evaluation.cpp, passes/analysis/text_evaluation.cpp
// RUN: not headrace-interpret %s 2>&1 | FileCheck %s

!t = !frame.table<"a": i64>
// CHECK: program 1: overflow of an integer
func.func @overflow() -> !t {
  %v = frame.values [[9223372036854775807]] : !t
  %0 = frame.project %v keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: i64):
    %r = frame.add %a, %a : (i64, i64) -> i64
    frame.yield %r : i64
  } : !t -> !frame.table<"b": i64>
  %1 = frame.rename %0 : !frame.table<"b": i64> -> !t
  return %1 : !t
}

// -----

!t = !frame.table<"a": i64>
// CHECK: program 2: division by zero
func.func @division() -> !t {
  %v = frame.values [[1], [0]] : !t
  %0 = frame.filter %v columns ["a"] {
  ^bb0(%a: i64):
    %r = frame.divide %a, %a : (i64, i64) -> i64
    %p = frame.compare eq %a, %r : (i64, i64) -> i1
    frame.yield %p : i1
  } : !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": i64>
// CHECK: program 3: overflow of an integer
func.func @sum() -> !frame.table<"s": !frame.nullable<i64>> {
  %v = frame.values [[9223372036854775807], [1]] : !t
  %0 = frame.aggregate %v keys [] measures [#frame.measure<sum("a") -> "s">] : !t -> !frame.table<"s": !frame.nullable<i64>>
  return %0 : !frame.table<"s": !frame.nullable<i64>>
}

// -----

!t = !frame.table<"a": i64>
// CHECK: program 4: a scalar subquery has more than one row: 2
func.func @subquery() -> !t {
  %v = frame.values [[1], [2]] : !t
  %s = frame.scalar_subquery %v : !t -> !frame.nullable<i64>
  return %v : !t
}

// -----

!t = !frame.table<"a": i64>
// CHECK: program 5: there is no table nowhere
func.func @scan() -> !t {
  %v = frame.scan "nowhere" ["a"] : !t
  return %v : !t
}

// -----

// CHECK: program 6: operands of linalg.matmul disagree on an extent: 3 and 4
func.func @extents(%a: tensor<2x3xf32>, %b: tensor<4x2xf32>, %c: tensor<2x2xf32>) -> tensor<?x?xf32> {
  %a0 = tensor.cast %a : tensor<2x3xf32> to tensor<?x?xf32>
  %b0 = tensor.cast %b : tensor<4x2xf32> to tensor<?x?xf32>
  %c0 = tensor.cast %c : tensor<2x2xf32> to tensor<?x?xf32>
  %0 = linalg.matmul ins(%a0, %b0 : tensor<?x?xf32>, tensor<?x?xf32>) outs(%c0 : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

!t = !frame.table<"a": i64>
!r = !frame.table<"b": i64>
!s = !frame.table<"a": i64, "b": !frame.nullable<i64>>
// CHECK: program 7: more than one row returned by a subquery
func.func @single() -> !s {
  %v = frame.values [[1]] : !t
  %w = frame.values [[1], [1]] : !r
  %0 = frame.join single %v, %w on ["a"] = ["b"] : !t, !r -> !s
  return %0 : !s
}

// -----

!t = !frame.table<"a": i64>
// CHECK: program 8: too many: 3
func.func @raise() -> !t {
  %v = frame.values [[2], [3]] : !t
  %0 = frame.project %v keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: i64):
    %two = frame.constant 2 : i64
    %more = frame.compare gt %a, %two : (i64, i64) -> i1
    %e = frame.raise user "too many: 3" : i64
    %r = frame.case when %more then %e else %a : (i1), (i64), i64 -> i64
    frame.yield %r : i64
  } : !t -> !frame.table<"b": i64>
  %1 = frame.rename %0 : !frame.table<"b": i64> -> !t
  return %1 : !t
}

// -----

!t = !frame.table<"d": !frame.timestamp>
// CHECK: program 9: overflow of a timestamp
func.func @timestamp() -> !t {
  %v = frame.values [[9223372036854775806]] : !t
  %0 = frame.project %v keep [] compute ["e"] columns ["d"] {
  ^bb0(%d: !frame.timestamp):
    %r = frame.shift_date %d months 0 days 0 microseconds 1 : !frame.timestamp
    frame.yield %r : !frame.timestamp
  } : !t -> !frame.table<"e": !frame.timestamp>
  %1 = frame.rename %0 : !frame.table<"e": !frame.timestamp> -> !t
  return %1 : !t
}

// -----

!t = !frame.table<"a": !frame.decimal<38, 0>>
// CHECK: program 10: overflow of a decimal
func.func @decimal_sum() -> !frame.table<"s": !frame.nullable<!frame.decimal<38, 0>>> {
  %v = frame.values [[99999999999999999999999999999999999999], [99999999999999999999999999999999999999]] : !t
  %0 = frame.aggregate %v keys [] measures [#frame.measure<sum("a") -> "s">] : !t -> !frame.table<"s": !frame.nullable<!frame.decimal<38, 0>>>
  return %0 : !frame.table<"s": !frame.nullable<!frame.decimal<38, 0>>>
}

// -----

!t = !frame.table<"a": !frame.decimal<38, 0>>
// CHECK: program 11: overflow of a decimal
func.func @decimal_product() -> !frame.table<"b": !frame.decimal<38, 0>> {
  %v = frame.values [[99999999999999999999999999999999999999]] : !t
  %0 = frame.project %v keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: !frame.decimal<38, 0>):
    %r = frame.multiply %a, %a : (!frame.decimal<38, 0>, !frame.decimal<38, 0>) -> !frame.decimal<38, 0>
    frame.yield %r : !frame.decimal<38, 0>
  } : !t -> !frame.table<"b": !frame.decimal<38, 0>>
  return %0 : !frame.table<"b": !frame.decimal<38, 0>>
}

// -----

!t = !frame.table<"a": f64>
// CHECK: program 12: value does not fit the type of a cast
func.func @cast_of_real() -> !frame.table<"b": i64> {
  %v = frame.values [[1.0e40]] : !t
  %0 = frame.project %v keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: f64):
    %r = frame.cast %a : f64 -> i64
    frame.yield %r : i64
  } : !t -> !frame.table<"b": i64>
  return %0 : !frame.table<"b": i64>
}

// -----

!t = !frame.table<"a": !frame.string>
// CHECK: program 13: text is not a date: soon
func.func @date() -> !frame.table<"b": !frame.date> {
  %v = frame.values [["soon"]] : !t
  %0 = frame.project %v keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: !frame.string):
    %r = frame.cast %a : !frame.string -> !frame.date
    frame.yield %r : !frame.date
  } : !t -> !frame.table<"b": !frame.date>
  return %0 : !frame.table<"b": !frame.date>
}

// -----

!t = !frame.table<"a": !frame.string>
// CHECK: program 14: text is not a timestamp: soon
func.func @moment() -> !frame.table<"b": !frame.timestamp> {
  %v = frame.values [["soon"]] : !t
  %0 = frame.project %v keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: !frame.string):
    %r = frame.cast %a : !frame.string -> !frame.timestamp
    frame.yield %r : !frame.timestamp
  } : !t -> !frame.table<"b": !frame.timestamp>
  return %0 : !frame.table<"b": !frame.timestamp>
}

// -----

!t = !frame.table<"a": !frame.string>
// CHECK: program 15: text is not a boolean: perhaps
func.func @boolean() -> !frame.table<"b": i1> {
  %v = frame.values [["perhaps"]] : !t
  %0 = frame.project %v keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: !frame.string):
    %r = frame.cast %a : !frame.string -> i1
    frame.yield %r : i1
  } : !t -> !frame.table<"b": i1>
  return %0 : !frame.table<"b": i1>
}

// -----

!t = !frame.table<"a": !frame.string>
// CHECK: program 16: text is not a number: many
func.func @number() -> !frame.table<"b": i64> {
  %v = frame.values [["many"]] : !t
  %0 = frame.project %v keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: !frame.string):
    %r = frame.cast %a : !frame.string -> i64
    frame.yield %r : i64
  } : !t -> !frame.table<"b": i64>
  return %0 : !frame.table<"b": i64>
}

// -----

!t = !frame.table<"d": !frame.date>
// CHECK: program 17: overflow of a date
func.func @date_shift() -> !frame.table<"e": !frame.date> {
  %v = frame.values [[2147483646]] : !t
  %0 = frame.project %v keep [] compute ["e"] columns ["d"] {
  ^bb0(%d: !frame.date):
    %r = frame.shift_date %d months 0 days 1 : !frame.date
    frame.yield %r : !frame.date
  } : !t -> !frame.table<"e": !frame.date>
  return %0 : !frame.table<"e": !frame.date>
}

// -----

// CHECK: program 18: the interpreter needs a function of one block
func.func @blocks(%a: tensor<2xf32>) -> tensor<2xf32> {
  cf.br ^bb1
^bb1:
  return %a : tensor<2xf32>
}

// -----

// CHECK: program 19: operands of arith.addf have different shapes
func.func @shapes(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<?xf32> {
  %a0 = tensor.cast %a : tensor<2xf32> to tensor<?xf32>
  %b0 = tensor.cast %b : tensor<3xf32> to tensor<?xf32>
  %0 = arith.addf %a0, %b0 : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK: program 20: a reshape changes the number of elements
func.func @reshape_of_seven(%a: tensor<7xf32>) -> tensor<?x2xf32> {
  %a0 = tensor.cast %a : tensor<7xf32> to tensor<?xf32>
  %c3 = arith.constant 3 : index
  %0 = tensor.expand_shape %a0 [[0, 1]] output_shape [%c3, 2] : tensor<?xf32> into tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// -----

// CHECK: program 21: an argument is not a tensor: arg0
func.func @scalar(%a: f32) -> f32 {
  return %a : f32
}

// -----

// CHECK: program 22: an argument without --tensors needs a static shape: arg0
func.func @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> {
  return %a : tensor<?xf32>
}

// -----

// CHECK: program 23: the interpreter does not know tensor.pad
func.func @pad(%a: tensor<2xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<2xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK: program 24: a body uses something that is not an element
func.func @extract(%a: tensor<2xf32>) -> tensor<2xf32> {
  %e = tensor.empty() : tensor<2xf32>
  %c0 = arith.constant 0 : index
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<2xf32>) {
  ^bb0(%out: f32):
    %x = tensor.extract %a[%c0] : tensor<2xf32>
    linalg.yield %x : f32
  } -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

!t = !frame.table<"a": i64>
// CHECK: program 25: an expression uses something that is not a scalar of frame
func.func @outside() -> !t {
  %v = frame.values [[1]] : !t
  %two = arith.constant 2 : i64
  %0 = frame.filter %v columns ["a"] {
  ^bb0(%a: i64):
    %p = frame.compare lt %a, %two : (i64, i64) -> i1
    frame.yield %p : i1
  } : !t
  return %0 : !t
}

// -----

// CHECK: program 26: overflow of a date{{$}}
func.func @late_date() -> !frame.table<"d": !frame.date> {
  %v = frame.values [[9000000000000000000]] : !frame.table<"t": !frame.timestamp<s>>
  %0 = frame.project %v keep [] compute ["d"] columns ["t"] {
  ^bb0(%t: !frame.timestamp<s>):
    %r = frame.cast %t : !frame.timestamp<s> -> !frame.date
    frame.yield %r : !frame.date
  } : !frame.table<"t": !frame.timestamp<s>> -> !frame.table<"d": !frame.date>
  return %0 : !frame.table<"d": !frame.date>
}

// -----

!t = !frame.table<"a": !frame.string>
// CHECK: program 27: a text of more than 1 MiB
func.func @long_text() -> !t {
  %v = frame.values [["abc"]] : !t
  %0 = frame.filter %v columns ["a"] {
  ^bb0(%a: !frame.string):
    %n = frame.constant 1000000 : i64
    %r = frame.text "repeat"(%a, %n) : (!frame.string, i64) -> !frame.string
    %p = frame.compare ne %a, %r : (!frame.string, !frame.string) -> i1
    frame.yield %p : i1
  } : !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": !frame.string>
// CHECK: program 28: insufficient padding in lpad
func.func @nothing_to_fill_with() -> !t {
  %v = frame.values [["abc"], [""]] : !t
  %0 = frame.filter %v columns ["a"] {
  ^bb0(%a: !frame.string):
    %n = frame.constant 2 : i64
    %r = frame.text "lpad"(%a, %n, %a) : (!frame.string, i64, !frame.string) -> !frame.string
    %p = frame.compare ne %a, %r : (!frame.string, !frame.string) -> i1
    frame.yield %p : i1
  } : !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": !frame.string>
// CHECK: program 29: text is not a BLOB: \x4
func.func @half_a_byte() -> !frame.table<"b": !frame.binary> {
  %v = frame.values [["\\x4"]] : !t
  %0 = frame.project %v keep [] compute ["b"] columns ["a"] {
  ^bb0(%a: !frame.string):
    %r = frame.cast %a : !frame.string -> !frame.binary
    frame.yield %r : !frame.binary
  } : !t -> !frame.table<"b": !frame.binary>
  return %0 : !frame.table<"b": !frame.binary>
}

// -----

// CHECK: program 30: overflow of a date or time
func.func @late_second() -> !frame.table<"d": !frame.timestamp<ns>> {
  %v = frame.values [[9000000000000000]] : !frame.table<"t": !frame.timestamp<s>>
  %0 = frame.project %v keep [] compute ["d"] columns ["t"] {
  ^bb0(%t: !frame.timestamp<s>):
    %r = frame.cast %t : !frame.timestamp<s> -> !frame.timestamp<ns>
    frame.yield %r : !frame.timestamp<ns>
  } : !frame.table<"t": !frame.timestamp<s>> -> !frame.table<"d": !frame.timestamp<ns>>
  return %0 : !frame.table<"d": !frame.timestamp<ns>>
}

// -----

// CHECK: program 31: an infinite timestamp has no time of day
func.func @infinite_time() -> !frame.table<"d": !frame.time> {
  %v = frame.values [["-infinity"]] : !frame.table<"t": !frame.timestamp>
  %0 = frame.project %v keep [] compute ["d"] columns ["t"] {
  ^bb0(%t: !frame.timestamp):
    %r = frame.cast %t : !frame.timestamp -> !frame.time
    frame.yield %r : !frame.time
  } : !frame.table<"t": !frame.timestamp> -> !frame.table<"d": !frame.time>
  return %0 : !frame.table<"d": !frame.time>
}

// -----

!t = !frame.table<"a": !frame.string>
// CHECK: program 32: text is not an INTERVAL: 1 month 2
func.func @no_unit() -> !frame.table<"i": !frame.interval> {
  %v = frame.values [["1 month 2"]] : !t
  %0 = frame.project %v keep [] compute ["i"] columns ["a"] {
  ^bb0(%a: !frame.string):
    %r = frame.cast %a : !frame.string -> !frame.interval
    frame.yield %r : !frame.interval
  } : !t -> !frame.table<"i": !frame.interval>
  return %0 : !frame.table<"i": !frame.interval>
}

// -----

!t = !frame.table<"a": !frame.string>
// CHECK: program 33: text is not a UHUGEINT: -1
func.func @negative() -> !frame.table<"u": !frame.ui128> {
  %v = frame.values [["-1"]] : !t
  %0 = frame.project %v keep [] compute ["u"] columns ["a"] {
  ^bb0(%a: !frame.string):
    %r = frame.cast %a : !frame.string -> !frame.ui128
    frame.yield %r : !frame.ui128
  } : !t -> !frame.table<"u": !frame.ui128>
  return %0 : !frame.table<"u": !frame.ui128>
}

// -----

!t = !frame.table<"a": !frame.string>
// A limit of this evaluation is no error of the data.
// CHECK: program 34: a text of more than 1 MiB
func.func @tried_long_text() -> !frame.table<"n": !frame.nullable<i64>> {
  %v = frame.values [["abc"]] : !t
  %0 = frame.project %v keep [] compute ["n"] columns ["a"] {
  ^bb0(%a: !frame.string):
    %n = frame.try captures(%a) {
    ^bb0(%x: !frame.string):
      %many = frame.constant 1000000 : i64
      %r = frame.text "repeat"(%x, %many) : (!frame.string, i64) -> !frame.string
      %length = frame.text "length"(%r) : (!frame.string) -> i64
      frame.yield %length : i64
    } : (!frame.string) -> !frame.nullable<i64>
    frame.yield %n : !frame.nullable<i64>
  } : !t -> !frame.table<"n": !frame.nullable<i64>>
  return %0 : !frame.table<"n": !frame.nullable<i64>>
}

// -----

!t = !frame.table<"a": !frame.string>
// CHECK: program 35: text is not a UUID: a0eebc99
func.func @short_uuid() -> !frame.table<"u": !frame.uuid> {
  %v = frame.values [["a0eebc99"]] : !t
  %0 = frame.project %v keep [] compute ["u"] columns ["a"] {
  ^bb0(%a: !frame.string):
    %r = frame.cast %a : !frame.string -> !frame.uuid
    frame.yield %r : !frame.uuid
  } : !t -> !frame.table<"u": !frame.uuid>
  return %0 : !frame.table<"u": !frame.uuid>
}

// -----

// CHECK: program 36: a slice leaves its source, of which a dimension has extent 4
func.func @slice_before_the_start(%a: tensor<4xf32>) -> tensor<3xf32> {
  %0 = tensor.extract_slice %a[1] [3] [-1] : tensor<4xf32> to tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// CHECK: program 37: a slice takes what only the run knows
func.func @slice_of_any_size(%a: tensor<4xf32>) -> tensor<?xf32> {
  %c2 = arith.constant 2 : index
  %0 = tensor.extract_slice %a[0] [%c2] [1] : tensor<4xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK: program 38: an index is out of bounds: got -4 for an extent of 3
func.func @index_out_of_bounds() -> tensor<2xf32> {
  %x = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %i = arith.constant dense<[[2], [-4]]> : tensor<2x1xi64>
  %0 = tensor.gather %x[%i] gather_dims([0]) : (tensor<3xf32>, tensor<2x1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
