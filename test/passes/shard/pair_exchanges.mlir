// The two exchanges before a join agree on heavy keys, by its kind, where nobody relies on the places
// of its rows. Sources: passes/shard/pair_exchanges.cpp, passes/form/divide_states.cpp
// RUN: headrace-opt %s --split-input-file --shard-pair-exchanges | FileCheck %s

!l = !frame.table<"k": i64, "v": i64>
!r = !frame.table<"j": i64, "w": i64>
!both = !frame.table<"k": i64, "v": i64, "j": i64, "w": i64>
#hashed = #dist.layout<@mesh, rows = hash<["k"]> over ["ranks"]>
module attributes {topo.mesh = #topo.mesh<@mesh, [("ranks", 4)]>} {
  // CHECK-LABEL: func @inner
  // CHECK: dist.exchange hash {{.*}} keys ["k"] over ["ranks"] skew <pair = 0, heavy = spread>
  // CHECK: dist.exchange hash {{.*}} keys ["j"] over ["ranks"] skew <pair = 0, heavy = spread>
  func.func @inner(%l: !l, %r: !r) -> !both {
    %a = dist.exchange hash %l keys ["k"] over ["ranks"] : !l
    %b = dist.exchange hash %r keys ["j"] over ["ranks"] : !r
    %j = frame.join inner %a, %b on ["k"] = ["j"] {dist.layouts = [#hashed]} : !l, !r -> !both
    %g = dist.exchange gather %j over ["ranks"] : !both
    return %g : !both
  }

  // CHECK-LABEL: func @semi
  // CHECK: skew <pair = 1, heavy = spread>
  // CHECK: skew <pair = 1, heavy = once>
  func.func @semi(%l: !l, %r: !r) -> !l {
    %a = dist.exchange hash %l keys ["k"] over ["ranks"] : !l
    %b = dist.exchange hash %r keys ["j"] over ["ranks"] : !r
    %j = frame.join semi %a, %b on ["k"] = ["j"] {dist.layouts = [#hashed]} : !l, !r -> !l
    %g = dist.exchange gather %j over ["ranks"] : !l
    return %g : !l
  }

  // Another condition: a right row of the key need not be a match.
  // CHECK-LABEL: func @residual
  // CHECK: skew <pair = 2, heavy = spread>
  // CHECK: skew <pair = 2, heavy = stay>
  func.func @residual(%l: !l, %r: !r) -> !l {
    %a = dist.exchange hash %l keys ["k"] over ["ranks"] : !l
    %b = dist.exchange hash %r keys ["j"] over ["ranks"] : !r
    %j = frame.join semi %a, %b on ["k"] = ["j"] residual ["v", "w"] {
    ^bb0(%v: i64, %w: i64):
      %p = frame.compare lt %v, %w : (i64, i64) -> i1
      frame.yield %p : i1
    } {dist.layouts = [#hashed]} : !l, !r -> !l
    %g = dist.exchange gather %j over ["ranks"] : !l
    return %g : !l
  }

  // An aggregate by the key takes the rows where they lie.
  // CHECK-LABEL: func @relied_on
  // CHECK-NOT: skew
  // CHECK: return
  func.func @relied_on(%l: !l, %r: !r) -> !frame.table<"k": i64> {
    %a = dist.exchange hash %l keys ["k"] over ["ranks"] : !l
    %b = dist.exchange hash %r keys ["j"] over ["ranks"] : !r
    %j = frame.join inner %a, %b on ["k"] = ["j"] {dist.layouts = [#hashed]} : !l, !r -> !both
    %n = frame.aggregate %j keys ["k"] measures [] {dist.layouts = [#hashed]} : !both -> !frame.table<"k": i64>
    %g = dist.exchange gather %n over ["ranks"] : !frame.table<"k": i64>
    return %g : !frame.table<"k": i64>
  }

  // One exchange for two joins.
  // CHECK-LABEL: func @shared
  // CHECK-NOT: skew
  // CHECK: return
  func.func @shared(%l: !l, %r: !r) -> (!l, !l) {
    %a = dist.exchange hash %l keys ["k"] over ["ranks"] : !l
    %b = dist.exchange hash %r keys ["j"] over ["ranks"] : !r
    %j = frame.join semi %a, %b on ["k"] = ["j"] {dist.layouts = [#hashed]} : !l, !r -> !l
    %i = frame.join anti %a, %b on ["k"] = ["j"] {dist.layouts = [#hashed]} : !l, !r -> !l
    %g = dist.exchange gather %j over ["ranks"] : !l
    %h = dist.exchange gather %i over ["ranks"] : !l
    return %g, %h : !l, !l
  }
}
