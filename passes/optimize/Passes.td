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
    measures, a limit moves below projects, a limit of a sort is a top-k, a right join is a left join. A comparison of a
    widening cast with a constant is one of what is cast, so that it can choose among the parts of a file. A column stands
    in one key of a join only.
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

def OptimizeLongLists : Pass<"optimize-long-lists", "::mlir::func::FuncOp"> {
  let summary = "`x IN (…)` of more than 128 literals as a join with a table of them";
  let description = [{
    A condition that a column is in the list keeps the rows of a semi join; anywhere else in a filter or a project a mark
    takes the place of the list, and NULL that of the mark where the column is NULL. Lists for what is no column stay.
  }];
}

def OptimizeComputedKeys : Pass<"optimize-computed-keys", "::mlir::func::FuncOp"> {
  let summary = "joins on equal expressions as joins on columns that have their values";
  let description = [{
    `a.x = b.y + 1` as the condition of a join is a key of it once `b` has a column for `b.y + 1`. Not of inner joins that have
    keys already, and not where an expression can fail.
  }];
}

def OptimizeMarks : Pass<"optimize-marks", "::mlir::func::FuncOp"> {
  let summary = "membership in three-valued logic as joins that know only matches";
  let description = [{
    `x IN (query)` where nothing can be NULL is an ordinary mark, NOT IN an ordinary anti join. Else, not correlated:
    whether the right side is empty or has a NULL is one value, a scalar subquery over it; correlated by equal keys: the rows
    and the values of each group are counted and joined to the left; with any other condition: a second join finds the pairs of
    which it is NULL. Post-condition: no `null_aware`.
  }];
}

def OptimizeSingleJoins : Pass<"optimize-single-joins", "::mlir::func::FuncOp"> {
  let summary = "joins that allow one match as left joins";
  let description = [{
    Where the right side has each key once (an aggregate by some of them), nothing else is to do; else it is grouped by its
    keys and counted, and a row that found more than one fails. Post-condition: no single join.
  }];
}

def OptimizeNullSafe : Pass<"optimize-null-safe", "::mlir::func::FuncOp"> {
  let summary = "keys for which NULL equals NULL as ordinary ones";
  let description = [{
    A pair of which one side cannot be NULL (by its type, or a filter or join that it came through) is an ordinary one.
    With `as-two-keys` every other becomes two, whether it is NULL and the value, and no `null_safe` is left.
  }];
  let options = [
    Option<"asTwoKeys", "as-two-keys", "bool", "false", "leave no null_safe key (default: false)">];
}

def OptimizeDomains : Pass<"optimize-domains", "::mlir::func::FuncOp"> {
  let summary = "drop semi joins with the distinct outer values that the join above makes needless";
  let description = [{
    The plan of a correlated subquery restricts its input to the values that the outer query asks for: a semi join with the
    distinct values of columns of the outer table, which then is computed twice. Where the result is joined to the same
    outer columns on the same values, the rows left out would find no partner anyway. What is computed between the two joins
    must not fail for them.

    ```
    sums = aggregate(semi_join(lines, distinct(outer.key)), by key)      becomes    sums = aggregate(lines, by key)
    join(outer, sums, on key)                                                       join(outer, sums, on key)
    ```
  }];
}

def OptimizeLaterals : Pass<"optimize-laterals", "::mlir::func::FuncOp"> {
  let summary = "rows made of a row's lists carry its other columns";
  let description = [{
    The plan of `FROM outer, unnest(outer.list)` makes rows of the distinct values of the outer table's columns, and joins them to
    the outer table on these. Where only filters, projects and expands are between the distinct values and an inner join on all
    of them, or on one that tells the rows apart, the rows are made of the outer table's rows, whose other columns go along. Nothing is
    joined on a list or a text, and what is made of a list of the row is known to be of the row that is repeated.

    ```
    join(outer, expand(distinct(outer.list)), on list)      becomes    expand(outer)
    ```
  }];
}

def OptimizeInline : Pass<"optimize-inline", "::mlir::func::FuncOp"> {
  let summary = "compute what is cheap where it is used";
  let description = [{
    A table that is used several times and that is a scan with filters and projects is made once for each use, so that filters and
    the columns that are needed differ. Post-condition: what is used more than once has a join, an aggregate, an order or a
    limit in it.
  }];
}

def OptimizeRenames : Pass<"optimize-renames", "::mlir::func::FuncOp"> {
  let summary = "what is renamed gets the name where it is made";
  let description = [{
    So that the joins above and below a rename can be ordered together. A table that is used more than once keeps its
    names.
  }];
}

def OptimizeAvg : Pass<"optimize-avg", "::mlir::func::FuncOp"> {
  let summary = "avg as sum and count, count_distinct as two aggregates";
  let description = [{
    The quotient of a decimal average is truncated at its scale; an average of nothing is NULL. Equal
    measures are computed once. Sums of one column of integers plus different constants are its sum and count, if no addition can
    overflow. Post-condition: no measure is `avg`, `count_distinct` or `sum_distinct`. Where these are of
    several columns, each column gets an aggregate of its own, and the aggregates are joined on the keys.
  }];
}

def OptimizeWindows : Pass<"optimize-windows", "::mlir::func::FuncOp"> {
  let summary = "fewer and smaller windows";
  let description = [{
    Two windows over the same partitions, one above the other, are one if an order of theirs serves both: the same; one that goes
    on behind the other, whose functions do not look at peers; any for aggregates of whole partitions. What is left of these
    alone is an aggregate, joined to its rows by the partition keys: no row is sorted or sent. A window of `row_number` and `rank`
    under a filter that lets only the first k through gets `first k`; of `row_number` without
    partition keys it is a window of the first k rows of all. Before optimize-avg, which lowers averages and distinct measures.

    ```
    window(t, by g, [sum(x), avg(y)])      becomes      join(t, aggregate(t, by g, [sum(x), avg(y)]), on g)
    ```
  }];
}

def OptimizeRollUp : Pass<"optimize-roll-up", "::mlir::func::FuncOp"> {
  let summary = "make coarse aggregates of the groups of fine ones";
  let description = [{
    Of aggregates over the same rows, one whose keys are among another's and whose measures the other has too is made of
    that one's groups (of the coarsest such). So a ROLLUP reads its rows once. Where several have no finer one, and an
    aggregate by all their keys would have half the rows or fewer by the statistics, that one is made for them. Their
    measures are lowered as in optimize-avg first. Before optimize-inline, which gives each reader a scan of its own.
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
           "order up to this many relations exactly (default: 10)">];
}

def OptimizeReduceGroups : Pass<"optimize-reduce-groups", "::mlir::func::FuncOp"> {
  let summary = "make only the groups that a join asks for";
  let description = [{
    Where an aggregate is joined by its keys to a table with few of their values, a semi join with that table, or with one
    that its values come from, is put in front of the rows that are grouped, if the cost model finds that cheaper. The join
    above leaves out the other groups anyway.
    ```
    sums = aggregate(lines, by key)                        becomes    sums = aggregate(semi_join(lines, parts on key), by key)
    join(parts, sums, on key)                                         join(parts, sums, on key)
    ```
  }];
}

def OptimizePruneColumns : Pass<"optimize-prune-columns", "::mlir::func::FuncOp"> {
  let summary = "scan, compute and carry only columns that are used";
  let description = [{
    Scans and projects lose columns that nobody uses, aggregates lose measures; before a join, sort, or
    other op that carries whole rows, a project drops the columns that end there.
  }];
}

#endif // HEADRACE_PASSES_OPTIMIZE_PASSES_TD
