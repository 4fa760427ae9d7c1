// What optimize may rely on is refused where it does not hold.
// Sources: passes/import/verify_import.cpp
// RUN: headrace-opt %s --verify-import --split-input-file --verify-diagnostics

!t = !frame.table<"a": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main(%t: !t) -> !t {
    // expected-error@+1 {{belongs to a later level than import}}
    %0 = dist.exchange gather %t over ["r"] : !t
    return %0 : !t
  }
}

// -----

!t = !frame.table<"a": i64>
func.func @main() -> !t {
  // expected-error@+1 {{must not carry layouts before shard: "dist.split"}}
  %0 = frame.scan "t" ["a"] {dist.split = ["r"]} : !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": i64>
func.func @main(%t: !t) -> !t {
  // expected-error@+1 {{must be complete before shard, got partial}}
  %0 = frame.aggregate stage partial %t keys ["a"] measures [] : !t -> !t
  return %0 : !t
}

// -----

// expected-error@+1 {{needs exactly one block, got 2}}
func.func @main() {
  cf.br ^bb1
^bb1:
  return
}

// -----

!t = !frame.table<"a": i64>
func.func @main() -> (!t, !t) {
  %0 = frame.scan "t" ["a"] : !t
  // expected-error@+1 {{defines a column whose name is taken in the program; rename it: "a"}}
  %1 = frame.scan "t" ["a"] : !t
  return %0, %1 : !t, !t
}

// -----

!i = !frame.interval
!t = !frame.table<"i": !i>
func.func @keys_that_are_intervals(%t: !t) -> !t {
  // expected-error @+1 {{must compare what interval_key makes of intervals, got '!frame.interval'}}
  %0 = frame.distinct %t : !t
  return %0 : !t
}

// -----

!l = !frame.list<!frame.interval>
!t = !frame.table<"l": !l>
func.func @orders_of_intervals(%t: !t) -> !t {
  // expected-error @+1 {{must compare what interval_key makes of intervals, got '!frame.list<!frame.interval>'}}
  %0 = frame.sort %t by [#frame.sort_key<"l" asc nulls_last>] : !t
  return %0 : !t
}

// -----

!i = !frame.interval
!t = !frame.table<"i": !i>
func.func @comparisons_of_intervals(%t: !t) -> !t {
  %0 = frame.filter %t columns ["i"] {
  ^bb0(%i: !i):
    // expected-error @+1 {{must compare what interval_key makes of intervals, got '!frame.interval'}}
    %c = frame.compare eq %i, %i : (!i, !i) -> i1
    frame.yield %c : i1
  } : !t
  return %0 : !t
}

// -----

func.func @main(%x: tensor<8x4xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{leaves its source along the dimension 0 of extent 8, got 3 elements from 1 on in steps of -1}}
  %0 = tensor.extract_slice %x[1, 0] [3, 4] [-1, 1] : tensor<8x4xf32> to tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @main(%x: tensor<8xf32>, %n: index) -> tensor<4xf32> {
  // expected-error@+1 {{takes what only the run knows: its offsets, sizes and strides are numbers, and of dimensions of unknown extent it takes all, by tensor.dim of its source}}
  %0 = tensor.extract_slice %x[%n] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Of the rows of another tensor.
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  // expected-error@+1 {{takes what only the run knows}}
  %0 = tensor.extract_slice %x[0, 1] [%n, 1] [1, 1] : tensor<?x4xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<?x4xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{takes what only the run knows}}
  %0 = tensor.extract_slice %x[0, 0] [3, 4] [1, 1] : tensor<?x4xf32> to tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// All rows, of what is a slice itself.
func.func @main(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %0 = tensor.extract_slice %x[0, 1] [%n, 2] [1, 1] : tensor<?x4xf32> to tensor<?x2xf32>
  %1 = tensor.extract_slice %0[0, 1] [%n, 1] [1, 1] : tensor<?x2xf32> to tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<8x4xf32>, %i: tensor<3x1xi64>) -> tensor<3x8xf32> {
  // expected-error@+1 {{takes other than rows by i64 places}}
  %0 = tensor.gather %x[%i] gather_dims([1]) : (tensor<8x4xf32>, tensor<3x1xi64>) -> tensor<3x8xf32>
  return %0 : tensor<3x8xf32>
}

// -----

func.func @main(%x: tensor<8x4xf32>, %i: tensor<3x1xi64>) -> tensor<3x1x4xf32> {
  // expected-error@+1 {{takes other than rows by i64 places}}
  %0 = tensor.gather %x[%i] gather_dims([0]) : (tensor<8x4xf32>, tensor<3x1xi64>) -> tensor<3x1x4xf32>
  return %0 : tensor<3x1x4xf32>
}

// -----

func.func @main(%x: tensor<8x4xf32>, %i: tensor<3x2xi64>) -> tensor<3xf32> {
  // expected-error@+1 {{takes other than rows by i64 places}}
  %0 = tensor.gather %x[%i] gather_dims([0, 1]) : (tensor<8x4xf32>, tensor<3x2xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
