// `sched.kernel`: compiled code, and what the cost model and the runtime must know of it.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: sched.kernel @scan0 {content = "09af", literal_bytes = 16 : i64, literals = [#sched.literal<0, 5 : i64>], places = ["a / b"], selectivity =
sched.kernels "x86-64-v3" {
  sched.kernel @scan0 {content = "09af", literal_bytes = 16 : i64, literals = [#sched.literal<0, 5 : i64>],
      places = ["a / b"], selectivity = array<f64: 5.000000e-01>, stage_operators = array<i32: 2>,
      work = [#sched.work<row, 0, 1.000000e+00>, #sched.work<divide, 1, 1.000000e+00>]}
}

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C1: a block has no negative size}}
  sched.kernel @scan {scratch_bytes = -8 : i64}
}

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C2: needs an operator for each selecting stage, got 1 for 2}}
  sched.kernel @scan {selectivity = array<f64: 5.000000e-01, 1.000000e+00>, stage_operators = array<i32: 3>}
}

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C1: work is on the rows of a level and looks into a state, got -1 and -1}}
  sched.kernel @scan {work = [#sched.work<row, -1, 1.000000e+00>]}
}

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C2: an amount of work is a number and not negative, got -1.000000e+00 : f64}}
  sched.kernel @scan {work = [#sched.work<row, 0, -1.000000e+00>]}
}

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C1: a literal lies at a multiple of 8 bytes, got 4}}
  sched.kernel @scan {literals = [#sched.literal<4, 7 : i64>]}
}

// -----

sched.kernels "x86-64" {
  // expected-error @+1 {{C2: a literal is an i64, i128, f64 or a string, got 7 : i32}}
  sched.kernel @scan {literals = [#sched.literal<0, 7 : i32>]}
}
