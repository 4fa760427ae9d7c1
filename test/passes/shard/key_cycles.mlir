// Tables that are stored in the order of a key that they are joined by (passes/shard/key_cycles.h): rows lie in stretches of it, in
// one cycle for all that are compared, and nothing moves.
// RUN: headrace-opt %s --split-input-file --shard-solve="mesh=r:4 topology=ethernet-fast" | FileCheck %s
!l = !frame.table<"k": i64, "x": f64>
!o = !frame.table<"j": i64, "y": f64>
!lo = !frame.table<"k": i64, "x": f64, "j": i64, "y": f64>

// The smaller table has 320 row groups: each of four ranks has ten stretches of at least eight.
// CHECK-LABEL: func.func @meet
// CHECK: frame.scan "l" {{.*}}dist.layouts = [#dist.layout<@mesh, rows = hash<["k"] cycle 10000000> over ["r"]>]
// CHECK: frame.scan "o" {{.*}}dist.layouts = [#dist.layout<@mesh, rows = hash<["j"] cycle 10000000> over ["r"]>]
// CHECK: frame.join {{.*}}dist.needs = [#dist.layout<@mesh, rows = hash<["k"] cycle 10000000> over ["r"]>, #dist.layout<@mesh, rows = hash<["j"] cycle 10000000> over ["r"]>]
func.func @meet() -> !lo {
  %l = frame.scan "l" ["k", "x"] {statistics = {rows = 400000000 : i64, row_groups = 3200 : i64, columns = {k = {min = 1 : i64, max = 100000000 : i64, distinct = 100000000 : i64, ordered = true}}}} : !l
  %o = frame.scan "o" ["j", "y"] {statistics = {rows = 100000000 : i64, row_groups = 320 : i64, columns = {j = {min = 1 : i64, max = 100000000 : i64, distinct = 100000000 : i64, ordered = true}}}} : !o
  %j = frame.join inner %l, %o on ["k"] = ["j"] : !l, !o -> !lo
  return %j : !lo
}

// -----

// What is stored otherwise goes to where the stretches are, which are of what a condition leaves: a tenth of the keys, 32 row groups.
!l = !frame.table<"k": i64, "x": f64>
!o = !frame.table<"j": i64, "y": f64>
!lo = !frame.table<"k": i64, "x": f64, "j": i64, "y": f64>
// CHECK-LABEL: func.func @sent
// CHECK: frame.scan "o" {{.*}}dist.layouts = [#dist.layout<@mesh, rows = hash<["j"] cycle 10000000> over ["r"]>]
// CHECK: frame.scan "l" {{.*}}dist.layouts = [#dist.layout<@mesh, rows = block over ["r"]>]
// CHECK: frame.join {{.*}}dist.choose = {{{.*}}cycle = 10000000 : i64, left_keys = ["k"]{{.*}}right_keys = []}
func.func @sent() -> !lo {
  %o = frame.scan "o" ["j", "y"] {statistics = {rows = 100000000 : i64, row_groups = 320 : i64, columns = {j = {min = 1 : i64, max = 100000000 : i64, distinct = 100000000 : i64, ordered = true}}}} : !o
  %f = frame.filter %o columns ["j"] {
  ^bb0(%j: i64):
    %bound = frame.constant 10000000 : i64
    %less = frame.compare le %j, %bound : (i64, i64) -> i1
    frame.yield %less : i1
  } : !o
  %l = frame.scan "l" ["k", "x"] {statistics = {rows = 20000000 : i64, row_groups = 160 : i64, columns = {k = {min = 1 : i64, max = 100000000 : i64, distinct = 20000000 : i64, ordered = false}}}} : !l
  %r = frame.join inner %l, %f on ["k"] = ["j"] : !l, !o -> !lo
  return %r : !lo
}
