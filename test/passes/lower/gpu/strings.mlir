// String, date and 128-bit ops of bodies call the CPU's primitives, linked as bitcode.
// Sources: passes/lower/gpu/device_code.cpp, passes/lower/gpu/primitives_bitcode.cpp
// RUN: headrace-translate --kernel-to-ptx %s | FileCheck %s

// Nothing is left to be linked.
// CHECK-NOT: .extern
// CHECK: .entry texts(
// CHECK-NOT: .extern
pipe.state @totals group [#pipe.field<"year", i64, key>, #pipe.field<"head", !pipe.string, key>, #pipe.field<"value", i128, sum>, #pipe.field<"mean", f64, sum>]
pipe.pipeline @texts {
  %0 = pipe.scan "t" [#pipe.scan_column<column = "text", file = "text">, #pipe.scan_column<column = "day", file = "day">, #pipe.scan_column<column = "value", file = "value">] : !pipe.rows<"text": !pipe.string, "day": i32, "value": i128>
  %1 = pipe.filter %0 ["text"] {
  ^bb0(%text: !pipe.string):
    %like = pipe.string_match %text "%spec_al%"
    %contains = pipe.string_match %text "%requests%"
    %either = arith.ori %like, %contains : i1
    pipe.yield %either : i1
  } : !pipe.rows<"text": !pipe.string, "day": i32, "value": i128> -> !pipe.rows<"text": !pipe.string, "day": i32, "value": i128>
  %2 = pipe.map %1 ["year", "head", "value", "mean"] ["text", "day", "value"] {
  ^bb0(%text: !pipe.string, %day: i32, %amount: i128):
    %one = arith.constant 1 : i64
    %five = arith.constant 5 : i64
    %hundred = arith.constant 100 : i128
    %seven = arith.constant 7 : i128
    %head = pipe.substring %text, %one, %five
    %year = pipe.date_part year %day
    %product, %overflow = pipe.multiply %amount, %hundred
    pipe.fail_if %overflow, overflow
    %mean, %too_large = pipe.divide %product, %hundred, %seven
    pipe.fail_if %too_large, overflow
    %real = pipe.to_float %mean
    pipe.yield %year, %head, %product, %real : i64, !pipe.string, i128, f64
  } : !pipe.rows<"text": !pipe.string, "day": i32, "value": i128> -> !pipe.rows<"year": i64, "head": !pipe.string, "value": i128, "mean": f64>
  pipe.combine %2, @totals keys ["year", "head"] : !pipe.rows<"year": i64, "head": !pipe.string, "value": i128, "mean": f64>
}
