// `frame.text`: a function of strings, binaries or lists.
// RUN: headrace-opt %s --split-input-file --verify-diagnostics | headrace-opt --split-input-file | FileCheck %s

// CHECK: frame.text "upper"(%{{.*}}) : (!frame.string) -> !frame.string
func.func @text(%a: !frame.string, %b: !frame.nullable<!frame.string>) {
  %0 = frame.text "upper"(%a) : (!frame.string) -> !frame.string
  %1 = frame.text "length"(%b) : (!frame.nullable<!frame.string>) -> !frame.nullable<i64>
  %2 = frame.text "concat"(%a, %b, %a)
      : (!frame.string, !frame.nullable<!frame.string>, !frame.string) -> !frame.nullable<!frame.string>
  return
}

// -----

func.func @text_c1(%a: !frame.string) {
  // expected-error @+1 {{has a wrong number of operands for replace: 1}}
  %0 = frame.text "replace"(%a) : (!frame.string) -> !frame.string
  return
}

// -----

func.func @text_c1_operands(%a: i64) {
  // expected-error @+1 {{needs a string as operand 0, got 'i64'}}
  %0 = frame.text "upper"(%a) : (i64) -> !frame.string
  return
}

// -----

func.func @text_c1_interval(%a: !frame.string) {
  // expected-error @+1 {{needs an interval as operand 0, got '!frame.string'}}
  %0 = frame.text "interval_print"(%a) : (!frame.string) -> !frame.string
  return
}

// -----

func.func @text_c1_uuid(%a: !frame.string) {
  // expected-error @+1 {{needs a uuid as operand 0, got '!frame.string'}}
  %0 = frame.text "uuid_print"(%a) : (!frame.string) -> !frame.string
  return
}

// -----

func.func @text_c2_uuid(%a: !frame.string) {
  // expected-error @+1 {{must not give '!frame.ui128'}}
  %0 = frame.text "uuid_parse"(%a) : (!frame.string) -> !frame.ui128
  return
}

// -----

func.func @text_c1_enum(%a: !frame.string) {
  // expected-error @+1 {{needs an enum as operand 0, got '!frame.string'}}
  %0 = frame.text "enum_print"(%a) : (!frame.string) -> !frame.string
  return
}

// -----

func.func @text_c1_binary(%a: !frame.string) {
  // expected-error @+1 {{needs a binary as operand 0, got '!frame.string'}}
  %0 = frame.text "decode"(%a) : (!frame.string) -> !frame.string
  return
}

// -----

func.func @text_c1_bytes(%a: i64) {
  // expected-error @+1 {{needs a string or a binary as operand 0, got 'i64'}}
  %0 = frame.text "hex"(%a) : (i64) -> !frame.string
  return
}

// -----

func.func @text_c1_one_of_the_two(%a: !frame.string, %b: !frame.binary) {
  // expected-error @+1 {{needs strings or binaries alone, got '!frame.binary'}}
  %0 = frame.text "concat"(%a, %b) : (!frame.string, !frame.binary) -> !frame.string
  return
}

// -----

func.func @text_c2_bytes(%a: !frame.binary) {
  // expected-error @+1 {{must not give '!frame.string'}}
  %0 = frame.text "concat"(%a) : (!frame.binary) -> !frame.string
  return
}

// -----

func.func @text_c2_binary(%a: !frame.string) {
  // expected-error @+1 {{must not give '!frame.string'}}
  %0 = frame.text "encode"(%a) : (!frame.string) -> !frame.string
  return
}

// -----

func.func @text_c1_integers(%a: !frame.string, %n: i32) {
  // expected-error @+1 {{needs an i64 as operand 1, got 'i32'}}
  %0 = frame.text "repeat"(%a, %n) : (!frame.string, i32) -> !frame.string
  return
}

// -----

func.func @text_c2(%a: !frame.string) {
  // expected-error @+1 {{must not give '!frame.string'}}
  %0 = frame.text "length"(%a) : (!frame.string) -> !frame.string
  return
}

// -----

func.func @text_c1_list(%s: !frame.string) {
  // expected-error @+1 {{needs a list as operand 0, got '!frame.string'}}
  %0 = frame.text "list_length"(%s) : (!frame.string) -> i64
  return
}

// -----

func.func @text_c1_nested(%s: !frame.string) {
  // expected-error @+1 {{needs a list, struct or map as operand 0, got '!frame.string'}}
  %0 = frame.text "nested_order"(%s) : (!frame.string) -> !frame.string
  return
}
