// On which ranks rows are follows from scans, exchanges and what each rank keeps; what relies on it is refused where it does not hold.
// Sources: passes/form/verify_places.cpp
// RUN: headrace-opt %s --verify-form --split-input-file --verify-diagnostics

// What is together is right: a join by hash, groups in parts that are finished, a window by a hash of some of its keys.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @left hash over ["r"] : !pipe.rows<"k": i32, "v": i64>
  pipe.pipeline @scan_left {
    %0 = pipe.scan split ["r"] "l" [#pipe.scan_column<file = "k", column = "k">, #pipe.scan_column<file = "v", column = "v">] : <"k": i32, "v": i64>
    pipe.emit %0, @left keys ["k"] : <"k": i32, "v": i64>
  }
  pipe.state @build join [#pipe.field<"j", i32, key>]
  pipe.pipeline @own_right {
    %0 = pipe.scan split ["r"] resident ["j"] "r" [#pipe.scan_column<file = "j", column = "j">] : <"j": i32>
    pipe.insert %0, @build keys ["j"] : <"j": i32>
  }
  pipe.state @parts group [#pipe.field<"v", i64, key>, #pipe.field<"n", i64, sum>]
  pipe.pipeline @joined {
    %0 = pipe.receive @left : <"k": i32, "v": i64>
    %1 = pipe.lookup %0, @build inner keys ["k"] payload [] columns [] {
    } : <"k": i32, "v": i64> -> <"v": i64>
    %2 = pipe.map %1 ["n"] [] {
      %one = arith.constant 1 : i64
      pipe.yield %one : i64
    } : <"v": i64> -> <"v": i64, "n": i64>
    pipe.combine %2, @parts keys ["v"] : <"v": i64, "n": i64>
  }
  pipe.stream @moved gather over ["r"] : !pipe.rows<"v": i64, "n": i64>
  pipe.pipeline @groups {
    %0 = pipe.read @parts : <"v": i64, "n": i64>
    pipe.emit %0, @moved keys [] : <"v": i64, "n": i64>
  }
  pipe.state @whole group [#pipe.field<"v", i64, key>, #pipe.field<"n", i64, sum>]
  pipe.pipeline @received {
    %0 = pipe.receive @moved : <"v": i64, "n": i64>
    pipe.combine %0, @whole keys ["v"] : <"v": i64, "n": i64>
  }
  pipe.stream @out result : !pipe.rows<"v": i64, "n": i64>
  pipe.pipeline @last {
    %0 = pipe.read @whole : <"v": i64, "n": i64>
    pipe.emit %0, @out keys [] : <"v": i64, "n": i64>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @out result : !pipe.rows<"k": i32>
  pipe.pipeline @p {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    // expected-error@+1 {{gives a result of which each rank has a part}}
    pipe.emit %0, @out keys [] : <"k": i32>
  }
}

// -----

// Along an axis of one rank there is nothing to be apart.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 1)]>} {
  pipe.stream @out result : !pipe.rows<"k": i32>
  pipe.pipeline @p {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    pipe.emit %0, @out keys [] : <"k": i32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @moved gather over ["r"] : !pipe.rows<"k": i32>
  pipe.pipeline @p {
    %0 = pipe.scan "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    // expected-error@+1 {{sends rows that every rank has, over ["r"]}}
    pipe.emit %0, @moved keys [] : <"k": i32>
  }
  pipe.stream @out result : !pipe.rows<"k": i32>
  pipe.pipeline @received {
    %0 = pipe.receive @moved : <"k": i32>
    pipe.emit %0, @out keys [] : <"k": i32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @moved gather over ["r"] : !pipe.rows<"k": i32>
  pipe.pipeline @p {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    // expected-error@+1 {{keeps each rank's rows of those that not every rank has, over ["r"]}}
    %1 = pipe.filter %0 ["k"] {
    ^bb0(%k: i32):
      %own = pipe.owns(%k) [false] over ["r"] : i32
      pipe.yield %own : i1
    } : <"k": i32> -> <"k": i32>
    pipe.emit %1, @moved keys [] : <"k": i32>
  }
  pipe.stream @out result : !pipe.rows<"k": i32>
  pipe.pipeline @received {
    %0 = pipe.receive @moved : <"k": i32>
    pipe.emit %0, @out keys [] : <"k": i32>
  }
}

// -----

// The sides of a join are divided by other columns.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @moved hash over ["r"] : !pipe.rows<"j": i32, "i": i32>
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "j", column = "j">, #pipe.scan_column<file = "i", column = "i">] : <"j": i32, "i": i32>
    pipe.emit %0, @moved keys ["i"] : <"j": i32, "i": i32>
  }
  pipe.state @build join [#pipe.field<"j", i32, key>]
  pipe.pipeline @built {
    %0 = pipe.receive @moved : <"j": i32, "i": i32>
    %1 = pipe.map %0 [] [] {
      pipe.yield
    } : <"j": i32, "i": i32> -> <"j": i32>
    pipe.insert %1, @build keys ["j"] : <"j": i32>
  }
  pipe.stream @out result names ["k"] logical [i32] resident [] : !pipe.rows<"k": i32>
  pipe.pipeline @probed {
    %0 = pipe.scan split ["r"] resident ["k"] "p" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    // expected-error@+1 {{meets rows that are on other ranks: @build}}
    %1 = pipe.lookup %0, @build semi keys ["k"] payload [] columns [] {
    } : <"k": i32> -> <"k": i32>
    pipe.emit %1, @out keys [] : <"k": i32>
  }
}

// -----

// Each rank would keep the rows that have no match in its own part.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.state @build join [#pipe.field<"j", i32, key>]
  pipe.pipeline @built {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "j", column = "j">] : <"j": i32>
    pipe.insert %0, @build keys ["j"] : <"j": i32>
  }
  pipe.stream @out result : !pipe.rows<"k": i32>
  pipe.pipeline @probed {
    %0 = pipe.scan "p" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    // expected-error@+1 {{meets a part of the rows on each rank: @build}}
    %1 = pipe.lookup %0, @build anti keys ["k"] payload [] columns [] {
    } : <"k": i32> -> <"k": i32>
    pipe.emit %1, @out keys [] : <"k": i32>
  }
}

// -----

// Groups of rows that are apart are parts, for whom no sum is final.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.state @parts group [#pipe.field<"k", i32, key>, #pipe.field<"v", i64, sum>]
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">, #pipe.scan_column<file = "v", column = "v">] : <"k": i32, "v": i64>
    pipe.combine %0, @parts keys ["k"] : <"k": i32, "v": i64>
  }
  pipe.stream @moved gather over ["r"] : !pipe.rows<"k": i32, "v": i64>
  pipe.pipeline @groups {
    %0 = pipe.read @parts : <"k": i32, "v": i64>
    pipe.emit %0, @moved keys [] : <"k": i32, "v": i64>
  }
  pipe.stream @out result : !pipe.rows<"k": i32, "v": i64>
  pipe.pipeline @received {
    %0 = pipe.receive @moved : <"k": i32, "v": i64>
    // expected-error@+1 {{takes parts that nothing has finished, of @parts}}
    pipe.emit %0, @out keys [] : <"k": i32, "v": i64>
  }
}

// -----

// The first rows of all are among those of each rank only if there are as many.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.state @first sort [#pipe.field<"k", i32, payload>] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] limit 5
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    pipe.insert %0, @first keys [] : <"k": i32>
  }
  pipe.stream @moved gather over ["r"] : !pipe.rows<"k": i32>
  pipe.pipeline @ordered {
    %0 = pipe.read @first : <"k": i32>
    pipe.emit %0, @moved keys [] : <"k": i32>
  }
  pipe.state @last sort [#pipe.field<"k", i32, payload>] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] limit 6
  pipe.pipeline @received {
    %0 = pipe.receive @moved : <"k": i32>
    // expected-error@+1 {{does not finish the parts of @first}}
    pipe.insert %0, @last keys [] : <"k": i32>
  }
  pipe.stream @out result : !pipe.rows<"k": i32>
  pipe.pipeline @read {
    %0 = pipe.read @last : <"k": i32>
    pipe.emit %0, @out keys [] : <"k": i32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.state @ranked window [#pipe.field<"k", i32, key>, #pipe.field<"place", i64, computed>] functions [#frame.window_function<row_number -> "place">]
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    // expected-error@+1 {{has rows of one partition on several ranks: @ranked}}
    pipe.insert %0, @ranked keys ["k"] : <"k": i32>
  }
}

// -----

// Without keys all rows are a partition, unless the window says that it is over a rank's own ones.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.state @own window [#pipe.field<"k", i32, payload>, #pipe.field<"row", i64, computed>] functions [#frame.window_function<row_number -> "row">]
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    // expected-error@+1 {{has rows of one partition on several ranks: @own}}
    pipe.insert %0, @own keys [] : <"k": i32>
  }
}

// -----

// Without an order these may be any.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.state @own window [#pipe.field<"k", i32, payload>, #pipe.field<"row", i64, computed>] within ["r"] functions [#frame.window_function<row_number -> "row">]
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    pipe.insert %0, @own keys [] : <"k": i32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4), ("s", 2)]>} {
  pipe.state @own window [#pipe.field<"k", i32, payload>, #pipe.field<"row", i64, computed>] within ["r"] functions [#frame.window_function<row_number -> "row">]
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r", "s"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    // expected-error@+1 {{is over a rank's own rows along other axes than those along which they are divided: @own}}
    pipe.insert %0, @own keys [] : <"k": i32>
  }
}

// -----

// In an order they are a range of it.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.state @own window [#pipe.field<"k", i32, payload>, #pipe.field<"row", i64, computed>] within ["r"] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] functions [#frame.window_function<row_number -> "row">]
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    // expected-error@+1 {{is in an order of which ranks have no ranges: @own}}
    pipe.insert %0, @own keys [] : <"k": i32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @ranged range over ["r"] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] : !pipe.rows<"k": i32>
  pipe.state @own window [#pipe.field<"k", i32, payload>, #pipe.field<"row", i64, computed>] within ["r"] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] functions [#frame.window_function<row_number -> "row">]
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    pipe.emit %0, @ranged keys [] : <"k": i32>
  }
  pipe.pipeline @window {
    %0 = pipe.receive @ranged : <"k": i32>
    pipe.insert %0, @own keys [] : <"k": i32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @ranged range over ["r"] order [#pipe.sort_key<"k", descending = true, nulls_first = false>] : !pipe.rows<"k": i32>
  pipe.state @own window [#pipe.field<"k", i32, payload>, #pipe.field<"row", i64, computed>] within ["r"] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] functions [#frame.window_function<row_number -> "row">]
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    pipe.emit %0, @ranged keys [] : <"k": i32>
  }
  pipe.pipeline @window {
    %0 = pipe.receive @ranged : <"k": i32>
    // expected-error@+1 {{is in an order of which ranks have no ranges: @own}}
    pipe.insert %0, @own keys [] : <"k": i32>
  }
}

// -----

module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4), ("s", 2)]>} {
  pipe.stream @ranged range over ["r"] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] : !pipe.rows<"k": i32>
  pipe.state @own window [#pipe.field<"k", i32, payload>, #pipe.field<"row", i64, computed>] within ["r", "s"] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] functions [#frame.window_function<row_number -> "row">]
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r", "s"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    pipe.emit %0, @ranged keys [] : <"k": i32>
  }
  pipe.pipeline @window {
    %0 = pipe.receive @ranged : <"k": i32>
    // expected-error@+1 {{is in an order of which ranks have no ranges: @own}}
    pipe.insert %0, @own keys [] : <"k": i32>
  }
}

// -----

// The parts of a union are all divided, or on all ranks.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @united local writers 2 : !pipe.rows<"k": i32>
  pipe.pipeline @own {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    pipe.emit %0, @united keys [] : <"k": i32>
  }
  pipe.pipeline @all {
    %0 = pipe.scan "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    // expected-error@+1 {{writes rows on other ranks than those that are there}}
    pipe.emit %0, @united keys [] : <"k": i32>
  }
  pipe.state @rows rows [#pipe.field<"k", i32, payload>]
  pipe.pipeline @received {
    %0 = pipe.receive @united : <"k": i32>
    pipe.insert %0, @rows keys [] : <"k": i32>
  }
}

// -----

// Nor are groups and first rows parts of one.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.state @groups group [#pipe.field<"k", i32, key>]
  pipe.pipeline @own {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    pipe.combine %0, @groups keys ["k"] : <"k": i32>
  }
  pipe.state @first sort [#pipe.field<"k", i32, payload>] limit 5
  pipe.pipeline @more {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    pipe.insert %0, @first keys [] : <"k": i32>
  }
  pipe.stream @united local writers 2 : !pipe.rows<"k": i32>
  pipe.pipeline @read_groups {
    %0 = pipe.read @groups : <"k": i32>
    pipe.emit %0, @united keys [] : <"k": i32>
  }
  pipe.pipeline @read_first {
    %0 = pipe.read @first : <"k": i32>
    // expected-error@+1 {{writes other parts than those of @groups}}
    pipe.emit %0, @united keys [] : <"k": i32>
  }
  pipe.state @rows rows [#pipe.field<"k", i32, payload>]
  pipe.pipeline @received {
    %0 = pipe.receive @united : <"k": i32>
    pipe.insert %0, @rows keys [] : <"k": i32>
  }
}

// -----

// Rows that other ranks sent of theirs come beside a rank's own, until those are taken out of them,
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @sent broadcast over ["r"] : !pipe.rows<"k": i32, "home": i32>
  pipe.stream @all local : !pipe.rows<"k": i32, "home": i32>
  pipe.pipeline @own {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    %1 = pipe.map %0 ["home"] [] {
      %place = pipe.place over ["r"]
      pipe.yield %place : i32
    } : <"k": i32> -> <"k": i32, "home": i32>
    pipe.emit %1, @sent keys [] : <"k": i32, "home": i32>
  }
  pipe.pipeline @again {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    %1 = pipe.map %0 ["home"] [] {
      %place = pipe.place over ["r"]
      pipe.yield %place : i32
    } : <"k": i32> -> <"k": i32, "home": i32>
    pipe.emit %1, @all keys [] : <"k": i32, "home": i32>
  }
  pipe.pipeline @others {
    %0 = pipe.receive @sent : <"k": i32, "home": i32>
    %1 = pipe.map %0 ["here"] [] {
      %place = pipe.place over ["r"]
      pipe.yield %place : i32
    } : <"k": i32, "home": i32> -> <"k": i32, "home": i32, "here": i32>
    %2 = pipe.filter %1 ["home", "here"] {
    ^bb0(%home: i32, %here: i32):
      %3 = arith.cmpi ne, %home, %here : i32
      pipe.yield %3 : i1
    } : <"k": i32, "home": i32, "here": i32> -> <"k": i32, "home": i32>
    pipe.emit %2, @all keys [] : <"k": i32, "home": i32>
  }
  pipe.stream @out gather over ["r"] : !pipe.rows<"k": i32>
  pipe.pipeline @last {
    %0 = pipe.receive @all : <"k": i32, "home": i32>
    %1 = pipe.map %0 ["at"] [] {
      %place = pipe.place over ["r"]
      pipe.yield %place : i32
    } : <"k": i32, "home": i32> -> <"k": i32, "home": i32, "at": i32>
    %2 = pipe.filter %1 ["home", "at"] {
    ^bb0(%home: i32, %at: i32):
      %3 = arith.cmpi eq, %home, %at : i32
      pipe.yield %3 : i1
    } : <"k": i32, "home": i32, "at": i32> -> <"k": i32>
    pipe.emit %2, @out keys [] : <"k": i32>
  }
  pipe.stream @result result : !pipe.rows<"k": i32>
  pipe.pipeline @received {
    %0 = pipe.receive @out : <"k": i32>
    pipe.emit %0, @result keys [] : <"k": i32>
  }
}

// -----

// and not the others.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @sent broadcast over ["r"] : !pipe.rows<"k": i32, "home": i32>
  pipe.stream @all local : !pipe.rows<"k": i32, "home": i32>
  pipe.pipeline @own {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    %1 = pipe.map %0 ["home"] [] {
      %place = pipe.place over ["r"]
      pipe.yield %place : i32
    } : <"k": i32> -> <"k": i32, "home": i32>
    pipe.emit %1, @sent keys [] : <"k": i32, "home": i32>
  }
  pipe.pipeline @again {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    %1 = pipe.map %0 ["home"] [] {
      %place = pipe.place over ["r"]
      pipe.yield %place : i32
    } : <"k": i32> -> <"k": i32, "home": i32>
    pipe.emit %1, @all keys [] : <"k": i32, "home": i32>
  }
  pipe.pipeline @others {
    %0 = pipe.receive @sent : <"k": i32, "home": i32>
    %1 = pipe.map %0 ["here"] [] {
      %place = pipe.place over ["r"]
      pipe.yield %place : i32
    } : <"k": i32, "home": i32> -> <"k": i32, "home": i32, "here": i32>
    %2 = pipe.filter %1 ["home", "here"] {
    ^bb0(%home: i32, %here: i32):
      %3 = arith.cmpi ne, %home, %here : i32
      pipe.yield %3 : i1
    } : <"k": i32, "home": i32, "here": i32> -> <"k": i32, "home": i32>
    pipe.emit %2, @all keys [] : <"k": i32, "home": i32>
  }
  pipe.stream @out gather over ["r"] : !pipe.rows<"k": i32>
  pipe.pipeline @last {
    %0 = pipe.receive @all : <"k": i32, "home": i32>
    %1 = pipe.map %0 ["at"] [] {
      %place = pipe.place over ["r"]
      pipe.yield %place : i32
    } : <"k": i32, "home": i32> -> <"k": i32, "home": i32, "at": i32>
    %2 = pipe.filter %1 ["home", "at"] {
    ^bb0(%home: i32, %at: i32):
      %3 = arith.cmpi ne, %home, %at : i32
      pipe.yield %3 : i1
    } : <"k": i32, "home": i32, "at": i32> -> <"k": i32>
    // expected-error@+1 {{takes rows of other ranks beside a rank's own}}
    pipe.emit %2, @out keys [] : <"k": i32>
  }
  pipe.stream @result result : !pipe.rows<"k": i32>
  pipe.pipeline @received {
    %0 = pipe.receive @out : <"k": i32>
    pipe.emit %0, @result keys [] : <"k": i32>
  }
}

// -----

// The sides of a join lie in stretches of one cycle.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @moved hash cycle 1000 over ["r"] : !pipe.rows<"j": i32>
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "j", column = "j">] : <"j": i32>
    pipe.emit %0, @moved keys ["j"] : <"j": i32>
  }
  pipe.state @build join [#pipe.field<"j", i32, key>]
  pipe.pipeline @built {
    %0 = pipe.receive @moved : <"j": i32>
    pipe.insert %0, @build keys ["j"] : <"j": i32>
  }
  pipe.stream @out result names ["k"] logical [i32] resident [] : !pipe.rows<"k": i32>
  pipe.pipeline @probed {
    %0 = pipe.scan "p" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    %1 = pipe.filter %0 ["k"] {
    ^bb0(%k: i32):
      %own = pipe.owns (%k) [false] cycle 1000 over ["r"] : i32
      pipe.yield %own : i1
    } : <"k": i32> -> <"k": i32>
    %2 = pipe.lookup %1, @build semi keys ["k"] payload [] columns [] {
    } : <"k": i32> -> <"k": i32>
    pipe.emit %2, @out keys [] : <"k": i32>
  }
}

// -----

// Of two cycles.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @moved hash cycle 1000 over ["r"] : !pipe.rows<"j": i32>
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "j", column = "j">] : <"j": i32>
    pipe.emit %0, @moved keys ["j"] : <"j": i32>
  }
  pipe.state @build join [#pipe.field<"j", i32, key>]
  pipe.pipeline @built {
    %0 = pipe.receive @moved : <"j": i32>
    pipe.insert %0, @build keys ["j"] : <"j": i32>
  }
  pipe.stream @out result names ["k"] logical [i32] resident [] : !pipe.rows<"k": i32>
  pipe.pipeline @probed {
    %0 = pipe.scan "p" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    %1 = pipe.filter %0 ["k"] {
    ^bb0(%k: i32):
      %own = pipe.owns (%k) [false] cycle 2000 over ["r"] : i32
      pipe.yield %own : i1
    } : <"k": i32> -> <"k": i32>
    // expected-error@+1 {{meets rows that are on other ranks: @build}}
    %2 = pipe.lookup %1, @build semi keys ["k"] payload [] columns [] {
    } : <"k": i32> -> <"k": i32>
    pipe.emit %2, @out keys [] : <"k": i32>
  }
}

// -----

// One in stretches, the other by hash.
module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
  pipe.stream @moved hash cycle 1000 over ["r"] : !pipe.rows<"j": i32>
  pipe.pipeline @scan {
    %0 = pipe.scan split ["r"] "t" [#pipe.scan_column<file = "j", column = "j">] : <"j": i32>
    pipe.emit %0, @moved keys ["j"] : <"j": i32>
  }
  pipe.state @build join [#pipe.field<"j", i32, key>]
  pipe.pipeline @built {
    %0 = pipe.receive @moved : <"j": i32>
    pipe.insert %0, @build keys ["j"] : <"j": i32>
  }
  pipe.stream @out result names ["k"] logical [i32] resident [] : !pipe.rows<"k": i32>
  pipe.pipeline @probed {
    %0 = pipe.scan "p" [#pipe.scan_column<file = "k", column = "k">] : <"k": i32>
    %1 = pipe.filter %0 ["k"] {
    ^bb0(%k: i32):
      %own = pipe.owns (%k) [false] over ["r"] : i32
      pipe.yield %own : i1
    } : <"k": i32> -> <"k": i32>
    // expected-error@+1 {{meets rows that are on other ranks: @build}}
    %2 = pipe.lookup %1, @build semi keys ["k"] payload [] columns [] {
    } : <"k": i32> -> <"k": i32>
    pipe.emit %2, @out keys [] : <"k": i32>
  }
}
