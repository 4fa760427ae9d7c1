// What the ops of expressions with a region refuse, by the constraint's number.
// Sources: dialects/frame/FrameLambdas.cpp
// RUN: headrace-opt %s -split-input-file -verify-diagnostics

func.func @flat_map_c1_number(%l: !frame.list<i64>) {
  // expected-error @+1 {{needs a region with other arguments: an element, its place and the captures, got 1}}
  %0 = frame.flat_map %l {
  ^bb0(%x: !frame.nullable<i64>):
    %1 = frame.list %x : (!frame.nullable<i64>) -> !frame.list<i64>
    frame.yield %1 : !frame.list<i64>
  } : (!frame.list<i64>) -> !frame.list<i64>
  return
}

// -----

func.func @flat_map_c1(%l: !frame.list<i64>) {
  // expected-error @+1 {{argument 0 of the region must be '!frame.nullable<i64>', got 'i64'}}
  %0 = frame.flat_map %l {
  ^bb0(%x: i64, %place: i64):
    %1 = frame.list %x : (i64) -> !frame.list<i64>
    frame.yield %1 : !frame.list<i64>
  } : (!frame.list<i64>) -> !frame.list<i64>
  return
}

// -----

func.func @flat_map_c2_number(%l: !frame.list<i64>) {
  // expected-error @+1 {{the region must yield one value}}
  %0 = frame.flat_map %l {
  ^bb0(%x: !frame.nullable<i64>, %place: i64):
    frame.yield
  } : (!frame.list<i64>) -> !frame.list<i64>
  return
}

// -----

func.func @flat_map_c2(%l: !frame.list<i64>) {
  // expected-error @+1 {{the region must yield '!frame.list<i64>', got '!frame.nullable<i64>'}}
  %0 = frame.flat_map %l {
  ^bb0(%x: !frame.nullable<i64>, %place: i64):
    frame.yield %x : !frame.nullable<i64>
  } : (!frame.list<i64>) -> !frame.list<i64>
  return
}

// -----

func.func @flat_map_c3(%l: !frame.list<i64>) {
  // expected-error @+1 {{result must be nullable exactly if the list is, got '!frame.nullable<!frame.list<i64>>'}}
  %0 = frame.flat_map %l {
  ^bb0(%x: !frame.nullable<i64>, %place: i64):
    %1 = frame.list %x : (!frame.nullable<i64>) -> !frame.list<i64>
    frame.yield %1 : !frame.list<i64>
  } : (!frame.list<i64>) -> !frame.nullable<!frame.list<i64>>
  return
}

// -----

func.func @flat_map_isolated(%l: !frame.list<i64>, %n: i64) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = frame.flat_map %l {
  ^bb0(%x: !frame.nullable<i64>, %place: i64):
    // expected-error @+1 {{using value defined outside the region}}
    %1 = frame.list %n : (i64) -> !frame.list<i64>
    frame.yield %1 : !frame.list<i64>
  } : (!frame.list<i64>) -> !frame.list<i64>
  return
}

// -----

func.func @reduce_c1(%l: !frame.list<i64>, %n: i64) {
  // expected-error @+1 {{argument 0 of the region must be '!frame.nullable<i64>', got 'i64'}}
  %0 = frame.reduce %l from %n {
  ^bb0(%sum: i64, %x: !frame.nullable<i64>, %place: i64):
    frame.yield %sum : i64
  } : (!frame.list<i64>, i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @reduce_c2(%l: !frame.list<i64>, %n: i32) {
  // expected-error @+1 {{needs values of type '!frame.nullable<i64>', got 'i32'}}
  %0 = frame.reduce %l from %n {
  ^bb0(%sum: !frame.nullable<i64>, %x: !frame.nullable<i64>, %place: i64):
    frame.yield %sum : !frame.nullable<i64>
  } : (!frame.list<i64>, i32) -> !frame.nullable<i64>
  return
}

// -----

func.func @reduce_c3(%l: !frame.list<i64>, %n: i64) {
  // expected-error @+1 {{result must be nullable, got 'i64'}}
  %0 = frame.reduce %l from %n {
  ^bb0(%sum: i64, %x: !frame.nullable<i64>, %place: i64):
    frame.yield %sum : i64
  } : (!frame.list<i64>, i64) -> i64
  return
}

// -----

func.func @reduce_c4(%l: !frame.list<i64>, %n: i64) {
  // expected-error @+1 {{starts at an element from 1 on, got 0}}
  %0 = frame.reduce %l from %n {
  ^bb0(%sum: !frame.nullable<i64>, %x: !frame.nullable<i64>, %place: i64):
    frame.yield %sum : !frame.nullable<i64>
  } {first = 0 : i64} : (!frame.list<i64>, i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @try_c1_number(%a: i64) {
  // expected-error @+1 {{needs a region with other arguments: the captures, got 0}}
  %0 = frame.try captures(%a) {
    %1 = frame.constant 1 : i64
    frame.yield %1 : i64
  } : (i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @try_c1(%a: i64) {
  // expected-error @+1 {{argument 0 of the region must be 'i64', got 'i32'}}
  %0 = frame.try captures(%a) {
  ^bb0(%x: i32):
    frame.yield %x : i32
  } : (i64) -> !frame.nullable<i32>
  return
}

// -----

func.func @try_c2_number(%a: i64) {
  // expected-error @+1 {{the region must yield one value}}
  %0 = frame.try captures(%a) {
  ^bb0(%x: i64):
    frame.yield %x, %x : i64, i64
  } : (i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @try_c2(%a: i64) {
  // expected-error @+1 {{needs a value of type '!frame.nullable<i32>', got 'i64'}}
  %0 = frame.try captures(%a) {
  ^bb0(%x: i64):
    frame.yield %x : i64
  } : (i64) -> !frame.nullable<i32>
  return
}

// -----

func.func @try_c3(%a: i64) {
  // expected-error @+1 {{result must be nullable, got 'i64'}}
  %0 = frame.try captures(%a) {
  ^bb0(%x: i64):
    frame.yield %x : i64
  } : (i64) -> i64
  return
}

// -----

func.func @try_isolated(%a: i64) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = frame.try {
    // expected-error @+1 {{using value defined outside the region}}
    %1 = frame.negate %a : i64
    frame.yield %1 : i64
  } : () -> !frame.nullable<i64>
  return
}
