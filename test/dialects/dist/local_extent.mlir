// `dist.local_extent`: the size of this rank's even part of an extent.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: dist.local_extent %{{.*}} over ["r"]
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @local_extent(%extent: index) -> index {
    %0 = dist.local_extent %extent over ["r"]
    return %0 : index
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  func.func @f(%e: index) {
    // expected-error@+1 {{names an axis that the mesh does not have: "q"}}
    %0 = dist.local_extent %e over ["q"]
    return
  }
}
