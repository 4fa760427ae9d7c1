// The passes of the optimize phase: algebra on `frame`, before anything is placed.
#ifndef HEADRACE_PASSES_OPTIMIZE_PASSES_TD
#define HEADRACE_PASSES_OPTIMIZE_PASSES_TD

include "mlir/Pass/PassBase.td"

def OptimizeSimplify : Pass<"optimize-simplify", "::mlir::func::FuncOp"> {
  let summary = "fold constants, merge projects, drop what does nothing";
  let description = [{
    Constant expressions are evaluated (one that would fail is left to fail when it is reached),
    filters by `true` and projects that change nothing go away, a filter by `false` or NULL is a table without rows, a
    project of a project becomes one where nothing is computed twice, `distinct` becomes an aggregate without
    measures, a limit moves below projects, a limit of a sort is a top-k, a right join is a left join.
    Post-condition: no `frame.distinct`, no right join.
  }];
}

def OptimizeOrFactoring : Pass<"optimize-or-factoring", "::mlir::func::FuncOp"> {
  let summary = "take common conjuncts out of OR, and derive what an OR says about one table";
  let description = [{
    `(a and b) or (a and c)` becomes `a and (b or c)`. Where each branch of an OR over a join says
    something about one input table alone, the OR of these is added as a conjunct of its own, for
    pushdown to move. Holds in three-valued logic.
  }];
}

def OptimizeSplitFilters : Pass<"optimize-split-filters", "::mlir::func::FuncOp"> {
  let summary = "a filter of a scan becomes one for its numbers and one for each text";
  let description = [{
    Conditions on numbers run on vectors, and conditions on one text on the entries of its dictionary; together in one
    filter they would run row by row. What reads several texts, a text and a number, or can fail comes last. After this
    pass filters over a scan are not merged again.
  }];
}

def OptimizePushdown : Pass<"optimize-pushdown", "::mlir::func::FuncOp"> {
  let summary = "move filters toward the scans, conjunct by conjunct";
  let description = [{
    Through filters, projects, joins, aggregates (on keys), sorts, renames and unions. An equality
    between the two sides of an inner join becomes a key; a filter on a join key is also applied to the
    other side's key. A conjunct that can fail does not pass a filter, a join or an aggregate. An op whose
    result is used more than once is not passed.
  }];
}

def OptimizeScalarSubqueries : Pass<"optimize-scalar-subqueries", "::mlir::func::FuncOp"> {
  let summary = "the value of a subquery as a column, joined to every row";
  let description = [{
    A left join on a constant key. A subquery that may have several rows (it is neither an aggregate without
    keys nor limited to one row) is refused. Post-condition: no `frame.scalar_subquery`.
  }];
}

def OptimizeNotIn : Pass<"optimize-not-in", "::mlir::func::FuncOp"> {
  let summary = "NOT IN over values that may be NULL as an ordinary anti join";
  let description = [{
    Whether the right side is empty or has a NULL is one value, a scalar subquery over it: left rows are filtered by it
    first, then those with an equal right row are dropped. Post-condition: no `null_aware`.
  }];
}

def OptimizeAvg : Pass<"optimize-avg", "::mlir::func::FuncOp"> {
  let summary = "avg as sum and count, count_distinct as two aggregates";
  let description = [{
    The quotient of a decimal average is truncated at its scale; an average of nothing is NULL. Equal
    measures are computed once. Post-condition: no measure is `avg`, `count_distinct` or `sum_distinct`. Where these are of
    several columns, each column gets an aggregate of its own, and the aggregates are joined on the keys.
  }];
}

def OptimizeJoinOrder : Pass<"optimize-join-order", "::mlir::func::FuncOp"> {
  let summary = "order inner joins by estimated cost, the smaller side on the right";
  let description = [{
    Each maximal tree of inner joins is taken apart into relations, equality classes of columns and other
    predicates. Up to `relationsMax` relations the cheapest bushy tree without cross products is found by
    dynamic programming over connected sets, beyond greedily. Cost: rows built, probed and produced,
    where probing a large build side costs more. Selective semi and anti joins move below the joins
    first. The right side is always the build side.
  }];
  let options = [
    Option<"relationsMax", "relations-max", "unsigned", "10",
           "order exactly up to this many relations">];
}

def OptimizePruneColumns : Pass<"optimize-prune-columns", "::mlir::func::FuncOp"> {
  let summary = "scan, compute and carry only columns that are used";
  let description = [{
    Scans and projects lose columns that nobody uses, aggregates lose measures; before a join, sort, or
    other op that carries whole rows, a project drops the columns that end there.
  }];
}

#endif // HEADRACE_PASSES_OPTIMIZE_PASSES_TD
