// `pipe.stream`: a bounded channel of chunks between two pipelines of a rank, to other ranks or out of the program.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.stream @s2  parted parts 32 : !pipe.rows<"l_orderkey": i32>
pipe.stream @s2 parted parts 32 : !pipe.rows<"l_orderkey": i32>
pipe.stream @s0 hash over ["ranks"] carries <expected = 100, p95 = 200> fullest 1.5 : !pipe.rows<"l_orderkey": i32>
pipe.stream @s1 range over ["ranks"] order [#pipe.sort_key<"l_orderkey", descending = false, nulls_first = false>] : !pipe.rows<"l_orderkey": i32>
pipe.stream @out result names ["key"] logical [i32] ordered : !pipe.rows<"l_orderkey": i32>

// -----

// expected-error@+1 {{C1: duplicate column: "a"}}
pipe.stream @s local : !pipe.rows<"a": i32, "a": i64>

// -----

// expected-error@+1 {{C2: rows have no such type: 'index'}}
pipe.stream @s local : !pipe.rows<"a": index>

// -----

// expected-error@+1 {{'pipe.stream' op has an unknown attribute: "writer"}}
pipe.stream @s local : !pipe.rows<"a": i32> {writer = 2 : i64}

// -----

// expected-error@+2 {{to be one of: local, hash, broadcast, gather, result, to_tensor}}
// expected-error@+1 {{failed to parse}}
pipe.stream @s resultt : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C1: writers are two or more, of a local stream, got 1}}
pipe.stream @s local writers 1 : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C2: names and logical types are of the columns of a result, got ["a", "b"]}}
pipe.stream @s result names ["a", "b"] logical [i32] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C2: names and logical types are of the columns of a result, got [i32, i32]}}
pipe.stream @s to_tensor logical [i32, i32] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{the values of "a" are 'i32', which no column is of type '!frame.string'}}
pipe.stream @s result names ["a"] logical [!frame.string] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{attribute 'logical' failed to satisfy constraint: array of scalar types of frame, none nullable}}
pipe.stream @s result names ["a"] logical [!frame.nullable<i32>] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C2: a result's columns need names and logical types}}
pipe.stream @s result names ["a"] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C3: the fullest rank gets 1 or more of an exchange by hash, got 5.000000e-01}}
pipe.stream @s hash over ["ranks"] fullest 0.5 : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C4: only a result is resident, by columns that it has, got []}}
pipe.stream @s hash over ["ranks"] resident [] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C4: only a result is resident, by columns that it has, got ["a"]}}
pipe.stream @s result names ["key"] logical [i32] resident ["a"] : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{C4: only a result is ordered}}
pipe.stream @s hash over ["ranks"] ordered : !pipe.rows<"a": i32>

// -----

// expected-error@+1 {{has an attribute that pipe does not have: "pipe.writer"}}
pipe.stream @s local : !pipe.rows<"a": i32> {pipe.writer = 2 : i64}

// -----

// expected-error @+1 {{C5: exactly what goes to other ranks has axes, got hash}}
pipe.stream @s hash : !pipe.rows<"k": i32>

// -----

// expected-error @+1 {{C5: exactly what goes to other ranks has axes, got local}}
pipe.stream @s local over ["ranks"] : !pipe.rows<"k": i32>

// -----

// expected-error @+1 {{names an axis twice: "ranks"}}
pipe.stream @s hash over ["ranks", "ranks"] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C6: exactly what goes by range has an order, got range}}
pipe.stream @s range over ["ranks"] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C6: exactly what goes by range has an order, got hash}}
pipe.stream @s hash over ["ranks"] order [#pipe.sort_key<"k", descending = false, nulls_first = false>] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C6: sort key is not a column: "x"}}
pipe.stream @s range over ["ranks"] order [#pipe.sort_key<"x", descending = false, nulls_first = false>] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C8: only an exchange by hash has skew, got gather}}
pipe.stream @s gather over ["ranks"] skew(#dist.skew<pair = 0, heavy = spread>) : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C7: exactly what is parted has parts, two or more, got parted}}
pipe.stream @s parted parts 1 : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C7: exactly what is parted has parts, two or more, got local}}
pipe.stream @s local parts 2 : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C9: rows go toward ranks only by hash, without skew, got gather}}
pipe.stream @s gather over ["node"] toward ["node", "gpu"] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{goes toward ranks along its own axes and others, in the order of the mesh, got ["gpu"] over ["node"]}}
pipe.stream @s hash over ["node"] toward ["gpu"] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C10: only rows by hash without skew go in a cycle, of one key or more, got 10}}
pipe.stream @s gather cycle 10 over ["node"] : !pipe.rows<"k": i32>

// -----

// expected-error@+1 {{C10: only rows by hash without skew go in a cycle, of one key or more, got 0}}
pipe.stream @s hash cycle 0 over ["node"] : !pipe.rows<"k": i32>
