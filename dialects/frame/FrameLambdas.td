// The scalar ops of `frame` that evaluate a region: for each element of a list, or once for a row.
#ifndef HEADRACE_FRAME_LAMBDAS_TD
#define HEADRACE_FRAME_LAMBDAS_TD

include "dialects/frame/FrameExpressions.td"

// What the region reads of the row are operands, so that whatever asks an op for its operands sees them. It fails if the region
// does for an element.
class Frame_LambdaOp<string mnemonic>
    : Frame_Op<mnemonic, [NoMemoryEffect, RecursivelySpeculatable, ScalarOpInterface, IsolatedFromAbove, SingleBlock]>;

def Frame_FlatMapOp : Frame_LambdaOp<"flat_map"> {
  let summary = "the lists that a region makes of a list's elements, one behind the other";
  let description = [{
    The region gets an element, its place (1 is the first) and the captures. One that gives a list of one element
    maps the list, one that gives an empty list for some elements filters it.

    ```mlir
    func.func @flat_map(%l: !frame.list<i64>, %n: i64) {
      %0 = frame.flat_map %l captures(%n) {
      ^bb0(%x: !frame.nullable<i64>, %place: i64, %m: i64):
        %1 = frame.multiply %x, %m : (!frame.nullable<i64>, i64) -> !frame.nullable<i64>
        %2 = frame.list %1 : (!frame.nullable<i64>) -> !frame.list<i64>
        frame.yield %2 : !frame.list<i64>
      } : (!frame.list<i64>, i64) -> !frame.list<i64>
      return
    }
    ```

    **Constraints:**
    - (C1) the region's arguments are an element, nullable, an i64, and the captures.
    - (C2) it yields one value, a list as the result is, but never NULL.
    - (C3) the result is nullable exactly if the list is.
  }];
  let arguments = (ins Frame_ListLike:$list, Variadic<Frame_Scalar>:$captures);
  let results = (outs Frame_ListLike:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $list (`captures` `(` $captures^ `)`)? $body attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kMakeText; }";
}

def Frame_ReduceOp : Frame_LambdaOp<"reduce"> {
  let summary = "what a region makes of a value and a list's elements, one after the other";
  let description = [{
    The region gets the value so far, an element, its place (1 is the first) and the captures, and gives the next
    value. The elements are those from place `first` on. NULL where the list is.

    ```mlir
    func.func @reduce(%l: !frame.list<i64>, %n: i64) {
      %0 = frame.reduce %l from %n {
      ^bb0(%sum: !frame.nullable<i64>, %x: !frame.nullable<i64>, %place: i64):
        %1 = frame.add %sum, %x
            : (!frame.nullable<i64>, !frame.nullable<i64>) -> !frame.nullable<i64>
        frame.yield %1 : !frame.nullable<i64>
      } : (!frame.list<i64>, i64) -> !frame.nullable<i64>
      return
    }
    ```

    **Constraints:**
    - (C1) the region's arguments are a value of the result's type, an element, nullable, an i64, and the captures.
    - (C2) the first value, and the one value that the region yields, have the result's type but for nullability.
    - (C3) the result is nullable.
    - (C4) `first` is at least 1.
  }];
  let arguments = (ins Frame_ListLike:$list, Frame_Scalar:$initial, Variadic<Frame_Scalar>:$captures,
                       DefaultValuedAttr<I64Attr, "1">:$first);
  let results = (outs Frame_Scalar:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $list `from` $initial (`captures` `(` $captures^ `)`)? $body attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kMatchText; }";
}

def Frame_TryOp : Frame_TotalOp<"try", [IsolatedFromAbove, SingleBlock]> {
  let summary = "what a region gives, or NULL where it fails";
  let description = [{
    An error in data that the region raises for a row, and that the value which it yields asks for, makes the result
    NULL. What its captures raise is raised.

    ```mlir
    func.func @try(%a: i64, %b: i64) {
      %0 = frame.try captures(%a, %b) {
      ^bb0(%x: i64, %y: i64):
        %1 = frame.divide %x, %y : (i64, i64) -> i64
        frame.yield %1 : i64
      } : (i64, i64) -> !frame.nullable<i64>
      return
    }
    ```

    **Constraints:**
    - (C1) the region's arguments are the captures.
    - (C2) it yields one value, of the result's type but for nullability.
    - (C3) the result is nullable.
  }];
  let arguments = (ins Variadic<Frame_Scalar>:$captures);
  let results = (outs Frame_Scalar:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`captures` `(` $captures^ `)`)? $body attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kNone; }";
}

#endif // HEADRACE_FRAME_LAMBDAS_TD
