// The passes of the phase `shard`: from global values to one program that every rank runs on its part.
#ifndef HEADRACE_PASSES_SHARD_PASSES_TD
#define HEADRACE_PASSES_SHARD_PASSES_TD

include "mlir/Pass/PassBase.td"

def ShardSolvePass : Pass<"shard-solve", "::mlir::ModuleOp"> {
  let dependentDialects = ["::headrace::dist::DistDialect", "::headrace::topo::TopoDialect", "::mlir::arith::ArithDialect"];
  let summary = "chooses a layout for every table and tensor";
  let description = [{
    Enumerates the strategies of every op from its rule, costs them and the reshards between them on the topology, and
    chooses one per op with the solver of `model/solve`. Assumes functions of one block. Afterwards every op
    carries `dist.layouts` (its results) and `dist.needs` (its operands), and the module `topo.mesh` and
    `topo.topology`. On one rank nothing is annotated.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "\"\"",
           "axes as name:size,name:size (default: the module's topo.mesh, else one rank)">,
    Option<"topology", "topology", "std::string", "\"\"",
           "a topology file or the name of a shipped one (default: this machine, divided)">,
    Option<"memory", "memory", "double", "0",
           "bytes that all ranks on this machine may use; 0, the default: all that it has">,
    Option<"seed", "seed", "uint64_t", "0",
           "a random layout among all that the rules allow, for tests; 0, the default: the cheapest">,
    Option<"alternative", "alternative", "uint64_t", "0",
           "the layout of this number among those nearly as cheap, for the tuner; 0, the default: the cheapest">,
    Option<"explain", "explain", "std::string", "\"\"", "print the choices to standard error: text or json (default: do not)">,
    Option<"secondsMax", "seconds-max", "double", "0.2", "seconds after which the best layout so far is taken (default: 0.2)">
  ];
  let statistics = [
    Statistic<"reshardCount", "reshards", "edges on which data changes its layout">,
    Statistic<"strategyCount", "strategies", "strategies enumerated">
  ];
}

def ShardInsertReshardsPass : Pass<"shard-insert-reshards", "::mlir::ModuleOp"> {
  let dependentDialects = ["::headrace::dist::DistDialect", "::headrace::topo::TopoDialect", "::mlir::arith::ArithDialect"];
  let summary = "makes every change of layout an op";
  let description = [{
    Puts a `dist.reshard` where an operand's layout is not the one its user needs; users with the same need share it.
    Empty tensors, constants and fills of a constant are made again in the layout instead: nothing moves.
    Drops `dist.constrain`. Afterwards `dist.needs` is gone and every operand has the layout its op was costed with.
  }];
}

def ShardLowerReshardsPass : Pass<"shard-lower-reshards", "::mlir::ModuleOp"> {
  let dependentDialects = ["::headrace::dist::DistDialect", "::headrace::topo::TopoDialect", "::mlir::arith::ArithDialect"];
  let summary = "turns reshards into collectives and exchanges";
  let description = [{
    Tensors: slice, reduce_scatter, all_reduce, all_to_all, all_gather. Tables: exchanges; a reshard of an unreduced
    table becomes an exchange and a second op of the same kind on what came together: a `frame.aggregate` with
    `stage = partial` before and `stage = final` behind it, in which a count adds up the counts it gets. Afterwards no
    `dist.reshard` is left.
  }];
}

def ShardExpandChoicesPass : Pass<"shard-expand-choices", "::mlir::ModuleOp"> {
  let dependentDialects = ["::headrace::dist::DistDialect", "::headrace::topo::TopoDialect", "::mlir::arith::ArithDialect"];
  let summary = "makes joins that are decided at run time into dist.choose";
  let description = [{
    A `frame.join` with `dist.choose` is made twice: behind a reshard that copies its right side to all ranks, and behind reshards of both sides
    by their keys. Afterwards no op carries `dist.choose`.
  }];
}

def ShardCarryWindowsPass : Pass<"shard-carry-windows", "::mlir::ModuleOp"> {
  let dependentDialects = ["::headrace::dist::DistDialect", "::headrace::topo::TopoDialect", "::mlir::arith::ArithDialect"];
  let summary = "makes windows over rows that are divided in their order into windows over each rank's own";
  let description = [{
    A `frame.window` without partition keys whose rows are divided is computed over the rank's own rows. Of these each rank makes a
    summary in one row (how many there are, what they fold to), which all ranks get: a window over the summaries gives what
    goes before and behind, and a join by the rank brings it to the rows. Of functions that look a constant number of rows
    away, the rows near the ends of ranks go to all ranks and are computed there. Assumes `dist.layouts`; afterwards
    every window sees all rows of its partitions.
  }];
}

def ShardPairExchangesPass : Pass<"shard-pair-exchanges", "::mlir::ModuleOp"> {
  let dependentDialects = ["::headrace::dist::DistDialect", "::headrace::topo::TopoDialect"];
  let summary = "lets the two exchanges before a join spread the rows of heavy keys";
  let description = [{
    Gives both `skew`, with what the kind of the join allows, where no op behind the join relies on the places of its rows: they are
    exchanged again, come together in parts, or meet a table that is everywhere. Assumes `dist.layouts`.
  }];
  let statistics = [Statistic<"pairs", "pairs", "pairs of exchanges that agree on heavy keys">];
}

def DistLocalizePass : Pass<"dist-localize", "::mlir::ModuleOp"> {
  let dependentDialects = ["::headrace::dist::DistDialect", "::headrace::topo::TopoDialect", "::mlir::arith::ArithDialect"];
  let summary = "from the global view to one rank's view";
  let description = [{
    Split tensor dimensions become `?`; sizes of empty tensors come from `dist.local_extent`; constants are sliced. Scans that
    read only their rank's share get `dist.split` with the axes. Layouts disappear but for those of the function's arguments.
  }];
}

def VerifyShardPass : Pass<"verify-shard", "::mlir::ModuleOp"> {
  let summary = "what the next phase may rely on: one rank's program";
  let description = [{
    Refuses `dist.constrain`, `dist.reshard`, layouts on ops, exchanges without a mesh, collectives that divide a dimension
    of known size, and partial aggregates that no final one of the same keys and measures finishes.
  }];
}

#endif // HEADRACE_PASSES_SHARD_PASSES_TD
