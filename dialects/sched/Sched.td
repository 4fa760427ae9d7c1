// The sched dialect (L4): the tasks of one role, their tokens, streams and buffers.
// Made by the phase `schedule`; the plan is written from it.
#ifndef HEADRACE_DIALECTS_SCHED_TD
#define HEADRACE_DIALECTS_SCHED_TD

include "dialects/frame/ColumnTypes.td"
include "dialects/sched/SchedKernels.td"

def Sched_Tier : Sched_Enum<"Tier", "a kind of memory", [
  I32EnumAttrCase<"Host", 0, "host">,
  I32EnumAttrCase<"Device", 1, "device"> // of the rank's GPU
]>;
def Sched_TierAttr : EnumAttr<Sched_Dialect, Sched_Tier, "tier">;

def Sched_ExchangeKind : Sched_Enum<"ExchangeKind", "where chunks go", [
  I32EnumAttrCase<"Hash", 0, "hash">,           // output i of the partitioned producer to rank i of the group
  I32EnumAttrCase<"Broadcast", 1, "broadcast">, // to every rank of it
  I32EnumAttrCase<"Gather", 2, "gather">,       // to its first
  I32EnumAttrCase<"Range", 3, "range">]>;       // to the rank of their range of the stream's order
def Sched_ExchangeKindAttr : EnumAttr<Sched_Dialect, Sched_ExchangeKind, "exchange_kind">;

def Sched_Action : Sched_Enum<"Action", "what a task does with tensors", [
  I32EnumAttrCase<"Matmul", 0, "matmul">, I32EnumAttrCase<"Kernel", 1, "kernel">,
  I32EnumAttrCase<"Reshape", 2, "reshape">, I32EnumAttrCase<"Slice", 3, "slice">,
  I32EnumAttrCase<"Concat", 4, "concat">, I32EnumAttrCase<"Gather", 5, "gather">]>;
def Sched_ActionAttr : EnumAttr<Sched_Dialect, Sched_Action, "action">;

def Sched_CollectiveKind : Sched_Enum<"CollectiveKind", "how parts of a tensor move between ranks", [
  I32EnumAttrCase<"AllReduce", 0, "all_reduce">, I32EnumAttrCase<"AllGather", 1, "all_gather">,
  I32EnumAttrCase<"ReduceScatter", 2, "reduce_scatter">, I32EnumAttrCase<"AllToAll", 3, "all_to_all">]>;
def Sched_CollectiveKindAttr : EnumAttr<Sched_Dialect, Sched_CollectiveKind, "collective_kind">;

def Sched_Reduction : Sched_Enum<"Reduction", "how elements are reduced", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">]>;
def Sched_ReductionAttr : EnumAttr<Sched_Dialect, Sched_Reduction, "reduction">;

class Sched_Type<string name, string typeMnemonic> : TypeDef<Sched_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Sched_TokenType : Sched_Type<"Token", "token"> {
  let summary = "the end of a task";
}

def Sched_StreamType : Sched_Type<"Stream", "stream"> {
  let summary = "a bounded channel of chunks with these rows";
  let description = [{
    ```
    !sched.stream<!pipe.rows<"k": i32>>
    ```
  }];
  let parameters = (ins "::mlir::Type":$rows);
  let assemblyFormat = "`<` $rows `>`";
  let genVerifyDecl = 1;
}

def Sched_BufferType : Sched_Type<"Buffer", "buffer"> {
  let summary = "a rank's part of a tensor, in a memory tier";
  let description = [{
    The shape is that of the whole tensor, of f32, f64 or i64. Behind it the axes of the mesh that divide each dimension, as
    in a `#dist.layout`: evenly, or `ragged`, into the parts that the rows of a `sched.to_tensor` happened to make; nothing
    if no dimension is divided. An extent known only at run time is `?`: the rows of the `sched.to_tensor` that is number
    `rows` in the program.

    ```
    !sched.buffer<host, tensor<128x64xf32>>
    !sched.buffer<host, tensor<128x64xf32>, [["node"], ["gpu"]]>
    !sched.buffer<host, tensor<?x2xf32>, [["node", "gpu"] ragged, []], rows = 0>
    !sched.buffer<host, tensor<?x2xf32>, rows = 0>
    ```

    C1: the shape is a ranked tensor of these elements. C2: splits are those of its dimensions, at least one is divided, only
    such a one is ragged, and no axis is used twice. C3: it has `rows` if extents are unknown.
  }];
  let parameters = (ins EnumParameter<Sched_Tier>:$tier, "::mlir::Type":$shape,
                        ArrayRefParameter<"::headrace::dist::DimSplitAttr">:$splits,
                        DefaultValuedParameter<"int64_t", "-1">:$rows);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The axes that divide a dimension, the first the slowest.
    ::llvm::ArrayRef<::mlir::StringAttr> axesOf(int64_t dimension) const {
      return getSplits().empty() ? ::llvm::ArrayRef<::mlir::StringAttr>() : getSplits()[dimension].getAxes();
    }
  }];
}

def Sched_ProgramOp : Sched_Op<"program", [Symbol, NoTerminator, SingleBlock]> {
  let summary = "the tasks of one role";
  let description = [{
    ```mlir
    pipe.state @count scalar [#pipe.field<"n", i64, sum>]
    sched.program @main {
      %loaded, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"k": i32>>
      %done = sched.run @scan from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [@count] reads []
      %read, %out = sched.run @groups of @count fills [] reads [] after %done -> !sched.stream<!pipe.rows<"n": i64>>
      sched.result %out : !sched.stream<!pipe.rows<"n": i64>>
    }
    ```

    `chunk_rows` is how many rows the chunks of streams have, if not as many as the runtime takes by itself.

    C1: every stream has exactly one consumer.
    C2: at most one result.
    C3: chunks have rows.
    C4: its inputs are the arguments 0, 1, …, each once.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<I64Attr>:$chunk_rows);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name (`chunk_rows` $chunk_rows^)? $body attr-dict";
  let hasVerifier = 1;
}

def Sched_LoadOp : Sched_Op<"load"> {
  let summary = "an input table to a stream of morsels";
  let description = [{
    Table, columns, bounds and split are those of the `pipe.scan` that the pipeline begins with. `pieces of`: rows of a morsel, if
    they are fewer than the runtime would take by itself.

    ```mlir
    pipe.state @all rows [#pipe.field<"n", i32, payload>]
    pipe.pipeline @nations {
      %0 = pipe.scan split ["ranks"] "nation" [#pipe.scan_column<file = "n", column = "n">] : <"n": i32>
      pipe.insert %0, @all keys [] : <"n": i32>
    }
    sched.program @main {
      %loaded, %rows = sched.load for @nations : <!pipe.rows<"n": i32>>
      %kept = sched.run @nations from %rows : !sched.stream<!pipe.rows<"n": i32>> fills [@all] reads []
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$scan, OptionalAttr<ConfinedAttr<I64Attr, [IntMinValue<1024>]>>:$piece_rows);
  let results = (outs Sched_TokenType:$done, Sched_StreamType:$rows);
  let assemblyFormat = "`for` $scan (`pieces` `of` $piece_rows^)? attr-dict `:` type($rows)";
}

def Sched_ValuesOp : Sched_Op<"values"> {
  let summary = "literal rows to a stream of morsels";
  let description = [{
    `cells` and `logical` are those of `pipe.values`, with the same constraint.

    ```mlir
    sched.program @main {
      %done, %rows = sched.values [[1 : i128], [2 : i128]] [i64] : <!pipe.rows<"n": i32>>
      sched.result %rows : <!pipe.rows<"n": i32>>
    }
    ```
  }];
  let arguments = (ins ArrayAttr:$cells, Frame_ColumnTypesAttr:$logical);
  let results = (outs Sched_TokenType:$done, Sched_StreamType:$rows);
  let assemblyFormat = "$cells $logical attr-dict `:` type($rows)";
  let hasVerifier = 1;
}

def Sched_UniteOp : Sched_Op<"unite"> {
  let summary = "one stream that several runs write";
  let description = [{
    It ends when all of them have ended. No task of its own: the runs write the same stream of the plan.

    ```mlir
    sched.program @main {
      %a, %first = sched.values [[1 : i128]] [i64] : <!pipe.rows<"n": i32>>
      %b, %second = sched.values [[2 : i128]] [i64] : <!pipe.rows<"n": i32>>
      %c, %x = sched.run @p0 from %first : !sched.stream<!pipe.rows<"n": i32>> fills [] reads [] -> !sched.stream<!pipe.rows<"n": i32>>
      %d, %y = sched.run @p1 from %second : !sched.stream<!pipe.rows<"n": i32>> fills [] reads [] -> !sched.stream<!pipe.rows<"n": i32>>
      %both = sched.unite %x, %y : !sched.stream<!pipe.rows<"n": i32>>, !sched.stream<!pipe.rows<"n": i32>> -> <!pipe.rows<"n": i32>>
      sched.result %both : <!pipe.rows<"n": i32>>
    }
    ```

    C1: the streams come from runs.
  }];
  let arguments = (ins Variadic<Sched_StreamType>:$inputs);
  let results = (outs Sched_StreamType:$rows);
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($rows)";
  let hasVerifier = 1;
}

def Sched_RunOp : Sched_Op<"run", [AttrSizedOperandSegments]> {
  let summary = "a kernel over all morsels of a stream, or over the rows of a finished state";
  let description = [{
    `fills` are states that each worker fills a copy of, merged when the input has ended; `reads` are states finished
    before. With `partitioned`, output i is for rank i of the group of the exchange that takes them, or part i. With
    `gpu` it runs on the rank's GPU, where there is one.

    C1: the source is a stream (`from`) or a state (`of`), not both.

    ```mlir
    pipe.state @count scalar [#pipe.field<"n", i64, sum>]
    sched.program @main {
      %loaded, %rows = sched.load for @scan : <!pipe.rows<"k": i32>>
      %counted = sched.run @scan from %rows : !sched.stream<!pipe.rows<"k": i32>> fills [@count] reads []
      %read, %out = sched.run @groups of @count fills [] reads [] after %counted -> !sched.stream<!pipe.rows<"n": i64>>
      sched.result %out : <!pipe.rows<"n": i64>>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Optional<Sched_StreamType>:$input,
                       OptionalAttr<FlatSymbolRefAttr>:$source, TypedArrayAttrBase<FlatSymbolRefAttr, "states">:$fills,
                       TypedArrayAttrBase<FlatSymbolRefAttr, "states">:$reads, Variadic<Sched_TokenType>:$after,
                       UnitAttr:$partitioned, UnitAttr:$gpu);
  let results = (outs Sched_TokenType:$done, Optional<Sched_StreamType>:$output);
  let assemblyFormat = [{
    $kernel (`from` $input^ `:` type($input))? (`of` $source^)? `fills` $fills `reads` $reads (`after` $after^)?
    (`partitioned` $partitioned^)? (`gpu` $gpu^)? attr-dict (`->` type($output)^)?
  }];
  let hasVerifier = 1;
}

def Sched_ExchangeOp : Sched_Op<"exchange"> {
  let summary = "chunks to other ranks and from them, streaming, with credits";
  let description = [{
    Between the ranks that differ `over` these axes alone. Every exchange has its own channel. C1: the channel is not
    negative, and the rows stay the same. C2: there is an axis, and each is one of the mesh, once.

    ```mlir
    sched.program @main {
      %loaded, %rows = sched.load for @scan : <!pipe.rows<"k": i32>>
      %moved, %all = sched.exchange gather over ["ranks"] channel 0 %rows : <!pipe.rows<"k": i32>> -> <!pipe.rows<"k": i32>>
      sched.result %all : <!pipe.rows<"k": i32>>
    }
    ```
  }];
  let arguments = (ins Sched_ExchangeKindAttr:$kind, StrArrayAttr:$axes, I32Attr:$channel, Sched_StreamType:$input);
  let results = (outs Sched_TokenType:$done, Sched_StreamType:$output);
  let assemblyFormat = "$kind `over` $axes `channel` $channel $input attr-dict `:` type($input) `->` type($output)";
  let hasVerifier = 1;
}

def Sched_InputOp : Sched_Op<"input"> {
  let summary = "a tensor of the caller, each rank its part";
  let description = [{
    The caller binds tensors by their number among the arguments; the name is for people. Of a `resident` tensor each
    rank has its part already, which is the buffer.

    ```mlir
    sched.program @main {
      %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>, [["ranks"], []]>
    }
    ```
  }];
  let arguments = (ins I32Attr:$argument, StrAttr:$name, UnitAttr:$resident);
  let results = (outs Sched_BufferType:$buffer);
  let assemblyFormat = "$argument $name (`resident` $resident^)? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Sched_ToTensorOp : Sched_Op<"to_tensor"> {
  let summary = "the rows of a stream as tensors of this rank, aligned";
  let description = [{
    One result per group of columns. `logical` are the frame types of the columns: decimals are divided by their scale.
    A NULL is a data error.

    ```mlir
    pipe.state @points sort [#pipe.field<"x", f64, payload>]
    sched.program @main {
      %done, %rows = sched.run @read of @points fills [] reads [] -> !sched.stream<!pipe.rows<"x": f64>>
      %x = sched.to_tensor %rows [["x"]] logical [f64]
          : !sched.stream<!pipe.rows<"x": f64>> -> !sched.buffer<host, tensor<?x1xf64>, rows = 0>
    }
    ```

    C1: one group per result, and its columns are in the stream. C2: `logical` has a type for each column, and its values can
    be of it.
  }];
  let arguments = (ins Sched_StreamType:$rows, ArrayAttr:$groups, Frame_ColumnTypesAttr:$logical);
  let results = (outs Variadic<Sched_BufferType>:$buffers);
  let assemblyFormat = "$rows $groups `logical` $logical attr-dict `:` type($rows) `->` type($buffers)";
  let hasVerifier = 1;
}

def Sched_ComputeOp : Sched_Op<"compute"> {
  let summary = "a kernel or a library call over this rank's parts of tensors";
  let description = [{
    What `parameters` mean is said beside the task of exec. `label` is what the user would call it. A task starts when
    the buffers it reads are written.

    ```mlir
    sched.program @main {
      %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>>
      %w = sched.input 1 "w" : !sched.buffer<host, tensor<4x2xf32>>
      %y = sched.compute matmul (%x, %w) parameters [0, 0, 0] label "matmul"
          : (!sched.buffer<host, tensor<8x4xf32>>, !sched.buffer<host, tensor<4x2xf32>>)
          -> !sched.buffer<host, tensor<8x2xf32>>
      sched.tensor_result %y : !sched.buffer<host, tensor<8x2xf32>>
    }
    ```

    C1: exactly the action kernel names a kernel. C2: a product has two inputs, for each whether it is transposed, and
    how many dimensions are its batch; a reshape has no parameters; a slice has the offsets of what it takes of each dimension
    of its input, then the sizes, then the strides (size -1: all of an extent that is known only at run time); a concat has the
    dimension along which its inputs follow each other. C3: the output of a slice has these sizes, without some of size 1. It is
    divided as the input is, which is whole along dimensions of which not all is taken; what every rank has whole may become
    even parts. C4: the output of a concat has the extents of its inputs, added up along the dimension, which is whole; all are
    divided alike. C5: a gather has a source and places, i64 with a last dimension of one element, and no parameters; its output is
    the dimensions of the places but the last, then those of the source but the first, which is whole, each divided alike.
  }];
  let arguments = (ins Sched_ActionAttr:$action, OptionalAttr<FlatSymbolRefAttr>:$kernel,
                       Variadic<Sched_BufferType>:$inputs, DenseI64ArrayAttr:$parameters, StrAttr:$label);
  let results = (outs Variadic<Sched_BufferType>:$outputs);
  let assemblyFormat = [{
    $action ($kernel^)? `(` $inputs `)` `parameters` $parameters `label` $label attr-dict
    `:` functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
}

def Sched_CollectiveOp : Sched_Op<"collective"> {
  let summary = "a tensor collective between ranks, in one order on every rank";
  let description = [{
    Between the ranks that differ `over` these axes alone. What is gathered and scattered follows from the splits of input and
    output. `after` keeps the order.

    ```mlir
    sched.program @main {
      %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>, [["node"], []]>
      %done, %all = sched.collective all_gather over ["node"] %x
          : !sched.buffer<host, tensor<8x4xf32>, [["node"], []]> -> !sched.buffer<host, tensor<8x4xf32>>
      %again, %sum = sched.collective all_reduce by sum over ["node", "gpu"] %all after %done
          : !sched.buffer<host, tensor<8x4xf32>> -> !sched.buffer<host, tensor<8x4xf32>>
    }
    ```

    C1: exactly all_reduce and reduce_scatter have a reduction. C2: input and output are parts of tensors of one shape.
    C3: all_gather makes a dimension whole that these axes divide, reduce_scatter divides a whole one, all_to_all divides
    another one, all_reduce none. C4: there is an axis, and each is one of the mesh, once.
  }];
  let arguments = (ins Sched_CollectiveKindAttr:$collective, OptionalAttr<Sched_ReductionAttr>:$reduction,
                       StrArrayAttr:$axes, Sched_BufferType:$input,
                       Variadic<Sched_TokenType>:$after);
  let results = (outs Sched_TokenType:$done, Sched_BufferType:$output);
  let assemblyFormat = [{
    $collective (`by` $reduction^)? `over` $axes $input (`after` $after^)? attr-dict `:` type($input) `->` type($output)
  }];
  let hasVerifier = 1;
}

def Sched_TensorResultOp : Sched_Op<"tensor_result"> {
  let summary = "a tensor to the caller, whole on rank 0, or parts that stay on the ranks";
  let description = [{
    Of a `resident` result each rank keeps its buffer.

    ```mlir
    sched.program @main {
      %x = sched.input 0 "x" : !sched.buffer<host, tensor<8x4xf32>>
      sched.tensor_result %x : !sched.buffer<host, tensor<8x4xf32>>
    }
    ```

    C1: the tensor is not split, unless it is resident.
  }];
  let arguments = (ins Sched_BufferType:$buffer, UnitAttr:$resident);
  let assemblyFormat = "$buffer (`resident` $resident^)? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Sched_ReserveOp : Sched_Op<"reserve"> {
  let summary = "memory for a state, granted before the run that fills it starts";
  let description = [{
    `minimum` bytes are needed without any rows, and are granted or the program fails; `expected` is the 95th percentile
    of what the rows will take; beyond the minimum the reservation grows as rows come.

    ```mlir
    pipe.state @count scalar [#pipe.field<"n", i64, sum>]
    sched.program @main {
      %granted = sched.reserve host for @count minimum 65536 expected 65536
      %loaded, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"k": i32>>
      %done = sched.run @scan from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [@count] reads [] after %granted
      %released = sched.release %granted after %done
    }
    ```

    C1: no fewer bytes are expected than the minimum, which is not negative.
  }];
  let arguments = (ins Sched_TierAttr:$tier, FlatSymbolRefAttr:$state, I64Attr:$minimum, I64Attr:$expected,
                       Variadic<Sched_TokenType>:$after);
  let results = (outs Sched_TokenType:$granted);
  let assemblyFormat = "$tier `for` $state `minimum` $minimum `expected` $expected (`after` $after^)? attr-dict";
  let hasVerifier = 1;
}

def Sched_ReleaseOp : Sched_Op<"release"> {
  let summary = "gives a reservation back, when all that used it has ended";
  let description = [{
    ```mlir
    pipe.state @count scalar [#pipe.field<"n", i64, sum>]
    sched.program @main {
      %granted = sched.reserve host for @count minimum 65536 expected 1048576
      %loaded, %rows = sched.load for @scan : <!pipe.rows<"k": i32>>
      %done = sched.release %granted after %loaded
      sched.result %rows : <!pipe.rows<"k": i32>>
    }
    ```
  }];
  let arguments = (ins Sched_TokenType:$granted, Variadic<Sched_TokenType>:$after);
  let results = (outs Sched_TokenType:$done);
  let assemblyFormat = "$granted (`after` $after^)? attr-dict";
  let hasVerifier = 1;
}

def Sched_ChooseOp : Sched_Op<"choose", [NoRegionArguments]> {
  let summary = "one of two groups of tasks, by the rows that a task has left in its state";
  let description = [{
    When the run behind `by` has ended, its rows are summed over all ranks: with `at_most` or fewer the first group
    runs, else the second. Both end in a stream with the same rows. Tasks of a group start after the choice; the
    choice ends when they have. `expected` is the estimate of the rows.

    ```mlir
    pipe.state @rows0 rows [#pipe.field<"k", i32, payload>]
    sched.program @main {
      %loaded, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"k": i32>>
      %filled = sched.run @scan from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [@rows0] reads []
      %chosen, %out = sched.choose by %filled at_most 5000 expected 1200 {
        %0, %1 = sched.run @few of @rows0 fills [] reads [] after %filled -> !sched.stream<!pipe.rows<"k": i32>>
        sched.yield %1 : !sched.stream<!pipe.rows<"k": i32>>
      } else {
        %0, %1 = sched.run @many of @rows0 fills [] reads [] after %filled -> !sched.stream<!pipe.rows<"k": i32>>
        sched.yield %1 : !sched.stream<!pipe.rows<"k": i32>>
      } : !sched.stream<!pipe.rows<"k": i32>>
      sched.result %out : !sched.stream<!pipe.rows<"k": i32>>
    }
    ```

    C1: both groups end in a yield of the result's type.
    C2: what is counted is a run that fills a state.
  }];
  let arguments = (ins Sched_TokenType:$counted, I64Attr:$at_most, OptionalAttr<I64Attr>:$expected);
  let regions = (region SizedRegion<1>:$few, SizedRegion<1>:$many);
  let results = (outs Sched_TokenType:$done, Sched_StreamType:$output);
  let assemblyFormat = [{
    `by` $counted `at_most` $at_most (`expected` $expected^)? $few `else` $many attr-dict `:` type($output)
  }];
  let hasVerifier = 1;
}

def Sched_RepeatOp : Sched_Op<"repeat", [NoRegionArguments]> {
  let summary = "tasks that run in rounds, each over some parts of streams that are kept in parts";
  let description = [{
    Begins when all parts are written. The states of a round take `room` bytes at most, unless one part needs more. The streams of the yield are those that the tasks write for others; they end with
    the last round. The repeat ends then too.

    ```mlir
    pipe.state @count group [#pipe.field<"k", i32, key>, #pipe.field<"n", i64, sum>]
    sched.program @main {
      %loaded, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"k": i32>>
      %parted, %parts = sched.run @part from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [] reads [] partitioned -> !sched.stream<!pipe.rows<"k": i32>>
      %done, %groups = sched.repeat room 1048576 after %parted {
        %0 = sched.run @fill from %parts : !sched.stream<!pipe.rows<"k": i32>> fills [@count] reads []
        %1, %2 = sched.run @groups of @count fills [] reads [] after %0 -> !sched.stream<!pipe.rows<"k": i32, "n": i64>>
        sched.yield %2 : !sched.stream<!pipe.rows<"k": i32, "n": i64>>
      } : !sched.stream<!pipe.rows<"k": i32, "n": i64>>
      sched.result %groups : !sched.stream<!pipe.rows<"k": i32, "n": i64>>
    }
    ```

    C1: it ends in a yield of the results' types. C2: its tasks are runs, reservations and releases.
    C3: the room is not negative.
  }];
  let arguments = (ins I64Attr:$room, Variadic<Sched_TokenType>:$after);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Sched_TokenType:$done, Variadic<Sched_StreamType>:$outputs);
  let assemblyFormat = "`room` $room (`after` $after^)? $body attr-dict (`:` type($outputs)^)?";
  let hasVerifier = 1;
}

def Sched_YieldOp : Sched_Op<"yield", [Terminator, ParentOneOf<["ChooseOp", "RepeatOp"]>]> {
  let summary = "ends a group of a `sched.choose`, or the tasks of a `sched.repeat`";
  let description = [{
    ```mlir
    pipe.state @rows0 rows [#pipe.field<"k", i32, payload>]
    sched.program @main {
      %loaded, %lines = sched.load for @scan : !sched.stream<!pipe.rows<"k": i32>>
      %filled = sched.run @scan from %lines : !sched.stream<!pipe.rows<"k": i32>> fills [@rows0] reads []
      %chosen, %out = sched.choose by %filled at_most 10 {
        %0, %few = sched.run @few of @rows0 fills [] reads [] -> !sched.stream<!pipe.rows<"k": i32>>
        sched.yield %few : !sched.stream<!pipe.rows<"k": i32>>
      } else {
        %0, %many = sched.run @many of @rows0 fills [] reads [] -> !sched.stream<!pipe.rows<"k": i32>>
        sched.yield %many : !sched.stream<!pipe.rows<"k": i32>>
      } : !sched.stream<!pipe.rows<"k": i32>>
      sched.result %out : !sched.stream<!pipe.rows<"k": i32>>
    }
    ```
  }];
  let arguments = (ins Variadic<Sched_StreamType>:$rows);
  let assemblyFormat = "($rows^ `:` type($rows))? attr-dict";
}

def Sched_ResultOp : Sched_Op<"result"> {
  let summary = "the rows of a stream to the caller";
  let description = [{
    `names` and `logical` are the user's column names and types; `ordered` keeps the order. The caller
    has those of rank 0; those of a `resident` result stay on each rank, divided by the hash of the columns named, if
    there are any.

    C1: there are both for each column or neither, and the values can be of the type. C2: a resident result has the
    columns that it is divided by.

    ```mlir
    sched.program @main {
      %loaded, %rows = sched.load for @scan : <!pipe.rows<"k": i32>>
      sched.result %rows ordered names ["key"] logical [i32] : <!pipe.rows<"k": i32>>
    }
    ```
  }];
  let arguments = (ins Sched_StreamType:$rows, OptionalAttr<ArrayAttr>:$names, OptionalAttr<Frame_ColumnTypesAttr>:$logical,
                       UnitAttr:$ordered, OptionalAttr<StrArrayAttr>:$resident);
  let assemblyFormat = "$rows (`ordered` $ordered^)? (`resident` $resident^)? (`names` $names^)? (`logical` $logical^)? attr-dict `:` type($rows)";
  let hasVerifier = 1;
}

#endif
