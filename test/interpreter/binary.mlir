// Bytes that are no text: literals, casts, functions and keys, in every stage of the compiler.
// Sources: passes/form/scalar_functions.cpp, passes/analysis/scalar_evaluation.cpp
// RUN: headrace-interpret %s --check --tables %S/tables --layouts 8 --mesh ranks:1 --mesh ranks:3 | FileCheck %s

// CHECK:      b,hex,n,back
// CHECK-NEXT: "a\x00\xFF","6100FF",3,"a"
// CHECK-NEXT: "b\x00\xFF","6200FF",3,"b"
// CHECK:      compared {{[1-9][0-9]+}} stages
!l = !frame.table<"k": !frame.nullable<!frame.string>>
!b = !frame.nullable<!frame.binary>
!s = !frame.nullable<!frame.string>
!r = !frame.table<"b": !b, "hex": !s, "n": !frame.nullable<i64>, "back": !s>
func.func @functions() -> !r {
  %l = frame.scan "left" ["k"] : !l
  %f = frame.filter %l columns ["k"] {
  ^bb0(%k: !s):
    %w = frame.constant "c" : !frame.string
    %c = frame.compare lt %k, %w : (!s, !frame.string) -> !frame.nullable<i1>
    frame.yield %c : !frame.nullable<i1>
  } : !l
  %r = frame.project %f keep [] compute ["b", "hex", "n", "back"] columns ["k"] {
  ^bb0(%k: !s):
    %e = frame.text "encode"(%k) : (!s) -> !b
    %z = frame.constant "\00\FF" : !frame.binary
    %b = frame.text "concat"(%e, %z) : (!b, !frame.binary) -> !b
    %h = frame.text "hex"(%b) : (!b) -> !s
    %n = frame.text "octet_length"(%b) : (!b) -> !frame.nullable<i64>
    %d = frame.text "decode"(%e) : (!b) -> !s
    frame.yield %b, %h, %n, %d : !b, !s, !frame.nullable<i64>, !s
  } : !l -> !r
  %u = frame.distinct %r : !r
  %o = frame.sort %u by [#frame.sort_key<"b" asc nulls_last>] : !r
  return %o : !r
}
