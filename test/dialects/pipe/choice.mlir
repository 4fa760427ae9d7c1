// `pipe.choice`: which pipelines run is decided when a state has been filled.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.choice @choice0 by @rows0 at_most 5000 expected 1200
pipe.state @rows0 rows [#pipe.field<"k", i32, payload>]
pipe.choice @choice0 by @rows0 at_most 5000 expected 1200

// -----

pipe.state @rows0 rows [#pipe.field<"k", i32, payload>]
// expected-error@+1 {{C1: the bound is negative: -3}}
pipe.choice @choice0 by @rows0 at_most -3

// -----

pipe.state @rows0 rows [#pipe.field<"k", i32, payload>]
// expected-error@+1 {{C1: the estimate is negative: -1}}
pipe.choice @choice0 by @rows0 at_most 3 expected -1
