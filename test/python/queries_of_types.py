"""Queries that any type of a column answers as DuckDB does, beside those that are about one type."""

from __future__ import annotations

#: Of tables t (k, g, and two columns of the type) and r (n, and one of them).
_QUERIES = (
    "select {x}, count(*) n, min({y}) a, max({y}) z, count(distinct {y}) d from t group by {x}",
    "select g, min({x}), max({x}), count({x}), count(distinct {x}) from t group by g",
    "select min({x}), max({x}), arg_min(k, ({x}, k)), arg_max(k, ({x}, k)) from t",
    "select g, arg_min({x}, k), arg_max({x}, k), first({x} order by k), last({x} order by k) from t"
    " group by g",
    "select g, any_value({x} order by k), list({x} order by k), mode({x} order by {x}) from t group by g",
    "select g, string_agg({x}, ',' order by k) from t group by g",
    "select distinct {x} from t",
    "select distinct {x}, {y} from t",
    "select distinct on (g) g, {x} from t order by g, {x}, k",
    "select k, n from t join r on t.{x} = r.{x}",
    "select k, n from t left join r on t.{x} = r.{x} and t.{y} < r.{x}",
    "select k, n from t full join r using ({x})",
    "select n from r where {x} in (select {x} from t where g = 1)",
    "select n from r where not exists (select 1 from t where t.{x} = r.{x})",
    "select k, n from t join r on t.{x} < r.{x} where k < 40",
    "select {x} from t union select {x} from r",
    "select {x} from t intersect select {x} from r",
    "select {x} from t except all select {x} from r",
    "select k, row_number() over (partition by {x} order by {y}, k) from t",
    "select k, rank() over (order by {x}), lag({x}) over (order by k) from t",
    "select k, max({x}) over (order by k rows 3 preceding) from t",
    "select k, first_value({x}) over (partition by g order by k), min({y}) over (partition by {x}) from t",
    "select k, unnest([{x}, {y}]) from t",
    "select {x}, g, count(*) from t group by grouping sets (({x}), (g), ())",
    "select histogram({x}) from t",
)


def queries(x: str, y: str) -> tuple[str, ...]:
    """Over columns of these names."""
    return tuple(query.format(x=x, y=y) for query in _QUERIES)
