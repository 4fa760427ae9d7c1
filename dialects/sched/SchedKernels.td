// What sched says of the code that tasks run: kernels by symbol, with the work that they do.
#ifndef HEADRACE_DIALECTS_SCHED_KERNELS_TD
#define HEADRACE_DIALECTS_SCHED_KERNELS_TD

include "dialects/sched/SchedBase.td"

// The kinds of plan::WorkKind, where each is explained.
def Sched_WorkKind : Sched_Enum<"WorkKind", "what kernels spend their time on", [
  I32EnumAttrCase<"Row", 0, "row">, I32EnumAttrCase<"Decode", 1, "decode">,
  I32EnumAttrCase<"DecodeCode", 2, "decode_code">, I32EnumAttrCase<"DecodeGathered", 3, "decode_gathered">,
  I32EnumAttrCase<"DecodeByte", 4, "decode_byte">, I32EnumAttrCase<"DecodeString", 5, "decode_string">,
  I32EnumAttrCase<"DecodeText", 6, "decode_text">, I32EnumAttrCase<"PageByte", 7, "page_byte">,
  I32EnumAttrCase<"PageTextByte", 8, "page_text_byte">,
  I32EnumAttrCase<"Mapped", 9, "mapped">, I32EnumAttrCase<"Take", 10, "take">,
  I32EnumAttrCase<"TakeString", 11, "take_string">, I32EnumAttrCase<"Select", 12, "select">,
  I32EnumAttrCase<"VectorByte", 13, "vector_byte">, I32EnumAttrCase<"Scalar", 14, "scalar">,
  I32EnumAttrCase<"Wide", 15, "wide">, I32EnumAttrCase<"Divide", 16, "divide">,
  I32EnumAttrCase<"DatePart", 17, "date_part">, I32EnumAttrCase<"CompareString", 18, "compare_string">,
  I32EnumAttrCase<"MatchString", 19, "match_string">, I32EnumAttrCase<"SearchByte", 20, "search_byte">,
  I32EnumAttrCase<"Text", 21, "text">, I32EnumAttrCase<"TextByte", 22, "text_byte">,
  I32EnumAttrCase<"Hash", 23, "hash">, I32EnumAttrCase<"HashString", 24, "hash_string">,
  I32EnumAttrCase<"HashByte", 25, "hash_byte">, I32EnumAttrCase<"Probe", 26, "probe">,
  I32EnumAttrCase<"Match", 27, "match">, I32EnumAttrCase<"Fold", 28, "fold">,
  I32EnumAttrCase<"FoldGroup", 29, "fold_group">, I32EnumAttrCase<"FoldReal", 30, "fold_real">, I32EnumAttrCase<"Group", 31, "group">,
  I32EnumAttrCase<"Insert", 32, "insert">, I32EnumAttrCase<"InsertByte", 33, "insert_byte">,
  I32EnumAttrCase<"Emit", 34, "emit">, I32EnumAttrCase<"EmitByte", 35, "emit_byte">,
  I32EnumAttrCase<"EmitString", 36, "emit_string">, I32EnumAttrCase<"KeepString", 37, "keep_string">,
  I32EnumAttrCase<"CopyByte", 38, "copy_byte">, I32EnumAttrCase<"Partition", 39, "partition">,
  I32EnumAttrCase<"ReadRow", 40, "read_row">, I32EnumAttrCase<"Element", 41, "element">,
  I32EnumAttrCase<"ElementOp", 42, "element_op">, I32EnumAttrCase<"ElementMath", 43, "element_math">,
  I32EnumAttrCase<"ElementAcross", 44, "element_across">]>;
def Sched_WorkKindAttr : EnumAttr<Sched_Dialect, Sched_WorkKind, "work_kind">;

def Sched_WorkAttr : AttrDef<Sched_Dialect, "Work"> {
  let mnemonic = "work";
  let summary = "units of work of one kind for each row of a level";
  let description = [{
    Level 0 are the rows of the source, level n those that the n-th selecting stage lets through. `state` is the
    position among the states of the task of the one that is looked into.

    ```
    #sched.work<decode, 0, 2.000000e+00>
    #sched.work<probe, 1, 1.000000e+00, state = 0>
    ```

    C1: the level is not negative. C2: the amount is a finite number and not negative.
  }];
  let parameters = (ins EnumParameter<Sched_WorkKind>:$kind, "int64_t":$level, "::mlir::FloatAttr":$amount,
                        DefaultValuedParameter<"int64_t", "-1">:$state);
  let assemblyFormat = "`<` $kind `,` $level `,` $amount (`,` struct($state)^)? `>`";
  let genVerifyDecl = 1;
}

def Sched_LiteralAttr : AttrDef<Sched_Dialect, "Literal"> {
  let mnemonic = "literal";
  let summary = "a constant in a kernel's literal block, and where it lies there";
  let description = [{
    ```
    #sched.literal<0, 5 : i64>
    #sched.literal<16, "MAIL">
    ```

    C1: the offset is not negative and a multiple of 8. C2: the value is an i64, i128, f64 or a string.
  }];
  let parameters = (ins "int64_t":$offset, "::mlir::Attribute":$value);
  let assemblyFormat = "`<` $offset `,` $value `>`";
  let genVerifyDecl = 1;
}

def Sched_KernelsOp : Sched_Op<"kernels", [SymbolTable, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "the kernels that the tasks of a module run, for one instruction set";
  let description = [{
    Made by the phase `lower`; read when the plan is written. A task and its kernel have the same symbol, that of the
    pipeline or tensor op that was compiled. Those for a `gpu` are kernels of the same pipelines, as far as they have a shape for threads.

    ```mlir
    sched.kernels "x86-64-v3" {
      sched.kernel @groups0 {scratch_bytes = 64 : i64}
    }
    sched.kernels gpu "sm_80" {
      sched.kernel @groups0 {threads = 256 : i64}
    }
    ```
  }];
  let arguments = (ins UnitAttr:$gpu, StrAttr:$isa);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`gpu` $gpu^)? $isa $body attr-dict";
}

def Sched_KernelOp : Sched_Op<"kernel", [Symbol, HasParent<"KernelsOp">]> {
  let summary = "compiled code, and what the cost model and the runtime must know of it";
  let description = [{
    `content` is the key of the object in the cache of kernels; without one the kernel was only described. `places` say
    where rows can fail, in the user's words. `selectivity` has a number for each selecting stage, the rows that
    it is expected to let through for each that comes in, and `stage_operators` the operators that these stages are.
    With `links` it makes a table of the rows of that join state. `threads` are those of a block, at most, of a kernel
    for GPUs.

    ```mlir
    sched.kernels "x86-64-v3" {
      sched.kernel @scan0 {content = "09af", literal_bytes = 16 : i64, literals = [#sched.literal<0, 5 : i64>],
          places = ["a / b"], selectivity = array<f64: 5.000000e-01>, stage_operators = array<i32: 2>,
          work = [#sched.work<row, 0, 1.000000e+00>, #sched.work<divide, 1, 1.000000e+00>]}
    }
    ```

    C1: the sizes of its blocks are not negative. C2: there is an operator for each selecting stage.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$links,
                       OptionalAttr<StrAttr>:$content, OptionalAttr<I64Attr>:$scratch_bytes,
                       OptionalAttr<I64Attr>:$literal_bytes, OptionalAttr<I64Attr>:$threads,
                       OptionalAttr<TypedArrayAttrBase<Sched_LiteralAttr, "literals">>:$literals,
                       OptionalAttr<StrArrayAttr>:$places,
                       OptionalAttr<TypedArrayAttrBase<Sched_WorkAttr, "work">>:$work,
                       OptionalAttr<DenseF64ArrayAttr>:$selectivity,
                       OptionalAttr<DenseI32ArrayAttr>:$stage_operators);
  let builders = [OpBuilder<(ins "::mlir::StringAttr":$name), [{
    $_state.getOrAddProperties<Properties>().sym_name = name;
  }]>];
  let assemblyFormat = "$sym_name (`links` $links^)? attr-dict";
  let hasVerifier = 1;
}

#endif
