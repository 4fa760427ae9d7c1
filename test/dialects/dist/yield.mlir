// `dist.yield`: ends a body of `dist.manual` or `dist.choose`.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.yield %{{.*}} : tensor<?x4xf32>
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @yield(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    %0 = dist.manual (%x) in [#dist.layout<@mesh, dims = [["r"], []]>] out [#dist.layout<@mesh, dims = [["r"], []]>] {
    ^bb0(%local: tensor<?x4xf32>):
      dist.yield %local : tensor<?x4xf32>
    } : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %0 : tensor<8x4xf32>
  }
}

// -----

func.func @yield() {
  dist.manual () in [] out [] {
    // expected-error@+1 {{has an unknown attribute: "unknown"}}
    dist.yield {unknown}
  } : () -> ()
  return
}
