// A reshard is lowered on the module's mesh.
// RUN: headrace-opt %s --shard-lower-reshards --verify-diagnostics

func.func @main(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // expected-error@+1 {{needs topo.mesh on the module}}
  %0 = dist.reshard %x : tensor<8x4xf32> from #dist.layout<@mesh, dims = [["r"], []]> to #dist.layout<@mesh, dims = [[], []]>
  return %0 : tensor<8x4xf32>
}
