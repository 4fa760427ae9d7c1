// `pipe.text`: a function of strings.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: pipe.text "concat"(%{{.*}}, %{{.*}}) : (!pipe.string, !pipe.string) -> !pipe.string
func.func @body(%a: !pipe.string, %b: !pipe.string) -> i64 {
  %0 = pipe.text "concat"(%a, %b) : (!pipe.string, !pipe.string) -> !pipe.string
  %1 = pipe.text "length"(%0) : (!pipe.string) -> i64
  return %1 : i64
}

// -----

func.func @body(%a: !pipe.string) -> i64 {
  // expected-error@+1 {{C2: has no result of type: '!pipe.string'}}
  %0 = pipe.text "length"(%a) : (!pipe.string) -> !pipe.string
  return %0 : !pipe.string
}

// -----

func.func @body(%a: !pipe.string) -> !pipe.string {
  // expected-error@+1 {{C2: upper always has a value}}
  %0, %1 = pipe.text "upper"(%a) : (!pipe.string) -> (!pipe.string, i1)
  return %0 : !pipe.string
}

// -----

func.func @body(%a: !pipe.string, %n: i64) -> !pipe.string {
  // expected-error@+1 {{C2: lpad needs a result that says whether it has a value}}
  %0 = pipe.text "lpad"(%a, %n, %a) : (!pipe.string, i64, !pipe.string) -> !pipe.string
  return %0 : !pipe.string
}

// -----

func.func @body(%a: i64) -> !pipe.string {
  // expected-error@+1 {{C1: upper has no argument of type: 'i64'}}
  %0 = pipe.text "upper"(%a) : (i64) -> !pipe.string
  return %0 : !pipe.string
}

// -----

func.func @body(%a: !pipe.string) -> !pipe.string {
  // expected-error@+1 {{C1: replace takes another number of arguments than 1}}
  %0 = pipe.text "replace"(%a) : (!pipe.string) -> !pipe.string
  return %0 : !pipe.string
}
