// `dist.choose`: one of two ways to go on, by the number of rows that a table turns out to have.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.choose %{{.*}} at_most 5000
!l = !frame.table<"k": i64>
!r = !frame.table<"j": i64>
!lr = !frame.table<"k": i64, "j": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @choose(%l: !l, %r: !r) -> !lr {
    %0 = dist.choose %r at_most 5000 {
      %1 = dist.exchange broadcast %r over ["r"] : !r
      %2 = frame.join inner %l, %1 on ["k"] = ["j"] : !l, !r -> !lr
      dist.yield %2 : !lr
    } else {
      %1 = dist.exchange hash %l keys ["k"] over ["r"] : !l
      %2 = dist.exchange hash %r keys ["j"] over ["r"] : !r
      %3 = frame.join inner %1, %2 on ["k"] = ["j"] : !l, !r -> !lr
      dist.yield %3 : !lr
    } : !r -> !lr
    return %0 : !lr
  }
}

// -----

!t = !frame.table<"k": i64>
!u = !frame.table<"j": i64>
func.func @f(%t: !t, %u: !u) -> !t {
  // expected-error@+1 {{needs regions that yield a table of type '!frame.table<"k": i64>'}}
  %0 = dist.choose %t at_most 5 {
    dist.yield %t : !t
  } else {
    dist.yield %u : !u
  } : !t -> !t
  return %0 : !t
}

// -----

!t = !frame.table<"k": i64>
func.func @f(%t: !t) -> !t {
  // expected-error@+1 {{needs a bound of rows that is not negative, got -1}}
  %0 = dist.choose %t at_most -1 {
    dist.yield %t : !t
  } else {
    dist.yield %t : !t
  } : !t -> !t
  return %0 : !t
}
