// RUN: headrace-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{C3: a column has a scalar type of frame that is not nullable, got '!frame.nullable<i32>'}}
#column = #pipe.scan_column<file = "k", column = "k", logical = !frame.nullable<i32>>
