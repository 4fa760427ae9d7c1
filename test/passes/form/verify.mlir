// What lower and schedule may rely on is refused where it does not hold.
// Sources: passes/form/verify_form.cpp
// RUN: headrace-opt %s --verify-form --split-input-file --verify-diagnostics

!t = !frame.table<"a": i64>
func.func @main(%t: !t) -> !t {
  // expected-error@+1 {{must be gone after form}}
  %0 = frame.rename %t : !t -> !t
  return %0 : !t
}

// -----

pipe.pipeline @p {
  // expected-error@+1 {{refers to no state of the module: @nowhere}}
  %0 = pipe.read @nowhere : !pipe.rows<"n": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
}
pipe.stream @out result : !pipe.rows<"n": i64>

// -----

pipe.pipeline @p {
  // expected-error@+1 {{refers to no stream of the module: @nowhere}}
  %0 = pipe.receive @nowhere : !pipe.rows<"n": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
}
pipe.stream @out result : !pipe.rows<"n": i64>

// -----

// expected-error@+1 {{is filled by no pipeline: @count}}
pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.stream @out result : !pipe.rows<"n": i64>
pipe.pipeline @p {
  %0 = pipe.read @count : !pipe.rows<"n": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
}

// -----

pipe.state @total scalar [#pipe.field<"n", i64, sum>]
pipe.stream @out result : !pipe.rows<"n": i64>
pipe.pipeline @fill {
  %0 = pipe.scan "t" [#pipe.scan_column<file = "n", column = "n">] : !pipe.rows<"n": i128>
  // expected-error@+1 {{has a column that its field cannot take: #pipe.field<"n", i64, sum>}}
  pipe.combine %0, @total keys [] : !pipe.rows<"n": i128>
}
pipe.pipeline @p {
  %0 = pipe.read @total : !pipe.rows<"n": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
}

// -----

// expected-error@+1 {{needs one sender and 1 receiver, got 1 and 0}}
pipe.stream @lost gather over ["ranks"] : !pipe.rows<"k": i32>
pipe.pipeline @p {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "k", column = "k">] : !pipe.rows<"k": i32>
  pipe.emit %0, @lost keys [] : !pipe.rows<"k": i32>
}

// -----

// expected-error@+1 {{needs the senders of both ways and 1 receiver, got 1 and 0}}
pipe.stream @chosen local : !pipe.rows<"k": i32>
pipe.pipeline @p {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "k", column = "k">] : !pipe.rows<"k": i32>
  pipe.emit %0, @chosen keys [] : !pipe.rows<"k": i32>
}

// -----

func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %e = tensor.empty() : tensor<2x2xf32>
  // expected-error@+1 {{is neither a kernel nor a library call after form}}
  %t = linalg.transpose ins(%a : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  return %t : tensor<2x2xf32>
}

// -----

func.func @main(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error@+1 {{on tensors must be part of a kernel after form}}
  %0 = arith.addf %a, %a : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

pipe.stream @moved hash over ["ranks"] : !pipe.rows<"k": i32>
pipe.pipeline @p {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "k", column = "k">] : !pipe.rows<"k": i32>
  // expected-error@+1 {{has keys if its stream goes by hash or is parted, and only then: @moved}}
  pipe.emit %0, @moved keys [] : !pipe.rows<"k": i32>
}

// -----

pipe.stream @moved hash cycle 100 over ["ranks"] : !pipe.rows<"k": f64>
pipe.pipeline @p {
  %0 = pipe.scan "nation" [#pipe.scan_column<file = "k", column = "k">] : !pipe.rows<"k": f64>
  // expected-error@+1 {{goes in a cycle by one integer, got ["k"]}}
  pipe.emit %0, @moved keys ["k"] : !pipe.rows<"k": f64>
}
