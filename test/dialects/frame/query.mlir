// A whole query (TPC-H q06's shape) parses, verifies and prints the same again.
// RUN: headrace-opt %s | headrace-opt | FileCheck %s

!lineitem = !frame.table<
    "l_quantity": !frame.decimal<15, 2>, "l_extendedprice": !frame.decimal<15, 2>,
    "l_discount": !frame.decimal<15, 2>, "l_shipdate": !frame.date>

// CHECK: func.func @main() -> !frame.table<"revenue": !frame.nullable<!frame.decimal<38, 4>>>
// CHECK-SAME: frame.result_names = ["revenue"]
func.func @main() -> !frame.table<"revenue": !frame.nullable<!frame.decimal<38, 4>>>
    attributes {frame.result_names = ["revenue"]} {
  // CHECK: frame.scan "lineitem" ["l_quantity", "l_extendedprice", "l_discount", "l_shipdate"]
  %0 = frame.scan "lineitem" ["l_quantity", "l_extendedprice", "l_discount", "l_shipdate"] : !lineitem
  // CHECK: frame.filter %{{.*}} columns ["l_shipdate", "l_quantity"] {
  // CHECK-NEXT: ^bb0(%[[DATE:l_shipdate]]: !frame.date, %l_quantity: !frame.decimal<15, 2>):
  %1 = frame.filter %0 columns ["l_shipdate", "l_quantity"] {
  ^bb0(%d: !frame.date, %q: !frame.decimal<15, 2>):
    // CHECK: frame.constant "1994-01-01" : !frame.date
    %day = frame.constant 8766 : !frame.date
    // CHECK: frame.constant 2400 : !frame.decimal<15, 2>
    %most = frame.constant 2400 : !frame.decimal<15, 2>
    // CHECK: frame.compare ge %[[DATE]]
    %a = frame.compare ge %d, %day : (!frame.date, !frame.date) -> i1
    %b = frame.compare lt %q, %most : (!frame.decimal<15, 2>, !frame.decimal<15, 2>) -> i1
    %p = frame.and %a, %b : (i1, i1) -> i1
    frame.yield %p : i1
  } : !lineitem
  // CHECK: frame.project %{{.*}} keep [] compute ["product"]
  %2 = frame.project %1 keep [] compute ["product"] columns ["l_extendedprice", "l_discount"] {
  ^bb0(%e: !frame.decimal<15, 2>, %d: !frame.decimal<15, 2>):
    %m = frame.multiply %e, %d
        : (!frame.decimal<15, 2>, !frame.decimal<15, 2>) -> !frame.decimal<31, 4>
    frame.yield %m : !frame.decimal<31, 4>
  } : !lineitem -> !frame.table<"product": !frame.decimal<31, 4>>
  // CHECK: frame.aggregate %{{.*}} keys [] measures [#frame.measure<sum("product") -> "revenue">]
  %3 = frame.aggregate %2 keys [] measures [#frame.measure<sum("product") -> "revenue">]
      : !frame.table<"product": !frame.decimal<31, 4>>
      -> !frame.table<"revenue": !frame.nullable<!frame.decimal<38, 4>>>
  return %3 : !frame.table<"revenue": !frame.nullable<!frame.decimal<38, 4>>>
}

// Contracts, and a program without columns.
// CHECK: func.func private @contract() attributes {contract = #frame.contract<[sum<i128>, count, min]>}
func.func private @contract() attributes {contract = #frame.contract<[sum<i128>, count, min]>}
// CHECK: func.func private @empty() -> !frame.table<>
func.func private @empty() -> !frame.table<>

// CHECK-LABEL: func.func @literals
func.func @literals() {
  // CHECK: frame.constant -170141183460469231731687303715884105 : !frame.decimal<38, 4>
  %0 = frame.constant -170141183460469231731687303715884105 : !frame.decimal<38, 4>
  // CHECK: frame.constant 18446744073709551615 : ui64
  %unsigned = frame.constant 18446744073709551615 : ui64
  // CHECK: frame.constant "nan" : f64
  %1 = frame.constant "nan" : f64
  // CHECK: frame.constant -1.500000e+00 : f32
  %2 = frame.constant -1.5 : f32
  // CHECK: frame.constant -9223372036854775808 : i64
  %3 = frame.constant -9223372036854775808 : i64
  // CHECK: frame.constant "a\22b" : !frame.nullable<!frame.string>
  %4 = frame.constant "a\22b" : !frame.nullable<!frame.string>
  return
}
