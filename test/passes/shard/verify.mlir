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
