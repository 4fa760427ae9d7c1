// What has no shape for threads yet says so, with its place.
// RUN: headrace-opt %s --lower-gpu-kernels -split-input-file -verify-diagnostics

pipe.state @longest scalar [#pipe.field<"text", !pipe.string, max, nullable = true>]
pipe.pipeline @strings {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "text", file = "text">] : !pipe.rows<"text": !pipe.string>
  // expected-error @+1 {{threads cannot combine this field yet: text}}
  pipe.combine %0, @longest keys [] : !pipe.rows<"text": !pipe.string>
}

// -----

pipe.state @extremes group [#pipe.field<"k", i32, key>, #pipe.field<"least", i128, min>]
pipe.pipeline @wide {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">, #pipe.scan_column<column = "least", file = "least">] : !pipe.rows<"k": i32, "least": i128>
  // expected-error @+1 {{threads cannot combine this field yet: least (min)}}
  pipe.combine %0, @extremes keys ["k"] : !pipe.rows<"k": i32, "least": i128>
}

// -----

pipe.state @kept window [#pipe.field<"k", i32, key>, #pipe.field<"v", i32, payload>, #pipe.field<"n", i64, computed>] functions [#frame.window_function<row_number -> "n">]
pipe.pipeline @rows_of_windows {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">, #pipe.scan_column<column = "v", file = "v">] : !pipe.rows<"k": i32, "v": i32>
  // expected-error @+1 {{this sink has no code for threads yet: pipe.insert}}
  pipe.insert %0, @kept keys ["k"] : !pipe.rows<"k": i32, "v": i32>
}

// -----

pipe.stream @kept parted parts 16 : !pipe.rows<"k": i32>
pipe.pipeline @rows_in_parts {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "k", file = "k">] : !pipe.rows<"k": i32>
  // expected-error @+1 {{rows are not kept in parts by kernels of this target yet}}
  pipe.emit %0, @kept parted keys ["k"] : !pipe.rows<"k": i32>
}
