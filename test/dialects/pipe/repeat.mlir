// `pipe.repeat`: pipelines that run in rounds, so that their states hold a part of the rows at a time.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.repeat @rounds0 room 1048576
pipe.repeat @rounds0 room 1048576

// -----

// expected-error@+1 {{C1: the room is negative: -1}}
pipe.repeat @rounds room -1
