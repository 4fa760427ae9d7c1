// `dist.reshard`: the same value in another layout.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.reshard %{{.*}} : tensor<8x4xf32> from <@mesh, dims = {{\[\[}}"r"], []]> to <@mesh, dims = {{\[\[}}], []]>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @reshard(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = dist.reshard %x : tensor<8x4xf32> from #dist.layout<@mesh, dims = [["r"], []]>
        to #dist.layout<@mesh, dims = [[], []]>
    return %0 : tensor<8x4xf32>
  }
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error@+1 {{cannot make a value unreduced}}
  %0 = dist.reshard %x : tensor<8xf32> from #dist.layout<@mesh, dims = [["r"]]>
      to #dist.layout<@mesh, dims = [[]], unreduced = {"r": sum}>
  return
}
