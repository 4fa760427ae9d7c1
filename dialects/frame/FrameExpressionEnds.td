// What expressions of `frame` begin and end with: constants, the number of the run, the values that they yield.
#ifndef HEADRACE_FRAME_EXPRESSION_ENDS_TD
#define HEADRACE_FRAME_EXPRESSION_ENDS_TD

include "dialects/frame/FrameOpBase.td"
include "dialects/frame/ScalarOpInterface.td"
include "dialects/interfaces/MathFunctionName.td"
include "dialects/interfaces/TextFunctionName.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// An op that cannot fail.
class Frame_TotalOp<string mnemonic, list<Trait> traits = []>
    : Frame_Op<mnemonic, !listconcat([Pure, ScalarOpInterface], traits)>;

// An op that can raise an error for some rows: it must not be evaluated for rows that do not reach it.
class Frame_PartialOp<string mnemonic, list<Trait> traits = []>
    : Frame_Op<mnemonic, !listconcat([NoMemoryEffect, ScalarOpInterface], traits)>;

def Frame_YieldOp : Frame_Op<"yield", [
    Pure, Terminator,
    ParentOneOf<["FilterOp", "ProjectOp", "JoinOp", "FlatMapOp", "ReduceOp", "TryOp"]>]> {
  let summary = "ends an expression region with its values";
  let description = [{
    ```mlir
    func.func @yield(%t: !frame.table<"a": i1>) {
      %0 = frame.filter %t columns ["a"] {
      ^bb0(%a: i1):
        frame.yield %a : i1
      } : !frame.table<"a": i1>
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Frame_Scalar>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Frame_ConstantOp : Frame_TotalOp<"constant", [ConstantLike]> {
  let summary = "a literal of a given type";
  let description = [{
    Written and kept by type: integers, booleans (`true`, `false`) and floats as themselves; a decimal
    as the scaled integer (kept as i128); a date as "YYYY-MM-DD" or days since 1970-01-01 (kept as i32
    days); a timestamp as "YYYY-MM-DD HH:MM:SS.ffffff" or a number of its unit (kept as i64), a time
    likewise; a string as a
    string; NULL as `null` (kept as unit).

    ```mlir
    func.func @constant() {
      %price = frame.constant 9950 : !frame.decimal<15, 2>
      %day = frame.constant "1998-09-02" : !frame.date
      %moment = frame.constant "1998-09-02 12:30:00" : !frame.timestamp
      %name = frame.constant "BRAZIL" : !frame.string
      %rate = frame.constant 2.5 : f64
      %none = frame.constant null : !frame.nullable<i64>
      return
    }
    ```

    **Constraints:**
    - (C1) the value has the kind of attribute that the type keeps; `null` needs a nullable type.
    - (C2) a decimal has at most `precision` digits.
  }];
  let arguments = (ins AnyAttr:$value);
  let results = (outs Frame_Scalar:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = "ScalarWork getWork() { return ScalarWork::kNone; }";
}

def Frame_RunSeedOp : Frame_TotalOp<"run_seed"> {
  let summary = "a number that is drawn for the run";
  let description = [{
    It is the same for all rows, on all ranks, and another one in the next run of the same plan unless the setting
    `random_seed` says it. `random()` is a function of it, of the number of the call, and of what numbers the row, and so is
    pure: wherever passes move, copy or merge it, a row's number stays the same. The interpreter's is 0.

    ```mlir
    func.func @run_seed(%row: i64) {
      %0 = frame.run_seed : i64
      %1 = frame.math "scramble" %row, %0 : (i64, i64) -> i64
      return
    }
    ```
  }];
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

#endif // HEADRACE_FRAME_EXPRESSION_ENDS_TD
