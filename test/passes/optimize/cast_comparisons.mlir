// A comparison of a widening cast with a constant becomes one of what is cast, for every kind of
// comparison, at the ends of its type and between two of its values.
// RUN: headrace-opt --optimize-simplify %s | FileCheck %s

!t = !frame.table<"d": !frame.date, "i": i32, "n": !frame.nullable<i32>, "p": !frame.decimal<4, 1>>
!six = !frame.table<"a": i1, "b": i1, "c": i1, "e": i1, "f": i1, "g": i1>

// CHECK-LABEL: func.func @days
// CHECK: frame.constant "1970-01-11"
// CHECK-NEXT: frame.compare lt %d
// CHECK-NEXT: frame.constant "1970-01-12"
// CHECK-NEXT: frame.compare lt %d
// CHECK-NEXT: frame.constant "1970-01-12"
// CHECK-NEXT: frame.compare lt %d
// CHECK-NEXT: frame.constant "1970-01-12"
// CHECK-NEXT: frame.compare ge %d
// CHECK-NEXT: frame.constant "1970-01-11"
// CHECK-NEXT: frame.compare ne %d
// CHECK-NEXT: frame.constant "1970-01-12"
// CHECK-NEXT: frame.compare lt %d
// CHECK-NEXT: frame.yield
func.func @days(%t: !t) -> !six {
  %0 = frame.project %t keep [] compute ["a", "b", "c", "e", "f", "g"] columns ["d"] {
  ^bb0(%d: !frame.date):
    %moment = frame.cast %d : !frame.date -> !frame.timestamp
    // 1970-01-11 00:00, and an hour later.
    %midnight = frame.constant 864000000000 : !frame.timestamp
    %later = frame.constant 867600000000 : !frame.timestamp
    %a = frame.compare lt %moment, %midnight : (!frame.timestamp, !frame.timestamp) -> i1
    %b = frame.compare le %moment, %midnight : (!frame.timestamp, !frame.timestamp) -> i1
    %c = frame.compare lt %moment, %later : (!frame.timestamp, !frame.timestamp) -> i1
    %e = frame.compare ge %moment, %later : (!frame.timestamp, !frame.timestamp) -> i1
    %f = frame.compare ne %moment, %midnight : (!frame.timestamp, !frame.timestamp) -> i1
    %g = frame.compare gt %later, %moment : (!frame.timestamp, !frame.timestamp) -> i1
    frame.yield %a, %b, %c, %e, %f, %g : i1, i1, i1, i1, i1, i1
  } : !t -> !six
  return %0 : !six
}

// CHECK-LABEL: func.func @never_a_day
// CHECK: ^bb0
// CHECK-NEXT: frame.constant false
// CHECK-NEXT: frame.constant true
// CHECK-NEXT: frame.constant true
// CHECK-NEXT: frame.constant false
// CHECK-NEXT: frame.yield
func.func @never_a_day(%t: !t) -> !frame.table<"eq": i1, "ne": i1, "lt": i1, "all": i1> {
  %0 = frame.project %t keep [] compute ["eq", "ne", "lt", "all"] columns ["d", "i"] {
  ^bb0(%d: !frame.date, %i: i32):
    %moment = frame.cast %d : !frame.date -> !frame.timestamp
    %later = frame.constant 867600000000 : !frame.timestamp
    %eq = frame.compare eq %moment, %later : (!frame.timestamp, !frame.timestamp) -> i1
    %ne = frame.compare ne %moment, %later : (!frame.timestamp, !frame.timestamp) -> i1
    %wide = frame.cast %i : i32 -> i64
    %beyond = frame.constant 2147483648 : i64
    %least = frame.constant -2147483648 : i64
    %lt = frame.compare lt %wide, %beyond : (i64, i64) -> i1
    %all = frame.compare lt %wide, %least : (i64, i64) -> i1
    frame.yield %eq, %ne, %lt, %all : i1, i1, i1, i1
  } : !t -> !frame.table<"eq": i1, "ne": i1, "lt": i1, "all": i1>
  return %0 : !frame.table<"eq": i1, "ne": i1, "lt": i1, "all": i1>
}

// CHECK-LABEL: func.func @stays
// CHECK: %[[WIDE:.*]] = frame.cast %n
// CHECK: frame.compare lt %[[WIDE]]
// CHECK: %[[NARROW:.*]] = frame.cast %i : i32 -> i16
// CHECK: frame.compare lt %[[NARROW]]
// CHECK: %[[TRIED:.*]] = frame.cast %i or_null
// CHECK: frame.compare lt %[[TRIED]]
func.func @stays(%t: !t) -> !frame.table<"n": !frame.nullable<i1>, "s": i1, "f": !frame.nullable<i1>> {
  %0 = frame.project %t keep [] compute ["n", "s", "f"] columns ["n", "i"] {
  ^bb0(%n: !frame.nullable<i32>, %i: i32):
    // NULL for NULL, so that it is no constant.
    %wide = frame.cast %n : !frame.nullable<i32> -> !frame.nullable<i64>
    %beyond = frame.constant 2147483648 : i64
    %x = frame.compare lt %wide, %beyond : (!frame.nullable<i64>, i64) -> !frame.nullable<i1>
    // A cast that may fail, and one that makes NULL of what fails.
    %narrow = frame.cast %i : i32 -> i16
    %seven = frame.constant 7 : i16
    %y = frame.compare lt %narrow, %seven : (i16, i16) -> i1
    %tried = frame.cast %i or_null : i32 -> !frame.nullable<i16>
    %z = frame.compare lt %tried, %seven : (!frame.nullable<i16>, i16) -> !frame.nullable<i1>
    frame.yield %x, %y, %z : !frame.nullable<i1>, i1, !frame.nullable<i1>
  } : !t -> !frame.table<"n": !frame.nullable<i1>, "s": i1, "f": !frame.nullable<i1>>
  return %0 : !frame.table<"n": !frame.nullable<i1>, "s": i1, "f": !frame.nullable<i1>>
}

// CHECK-LABEL: func.func @decimals
// CHECK: frame.constant 13 : !frame.decimal<4, 1>
// CHECK-NEXT: frame.compare ge %p
// CHECK-NEXT: frame.in %i [3, -4] : (i32) -> i1
func.func @decimals(%t: !t) -> !t {
  %0 = frame.filter %t columns ["p", "i"] {
  ^bb0(%p: !frame.decimal<4, 1>, %i: i32):
    %wide = frame.cast %p : !frame.decimal<4, 1> -> !frame.decimal<10, 2>
    // 1.25 lies between 1.2 and 1.3.
    %between = frame.constant 125 : !frame.decimal<10, 2>
    %a = frame.compare gt %wide, %between : (!frame.decimal<10, 2>, !frame.decimal<10, 2>) -> i1
    %cents = frame.cast %i : i32 -> !frame.decimal<12, 2>
    %b = frame.in %cents [300, 350, -400] : (!frame.decimal<12, 2>) -> i1
    %all = frame.and %a, %b : (i1, i1) -> i1
    frame.yield %all : i1
  } : !t
  return %0 : !t
}
