// The local view on the ranks of a mesh, in lock step: scans of a share, exchanges, collectives.
// RUN: headrace-interpret %s --tables %S/tables | FileCheck %s --strict-whitespace --match-full-lines

// Every rank has its share; partial counts meet by the hash of the key, then on the first rank.
//      CHECK:k,n
// CHECK-NEXT:"a",3
// CHECK-NEXT:"b",2
// CHECK-NEXT:"c",1
// CHECK-EMPTY:
!t = !frame.table<"k": !frame.nullable<!frame.string>>
!r = !frame.table<"k": !frame.nullable<!frame.string>, "n": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 3)]>} {
  func.func @main() -> !r {
    %t = frame.scan "left" ["k"] {dist.split = ["r"]} : !t
    %f = frame.filter %t columns ["k"] {
    ^bb0(%k: !frame.nullable<!frame.string>):
      %null = frame.is_null %k : !frame.nullable<!frame.string>
      %p = frame.not %null : i1
      frame.yield %p : i1
    } : !t
    %partial = frame.aggregate stage partial %f keys ["k"] measures [#frame.measure<count_star -> "n">] : !t -> !r
    %met = dist.exchange hash %partial keys ["k"] over ["r"] : !r
    %final = frame.aggregate stage final %met keys ["k"] measures [#frame.measure<count("n") -> "n">] : !r -> !r
    %here = dist.exchange gather %final over ["r"] : !r
    %sorted = frame.sort %here by [#frame.sort_key<"k" asc nulls_last>] : !r
    return %sorted : !r
  }
}

// -----

// The same in two steps, axis by axis: counts that met are combined before they go on.
//      CHECK:k,n
// CHECK-NEXT:"a",3
// CHECK-NEXT:"b",2
// CHECK-NEXT:"c",1
// CHECK-EMPTY:
!t = !frame.table<"k": !frame.nullable<!frame.string>>
!r = !frame.table<"k": !frame.nullable<!frame.string>, "n": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("node", 2), ("gpu", 3)]>} {
  func.func @main() -> !r {
    %t = frame.scan "left" ["k"] {dist.split = ["node", "gpu"]} : !t
    %f = frame.filter %t columns ["k"] {
    ^bb0(%k: !frame.nullable<!frame.string>):
      %null = frame.is_null %k : !frame.nullable<!frame.string>
      %p = frame.not %null : i1
      frame.yield %p : i1
    } : !t
    %partial = frame.aggregate stage partial %f keys ["k"] measures [#frame.measure<count_star -> "n">] : !t -> !r
    %near = dist.exchange hash %partial keys ["k"] over ["gpu"] toward ["node", "gpu"] : !r
    %fewer = frame.aggregate stage final %near keys ["k"] measures [#frame.measure<count("n") -> "n">] : !r -> !r
    %met = dist.exchange hash %fewer keys ["k"] over ["node"] toward ["node", "gpu"] : !r
    %final = frame.aggregate stage final %met keys ["k"] measures [#frame.measure<count("n") -> "n">] : !r -> !r
    %here = dist.exchange gather %final over ["node", "gpu"] : !r
    %sorted = frame.sort %here by [#frame.sort_key<"k" asc nulls_last>] : !r
    return %sorted : !r
  }
}

// -----

// Five rows on four ranks: parts of 2, 1, 1, 1, cut, reduced, and put together again.
//      CHECK:5
// CHECK-NEXT:4 8 12 16 20
// CHECK-EMPTY:
//      CHECK:2 2
// CHECK-NEXT:1 2
// CHECK-NEXT:3 4
// CHECK-EMPTY:
module attributes {topo.mesh = #topo.mesh<@mesh, [("a", 2), ("b", 2)]>} {
  func.func @main() -> (tensor<5xi64>, tensor<2x2xi64>) {
    %x = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi64>
    %part = dist.reduce_scatter sum %x dim 0 over ["a", "b"] : tensor<5xi64> -> tensor<?xi64>
    %whole = dist.all_gather %part dim 0 over ["a", "b"] : tensor<?xi64> -> tensor<5xi64>
    %y = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
    %rows = dist.slice %y dim 0 over ["b"] : tensor<2x2xi64> -> tensor<?x2xi64>
    %columns = dist.all_to_all %rows split 1 concat 0 over ["b"] : tensor<?x2xi64> -> tensor<2x?xi64>
    %back = dist.all_gather %columns dim 1 over ["b"] : tensor<2x?xi64> -> tensor<2x2xi64>
    %max = dist.all_reduce max %back over ["a"] : tensor<2x2xi64>
    return %whole, %max : tensor<5xi64>, tensor<2x2xi64>
  }
}
