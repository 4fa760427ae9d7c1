// `pipe.insert`: sink: appends rows to a join, sort, window or row state.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.insert %{{.*}}, @build keys ["k"] drop_null_keys : <"k": i32?, "v": i64>
pipe.stream @in local : !pipe.rows<"k": i32?, "v": i64>
pipe.state @build join [#pipe.field<"k", i32, key, nullable = true>, #pipe.field<"v", i64, payload>]
pipe.pipeline @filled {
  %0 = pipe.receive @in : <"k": i32?, "v": i64>
  pipe.insert %0, @build keys ["k"] drop_null_keys : <"k": i32?, "v": i64>
}

// -----

pipe.stream @in local : !pipe.rows<"k": i32?, "v": i64>
pipe.state @build join [#pipe.field<"k", i32, key, nullable = true>, #pipe.field<"v", i64, payload>]
pipe.pipeline @filled {
  %0 = pipe.receive @in : <"k": i32?, "v": i64>
  // expected-error@+1 {{has an unknown attribute: "unknown"}}
  pipe.insert %0, @build keys ["k"] drop_null_keys {unknown} : <"k": i32?, "v": i64>
}
