// What the next phase may rely on is refused where it does not hold.
// Sources: passes/shard/verify_shard.cpp
// RUN: headrace-opt %s --verify-shard --split-input-file --verify-diagnostics

!t = !frame.table<"a": i64>
func.func @main() -> !t {
  // expected-error@+1 {{must not carry layouts after shard}}
  %0 = frame.scan "t" ["a"] {dist.layouts = [#dist.layout<@mesh, rows = block over ["r"]>]} : !t
  return %0 : !t
}

// -----

!t = !frame.table<"a": i64>
func.func @main() -> !t {
  %0 = frame.scan "t" ["a"] : !t
  // expected-error@+1 {{needs topo.mesh on the module}}
  %1 = dist.exchange gather %0 over ["r"] : !t
  return %1 : !t
}

// -----

!t = !frame.table<"k": i64, "x": i64>
!s = !frame.table<"k": i64, "s": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main(%t: !t) -> !s {
    // expected-error@+1 {{of stage partial is finished by no aggregate of stage final}}
    %0 = frame.aggregate stage partial %t keys ["k"] measures [#frame.measure<sum("x") -> "s">] : !t -> !s
    %1 = dist.exchange gather %0 over ["r"] : !s
    %2 = frame.aggregate %1 keys ["k"] measures [#frame.measure<sum("s") -> "s">] : !s -> !s
    return %2 : !s
  }
}

// -----

!t = !frame.table<"k": i64, "x": i64>
!s = !frame.table<"k": i64, "s": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main(%t: !t) -> !s {
    %0 = frame.aggregate stage partial %t keys ["k"] measures [#frame.measure<min("x") -> "s">] : !t -> !s
    %1 = dist.exchange gather %0 over ["r"] : !s
    // expected-error@+1 {{of stage final needs the rows of one of stage partial with the same keys and measures}}
    %2 = frame.aggregate stage final %1 keys ["k"] measures [#frame.measure<sum("s") -> "s">] : !s -> !s
    return %2 : !s
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main(%x: tensor<?x3xf64>) -> tensor<?x3xf64> {
    // expected-error@+1 {{divides a dimension that is not ? after shard: 1 of 'tensor<?x3xf64>'}}
    %0 = dist.reduce_scatter sum %x dim 1 over ["r"] : tensor<?x3xf64> -> tensor<?x3xf64>
    return %0 : tensor<?x3xf64>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main(%x: tensor<4x?xf64>) -> tensor<?x?xf64> {
    // expected-error@+1 {{divides a dimension that is not ? after shard: 0 of 'tensor<4x?xf64>'}}
    %0 = dist.all_to_all %x split 1 concat 0 over ["r"] : tensor<4x?xf64> -> tensor<?x?xf64>
    return %0 : tensor<?x?xf64>
  }
}

// -----

!t = !frame.table<"k": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("node", 2), ("gpu", 4)]>} {
  func.func @main(%t: !t) -> !t {
    // expected-error@+1 {{leaves rows on their way: no exchange brings them further}}
    %0 = dist.exchange hash %t keys ["k"] over ["gpu"] toward ["node", "gpu"] : !t
    %1 = dist.exchange gather %0 over ["node", "gpu"] : !t
    return %1 : !t
  }
}

// -----

!t = !frame.table<"k": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("node", 2), ("gpu", 4)]>} {
  func.func @main(%t: !t) -> !t {
    %0 = dist.exchange hash %t keys ["k"] over ["gpu"] toward ["node", "gpu"] : !t
    %1 = frame.distinct %0 : !t
    %2 = dist.exchange hash %1 keys ["k"] over ["node"] toward ["node", "gpu"] : !t
    return %2 : !t
  }
}

// -----

func.func @main(%x: tensor<8x4xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{leaves its source along the dimension 0 of extent 8, got 3 elements from 1 on in steps of -1}}
  %0 = tensor.extract_slice %x[1, 0] [3, 4] [-1, 1] : tensor<8x4xf32> to tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @main(%x: tensor<8x4xf32>, %i: tensor<3x1xindex>) -> tensor<3x4xf32> {
  // expected-error@+1 {{takes other than rows by i64 places: gather_dims is [0], and the result lacks that dimension}}
  %0 = tensor.gather %x[%i] gather_dims([0]) : (tensor<8x4xf32>, tensor<3x1xindex>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
