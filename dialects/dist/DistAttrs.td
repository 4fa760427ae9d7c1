// The attributes of `dist`: layouts and their parts.
#ifndef HEADRACE_DIST_ATTRS_TD
#define HEADRACE_DIST_ATTRS_TD

include "dialects/dist/DistDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Dist_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::headrace::dist";
  let genSpecializedAttr = 0;
}

class Dist_Attr<string name, string attrMnemonic> : AttrDef<Dist_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Dist_RowKind : Dist_Enum<"RowKind", "which rows a rank holds", [
  I32EnumAttrCase<"Block", 0, "block">,         // contiguous, in rank order
  I32EnumAttrCase<"Hash", 1, "hash">,           // equal keys on one rank
  I32EnumAttrCase<"Range", 2, "range">,         // in an order that ascends with the rank, peers on one
  I32EnumAttrCase<"Scattered", 3, "scattered">, // somewhere
  I32EnumAttrCase<"Root", 4, "root">]>;         // all on the first rank of the axes

def Dist_SplitKind : Dist_Enum<"SplitKind", "whether sizes follow from the extent", [
  I32EnumAttrCase<"Even", 0, "even">, I32EnumAttrCase<"Ragged", 1, "ragged">]>;

def Dist_Combine : Dist_Enum<"Combine", "how parts of an unreduced value combine", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">,
  I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"Product", 3, "product">,
  I32EnumAttrCase<"Distinct", 4, "distinct">, I32EnumAttrCase<"TopK", 5, "topk">,
  I32EnumAttrCase<"Limit", 6, "limit">]>;
def Dist_CombineAttr : EnumAttr<Dist_Dialect, Dist_Combine, "combine">;

def Dist_ExchangeKind : Dist_Enum<"ExchangeKind", "where rows go", [
  I32EnumAttrCase<"Hash", 0, "hash">, I32EnumAttrCase<"Broadcast", 1, "broadcast">,
  I32EnumAttrCase<"Gather", 2, "gather">, I32EnumAttrCase<"Range", 3, "range">]>;
def Dist_ExchangeKindAttr : EnumAttr<Dist_Dialect, Dist_ExchangeKind, "exchange_kind">;

def Dist_HeavyRows : Dist_Enum<"HeavyRows", "what an exchange may do with rows of a key that many rows have", [
  I32EnumAttrCase<"Stay", 0, "stay">,     // go to the key's rank, like all others
  I32EnumAttrCase<"Spread", 1, "spread">, // go to any rank
  I32EnumAttrCase<"Cover", 2, "cover">,   // go to any rank, and some to each
  I32EnumAttrCase<"Once", 3, "once">]>;   // one of them is enough

def Dist_SkewAttr : Dist_Attr<"Skew", "skew"> {
  let summary = "one of the two exchanges before a join, which agree at run time on keys that many rows have";
  let description = [{
    Two exchanges by hash with the same `pair` bring the sides of a join together. Where many rows of one side have the same key, these rows may
    go to other ranks than the key's, as `heavy` says, if all rows of the other side with this key go to every rank.

    ```mlir
    func.func private @skew() attributes {heavy = #dist.skew<pair = 0, heavy = spread>}
    ```

    **Constraints:**
    - (C1) the pair is not negative.
  }];
  let parameters = (ins "int64_t":$pair, EnumParameter<Dist_HeavyRows>:$heavy);
  let assemblyFormat = "`<` `pair` `=` $pair `,` `heavy` `=` $heavy `>`";
  let genVerifyDecl = 1;
}

def Dist_DimSplitAttr : Dist_Attr<"DimSplit", "dim_split"> {
  let summary = "the axes that split one tensor dimension, the first outermost";
  let description = [{
    Printed inside a layout as `["node", "gpu"]`, with ` ragged` behind it if the sizes are known only
    at run time. Without axes the dimension is whole.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        EnumParameter<Dist_SplitKind>:$kind);
  let hasCustomAssemblyFormat = 1;
}

def Dist_RowsAttr : Dist_Attr<"Rows", "rows"> {
  let summary = "how the rows of a table are split";
  let description = [{
    Printed inside a layout as `hash<["l_orderkey"]> over ["node", "gpu"]`, `block over ["gpu"]`,
    `scattered over […]`, `range<[#frame.sort_key<"k" asc nulls_last>]> over […]` or `root over […]`.

    `hash<["l_orderkey"] cycle 6000000>`: neighbouring keys are on one rank. So many keys in a row go once round the ranks,
    each of which has an equal stretch of them; the next ones go round again. Of a table whose rows are stored in the order of the
    key a rank reads its own stretches.

    **Constraints:**
    - (C1) `hash` has keys, `range` an order, the others have neither.
    - (C2) there is at least one axis.
    - (C3) only one key, an integer, a date or a timestamp, goes in a cycle, which is not negative (0: none).
  }];
  let parameters = (ins EnumParameter<Dist_RowKind>:$kind,
                        ArrayRefParameter<"::mlir::StringAttr">:$keys,
                        ArrayRefParameter<"::mlir::StringAttr">:$axes,
                        OptionalParameter<"::mlir::ArrayAttr">:$order,
                        DefaultValuedParameter<"int64_t", "0">:$cycle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dist_LayoutAttr : Dist_Attr<"Layout", "layout"> {
  let summary = "where the parts of one table or tensor are, over the axes of a mesh";
  let description = [{
    Every mesh axis is used at most once: it splits a tensor dimension, or splits the rows, or is
    unreduced; axes that are not named replicate. A value that is unreduced over an axis is the combination of
    the parts on that axis: `sum`, `max`, `min`, `product` of tensors; an aggregate's contract,
    `distinct`, `topk` or `limit` of tables.

    ```mlir
    func.func private @layouts() attributes {dist.layouts = [
      #dist.layout<@mesh, dims = [["gpu"], []]>,
      #dist.layout<@mesh, dims = [["node", "gpu"] ragged]>,
      #dist.layout<@mesh, dims = [[], []], unreduced = {"gpu": sum}>,
      #dist.layout<@mesh, rows = hash<["l_orderkey"]> over ["node", "gpu"]>,
      #dist.layout<@mesh, rows = hash<["l_orderkey"] cycle 6000000> over ["node", "gpu"]>,
      #dist.layout<@mesh, rows = block over ["gpu"]>,
      #dist.layout<@mesh, rows = range<[#frame.sort_key<"k" desc nulls_last>]> over ["gpu"]>,
      #dist.layout<@mesh, unreduced = {"gpu": #frame.contract<[sum<i128>, count, min]>}>,
      #dist.layout<@mesh>
    ]}
    ```

    An even split of an extent e over n parts gives part r the e / n + (r < e mod n) elements from
    r · (e / n) + min(r, e mod n) on.

    **Constraints:**
    - (C3) no mesh axis is used twice.
    - (C4) dims and rows exclude each other.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
                        ArrayRefParameter<"::headrace::dist::DimSplitAttr">:$dims,
                        "::headrace::dist::RowsAttr":$rows,
                        ArrayRefParameter<"::mlir::StringAttr">:$unreducedAxes,
                        ArrayRefParameter<"::mlir::Attribute">:$combines);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True if every axis replicates.
    bool isReplicated() const;
    bool isUnreduced() const { return !getUnreducedAxes().empty(); }
  }];
}

#endif // HEADRACE_DIST_ATTRS_TD
