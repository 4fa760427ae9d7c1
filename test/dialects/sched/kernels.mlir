// `sched.kernels`: the kernels that the tasks of a module run, for one instruction set.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.kernels "x86-64-v3"
sched.kernels "x86-64-v3" {
  sched.kernel @groups0 {scratch_bytes = 64 : i64}
}
sched.kernels gpu "sm_80" {
  sched.kernel @groups0 {threads = 256 : i64}
}

// -----

// expected-error@+1 {{has an unknown attribute: "unknown"}}
sched.kernels "x86-64-v3" {
  sched.kernel @groups0 {scratch_bytes = 64 : i64}
} {unknown}
sched.kernels gpu "sm_80" {
  sched.kernel @groups0 {threads = 256 : i64}
}
