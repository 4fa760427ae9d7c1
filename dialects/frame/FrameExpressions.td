// The scalar ops of `frame`, used inside expression regions.
#ifndef HEADRACE_FRAME_EXPRESSIONS_TD
#define HEADRACE_FRAME_EXPRESSIONS_TD

include "dialects/frame/FrameExpressionEnds.td"

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

class Frame_ArithmeticOp<string mnemonic> : Frame_PartialOp<mnemonic> {
  let arguments = (ins Frame_Numeric:$lhs, Frame_Numeric:$rhs);
  let results = (outs Frame_Numeric:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Frame_AddOp : Frame_ArithmeticOp<"add"> {
  let summary = "the sum of two numbers";
  let description = [{
    Overflow of an integer, or of a decimal's precision, is an error.

    ```mlir
    func.func @add(%a: !frame.decimal<15, 2>, %b: !frame.decimal<20, 0>) {
      %0 = frame.add %a, %b
          : (!frame.decimal<15, 2>, !frame.decimal<20, 0>) -> !frame.decimal<23, 2>
      return
    }
    ```

    **Constraints:**
    - (C1) all three types are decimals, or the same integer or float type, but for nullability.
    - (C2) a decimal result has the larger of the operands' scales.
    - (C3) the result is nullable exactly if an operand is.
  }];
}

def Frame_SubtractOp : Frame_ArithmeticOp<"subtract"> {
  let summary = "the difference of two numbers";
  let description = [{
    Types and errors are those of `frame.add`.

    ```mlir
    func.func @subtract(%a: i64, %b: !frame.nullable<i64>) {
      %0 = frame.subtract %a, %b : (i64, !frame.nullable<i64>) -> !frame.nullable<i64>
      return
    }
    ```

    **Constraints:** (C1), (C2), (C3) of `frame.add`.
  }];
}

def Frame_MultiplyOp : Frame_ArithmeticOp<"multiply"> {
  let summary = "the product of two numbers";
  let description = [{
    Overflow of an integer, or of a decimal's precision, is an error.

    ```mlir
    func.func @multiply(%a: !frame.decimal<15, 2>, %b: !frame.decimal<23, 2>) {
      %0 = frame.multiply %a, %b
          : (!frame.decimal<15, 2>, !frame.decimal<23, 2>) -> !frame.decimal<38, 4>
      return
    }
    ```

    **Constraints:** (C1) and (C3) of `frame.add`, and
    - (C2) a decimal result has the sum of the operands' scales.
  }];
}

def Frame_DivideOp : Frame_ArithmeticOp<"divide"> {
  let summary = "the quotient of two numbers";
  let description = [{
    Integers and decimals truncate towards zero, the latter at the result's scale. Division by zero
    of integers and decimals is an error; floats follow IEEE 754. A decimal by an integer to f64 is the
    mean of a sum: the scaled value and 10^scale times the divisor, each as a double, divided once;
    by zero it is an infinity or NaN.

    ```mlir
    func.func @divide(%a: !frame.decimal<38, 4>, %b: !frame.decimal<38, 4>) {
      %0 = frame.divide %a, %b
          : (!frame.decimal<38, 4>, !frame.decimal<38, 4>) -> !frame.decimal<38, 8>
      return
    }
    func.func @mean(%sum: !frame.decimal<38, 4>, %count: i64) {
      %0 = frame.divide %sum, %count : (!frame.decimal<38, 4>, i64) -> f64
      return
    }
    ```

    **Constraints:** (C1) and (C3) of `frame.add`; a decimal result may have any scale; or
    - (C4) an integer or decimal, an i64 and an f64.
  }];
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kDivide; }";
}

def Frame_ModulusOp : Frame_ArithmeticOp<"modulus"> {
  let summary = "the remainder of a truncating division";
  let description = [{
    It has the sign of the dividend. A divisor of zero is an error, but for floats.

    ```mlir
    func.func @modulus(%a: i32, %b: i32) {
      %0 = frame.modulus %a, %b : (i32, i32) -> i32
      return
    }
    ```

    **Constraints:** (C1), (C2), (C3) of `frame.add`.
  }];
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kDivide; }";
}

def Frame_NegateOp : Frame_PartialOp<"negate", [AllTypesMatch<["operand", "result"]>]> {
  let summary = "a number with the opposite sign";
  let description = [{
    ```mlir
    func.func @negate(%a: i64) {
      %0 = frame.negate %a : i64
      return
    }
    ```
  }];
  let arguments = (ins Frame_Numeric:$operand);
  let results = (outs Frame_Numeric:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

def Frame_NumberOp : Frame_PartialOp<"number"> {
  let summary = "abs, round, floor, ceiling, truncate or square root of a number";
  let description = [{
    - `abs`: without the sign; the least integer has none: overflow.
    - `round`: to `digits` digits behind the point (0 without; negative: tens, hundreds), half away from zero.
      `floor`, `ceiling`, `truncate`: to a whole number below, above, towards zero.
    - `sqrt`: of floats; NaN below zero.

    ```mlir
    func.func @number(%a: !frame.decimal<15, 2>, %b: !frame.nullable<f64>) {
      %0 = frame.number abs %a : (!frame.decimal<15, 2>) -> !frame.decimal<15, 2>
      %1 = frame.number round %a digits 1 : (!frame.decimal<15, 2>) -> !frame.decimal<15, 1>
      %2 = frame.number sqrt %b : (!frame.nullable<f64>) -> !frame.nullable<f64>
      return
    }
    ```

    **Constraints:**
    - (C1) operand and result are decimals, or the same integer or float type, but for nullability; `sqrt` is of floats.
    - (C2) the result is nullable exactly if the operand is.
    - (C3) only `round` has `digits`.
  }];
  let arguments = (ins Frame_NumberFunction:$function, Frame_Numeric:$operand, OptionalAttr<I64Attr>:$digits);
  let results = (outs Frame_Numeric:$result);
  let assemblyFormat = [{
    $function $operand (`digits` $digits^)? attr-dict `:` functional-type($operand, $result)
  }];
  let hasVerifier = 1;
}

def Frame_MathOp : Frame_PartialOp<"math", [DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "a function of doubles, or of integers";
  let description = [{
    One of [these](../reference/functions.md). One of doubles has a value for every argument, one of integers may have none:
    overflow.

    ```mlir
    func.func @math(%a: f64, %b: !frame.nullable<f64>) {
      %0 = frame.math "exp" %a : (f64) -> f64
      %1 = frame.math "power" %a, %b : (f64, !frame.nullable<f64>) -> !frame.nullable<f64>
      return
    }
    func.func @divisor(%a: i64, %b: i64) {
      %0 = frame.math "gcd" %a, %b : (i64, i64) -> i64
      return
    }
    ```

    **Constraints:**
    - (C1) it has as many operands as the function has arguments.
    - (C2) operands and result are f64, or all i64 or all i128, as the function has them; the result is nullable exactly if an operand is.
  }];
  let arguments = (ins MathFunctionName:$function, Variadic<Frame_Numeric>:$operands);
  let results = (outs Frame_Numeric:$result);
  let assemblyFormat = "$function $operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kCall; }";
}

def Frame_ExactProductOp : Frame_TotalOp<"exact_product"> {
  let summary = "the product of two doubles with all its digits";
  let description = [{
    By 1.0 it is the double itself as the beginning of a sum. A product that no double holds, or of a value that is not
    finite, is NaN in the end.

    ```mlir
    func.func @square(%x: f64) {
      %0 = frame.exact_product %x, %x : (f64, f64) -> !frame.double_double
      return
    }
    ```

    **Constraints:**
    - (C1) the result is nullable exactly if an operand is.
  }];
  let arguments = (ins Frame_Float64:$lhs, Frame_Float64:$rhs);
  let results = (outs Frame_DoubleDouble:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def Frame_NearestOp : Frame_TotalOp<"nearest"> {
  let summary = "the double that is nearest to an exact sum";
  let description = [{
    NaN if a part of the sum was not finite.
    ```mlir
    func.func @rounded(%sum: !frame.double_double) {
      %0 = frame.nearest %sum : !frame.double_double -> f64
      return
    }
    ```

    **Constraints:**
    - (C1) the result is nullable exactly if the operand is.
  }];
  let arguments = (ins Frame_DoubleDouble:$sum);
  let results = (outs Frame_Float64:$result);
  let assemblyFormat = "$sum attr-dict `:` type($sum) `->` type($result)";
  let hasVerifier = 1;
}

def Frame_ComomentOp : Frame_TotalOp<"comoment"> {
  let summary = "the sum of products of differences from the means, from two sums, the sum of products and the count";
  let description = [{
    `products − sum · other / count`: of one column twice the squared deviations from its mean. 0 where the spread is less
    than 2^-48 of the values, which is what rounding leaves of equal ones. Since the sums have 106 bits, the result has all
    digits of a double as long as the values are less than about 10^7 times as great as their spread, and half of them up to
    10^11 times. Of no rows it is NaN.

    ```mlir
    func.func @moments(%x: !frame.double_double, %y: !frame.double_double, %xx: !frame.double_double,
                       %xy: !frame.double_double, %count: i64) {
      %0 = frame.comoment %x, %x, %xx, %count
          : (!frame.double_double, !frame.double_double, !frame.double_double, i64) -> f64
      %1 = frame.comoment %x, %y, %xy, %count
          : (!frame.double_double, !frame.double_double, !frame.double_double, i64) -> f64
      return
    }
    ```

    **Constraints:**
    - (C1) the result is nullable exactly if an operand is.
  }];
  let arguments = (ins Frame_DoubleDouble:$sum, Frame_DoubleDouble:$other, Frame_DoubleDouble:$products,
                       Frame_Integer64:$count);
  let results = (outs Frame_Float64:$result);
  let assemblyFormat = "$sum `,` $other `,` $products `,` $count attr-dict `:` functional-type(operands, $result)";
  let extraClassDeclaration = "bool isOfSquares() { return getSum() == getOther(); }";
  let hasVerifier = 1;
}

def Frame_CastOp : Frame_PartialOp<"cast"> {
  let summary = "converts a value to another type";
  let description = [{
    Between numbers: a value that does not fit is an error; a smaller scale (an integer has none)
    rounds half away from zero; a float becomes the nearest integer, the even one between two. Strings
    parse and print; dates parse from and print as "YYYY-MM-DD", timestamps as "YYYY-MM-DD HH:MM:SS",
    times as "HH:MM:SS", with a fraction of a second if there is one; of a zoned timestamp the text ends
    in its offset. Of a binary's text bytes are `\xNN` unless they are printable letters of ASCII, no quotes and no backslash. A date becomes the timestamp of its beginning, a timestamp its date or time of day.
    The greatest number of a date or timestamp is later than all of them, its opposite earlier: they stay so as another date or timestamp, and
    have no time of day. A coarser unit rounds as a decimal does. Adding nullability alone is a cast too. With `or_null` a value that cannot be
    converted becomes NULL instead of an error (SQL's TRY_CAST).

    ```mlir
    func.func @cast(%a: !frame.nullable<i32>) {
      %0 = frame.cast %a : !frame.nullable<i32> -> !frame.nullable<!frame.decimal<20, 0>>
      %1 = frame.cast %a or_null : !frame.nullable<i32> -> !frame.nullable<i8>
      return
    }
    ```

    **Constraints:**
    - (C1) a conversion between the two types exists: equal types; number, i1 to number; any to
      string; string to any (a binary or an interval has no other); date to and from i32 days; time and timestamp to and from i64 of their unit;
      date to and from timestamp; timestamp to timestamp, time to time; timestamp to time of its unit.
    - (C2) a nullable operand needs a nullable result, and so does `or_null`.
  }];
  let arguments = (ins Frame_Scalar:$operand, UnitAttr:$or_null);
  let results = (outs Frame_Scalar:$result);
  let assemblyFormat = "$operand (`or_null` $or_null^)? attr-dict `:` type($operand) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$operand), [{
    build($_builder, $_state, result, operand, /*or_null=*/false);
  }]>];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Truth
//===----------------------------------------------------------------------===//

def Frame_CompareOp : Frame_TotalOp<"compare"> {
  let summary = "compares two values";
  let description = [{
    NULL if an operand is, but for `is_not_distinct_from`, for which NULL equals NULL. Strings compare
    bytewise. Floats are totally ordered: NaN equals itself and is the largest, -0 equals 0.

    ```mlir
    func.func @compare(%a: !frame.date, %b: !frame.nullable<!frame.date>) {
      %0 = frame.compare le %a, %b
          : (!frame.date, !frame.nullable<!frame.date>) -> !frame.nullable<i1>
      return
    }
    ```

    **Constraints:**
    - (C1) the operands have the same type but for nullability and a decimal's precision.
    - (C2) the result is nullable exactly if an operand is; for `is_not_distinct_from` it is i1.
  }];
  let arguments = (ins Frame_CompareKind:$kind, Frame_Scalar:$lhs, Frame_Scalar:$rhs);
  let results = (outs Frame_Boolean:$result);
  let assemblyFormat = "$kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

class Frame_LogicOp<string mnemonic> : Frame_TotalOp<mnemonic> {
  let arguments = (ins Variadic<Frame_Boolean>:$operands);
  let results = (outs Frame_Boolean:$result);
  let assemblyFormat = "$operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Frame_AndOp : Frame_LogicOp<"and"> {
  let summary = "three-valued AND: false if any is false, else NULL if any is NULL";
  let description = [{
    ```mlir
    func.func @and(%a: i1, %b: !frame.nullable<i1>) {
      %0 = frame.and %a, %b : (i1, !frame.nullable<i1>) -> !frame.nullable<i1>
      return
    }
    ```

    **Constraints:**
    - (C1) there are at least two operands.
    - (C2) the result is nullable exactly if an operand is.
  }];
}

def Frame_OrOp : Frame_LogicOp<"or"> {
  let summary = "three-valued OR: true if any is true, else NULL if any is NULL";
  let description = [{
    ```mlir
    func.func @or(%a: i1, %b: i1, %c: i1) {
      %0 = frame.or %a, %b, %c : (i1, i1, i1) -> i1
      return
    }
    ```

    **Constraints:** (C1) and (C2) of `frame.and`.
  }];
}

def Frame_NotOp : Frame_TotalOp<"not", [AllTypesMatch<["operand", "result"]>]> {
  let summary = "three-valued NOT: NULL stays NULL";
  let description = [{
    ```mlir
    func.func @not(%a: !frame.nullable<i1>) {
      %0 = frame.not %a : !frame.nullable<i1>
      return
    }
    ```
  }];
  let arguments = (ins Frame_Boolean:$operand);
  let results = (outs Frame_Boolean:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
  let hasFolder = 1;
}

def Frame_IsNullOp : Frame_TotalOp<"is_null"> {
  let summary = "whether a value is NULL";
  let description = [{
    ```mlir
    func.func @is_null(%a: !frame.nullable<i64>) {
      %0 = frame.is_null %a : !frame.nullable<i64>
      return
    }
    ```
  }];
  let arguments = (ins Frame_Scalar:$operand);
  let results = (outs I1:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
  let hasFolder = 1;
}

def Frame_InOp : Frame_TotalOp<"in"> {
  let summary = "whether a value is one of some literals";
  let description = [{
    The literals are written as for `frame.constant`; none of them is NULL.

    ```mlir
    func.func @in(%a: !frame.string) {
      %0 = frame.in %a ["MAIL", "SHIP"] : (!frame.string) -> i1
      return
    }
    ```

    **Constraints:**
    - (C1) there is at least one literal, and all are of the operand's type and not null.
    - (C2) the result is nullable exactly if the operand is.
  }];
  let arguments = (ins Frame_Scalar:$operand, ArrayAttr:$values);
  let results = (outs Frame_Boolean:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = "double getWorkUnits() { return static_cast<double>(getValues().size()); }";
}

def Frame_CaseOp : Frame_TotalOp<"case", [AttrSizedOperandSegments]> {
  let summary = "the value of the first condition that is true";
  let description = [{
    Without a true condition the `else` value, or NULL if there is none. Errors of a branch's value
    are raised only for rows that take the branch.

    ```mlir
    func.func @case(%c: !frame.nullable<i1>, %a: i64, %b: i64) {
      %0 = frame.case when %c then %a else %b : (!frame.nullable<i1>), (i64), i64 -> i64
      %1 = frame.case when %c then %a : (!frame.nullable<i1>), (i64) -> !frame.nullable<i64>
      return
    }
    ```

    **Constraints:**
    - (C1) there is at least one condition, and one value per condition.
    - (C2) values, `else` and result have the same type but for nullability.
    - (C3) the result is nullable exactly if a value is, or `else` is absent or nullable.
  }];
  let arguments = (ins Variadic<Frame_Boolean>:$conditions, Variadic<Frame_Scalar>:$values,
                       Optional<Frame_Scalar>:$otherwise);
  let results = (outs Frame_Scalar:$result);
  let assemblyFormat = [{
    `when` $conditions `then` $values (`else` $otherwise^)? attr-dict
    `:` `(` type($conditions) `)` `,` `(` type($values) `)` (`,` type($otherwise)^)?
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Frame_CoalesceOp : Frame_TotalOp<"coalesce"> {
  let summary = "the first value that is not NULL";
  let description = [{
    ```mlir
    func.func @coalesce(%a: !frame.nullable<i64>, %b: i64) {
      %0 = frame.coalesce %a, %b : (!frame.nullable<i64>, i64) -> i64
      return
    }
    ```

    **Constraints:**
    - (C1) there is at least one operand; all and the result have one type but for nullability.
    - (C2) the result is nullable exactly if all operands are.
  }];
  let arguments = (ins Variadic<Frame_Scalar>:$operands);
  let results = (outs Frame_Scalar:$result);
  let assemblyFormat = "$operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Frame_RaiseOp : Frame_PartialOp<"raise"> {
  let summary = "fails the query for the rows that reach it";
  let description = [{
    Stands in a branch of `frame.case`. `message` is what the user reads, for `user` that of the query's own
    `error('…')`.

    ```mlir
    func.func @raise(%many: i1, %a: i64) {
      %e = frame.raise more_than_one_row "more than one row returned by a subquery" : i64
      %0 = frame.case when %many then %e else %a : (i1), (i64), i64 -> i64
      return
    }
    ```

    **Constraints:**
    - (C1) the message is not empty.
  }];
  let arguments = (ins Frame_RaiseKind:$kind, StrAttr:$message);
  let results = (outs Frame_Scalar:$result);
  let assemblyFormat = "$kind $message attr-dict `:` type($result)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Strings and dates
//===----------------------------------------------------------------------===//

def Frame_LikeOp : Frame_TotalOp<"like"> {
  let summary = "matches a string against an SQL pattern";
  let description = [{
    `%` matches any characters, `_` one; `escape` takes away the meaning of the character behind it.

    ```mlir
    func.func @like(%s: !frame.string) {
      %0 = frame.like %s "%special%requests%" : (!frame.string) -> i1
      %1 = frame.like %s "100!%" escape "!" : (!frame.string) -> i1
      return
    }
    ```

    **Constraints:**
    - (C1) `escape` is one character.
    - (C2) the result is nullable exactly if the operand is.
  }];
  let arguments = (ins Frame_StringLike:$operand, StrAttr:$pattern, OptionalAttr<StrAttr>:$escape);
  let results = (outs Frame_Boolean:$result);
  let assemblyFormat = [{
    $operand $pattern (`escape` $escape^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kMatchText; }";
}

def Frame_SubstringOp : Frame_TotalOp<"substring"> {
  let summary = "the characters of a string from `start` (1 is the first), at most `length`";
  let description = [{
    Counts characters (UTF-8 code points). Positions before the first count toward `length`, as in
    SQL. Without `length`, to the end; a negative one gives an empty string.

    ```mlir
    func.func @substring(%s: !frame.string, %start: !frame.nullable<i64>, %length: i64) {
      %0 = frame.substring %s from %start
          : (!frame.string, !frame.nullable<i64>) -> !frame.nullable<!frame.string>
      %1 = frame.substring %s from %length for %length : (!frame.string, i64, i64) -> !frame.string
      return
    }
    ```

    **Constraints:**
    - (C1) `start` and `length` are i64.
    - (C2) the result is nullable exactly if an operand is.
  }];
  let arguments = (ins Frame_StringLike:$operand, Frame_Scalar:$start, Optional<Frame_Scalar>:$length);
  let results = (outs Frame_StringLike:$result);
  let assemblyFormat = [{
    $operand `from` $start (`for` $length^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kMatchText; }";
}

def Frame_TextOp : Frame_PartialOp<"text", [DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let summary = "a function of strings, binaries or lists";
  let description = [{
    One of [these](../reference/functions.md#functions-of-texts), or [these](../reference/functions.md#functions-of-lists); NULL if an operand is NULL. A few have no value for some arguments, which is an error.

    ```mlir
    func.func @text(%a: !frame.string, %b: !frame.nullable<!frame.string>) {
      %0 = frame.text "upper"(%a) : (!frame.string) -> !frame.string
      %1 = frame.text "length"(%b) : (!frame.nullable<!frame.string>) -> !frame.nullable<i64>
      %2 = frame.text "concat"(%a, %b, %a)
          : (!frame.string, !frame.nullable<!frame.string>, !frame.string) -> !frame.nullable<!frame.string>
      return
    }
    ```

    **Constraints:**
    - (C1) it has as many operands as the function has arguments: strings, binaries, intervals or lists and, where the function has integers, i64. A function of
      strings or binaries has operands of one of the two.
    - (C2) the result is what the function gives, a string, a binary, an interval, a list, an i64 or an i1; nullable exactly if an operand is.
  }];
  let arguments = (ins TextFunctionName:$function, Variadic<Frame_Scalar>:$operands);
  let results = (outs Frame_Scalar:$result);
  let assemblyFormat = "$function `(` $operands `)` attr-dict `:` functional-type($operands, $result)";
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork();";
}

def Frame_ListOp : Frame_TotalOp<"list"> {
  let summary = "a list of values";
  let description = [{
    An element is NULL where an operand is; the list itself never is.

    ```mlir
    func.func @list(%a: i64, %b: !frame.nullable<i64>) {
      %0 = frame.list %a, %b : (i64, !frame.nullable<i64>) -> !frame.list<i64>
      %1 = frame.list : () -> !frame.list<!frame.string>
      return
    }
    ```

    **Constraints:**
    - (C1) the operands have the type of the list's elements, but for nullability.
  }];
  let arguments = (ins Variadic<Frame_Scalar>:$operands);
  let results = (outs Type<CPred<"::llvm::isa<::headrace::frame::ListType>($_self)">, "list">:$result);
  let assemblyFormat = "($operands^)? attr-dict `:` functional-type($operands, $result)";
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kMakeText; }";
}

def Frame_ElementOp : Frame_TotalOp<"element"> {
  let summary = "an element of a list";
  let description = [{
    Element 1 is the first, −1 the last; NULL where there is none.

    ```mlir
    func.func @element(%l: !frame.list<i64>, %n: i64) {
      %0 = frame.element %l at %n : (!frame.list<i64>, i64) -> !frame.nullable<i64>
      return
    }
    ```

    **Constraints:**
    - (C1) the result is nullable, of the type of the list's elements.
  }];
  let arguments = (ins Frame_ListLike:$operand, Frame_Integer64:$position);
  let results = (outs Frame_Scalar:$result);
  let assemblyFormat = "$operand `at` $position attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kMatchText; }";
}

def Frame_StructOp : Frame_TotalOp<"struct"> {
  let summary = "a struct of values";
  let description = [{
    A field is NULL where its operand is; the struct itself never is.

    ```mlir
    func.func @struct(%a: i64, %b: !frame.nullable<!frame.string>) {
      %0 = frame.struct %a, %b
          : (i64, !frame.nullable<!frame.string>) -> !frame.struct<"a": i64, "b": !frame.string>
      return
    }
    ```

    **Constraints:**
    - (C1) there is an operand for each field, of its type or nullable.
  }];
  let arguments = (ins Variadic<Frame_Scalar>:$operands);
  let results = (outs Type<CPred<"::llvm::isa<::headrace::frame::StructType>($_self)">, "struct">:$result);
  let assemblyFormat = "$operands attr-dict `:` functional-type($operands, $result)";
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kMakeText; }";
}

def Frame_FieldOp : Frame_TotalOp<"field"> {
  let summary = "a field of a struct";
  let description = [{
    NULL where the field or the struct is. Field 0 is the first.

    ```mlir
    func.func @field(%s: !frame.struct<"a": i64, "b": !frame.string>) {
      %0 = frame.field %s[1] : !frame.struct<"a": i64, "b": !frame.string> -> !frame.nullable<!frame.string>
      return
    }
    ```

    **Constraints:**
    - (C1) the struct has such a field.
    - (C2) the result is nullable, of the field's type.
  }];
  let arguments = (ins Frame_StructLike:$operand, I64Attr:$index);
  let results = (outs Frame_Scalar:$result);
  let assemblyFormat = "$operand `[` $index `]` attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kMatchText; }";
}

def Frame_ShiftDateOp : Frame_PartialOp<"shift_date", [AllTypesMatch<["operand", "result"]>]> {
  let summary = "a date or timestamp, `months` months, then `days` days, then `microseconds` later (or, negative, earlier)";
  let description = [{
    A day that the month does not have becomes its last. What is outside the type's range is an error. What is infinite stays so.

    ```mlir
    func.func @shift_date(%d: !frame.date, %t: !frame.timestamp) {
      %0 = frame.shift_date %d months 1 days -3 : !frame.date
      %1 = frame.shift_date %t months 1 days -3 microseconds 7200000000 : !frame.timestamp
      return
    }
    ```

    **Constraints:**
    - (C1) only a timestamp is moved by microseconds.
    - (C2) a timestamp is one of microseconds.
  }];
  let arguments = (ins Frame_DateOrTimestamp:$operand, I64Attr:$months, I64Attr:$days,
                       DefaultValuedAttr<I64Attr, "0">:$microseconds);
  let results = (outs Frame_DateOrTimestamp:$result);
  let assemblyFormat = [{
    $operand `months` $months `days` $days (`microseconds` $microseconds^)? attr-dict
    `:` type($operand)
  }];
  let hasVerifier = 1;
}

def Frame_MakeDateOp : Frame_PartialOp<"make_date"> {
  let summary = "the date of a year, a month and a day";
  let description = [{
    A day that there is not is an error.

    ```mlir
    func.func @make_date(%year: i64, %month: i64, %day: i64) {
      %0 = frame.make_date %year, %month, %day : (i64, i64, i64) -> !frame.date
      return
    }
    ```

    **Constraints:**
    - (C1) the result is nullable exactly if an operand is.
  }];
  let arguments = (ins Frame_Integer64:$year, Frame_Integer64:$month, Frame_Integer64:$day);
  let results = (outs Frame_DateLike:$result);
  let assemblyFormat = "$year `,` $month `,` $day attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def Frame_ExtractOp : Frame_TotalOp<"extract"> {
  let summary = "the year, month or day of a date";
  let description = [{
    ```mlir
    func.func @extract(%d: !frame.date) {
      %0 = frame.extract year %d : (!frame.date) -> i32
      return
    }
    ```

    **Constraints:**
    - (C1) the result is i32, nullable exactly if the operand is.
  }];
  let arguments = (ins Frame_DateField:$field, Frame_DateLike:$operand);
  let results = (outs Frame_Scalar:$result);
  let assemblyFormat = "$field $operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kCall; }";
}

#endif // HEADRACE_FRAME_EXPRESSIONS_TD
