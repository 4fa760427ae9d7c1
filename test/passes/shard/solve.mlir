// Each op gets the layouts of its results and needs of its operands, by cost; what the user asks for holds.
// RUN: headrace-opt %s --split-input-file --shard-solve="mesh=r:4 topology=ethernet-fast" | FileCheck %s
// RUN: headrace-opt %s --split-input-file --shard-solve="mesh=r:1" | FileCheck %s --check-prefix=ONE
// RUN: not headrace-opt %s --split-input-file --shard-solve="mesh=r:4 topology=nowhere" 2>&1 | FileCheck %s --check-prefix=NOWHERE
// ONE-NOT: dist.layouts
// NOWHERE: no such topology
!t = !frame.table<"k": i64, "x": f64>

// The mesh and the topology are the module's from now on.
// CHECK: module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>, topo.topology = #topo.topology<"ethernet-fast"
// CHECK-LABEL: func.func @main
// CHECK: frame.scan "t" {{.*}}dist.layouts = [#dist.layout<@mesh, rows = block over ["r"]>]
// A filter leaves rows where they are.
// CHECK: frame.filter
// CHECK: {dist.layouts = [#dist.layout<@mesh, rows = block over ["r"]>], dist.needs = [#dist.layout<@mesh, rows = block over ["r"]>]}
// Of few groups each rank makes its part.
// CHECK: frame.aggregate {{.*}}dist.layouts = [#dist.layout<@mesh, unreduced = {"r": #frame.contract<[sum<f64>]>}>], dist.needs = [#dist.layout<@mesh, rows = block over ["r"]>]
// CHECK: return {dist.needs = [#dist.layout<@mesh, rows = root over ["r"]>]}
func.func @main() -> !t {
  %t = frame.scan "t" ["k", "x"] {statistics = {rows = 100000000 : i64, columns = {k = {min = 0 : i64, max = 9 : i64, distinct = 10 : i64}}}} : !t
  %f = frame.filter %t columns ["k"] {
  ^bb0(%k: i64):
    %five = frame.constant 5 : i64
    %less = frame.compare lt %k, %five : (i64, i64) -> i1
    frame.yield %less : i1
  } : !t
  %a = frame.aggregate %f keys ["k"] measures [#frame.measure<sum("x") -> "x">] : !t -> !t
  return %a : !t
}

// -----

// CHECK-LABEL: func.func @asked
// CHECK-SAME: dist.layouts
// CHECK: dist.constrain %{{.*}} {dist.layouts = [#dist.layout<@mesh, dims = {{\[\[}}], ["r"]]>]
func.func @asked(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = dist.constrain %x : tensor<8x4xf32> to #dist.layout<@mesh, dims = [[], ["r"]]>
  return %0 : tensor<8x4xf32>
}
