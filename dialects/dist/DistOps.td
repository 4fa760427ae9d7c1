// The ops of `dist`.
#ifndef HEADRACE_DIST_OPS_TD
#define HEADRACE_DIST_OPS_TD

include "dialects/dist/DistAttrs.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/frame/FrameTypes.td"
include "dialects/interfaces/KnownAttributes.td"

def Dist_TableOrTensor : AnyTypeOf<[Frame_TableType, AnyRankedTensor]>;
def Dist_Axes : TypedArrayAttrBase<StrAttr, "array of mesh axis names">;
def Dist_Order : TypedArrayAttrBase<
    Attr<CPred<"::llvm::isa<::headrace::frame::SortKeyAttr>($_self)">, "sort key">,
    "array of #frame.sort_key">;
def Dist_Keys : TypedArrayAttrBase<StrAttr, "array of column names">;

// Communication is the same on every rank (SPMD), so equal calls may be merged and unused ones dropped on all
// ranks alike: the ops are Pure.
class Dist_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dist_Dialect, mnemonic, !listconcat([Pure, KnownAttributes], traits)> {
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Layouts as ops: before and inside `shard`
//===----------------------------------------------------------------------===//

def Dist_ConstrainOp : Dist_Op<"constrain", [AllTypesMatch<["input", "result"]>]> {
  let summary = "a layout that the user asks for, a hard constraint of the solver";
  let description = [{
    Exists from `import` to the solve in `shard`.

    ```mlir
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @constrain(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
        %0 = dist.constrain %x : tensor<8x4xf32> to #dist.layout<@mesh, dims = [["r"], []]>
        return %0 : tensor<8x4xf32>
      }
    }
    ```

    **Constraints:**
    - (C1) the layout fits the type: one entry in dims per dimension, rows only on tables, keys among the columns.
    - (C2) the layout's mesh and axes are those of the module.
  }];
  let arguments = (ins Dist_TableOrTensor:$input, Dist_LayoutAttr:$layout);
  let results = (outs Dist_TableOrTensor:$result);
  let assemblyFormat = "$input `:` type($input) `to` $layout attr-dict";
}

def Dist_ReshardOp : Dist_Op<"reshard", [AllTypesMatch<["input", "result"]>]> {
  let summary = "the same value in another layout";
  let description = [{
    Inserted where the layout a value has is not the one its user needs; lowered to collectives and
    exchanges by the end of `shard`. What goes over several axes goes over all of them at once, or, `in levels`, over
    one after the other.

    ```mlir
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @reshard(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
        %0 = dist.reshard %x : tensor<8x4xf32> from #dist.layout<@mesh, dims = [["r"], []]>
            to #dist.layout<@mesh, dims = [[], []]>
        return %0 : tensor<8x4xf32>
      }
    }
    ```

    **Constraints:**
    - (C1) both layouts fit the type.
    - (C2) their mesh and axes are those of the module.
    - (C3) the target is not unreduced: nothing becomes unreduced by moving it.
  }];
  let arguments = (ins Dist_TableOrTensor:$input, Dist_LayoutAttr:$source, Dist_LayoutAttr:$target,
                       UnitAttr:$in_levels);
  let results = (outs Dist_TableOrTensor:$result);
  let assemblyFormat = "$input `:` type($input) `from` $source `to` $target (`in` `levels` $in_levels^)? attr-dict";
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

def Dist_ExchangeOp : Dist_Op<"exchange", [AllTypesMatch<["input", "result"]>]> {
  let summary = "moves rows between the ranks along mesh axes";
  let description = [{
    - `hash`: a row goes to the rank that the hash of its keys names.
    - `range`: rows go so that they are in order with the rank, and peers, equal in all keys of the order, to one rank. Where
      a range ends is agreed on by samples of all ranks' rows, so that the ranks get about as many.
    - `broadcast`: every rank gets all rows.
    - `gather`: the first rank along the axes gets all rows, the others none.

    Rows are a multiset, their order is not kept, but for rows that are gathered or broadcast in an `order`: each rank has a range of it,
    sorted, and who puts rows in the order of the ranks (a result, to_tensor) gets them in that order. Exists from `shard` on; in `sched` it is a
    streaming task.
    With `skew`, not all rows of a key need come to the rank that its hash names: see the attribute. With `toward`, the hash names
    one of the ranks along these axes, and a row goes to where that rank is along those that the exchange is `over`; exchanges over
    the others bring it there. With a `cycle` it is not a hash that names the rank: see #dist.rows.

    ```mlir
    !t = !frame.table<"k": i64, "x": f64>
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @exchange(%t: !t) -> !t {
        %0 = dist.exchange hash %t keys ["k"] over ["r"] : !t
        %1 = dist.exchange range %0 order [#frame.sort_key<"x" desc nulls_last>] over ["r"] : !t
        %2 = dist.exchange gather %1 over ["r"] : !t
        %3 = dist.exchange hash %t keys ["k"] cycle 100000 over ["r"] : !t
        return %2 : !t
      }
    }
    ```

    **Constraints:**
    - (C1) `hash` has keys and `range` an order, of columns of the table; `gather` and `broadcast` may have an order; there are no others.
    - (C2) there is at least one axis; axes are axes of the module's mesh, each once.
    - (C3) only `hash` has skew.
    - (C4) only `hash` without skew goes toward ranks: along its own axes and others, in the order of the mesh.
    - (C5) only one key, an integer, a date or a timestamp, goes in a cycle, of one key or more, without skew.
  }];
  let arguments = (ins Dist_ExchangeKindAttr:$kind, Frame_TableType:$input,
                       OptionalAttr<Dist_Keys>:$keys, OptionalAttr<Dist_Order>:$order,
                       OptionalAttr<I64Attr>:$cycle, Dist_Axes:$axes, OptionalAttr<Dist_Axes>:$toward,
                       OptionalAttr<Dist_SkewAttr>:$skew);
  let results = (outs Frame_TableType:$result);
  let builders = [OpBuilder<(ins "ExchangeKind":$kind, "::mlir::Value":$input, "::mlir::ArrayAttr":$keys,
                                 "::mlir::ArrayAttr":$order, "::mlir::ArrayAttr":$axes)>];
  let assemblyFormat = [{
    $kind $input (`keys` $keys^)? (`order` $order^)? (`cycle` $cycle^)? `over` $axes (`toward` $toward^)? (`skew` $skew^)? attr-dict `:` type($input)
  }];
}

def Dist_PlaceOp : Dist_Op<"place"> {
  let summary = "adds a column with the place of this rank along mesh axes";
  let description = [{
    The first rank along the axes has place 0, as exchanges count them. Exists from the end of `shard` to `form`.

    ```mlir
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @place(%t: !frame.table<"x": f64>) -> !frame.table<"x": f64, "rank": i64> {
        %0 = dist.place %t as "rank" over ["r"] : !frame.table<"x": f64> -> !frame.table<"x": f64, "rank": i64>
        return %0 : !frame.table<"x": f64, "rank": i64>
      }
    }
    ```

    **Constraints:**
    - (C1) the result has the columns of the input, then an i64 of that name.
    - (C2) there is at least one axis; axes are axes of the module's mesh, each once.
  }];
  let arguments = (ins Frame_TableType:$input, StrAttr:$column, Dist_Axes:$axes);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = "$input `as` $column `over` $axes attr-dict `:` type($input) `->` type($result)";
}

def Dist_KeepOp : Dist_Op<"keep", [AllTypesMatch<["input", "result"]>]> {
  let summary = "this rank's part of a table that every rank has whole; no bytes move";
  let description = [{
    With keys a row stays on the rank that the hash of its keys names, or their place in the `cycle`, as `dist.exchange hash` would
    place it; without keys the first rank along the axes keeps all rows, the others none. All ranks hold the same values of the keys, so
    every row stays on exactly one of them. The order of rows is kept. Exists from `shard` to `form`.

    ```mlir
    !t = !frame.table<"k": i64, "x": f64>
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @keep(%t: !t) -> (!t, !t) {
        %0 = dist.keep %t keys ["k"] over ["r"] : !t
        %1 = dist.keep %t over ["r"] : !t
        %2 = dist.keep %t keys ["k"] cycle 100000 over ["r"] : !t
        return %0, %1 : !t, !t
      }
    }
    ```

    **Constraints:**
    - (C1) keys are columns of the table, none of them a float: copies of a float may differ in their last bits.
    - (C2) there is at least one axis; axes are axes of the module's mesh, each once.
    - (C3) only one key, an integer, a date or a timestamp, goes in a cycle, of one key or more.
  }];
  let arguments = (ins Frame_TableType:$input, OptionalAttr<Dist_Keys>:$keys, OptionalAttr<I64Attr>:$cycle, Dist_Axes:$axes);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = "$input (`keys` $keys^)? (`cycle` $cycle^)? `over` $axes attr-dict `:` type($input)";
}

def Dist_ChooseOp : Op<Dist_Dialect, "choose", [KnownAttributes, NoRegionArguments]> {
  let summary = "one of two ways to go on, by the number of rows that a table turns out to have";
  let description = [{
    The rows of `counted` are summed over all ranks, so that every rank chooses alike: with `at_most` rows or fewer
    the first region runs, else the second. Both give the same table; how its rows are spread differs, so the result
    counts as `scattered`. Exists from the end of `shard` to `form`.

    ```mlir
    !l = !frame.table<"k": i64>
    !r = !frame.table<"j": i64>
    !lr = !frame.table<"k": i64, "j": i64>
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @choose(%l: !l, %r: !r) -> !lr {
        %0 = dist.choose %r at_most 5000 {
          %1 = dist.exchange broadcast %r over ["r"] : !r
          %2 = frame.join inner %l, %1 on ["k"] = ["j"] : !l, !r -> !lr
          dist.yield %2 : !lr
        } else {
          %1 = dist.exchange hash %l keys ["k"] over ["r"] : !l
          %2 = dist.exchange hash %r keys ["j"] over ["r"] : !r
          %3 = frame.join inner %1, %2 on ["k"] = ["j"] : !l, !r -> !lr
          dist.yield %3 : !lr
        } : !r -> !lr
        return %0 : !lr
      }
    }
    ```

    **Constraints:**
    - (C1) both regions yield one table of the result's type.
    - (C2) the bound is not negative.
  }];
  let arguments = (ins Frame_TableType:$counted, I64Attr:$at_most);
  let regions = (region SizedRegion<1>:$few, SizedRegion<1>:$many);
  let results = (outs Frame_TableType:$result);
  let assemblyFormat = [{
    $counted `at_most` $at_most $few `else` $many attr-dict `:` type($counted) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

class Dist_CollectiveOp<string mnemonic, list<Trait> traits = []> : Dist_Op<mnemonic, traits> {
  let results = (outs AnyRankedTensor:$result);
}

def Dist_AllReduceOp : Dist_CollectiveOp<"all_reduce", [AllTypesMatch<["input", "result"]>]> {
  let summary = "every rank gets the combination of all ranks' tensors";
  let description = [{
    ```mlir
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @all_reduce(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
        %0 = dist.all_reduce sum %x over ["r"] : tensor<8x4xf32>
        return %0 : tensor<8x4xf32>
      }
    }
    ```

    **Constraints:**
    - (C1) axes are axes of the module's mesh, each once, at least one.
    - (C2) the combination is sum, max, min or product.
  }];
  let arguments = (ins Dist_CombineAttr:$combine, AnyRankedTensor:$input, Dist_Axes:$axes);
  let assemblyFormat = "$combine $input `over` $axes attr-dict `:` type($input)";
}

def Dist_AllGatherOp : Dist_CollectiveOp<"all_gather"> {
  let summary = "every rank gets the parts of a dimension, put together in rank order";
  let description = [{
    `ragged`: the parts' sizes are known only at run time and are exchanged first.

    ```mlir
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @all_gather(%x: tensor<?x4xf32>) -> tensor<8x4xf32> {
        %0 = dist.all_gather %x dim 0 over ["r"] : tensor<?x4xf32> -> tensor<8x4xf32>
        return %0 : tensor<8x4xf32>
      }
    }
    ```

    **Constraints:**
    - (C1) axes are axes of the module's mesh, each once, at least one.
    - (C2) input and result have the same rank and element type, and the same sizes in all other dimensions.
    - (C3) the dimension exists.
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim, Dist_Axes:$axes, UnitAttr:$ragged);
  let assemblyFormat = [{
    (`ragged` $ragged^)? $input `dim` $dim `over` $axes attr-dict `:` type($input) `->` type($result)
  }];
}

def Dist_ReduceScatterOp : Dist_CollectiveOp<"reduce_scatter"> {
  let summary = "combines all ranks' tensors; every rank gets its even part of a dimension";
  let description = [{
    ```mlir
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @reduce_scatter(%x: tensor<8x4xf32>) -> tensor<?x4xf32> {
        %0 = dist.reduce_scatter sum %x dim 0 over ["r"] : tensor<8x4xf32> -> tensor<?x4xf32>
        return %0 : tensor<?x4xf32>
      }
    }
    ```

    **Constraints:**
    - (C1) axes are axes of the module's mesh, each once, at least one.
    - (C2) input and result have the same rank and element type, and the same sizes in all other dimensions.
    - (C3) the dimension exists.
    - (C4) the combination is sum, max, min or product.
  }];
  let arguments = (ins Dist_CombineAttr:$combine, AnyRankedTensor:$input, I64Attr:$dim, Dist_Axes:$axes);
  let assemblyFormat = [{
    $combine $input `dim` $dim `over` $axes attr-dict `:` type($input) `->` type($result)
  }];
}

def Dist_AllToAllOp : Dist_CollectiveOp<"all_to_all"> {
  let summary = "from parts of one dimension to parts of another";
  let description = [{
    Every rank cuts its tensor evenly along `split` and puts together what it gets along `concat`.

    ```mlir
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @all_to_all(%x: tensor<?x8xf32>) -> tensor<16x?xf32> {
        %0 = dist.all_to_all %x split 1 concat 0 over ["r"] : tensor<?x8xf32> -> tensor<16x?xf32>
        return %0 : tensor<16x?xf32>
      }
    }
    ```

    **Constraints:**
    - (C1) axes are axes of the module's mesh, each once, at least one.
    - (C2) input and result have the same rank and element type, and the same sizes in all other dimensions.
    - (C3) both dimensions exist and differ.
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$split, I64Attr:$concat, Dist_Axes:$axes);
  let assemblyFormat = [{
    $input `split` $split `concat` $concat `over` $axes attr-dict `:` type($input) `->` type($result)
  }];
}

def Dist_SliceOp : Dist_CollectiveOp<"slice"> {
  let summary = "this rank's even part of a dimension of a replicated tensor; no bytes move";
  let description = [{
    ```mlir
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @slice(%x: tensor<8x4xf32>) -> tensor<?x4xf32> {
        %0 = dist.slice %x dim 0 over ["r"] : tensor<8x4xf32> -> tensor<?x4xf32>
        return %0 : tensor<?x4xf32>
      }
    }
    ```

    **Constraints:**
    - (C1) axes are axes of the module's mesh, each once, at least one.
    - (C2) input and result have the same rank and element type, and the same sizes in all other dimensions.
    - (C3) the dimension exists.
  }];
  let arguments = (ins AnyRankedTensor:$input, I64Attr:$dim, Dist_Axes:$axes);
  let assemblyFormat = [{
    $input `dim` $dim `over` $axes attr-dict `:` type($input) `->` type($result)
  }];
}

def Dist_LocalExtentOp : Dist_Op<"local_extent"> {
  let summary = "the size of this rank's even part of an extent";
  let description = [{
    e / n + (r < e mod n) for extent e, n parts along the axes, and this rank's position r.

    ```mlir
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @local_extent(%extent: index) -> index {
        %0 = dist.local_extent %extent over ["r"]
        return %0 : index
      }
    }
    ```

    **Constraints:**
    - (C1) axes are axes of the module's mesh, each once, at least one.
  }];
  let arguments = (ins Index:$extent, Dist_Axes:$axes);
  let results = (outs Index:$result);
  let assemblyFormat = "$extent `over` $axes attr-dict";
}

//===----------------------------------------------------------------------===//
// Hand-written parts
//===----------------------------------------------------------------------===//

def Dist_ManualOp : Op<Dist_Dialect, "manual", [KnownAttributes, 
    IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "a part written in the local view of every rank";
  let description = [{
    The body sees this rank's parts of the operands, in the layouts `in`, and yields its parts of the results,
    in the layouts `out`. `dist-localize` inlines it.

    ```mlir
    module attributes {topo.mesh = #topo.mesh<@mesh, [("r", 4)]>} {
      func.func @manual(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
        %0 = dist.manual (%x) in [#dist.layout<@mesh, dims = [["r"], []]>]
            out [#dist.layout<@mesh, dims = [["r"], []]>] {
        ^bb0(%local: tensor<?x4xf32>):
          dist.yield %local : tensor<?x4xf32>
        } : (tensor<8x4xf32>) -> tensor<8x4xf32>
        return %0 : tensor<8x4xf32>
      }
    }
    ```

    **Constraints:**
    - (C1) one `in` layout per operand and one `out` layout per result; they fit the types and the module's mesh.
    - (C2) block arguments and yielded values are the local types: split dimensions become `?`.
  }];
  let arguments = (ins Variadic<Dist_TableOrTensor>:$inputs,
                       TypedArrayAttrBase<Dist_LayoutAttr, "array of layouts">:$in,
                       TypedArrayAttrBase<Dist_LayoutAttr, "array of layouts">:$out);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<Dist_TableOrTensor>:$outputs);
  let assemblyFormat = [{
    `(` $inputs `)` `in` $in `out` $out $body attr-dict `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Dist_YieldOp : Op<Dist_Dialect, "yield", [
    KnownAttributes, Pure, Terminator, ReturnLike, ParentOneOf<["ManualOp", "ChooseOp"]>]> {
  let summary = "ends a body of `dist.manual` or `dist.choose`";
  let description = [{
    ```mlir
    func.func @yield() {
      dist.manual () in [] out [] {
        dist.yield
      } : () -> ()
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Dist_TableOrTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ /* a body without results */ }]>];
}

#endif // HEADRACE_DIST_OPS_TD
