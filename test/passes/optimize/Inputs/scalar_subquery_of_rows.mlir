!t = !frame.table<"a": i64>
func.func @main(%t: !t, %u: !frame.table<"b": i64>) -> !t {
  %b = frame.scalar_subquery %u : !frame.table<"b": i64> -> !frame.nullable<i64>
  %1 = frame.filter %t columns ["a"] {
  ^bb0(%a: i64):
    %p = frame.compare lt %a, %b : (i64, !frame.nullable<i64>) -> !frame.nullable<i1>
    frame.yield %p : !frame.nullable<i1>
  } : !t
  return %1 : !t
}
