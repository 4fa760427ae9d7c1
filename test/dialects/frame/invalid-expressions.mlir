// What the scalar ops refuse, by the constraint's number.
// RUN: headrace-opt %s -split-input-file -verify-diagnostics

func.func @constant_c1() {
  // expected-error @+1 {{literal does not fit type 'i64'}}
  %0 = frame.constant null : i64
  return
}

// -----

func.func @constant_c1_string() {
  // expected-error @+1 {{literal does not fit type '!frame.date'}}
  %0 = frame.constant "1998-02-30" : !frame.date
  return
}

// -----

func.func @constant_c1_range() {
  // expected-error @+1 {{literal does not fit type 'i8'}}
  %0 = frame.constant 128 : i8
  return
}

// -----

func.func @constant_c1_unsigned() {
  // expected-error @+1 {{literal does not fit type 'ui8'}}
  %0 = frame.constant -1 : ui8
  return
}

// -----

func.func @constant_c1_unsigned_range() {
  // expected-error @+1 {{literal does not fit type 'ui64'}}
  %0 = frame.constant 18446744073709551616 : ui64
  return
}

// -----

func.func @constant_generic_unsigned() {
  // expected-error @+1 {{literal does not fit type 'ui8': 255 : ui8}}
  %0 = "frame.constant"() {value = 255 : ui8} : () -> ui8
  return
}

// -----

func.func @constant_c2() {
  // expected-error @+1 {{literal does not fit type '!frame.decimal<3, 2>'}}
  %0 = frame.constant 1000 : !frame.decimal<3, 2>
  return
}

// -----

func.func @constant_generic() {
  // expected-error @+1 {{literal does not fit type 'i64': 1 : i32}}
  %0 = "frame.constant"() {value = 1 : i32} : () -> i64
  return
}

// -----

func.func @add_c1(%a: i64, %b: i32) {
  // expected-error @+1 {{needs decimals, or one type for operands and result, got 'i64', 'i32' and 'i64'}}
  %0 = frame.add %a, %b : (i64, i32) -> i64
  return
}

// -----

func.func @add_c2(%a: !frame.decimal<15, 2>) {
  // expected-error @+1 {{result must have scale 2, got '!frame.decimal<15, 3>'}}
  %0 = frame.add %a, %a : (!frame.decimal<15, 2>, !frame.decimal<15, 2>) -> !frame.decimal<15, 3>
  return
}

// -----

func.func @subtract_c3(%a: !frame.nullable<i64>) {
  // expected-error @+1 {{result must be nullable, got 'i64'}}
  %0 = frame.subtract %a, %a : (!frame.nullable<i64>, !frame.nullable<i64>) -> i64
  return
}

// -----

func.func @multiply_c2(%a: !frame.decimal<15, 2>) {
  // expected-error @+1 {{result must have scale 4, got '!frame.decimal<30, 2>'}}
  %0 = frame.multiply %a, %a : (!frame.decimal<15, 2>, !frame.decimal<15, 2>) -> !frame.decimal<30, 2>
  return
}

// -----

func.func @divide_c3(%a: i64) {
  // expected-error @+1 {{result must not be nullable, got '!frame.nullable<i64>'}}
  %0 = frame.divide %a, %a : (i64, i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @modulus_c1(%a: f64, %b: f32) {
  // expected-error @+1 {{needs decimals, or one type for operands and result}}
  %0 = frame.modulus %a, %b : (f64, f32) -> f64
  return
}

// -----

func.func @negate_type(%a: !frame.string) {
  // expected-error @+1 {{operand #0 must be integer, float or decimal, possibly nullable, but got '!frame.string'}}
  %0 = frame.negate %a : !frame.string
  return
}

// -----

func.func @cast_c1(%a: !frame.date) {
  // expected-error @+1 {{no conversion from '!frame.date' to 'i64'}}
  %0 = frame.cast %a : !frame.date -> i64
  return
}

// -----

func.func @cast_c1_timestamp(%a: !frame.timestamp) {
  // expected-error @+1 {{no conversion from '!frame.timestamp' to 'i32'}}
  %0 = frame.cast %a : !frame.timestamp -> i32
  return
}

// -----

func.func @divide_c4(%a: !frame.decimal<15, 2>, %b: i32) {
  // expected-error @+1 {{needs decimals, or one type for operands and result}}
  %0 = frame.divide %a, %b : (!frame.decimal<15, 2>, i32) -> f64
  return
}

// -----

func.func @divide_c4_nullable(%a: !frame.nullable<!frame.decimal<15, 2>>, %b: i64) {
  // expected-error @+1 {{result must be nullable, got 'f64'}}
  %0 = frame.divide %a, %b : (!frame.nullable<!frame.decimal<15, 2>>, i64) -> f64
  return
}

// -----

func.func @raise_c1() {
  // expected-error @+1 {{needs a message}}
  %0 = frame.raise user "" : i64
  return
}

// -----

func.func @shift_date_c1(%a: !frame.date) {
  // expected-error @+1 {{moves only a timestamp by microseconds, got '!frame.date'}}
  %0 = frame.shift_date %a months 0 days 0 microseconds 1 : !frame.date
  return
}

// -----

func.func @constant_timestamp() {
  // expected-error @+1 {{literal does not fit type '!frame.timestamp'}}
  %0 = frame.constant "1998-09-02 25:00:00" : !frame.timestamp
  return
}

// -----

func.func @cast_c2(%a: !frame.nullable<i32>) {
  // expected-error @+1 {{a nullable operand needs a nullable result, got 'i64'}}
  %0 = frame.cast %a : !frame.nullable<i32> -> i64
  return
}

// -----

func.func @compare_c1(%a: !frame.decimal<15, 2>, %b: !frame.decimal<15, 3>) {
  // expected-error @+1 {{needs operands of one type, got '!frame.decimal<15, 2>' and '!frame.decimal<15, 3>'}}
  %0 = frame.compare eq %a, %b : (!frame.decimal<15, 2>, !frame.decimal<15, 3>) -> i1
  return
}

// -----

func.func @compare_c2(%a: !frame.nullable<i64>) {
  // expected-error @+1 {{result must not be nullable, got '!frame.nullable<i1>'}}
  %0 = frame.compare is_not_distinct_from %a, %a
      : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i1>
  return
}

// -----

func.func @and_c1(%a: i1) {
  // expected-error @+1 {{needs at least two operands, got 1}}
  %0 = frame.and %a : (i1) -> i1
  return
}

// -----

func.func @or_c2(%a: i1, %b: !frame.nullable<i1>) {
  // expected-error @+1 {{result must be nullable, got 'i1'}}
  %0 = frame.or %a, %b : (i1, !frame.nullable<i1>) -> i1
  return
}

// -----

func.func @in_c1(%a: i64) {
  // expected-error @+1 {{needs at least one literal}}
  %0 = frame.in %a [] : (i64) -> i1
  return
}

// -----

func.func @in_c1_null(%a: !frame.nullable<i64>) {
  // expected-error @+1 {{literal does not fit type '!frame.nullable<i64>'}}
  %0 = frame.in %a [1, null] : (!frame.nullable<i64>) -> !frame.nullable<i1>
  return
}

// -----

func.func @in_c2(%a: i64) {
  // expected-error @+1 {{result must not be nullable, got '!frame.nullable<i1>'}}
  %0 = frame.in %a [1] : (i64) -> !frame.nullable<i1>
  return
}

// -----

func.func @case_c1(%c: i1, %a: i64) {
  // expected-error @+1 {{needs one value per condition and at least one condition, got 2 values for 1 conditions}}
  %0 = frame.case when %c then %a, %a else %a : (i1), (i64, i64), i64 -> i64
  return
}

// -----

func.func @case_c2(%c: i1, %a: i64, %b: i32) {
  // expected-error @+1 {{values and result must have one type, got 'i32' and 'i64'}}
  %0 = frame.case when %c then %a else %b : (i1), (i64), i32 -> i64
  return
}

// -----

func.func @case_c3(%c: i1, %a: i64) {
  // expected-error @+1 {{result must be nullable, got 'i64'}}
  %0 = frame.case when %c then %a : (i1), (i64) -> i64
  return
}

// -----

func.func @coalesce_c1(%a: i64, %b: i32) {
  // expected-error @+1 {{operands and result must have one type, got 'i32' and 'i64'}}
  %0 = frame.coalesce %a, %b : (i64, i32) -> i64
  return
}

// -----

func.func @coalesce_c1_empty() {
  // expected-error @+1 {{needs at least one operand}}
  %0 = frame.coalesce : () -> i64
  return
}

// -----

func.func @coalesce_c2(%a: !frame.nullable<i64>, %b: i64) {
  // expected-error @+1 {{result must not be nullable, got '!frame.nullable<i64>'}}
  %0 = frame.coalesce %a, %b : (!frame.nullable<i64>, i64) -> !frame.nullable<i64>
  return
}

// -----

func.func @like_c1(%a: !frame.string) {
  // expected-error @+1 {{escape must be one character, got: ab}}
  %0 = frame.like %a "x" escape "ab" : (!frame.string) -> i1
  return
}

// -----

func.func @substring_c1(%a: !frame.string, %n: i32) {
  // expected-error @+1 {{start and length must be i64, got 'i32'}}
  %0 = frame.substring %a from %n : (!frame.string, i32) -> !frame.string
  return
}

// -----

func.func @substring_c2(%a: !frame.string, %n: !frame.nullable<i64>) {
  // expected-error @+1 {{result must be nullable, got '!frame.string'}}
  %0 = frame.substring %a from %n : (!frame.string, !frame.nullable<i64>) -> !frame.string
  return
}

// -----

func.func @extract_c1(%a: !frame.date) {
  // expected-error @+1 {{result must be i32, got 'i64'}}
  %0 = frame.extract year %a : (!frame.date) -> i64
  return
}

// -----

func.func @yield_parent(%a: i1) {
  // expected-error @+1 {{expects parent op to be one of 'frame.filter, frame.project, frame.join, frame.flat_map, frame.reduce, frame.try'}}
  frame.yield %a : i1
}

// -----

func.func @number_c1(%a: i64) {
  // expected-error @+1 {{has no function from 'i64' to 'f64'}}
  %0 = frame.number ceiling %a : (i64) -> f64
  return
}

// -----

func.func @number_c1_sqrt(%a: i64) {
  // expected-error @+1 {{has no function from 'i64' to 'i64'}}
  %0 = frame.number sqrt %a : (i64) -> i64
  return
}

// -----

func.func @math_name(%a: f64) {
  // expected-error @+1 {{attribute 'function' failed to satisfy constraint: string attribute that names a function of numbers}}
  %0 = frame.math "expp" %a : (f64) -> f64
  return
}

// -----

func.func @math_c1(%a: f64) {
  // expected-error @+1 {{needs as many operands as power has arguments: 2, got 1}}
  %0 = frame.math "power" %a : (f64) -> f64
  return
}

// -----

func.func @math_c2_integers(%a: i64, %b: f64) {
  // expected-error @+1 {{needs operands of type 'i64', got 'f64'}}
  %0 = frame.math "gcd" %a, %b : (i64, f64) -> i64
  return
}

// -----

func.func @cast_c2_or_null(%a: i64) {
  // expected-error @+1 {{or_null needs a nullable result, got 'i8'}}
  %0 = frame.cast %a or_null : i64 -> i8
  return
}

// -----

func.func @math_c2_operand(%a: i64) {
  // expected-error @+1 {{needs operands of type 'f64', got 'i64'}}
  %0 = frame.math "exp" %a : (i64) -> f64
  return
}

// -----

func.func @math_c2_result(%a: f64) {
  // expected-error @+1 {{needs a result of type 'f64', got 'f32'}}
  %0 = frame.math "exp" %a : (f64) -> f32
  return
}

// -----

func.func @number_c3(%a: f64) {
  // expected-error @+1 {{takes digits only to round}}
  %0 = frame.number floor %a digits 2 : (f64) -> f64
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

func.func @constant_of_15_bytes() {
  // expected-error @+1 {{literal does not fit type '!frame.uuid'}}
  %0 = frame.constant "123456789012345" : !frame.uuid
  return
}

// -----

func.func @text_c1_enum(%a: !frame.string) {
  // expected-error @+1 {{needs an enum as operand 0, got '!frame.string'}}
  %0 = frame.text "enum_print"(%a) : (!frame.string) -> !frame.string
  return
}

// -----

func.func @cast_c1_enum(%a: !frame.string) {
  // expected-error @+1 {{no conversion from '!frame.string' to '!frame.enum<"a">'}}
  %0 = frame.cast %a : !frame.string -> !frame.enum<"a">
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

func.func @cast_c1_binary(%a: !frame.binary) {
  // expected-error @+1 {{no conversion from '!frame.binary' to 'i64'}}
  %0 = frame.cast %a : !frame.binary -> i64
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

func.func @constant_too_large() {
  // expected-error @+1 {{integer literal is too large}}
  %0 = frame.constant 6805647338418769269267492148635364229126805647338418769269267492148635364229 : !frame.decimal<38, 0>
  return
}

// -----

func.func @in_types(%a: i64) {
  // expected-error @+1 {{needs one operand and one result type}}
  %0 = frame.in %a [1] : (i64, i64) -> i1
  return
}

// -----

func.func @exact_product_c1(%a: !frame.nullable<f64>, %b: f64) {
  // expected-error @+1 {{nullable}}
  %0 = frame.exact_product %a, %b : (!frame.nullable<f64>, f64) -> !frame.double_double
  return
}

// -----

func.func @comoment_c1(%sum: !frame.double_double, %squares: !frame.double_double, %count: i64) {
  // expected-error @+1 {{nullable}}
  %0 = frame.comoment %sum, %sum, %squares, %count
      : (!frame.double_double, !frame.double_double, !frame.double_double, i64) -> !frame.nullable<f64>
  return
}

// -----

func.func @compare_double_double(%a: !frame.double_double) {
  // expected-error @+1 {{needs operands of one type}}
  %0 = frame.compare eq %a, %a : (!frame.double_double, !frame.double_double) -> i1
  return
}

// -----

func.func @cast_time_of_other_unit(%a: !frame.timestamp<s>) {
  // expected-error @+1 {{no conversion from '!frame.timestamp<s>' to '!frame.time'}}
  %0 = frame.cast %a : !frame.timestamp<s> -> !frame.time
  return
}

// -----

func.func @cast_date_of_time(%a: !frame.time) {
  // expected-error @+1 {{no conversion from '!frame.time' to '!frame.date'}}
  %0 = frame.cast %a : !frame.time -> !frame.date
  return
}

// -----

func.func @shift_date_c2(%a: !frame.timestamp<ns>) {
  // expected-error @+1 {{moves only a timestamp of microseconds, got '!frame.timestamp<ns>'}}
  %0 = frame.shift_date %a months 1 days 0 : !frame.timestamp<ns>
  return
}

// -----

func.func @make_date_c1(%a: !frame.nullable<i64>, %b: i64) {
  // expected-error @+1 {{result must be nullable, got '!frame.date'}}
  %0 = frame.make_date %a, %b, %b : (!frame.nullable<i64>, i64, i64) -> !frame.date
  return
}

// -----

// expected-error @+1 {{expected s, ms, us or ns, got min}}
func.func private @unit() -> !frame.timestamp<min>

// -----

func.func @text_c1_list(%s: !frame.string) {
  // expected-error @+1 {{needs a list as operand 0, got '!frame.string'}}
  %0 = frame.text "list_length"(%s) : (!frame.string) -> i64
  return
}

// -----

func.func @list_c1(%a: i64, %b: i32) {
  // expected-error @+1 {{needs elements of type 'i64', got 'i32'}}
  %0 = frame.list %a, %b : (i64, i32) -> !frame.list<i64>
  return
}

// -----

func.func @element_c1(%l: !frame.list<i64>, %n: i64) {
  // expected-error @+1 {{result must be '!frame.nullable<i64>', got 'i64'}}
  %0 = frame.element %l at %n : (!frame.list<i64>, i64) -> i64
  return
}

// -----

func.func @struct_c1_count(%a: i64) {
  // expected-error @+1 {{needs a value for each of its fields, got 1}}
  %0 = frame.struct %a : (i64) -> !frame.struct<"a": i64, "b": i64>
  return
}

// -----

func.func @struct_c1(%a: i32) {
  // expected-error @+1 {{needs a field of type 'i64', got 'i32'}}
  %0 = frame.struct %a : (i32) -> !frame.struct<"a": i64>
  return
}

// -----

func.func @field_c1(%s: !frame.struct<"a": i64>) {
  // expected-error @+1 {{has no field 1}}
  %0 = frame.field %s[1] : !frame.struct<"a": i64> -> !frame.nullable<i64>
  return
}

// -----

func.func @field_c2(%s: !frame.struct<"a": i64>) {
  // expected-error @+1 {{result must be '!frame.nullable<i64>', got 'i64'}}
  %0 = frame.field %s[0] : !frame.struct<"a": i64> -> i64
  return
}

// -----

func.func @text_c1_nested(%s: !frame.string) {
  // expected-error @+1 {{needs a list, struct or map as operand 0, got '!frame.string'}}
  %0 = frame.text "nested_order"(%s) : (!frame.string) -> !frame.string
  return
}

// -----

func.func @nearest_c1(%sum: !frame.nullable<!frame.double_double>) {
  // expected-error @+1 {{nullable}}
  %0 = frame.nearest %sum : !frame.nullable<!frame.double_double> -> f64
  return
}
