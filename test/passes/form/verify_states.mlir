// What pipelines ask of states is there, or is refused before a kernel is made.
// RUN: headrace-opt %s --lower-kernels --split-input-file --verify-diagnostics
// RUN: headrace-opt %s --lower-gpu-kernels --split-input-file --verify-diagnostics

pipe.pipeline @p {
  // expected-error@+1 {{refers to no state of the module: @nowhere}}
  %0 = pipe.read @nowhere : !pipe.rows<"n": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"n": i64>
}

// -----

pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.pipeline @p {
  // expected-error@+1 {{'pipe.read' op has no such field in its state: "m"}}
  %0 = pipe.read @count : !pipe.rows<"m": i64>
  pipe.emit %0, @out keys [] : !pipe.rows<"m": i64>
}

// -----

pipe.state @count scalar [#pipe.field<"n", i64, sum>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{looks into a state that is no join table: @count}}
  %1 = pipe.lookup %0, @count semi keys ["k"] payload [] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// -----

pipe.state @build join [#pipe.field<"j", i32, key>, #pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{needs one key for each of its state, got 1 for 2}}
  %1 = pipe.lookup %0, @build semi keys ["k"] payload [] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// -----

pipe.state @build join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{'pipe.lookup' op has no such column in its rows: "j"}}
  %1 = pipe.lookup %0, @build semi keys ["j"] payload [] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// -----

pipe.state @build join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{'pipe.lookup' op has no such field in its state: "v"}}
  %1 = pipe.lookup %0, @build inner keys ["k"] payload ["v"] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32, "v": i64>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32, "v": i64>
}

// -----

// The columns of a residual condition are the row's or the state's.
pipe.state @build join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{'pipe.lookup' op has no such field in its state: "v"}}
  %1 = pipe.lookup %0, @build semi keys ["k"] payload [] columns ["v"] {
  ^bb0(%v: i1):
    pipe.yield %v : i1
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// -----

pipe.state @build join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{'pipe.lookup' op has no such field in its state: "found"}}
  %1 = pipe.lookup %0, @build full keys ["k"] payload [] mark "found" columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// -----

pipe.state @build join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{'pipe.lookup' op C2: exactly the kinds mark, full and seen mark something, got full}}
  %1 = pipe.lookup %0, @build full keys ["k"] payload [] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// -----

pipe.state @totals group [#pipe.field<"k", i32, key>, #pipe.field<"total", i64, sum>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{'pipe.combine' op has no such column in its rows: "total"}}
  pipe.combine %0, @totals keys ["k"] : !pipe.rows<"k": i32>
}

// -----

pipe.state @build join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{'pipe.insert' op has no such column in its rows: "j"}}
  pipe.insert %0, @build keys ["j"] : !pipe.rows<"k": i32>
}

// -----

pipe.state @totals group [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{'pipe.insert' op does not fill states of kind: group}}
  pipe.insert %0, @totals keys ["k"] : !pipe.rows<"k": i32>
}

// -----

pipe.state @build join [#pipe.field<"k", i32, key>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{'pipe.combine' op does not fill states of kind: join}}
  pipe.combine %0, @build keys ["k"] : !pipe.rows<"k": i32>
}

// -----

pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{'pipe.emit' op has no such column in its rows: "j"}}
  pipe.emit %0, @out keys ["j"] : !pipe.rows<"k": i32>
}

// -----

pipe.state @build join [#pipe.field<"k", i32, key>, #pipe.field<"v", i32, payload>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32, "v": i32>
  // expected-error@+1 {{'pipe.insert' op needs the keys of its state in their order, got ["v"]}}
  pipe.insert %0, @build keys ["v"] : !pipe.rows<"k": i32, "v": i32>
}

// -----

pipe.state @build join [#pipe.field<"k", i32, key>, #pipe.field<"v", i64, payload>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{gives a column that is neither its input's nor payload: "v"}}
  %1 = pipe.lookup %0, @build left keys ["k"] payload ["v"] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32, "v": i64>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32, "v": i64>
}

// -----

pipe.state @build join [#pipe.field<"k", i32, key>, #pipe.field<"v", i64, payload>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{has a payload that does not come out of it: "v"}}
  %1 = pipe.lookup %0, @build inner keys ["k"] payload ["v"] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// -----

// What goes into a state and what comes out are of the types of its fields.
pipe.state @rows rows [#pipe.field<"k", i32, payload>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i64>
  // expected-error@+1 {{'pipe.insert' op has a column that is not of its field's type: #pipe.field<"k", i32, payload>}}
  pipe.insert %0, @rows keys [] : !pipe.rows<"k": i64>
}

// -----

pipe.state @rows rows [#pipe.field<"k", i32, payload>]
pipe.pipeline @p {
  // expected-error@+1 {{gives a column that is not of its field's type: #pipe.field<"k", i32, payload>}}
  %0 = pipe.read @rows : !pipe.rows<"k": i32?>
  pipe.emit %0, @out keys [] : !pipe.rows<"k": i32?>
}

// -----

pipe.state @build join [#pipe.field<"k", i64, key>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{has a key that is not of its field's type: #pipe.field<"k", i64, key>}}
  %1 = pipe.lookup %0, @build semi keys ["k"] payload [] columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.emit %1, @out keys [] : !pipe.rows<"k": i32>
}

// -----

pipe.state @sums scalar [#pipe.field<"n", i64, sum>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"n": i64?>
  // expected-error@+1 {{has a column of NULLs for a field without: #pipe.field<"n", i64, sum>}}
  pipe.combine %0, @sums keys [] : !pipe.rows<"n": i64?>
}

// -----

// A field that says which rows were matched says false at first.
pipe.state @build join [#pipe.field<"k", i32, key>, #pipe.field<"b", i1, payload>]
pipe.pipeline @filled {
  %0 = pipe.receive @in : !pipe.rows<"k": i32, "b": i1>
  pipe.insert %0, @build keys ["k"] : !pipe.rows<"k": i32, "b": i1>
}
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  // expected-error@+1 {{marks a field that is not filled with false: "b"}}
  %1 = pipe.lookup %0, @build seen keys ["k"] payload [] mark "b" columns [] {
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
}

// -----

pipe.state @least sort [#pipe.field<"k", i32, payload>] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] limit 3
pipe.state @others rows [#pipe.field<"k", i32, payload>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  %1 = pipe.filter %0 [] {
    // expected-error@+1 {{'pipe.bound' op C1: asks a state that its pipeline does not fill: @least}}
    %key, %known = pipe.bound @least : i32
    pipe.yield %known : i1
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.insert %1, @others keys [] : !pipe.rows<"k": i32>
}

// -----

pipe.state @all sort [#pipe.field<"k", i32, payload>] order [#pipe.sort_key<"k", descending = false, nulls_first = false>]
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  %1 = pipe.filter %0 [] {
    // expected-error@+1 {{'pipe.bound' op C1: asks a state that does not keep the first rows of an order: @all}}
    %key, %known = pipe.bound @all : i32
    pipe.yield %known : i1
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.insert %1, @all keys [] : !pipe.rows<"k": i32>
}

// -----

pipe.state @least sort [#pipe.field<"k", i32, payload>] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] limit 3
pipe.pipeline @p {
  %0 = pipe.receive @in : !pipe.rows<"k": i32>
  %1 = pipe.filter %0 [] {
    // expected-error@+1 {{'pipe.bound' op C1: is not of its field's type: #pipe.field<"k", i32, payload>}}
    %key, %known = pipe.bound @least : i64
    pipe.yield %known : i1
  } : !pipe.rows<"k": i32> -> !pipe.rows<"k": i32>
  pipe.insert %1, @least keys [] : !pipe.rows<"k": i32>
}
