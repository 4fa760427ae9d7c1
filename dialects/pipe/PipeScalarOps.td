// The scalar ops of bodies, beside `arith` and `math`.
#ifndef HEADRACE_PIPE_SCALAR_OPS_TD
#define HEADRACE_PIPE_SCALAR_OPS_TD

include "dialects/interfaces/MathFunctionName.td"
include "dialects/interfaces/TextFunctionName.td"
include "dialects/pipe/PipeAttrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Pipe_LiteralOp : Pipe_Op<"literal", [Pure]> {
  let summary = "a string literal of the program; an argument of the kernel, not part of its code";
  let description = [{
    ```mlir
    func.func @body() -> !pipe.string {
      %0 = pipe.literal "BUILDING"
      return %0 : !pipe.string
    }
    ```
  }];
  let arguments = (ins StrAttr:$value);
  let results = (outs Pipe_StringType:$result);
  let assemblyFormat = "$value attr-dict";
}

def Pipe_RunSeedOp : Pipe_Op<"run_seed", [Pure]> {
  let summary = "the number that is drawn for the run; of the worker, not part of the code";
  let description = [{
    ```mlir
    func.func @body() -> i64 {
      %0 = pipe.run_seed
      return %0 : i64
    }
    ```
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}

def Pipe_BoundOp : Pipe_Op<"bound", []> {
  let summary = "the first key of the last row that can be among the first rows of a sort, as far as is known";
  let description = [{
    Of the state that the pipeline fills, as this worker has it by now; `known` is 0 while it has none. A row whose key
    comes later is not among the first.
    C1: the pipeline fills the state, a sort with a limit, whose first key has this type.

    ```mlir
    pipe.stream @in local : !pipe.rows<"a": i32>
    pipe.state @least sort [#pipe.field<"a", i32, payload>] order [#pipe.sort_key<"a", descending = false, nulls_first = false>] words 1.0 limit 10
    pipe.pipeline @chosen {
      %0 = pipe.receive @in : <"a": i32>
      %1 = pipe.filter %0 ["a"] {
      ^bb0(%a: i32):
        %bound, %known = pipe.bound @least : i32
        %true = arith.constant true
        %unknown = arith.xori %known, %true : i1
        %within = arith.cmpi sle, %a, %bound : i32
        %keep = arith.ori %unknown, %within : i1
        pipe.yield %keep : i1
      } : <"a": i32> -> <"a": i32>
      pipe.insert %1, @least keys [] : <"a": i32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$state);
  let results = (outs AnyType:$key, I1:$known);
  let assemblyFormat = "$state attr-dict `:` type($key)";
}

def Pipe_KeyHashOp : Pipe_Op<"key_hash", [Pure]> {
  let summary = "the hash of a text, as that of a key is";
  let description = [{
    Made by `lower` where texts have dictionaries: for each entry, in place of each row.

    ```mlir
    func.func @body(%text: !pipe.string) -> i64 {
      %0 = pipe.key_hash %text
      return %0 : i64
    }
    ```
  }];
  let arguments = (ins Pipe_StringType:$text);
  let results = (outs I64:$hash);
  let assemblyFormat = "$text attr-dict";
}

def Pipe_StringCompareOp : Pipe_Op<"string_compare", [Pure]> {
  let summary = "compares two strings bytewise";
  let description = [{
    ```mlir
    func.func @body(%a: !pipe.string, %b: !pipe.string) -> i1 {
      %0 = pipe.string_compare le %a, %b
      return %0 : i1
    }
    ```
  }];
  let arguments = (ins Pipe_StringPredicateAttr:$predicate, Pipe_StringType:$left, Pipe_StringType:$right);
  let results = (outs I1:$result);
  let assemblyFormat = "$predicate $left `,` $right attr-dict";
}

def Pipe_StringMatchOp : Pipe_Op<"string_match", [Pure]> {
  let summary = "SQL LIKE against a constant pattern";
  let description = [{
    ```mlir
    func.func @body(%text: !pipe.string) -> i1 {
      %0 = pipe.string_match %text "%special%requests%"
      return %0 : i1
    }
    ```
  }];
  let arguments = (ins Pipe_StringType:$text, StrAttr:$pattern, OptionalAttr<StrAttr>:$escape);
  let results = (outs I1:$result);
  let assemblyFormat = "$text $pattern (`escape` $escape^)? attr-dict";
}

def Pipe_SubstringOp : Pipe_Op<"substring", [Pure]> {
  let summary = "characters start (from 1) to start + length - 1; with the largest length to the end";
  let description = [{
    ```mlir
    func.func @body(%phone: !pipe.string, %start: i64, %length: i64) -> !pipe.string {
      %0 = pipe.substring %phone, %start, %length
      return %0 : !pipe.string
    }
    ```
  }];
  let arguments = (ins Pipe_StringType:$text, I64:$start, I64:$length);
  let results = (outs Pipe_StringType:$result);
  let assemblyFormat = "$text `,` $start `,` $length attr-dict";
}

def Pipe_DatePartOp : Pipe_Op<"date_part", [Pure]> {
  let summary = "year, month or day of a date (days since 1970-01-01)";
  let description = [{
    ```mlir
    func.func @body(%date: i32) -> i64 {
      %0 = pipe.date_part year %date
      return %0 : i64
    }
    ```
  }];
  let arguments = (ins Pipe_DatePartAttr:$part, I32:$date);
  let results = (outs I64:$result);
  let assemblyFormat = "$part $date attr-dict";
}

def Pipe_IntegerMathOp : Pipe_Op<"integer_math", [Pure]> {
  let summary = "a function of integers, and whether it has no value";
  let description = [{
    The functions of `frame.math` that are of integers, of 64 or of 128 bits. Where it has none, the result is any number.
    C1: it has as many operands as the function has arguments, which are integers. C2: operands and result have one type.

    ```mlir
    func.func @body(%a: i64, %b: i64) -> i64 {
      %multiple, %overflow = pipe.integer_math "lcm" %a, %b : i64, i64 -> i64
      pipe.fail_if %overflow, overflow
      return %multiple : i64
    }
    ```
  }];
  let arguments = (ins MathFunctionName:$function, Variadic<AnyTypeOf<[I64, I<128>]>>:$operands);
  let results = (outs AnyTypeOf<[I64, I<128>]>:$result, I1:$overflow);
  let assemblyFormat = "$function $operands attr-dict `:` type($operands) `->` type($result)";
  let hasVerifier = 1;
}

def Pipe_MathOp : Pipe_Op<"math", [Pure]> {
  let summary = "a function of doubles";
  let description = [{
    The functions of `frame.math`. C1: it has as many operands as the function has arguments, which are doubles.

    ```mlir
    func.func @body(%a: f64, %b: f64) -> f64 {
      %0 = pipe.math "power" %a, %b
      return %0 : f64
    }
    ```
  }];
  let arguments = (ins MathFunctionName:$function, Variadic<F64>:$operands);
  let results = (outs F64:$result);
  let assemblyFormat = "$function $operands attr-dict";
  let hasVerifier = 1;
}

def Pipe_MultiplyOp : Pipe_Op<"multiply", [Pure]> {
  let summary = "128-bit multiplication, and whether it overflowed";
  let description = [{
    Where it did, the result is any number.

    ```mlir
    func.func @body(%a: i128, %b: i128) -> i128 {
      %product, %overflow = pipe.multiply %a, %b
      pipe.fail_if %overflow, overflow
      return %product : i128
    }
    ```
  }];
  let arguments = (ins I<128>:$left, I<128>:$right);
  let results = (outs I<128>:$result, I1:$overflow);
  let assemblyFormat = "$left `,` $right attr-dict";
}

def Pipe_DivideOp : Pipe_Op<"divide", [Pure]> {
  let summary = "left * scale / right, truncated towards zero, and whether it overflowed";
  let description = [{
    Where it did, or `right` is 0, the result is any number, and `overflow` is true.

    ```mlir
    func.func @body(%a: i128, %b: i128) -> i128 {
      %scale = arith.constant 10000 : i128
      %quotient, %overflow = pipe.divide %a, %scale, %b
      pipe.fail_if %overflow, overflow
      return %quotient : i128
    }
    ```
  }];
  let arguments = (ins I<128>:$left, I<128>:$scale, I<128>:$right);
  let results = (outs I<128>:$result, I1:$overflow);
  let assemblyFormat = "$left `,` $scale `,` $right attr-dict";
}

def Pipe_ToFloatOp : Pipe_Op<"to_float", [Pure]> {
  let summary = "the double nearest to a 128-bit integer";
  let description = [{
    ```mlir
    func.func @body(%a: i128) -> f64 {
      %0 = pipe.to_float %a
      return %0 : f64
    }
    ```
  }];
  let arguments = (ins I<128>:$value);
  let results = (outs F64:$result);
  let assemblyFormat = "$value attr-dict";
}

def Pipe_TextOp : Pipe_Op<"text", [Pure]> {
  let summary = "a function of strings";
  let description = [{
    The functions of `frame.text`. A string made here lives until the next row. One that has no value for some arguments says
    with an `i1` more whether there is none; the value is then an empty string. C1: it has as many operands as the function has
    arguments, strings and i64. C2: it gives a string, an i64 or an i1, as the function does.

    ```mlir
    func.func @body(%a: !pipe.string, %b: !pipe.string) -> i64 {
      %0 = pipe.text "concat"(%a, %b) : (!pipe.string, !pipe.string) -> !pipe.string
      %1 = pipe.text "length"(%0) : (!pipe.string) -> i64
      return %1 : i64
    }
    ```
  }];
  let arguments = (ins TextFunctionName:$function, Variadic<AnyType>:$operands);
  let results = (outs AnyType:$result, Optional<I1>:$none);
  let assemblyFormat = "$function `(` $operands `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Pipe_PrintOp : Pipe_Op<"print", [Pure]> {
  let summary = "a number, date, time, timestamp or boolean as text";
  let description = [{
    An integer that is a decimal has `scale` digits behind its point. A string made here lives until the next row. C1: the
    value has the type that the form is of: an i128, for double an f64, for float an f32. C2: the scale of an integer is
    0 to 38, that of a time or timestamp the digits of its second: 0, 3, 6 or 9; others have none.

    ```mlir
    func.func @body(%cents: i128) -> !pipe.string {
      %0 = pipe.print integer %cents scale 2 : i128
      return %0 : !pipe.string
    }
    ```
  }];
  let arguments = (ins Pipe_TextFormAttr:$as, AnyType:$value, I64Attr:$scale);
  let results = (outs Pipe_StringType:$result);
  let assemblyFormat = "$as $value `scale` $scale attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Pipe_ParseOp : Pipe_Op<"parse", [Pure]> {
  let summary = "a number, date, time, timestamp or boolean from text, and whether it is one";
  let description = [{
    An integer is scaled by 10^`scale` and rounded half away from zero. The value is 0 where the text is none. C1 and C2 are
    those of `pipe.print`.

    ```mlir
    func.func @body(%text: !pipe.string) -> i1 {
      %value, %valid = pipe.parse integer %text scale 2 : i128
      return %valid : i1
    }
    ```
  }];
  let arguments = (ins Pipe_TextFormAttr:$as, Pipe_StringType:$text, I64Attr:$scale);
  let results = (outs AnyType:$value, I1:$valid);
  let assemblyFormat = "$as $text `scale` $scale attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def Pipe_OwnsOp : Pipe_Op<"owns", [Pure]> {
  let summary = "whether the hash of these values names this rank, as an exchange by hash over these axes would";
  let description = [{
    Each value is followed by its `i1` validity where `nullable` says so. Without values the first rank owns the row. With a
    `cycle` it is the place of the value in it that names the rank, as in such an exchange.
    C2: it is over one axis or more, each once. C3: only one integer goes in a cycle, of one or more.

    ```mlir
    func.func @body(%key: i32, %name: !pipe.string, %valid: i1) -> i1 {
      %0 = pipe.owns (%key, %name, %valid) [false, true] over ["ranks"] : i32, !pipe.string, i1
      %1 = pipe.owns (%key) [false] cycle 100000 over ["ranks"] : i32
      return %0 : i1
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values, DenseBoolArrayAttr:$nullable, OptionalAttr<I64Attr>:$cycle, StrArrayAttr:$axes);
  let results = (outs I1:$result);
  let assemblyFormat = "`(` $values `)` $nullable (`cycle` $cycle^)? `over` $axes attr-dict (`:` type($values)^)?";
  let hasVerifier = 1;
}

def Pipe_PlaceOp : Pipe_Op<"place", [Pure]> {
  let summary = "the place of this rank along axes of the mesh";
  let description = [{
    C1: it is over one axis or more, each once.

    ```mlir
    func.func @body() -> i32 {
      %0 = pipe.place over ["ranks"]
      return %0 : i32
    }
    ```
  }];
  let arguments = (ins StrArrayAttr:$axes);
  let results = (outs I32:$result);
  let assemblyFormat = "`over` $axes attr-dict";
  let hasVerifier = 1;
}

def Pipe_SelectOp : Pipe_Op<"select", [Pure, AllTypesMatch<["left", "right", "result"]>]> {
  let summary = "one of two strings, without copying either";
  let description = [{
    ```mlir
    func.func @body(%first: i1, %a: !pipe.string, %b: !pipe.string) -> !pipe.string {
      %0 = pipe.select %first, %a, %b
      return %0 : !pipe.string
    }
    ```
  }];
  let arguments = (ins I1:$condition, Pipe_StringType:$left, Pipe_StringType:$right);
  let results = (outs Pipe_StringType:$result);
  let assemblyFormat = "$condition `,` $left `,` $right attr-dict";
}

def Pipe_LoopOp : Pipe_Op<"loop", [Pure, SingleBlock]> {
  let summary = "evaluates a body so many times, of which each hands values on to the next";
  let description = [{
    The body gets its number, from 1 on, and the values, at first `initial`; it may use what is outside. With `joins` it also
    gives a list each time, and the first result is the list of all their elements. With `collects`, the code of a list's
    elements, it gives an element each time: its bits, whether it is not NULL, and whether the list has it at all; the
    first result is that list.

    C1: the body's arguments are an i64 and the values. C2: it yields a list, if it joins, an element, if it collects, and the
    values. C3: the results have the types of what it yields, of a list where it yields an element. C4: at most one of the
    values is a string, which lives until the next row. C5: it joins or collects, or neither, and collects elements
    of a fixed number of bytes.

    ```mlir
    func.func @body(%l: !pipe.string, %n: i64, %code: i64) -> !pipe.string {
      %never = arith.constant false
      %0:2 = pipe.loop %n from (%never) joins {
      ^bb0(%number: i64, %any: i1):
        %1 = pipe.text "list_integer"(%l, %number) : (!pipe.string, i64) -> i64
        %2 = pipe.text "list_of_integer"(%1, %code) : (i64, i64) -> !pipe.string
        %3 = pipe.text "list_has"(%l, %number) : (!pipe.string, i64) -> i1
        %4 = arith.ori %any, %3 : i1
        pipe.yield %2, %4 : !pipe.string, i1
      } : (i1) -> (!pipe.string, i1)
      return %0#0 : !pipe.string
    }
    ```
  }];
  let arguments = (ins I64:$count, Variadic<AnyType>:$initial, UnitAttr:$joins, OptionalAttr<I64Attr>:$collects);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $count `from` `(` $initial `)` (`joins` $joins^)? (`collects` $collects^)? $body attr-dict
    `:` functional-type($initial, $results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    bool givesList() { return getJoins() || getCollects(); }
    /// How many values the body yields for the list.
    unsigned yieldedForList() { return getJoins() ? 1 : getCollects() ? 3 : 0; }
  }];
}

def Pipe_ListElementOp : Pipe_Op<"list_element", [Pure]> {
  let summary = "an element of a list, as it lies there, and whether it is not NULL";
  let description = [{
    The list has an element at the place (1 is the first), of as many bytes as the result.

    ```mlir
    func.func @body(%l: !pipe.string, %first: i64) -> i32 {
      %0, %valid = pipe.list_element %l, %first : i32
      return %0 : i32
    }
    ```
  }];
  let arguments = (ins Pipe_StringType:$list, I64:$place);
  let results = (outs AnySignlessInteger:$value, I1:$valid);
  let assemblyFormat = "$list `,` $place attr-dict `:` type($value)";
}

def Pipe_FailIfOp : Pipe_Op<"fail_if"> {
  let summary = "fails the task with a data error if the condition holds for a row";
  let description = [{
    ```mlir
    func.func @body(%too_large: i1) {
      pipe.fail_if %too_large, overflow
      return
    }
    ```
  }];
  let arguments = (ins I1:$condition, Pipe_DataErrorAttr:$error);
  let assemblyFormat = "$condition `,` $error attr-dict";
}

#endif // HEADRACE_PIPE_SCALAR_OPS_TD
