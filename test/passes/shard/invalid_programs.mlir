// What cannot be sharded, and what must not be left after shard.
// RUN: headrace-opt %s --shard-solve="mesh=r:2" --split-input-file --verify-diagnostics

// expected-error@+1 {{cannot be sharded: it needs exactly one block}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}

// -----

!t = !frame.table<"a": i64>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 2)]>} {
  func.func @main() -> !t {
    %0 = frame.scan "t" ["a"] : !t
    // expected-error@+1 {{cannot be sharded a second time}}
    %1 = dist.exchange gather %0 over ["r"] : !t
    return %1 : !t
  }
}

// -----

// expected-error@+1 {{names an axis that the mesh does not have: "gpu"}}
func.func @other_mesh(%w: tensor<8xf32> {dist.resident = #dist.layout<@mesh, dims = [["gpu"]]>}) -> tensor<8xf32> {
  return %w : tensor<8xf32>
}
