// The passes of the phase `form`: from the local program to kernels' bodies.
#ifndef HEADRACE_PASSES_FORM_PASSES_TD
#define HEADRACE_PASSES_FORM_PASSES_TD

include "mlir/Pass/PassBase.td"

def FormProgram : Pass<"form", "::mlir::ModuleOp"> {
  let summary = "the local program to pipelines between states, and tensor kernels";
  let description = [{
    Assumes one rank's view, as `verify-shard` checks it, in @main or the only function. A relational program
    becomes pipelines, states and streams, and its function is erased. A tensor program is cut at its
    `frame.to_tensor` ops: tables before them become pipelines, what is behind goes through `form-tensors`.
  }];
  let dependentDialects = ["::headrace::pipe::PipeDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

def HoistInvariants : Pass<"hoist-invariants", "::mlir::ModuleOp"> {
  let summary = "what is the same each time is computed once: for the loop of a lambda, and for a row that is repeated";
  let description = [{
    Assumes the pipelines of `form`. Afterwards no op of a loop has operands from outside of it alone, unless it is to fail.
    Of maps and filters behind a `pipe.expand`, what is made of texts and lists of the row alone, but is read together with what
    changes from copy to copy, is in a map of its own before them: kernels keep such columns while the row stays the same. A
    failure stays where it is asked for.

    ```mlir
    %1 = pipe.expand %0 by "n" number "i" : <"l": !pipe.string, "n": i64> -> <"l": !pipe.string, "i": i64>
    %2 = pipe.filter %1 ["l", "i"] {
    ^bb0(%l: !pipe.string, %i: i64):
      %3 = pipe.text "list_length"(%l) : (!pipe.string) -> i64
      %4 = arith.cmpi slt, %i, %3 : i64
      pipe.yield %4 : i1
    } : <"l": !pipe.string, "i": i64> -> <"i": i64>
    ```

    becomes

    ```mlir
    %1 = pipe.expand %0 by "n" number "i" : <"l": !pipe.string, "n": i64> -> <"l": !pipe.string, "i": i64>
    %2 = pipe.map %1 ["of_row0"] ["l"] {
    ^bb0(%l: !pipe.string):
      %4 = pipe.text "list_length"(%l) : (!pipe.string) -> i64
      pipe.yield %4 : i64
    } : <"l": !pipe.string, "i": i64> -> <"l": !pipe.string, "i": i64, "of_row0": i64>
    %3 = pipe.filter %2 ["i", "of_row0"] {
    ^bb0(%i: i64, %n: i64):
      %4 = arith.cmpi slt, %i, %n : i64
      pipe.yield %4 : i1
    } : <"l": !pipe.string, "i": i64, "of_row0": i64> -> <"i": i64>
    ```
  }];
}

def DivideStates : Pass<"divide-states", "::mlir::ModuleOp"> {
  let summary = "states that memory has no room for, in rounds over parts of their keys";
  let description = [{
    Assumes the pipelines of `form`. Where the states may well take more than half of the memory, those are divided for which
    the fewest rows wait, until the others fit: the pipelines that fill a divided state or look into it are cut there, the rows go to
    `parted` streams by their keys, and the pieces behind belong to a `pipe.repeat`. Where its rounds would wait for what
    becomes of the rows of a divided state, these are kept in a state of kind `rows`, which its readers read after the last
    round. Not divided are states without keys, those that a choice uses, and tables of joins whose rounds would wait for
    each other; kept rows need not be, since they leave memory by themselves.
  }];
  let dependentDialects = ["::headrace::pipe::PipeDialect"];
  let options = [
    Option<"memoryBytes", "memory-bytes", "int64_t", "0", "what a rank may use; 0: no limit is known">
  ];
}

def FormTensors : Pass<"form-tensors", "::mlir::func::FuncOp"> {
  let summary = "fuse elementwise tensor ops, choose library calls, name the kernels";
  let description = [{
    Assumes tensor ops in the local view. Afterwards every linalg op is one of
    - a `linalg.generic` with a kernel's symbol in `library_call`: elementwise producers with one user have become
      part of that user;
    - a `linalg.matmul`, `linalg.batch_matmul` or `linalg.contract` of floats that starts from zeros, in a form of the
      library's; transposes of its operands are in its indexing maps;
    - a `linalg.fill` that only such ops start from.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

#endif // HEADRACE_PASSES_FORM_PASSES_TD
