"""What is made of one text is computed for the entries of its dictionary, and looked up by rows."""

from __future__ import annotations

import random
from pathlib import Path

import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, same

_ROWS = 20_000
_TEXTS = 300


def _group(first: int, rng: np.random.Generator) -> pa.Table:
    """Codes mean other texts in each group: they are given in the order in which texts are first met."""
    texts = [
        f"{'https' if i % 2 else 'http'}://Site{first + i}.de/päth-{i % 9}/x" for i in rng.permutation(_TEXTS)
    ]
    texts[:3] = ["", "ÄÖÜ", "a" * 300]
    numbers = [str(i) if i % 50 else "no number" for i in rng.permutation(_TEXTS)]
    days = [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in rng.permutation(_TEXTS)]
    code = rng.integers(0, _TEXTS, _ROWS)
    wrong = np.array([not text.isdigit() for text in numbers])[code]
    return pa.table(
        {
            "a": np.array(texts)[code],
            "i": np.array(numbers)[code],
            "d": np.array(days)[code],
            "n": pa.array([None if value % 17 == 0 else texts[value] for value in code]),
            "x": np.where(wrong, -1, rng.integers(0, 100, _ROWS)),
        }
    )


@pytest.fixture(scope="module", params=[1 << 20, 1500], ids=["codes", "codes, then plain"])
def tables(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dictionaries")
    rng = np.random.default_rng(7)
    groups = [_group(first, rng) for first in (0, 0, 100, 1000)]
    with parquet.ParquetWriter(
        folder / "t.parquet", groups[0].schema, dictionary_pagesize_limit=request.param, data_page_size=4000
    ) as writer:
        for group in groups:
            writer.write_table(group, row_group_size=_ROWS)
    parquet.write_table(groups[0].slice(0, 500).select(["a", "x"]), folder / "u.parquet")
    return folder


def _check(query: str, tables: Path, ranks: int = 1, **options: object) -> None:
    given = {name: parquet.read_table(tables / f"{name}.parquet") for name in ("t", "u")}
    same(hr.sql(query, tables, ranks=ranks, **options), answer(query, given))


_QUERIES = {
    "an argument": "select sum(length(a)) s, max(upper(a)) u, min(reverse(a)) r, count(*) c from t",
    "a key": r"""select regexp_replace(a, '^https?://([^/]+)/.*$', '\1') k, sum(strlen(a)) l, min(a) m
        from t where a <> '' group by k""",
    "a key and its text": "select a, length(a) l, count(*) c from t group by all",
    "a key of the text and others": "select length(a) l, substr(a, 9, 5) s, x % 3 y,"
    " count(*) c from t group by all",
    "behind filters": "select sum(length(a)) l, max(lower(a)) m from t "
    "where x > 20 and a like '%päth%' and d > '2024-03'",
    "behind a filter of two texts": "select count(*) c, max(replace(a, 'S', 's')) m from t "
    "where length(a) > length(i) + 20",
    "a condition with a number": "select count(*) c, sum(x) s from t where lower(a) like '%site1%' or x > 90",
    "an order": "select a, x from t order by reverse(a), x limit 50",
    "an output": "select a, upper(a) u, split_part(a, '/', 3) p, length(a) l, x from t where x = 7",
    "of all rows": "select upper(a) u, length(a) l, i from t",
    "of NULL": "select coalesce(n, '-') k, length(n) l, count(*) c, sum(length(coalesce(n,"
    " ''))) s from t group by all",
    "that may be NULL": "select try_cast(i as int) i, count(*) c from t group by all",
    "of a kind of case": "select sum(case when i ~ '^[0-9]+$' then i::int else -1 end) s,"
    " max(case when a = '' then d else a end) m from t",
    "a date": "select extract(month from d::date) m, max(d::date) d, count(*) c from t group by m",
    "a double": "select sum(try_cast(i as double) / 4) s, count(distinct try_cast(i as decimal(12,"
    " 2))) c from t",
    "a wide number": "select max(try_cast(i as hugeint)) m, min(try_cast(i as smallint)) s,"
    " bool_or(a like '%9%') b from t",
    "a list": "select string_split(a, '/')[3] k, len(string_split(a, '/')) n, count(*) c from t group by all",
    "the same twice": "select lower(a) k, max(lower(a)) m, sum(length(lower(a))) s from t "
    "where lower(a) > 'http' group by k",
    "a key of a join": "select count(*) c, max(t.x) m from t join u on lower(t.a) = lower(u.a)",
    "behind a join": "select upper(t.a) k, count(*) c, sum(u.x) s from t join u on t.x = u.x "
    "where t.d < '2024-02' group by k",
    "behind a window": "select max(r) m, count(*) c "
    "from (select row_number() over (partition by length(a) order by x) r from t)",
    "before rows are repeated": "select upper(a) k, count(*) c from (select a,"
    " unnest(range(x % 3)) e from t) group by k",
    "over and over": "select max(length(repeat(a, 100))) m, max(lpad(a, 400, 'ab')) p from t",
    "keys that are hashed": "select a, i, count(*) c, sum(x) s from t group by all",
    "keys that are hashed, some NULL": "select n, i, a, count(*) c from t where x > 3 group by all",
    "different ones": "select count(distinct a) a, count(distinct i || d) e, count(*) c "
    "from (select distinct a, d, i from t)",
    "a text as the key of a join": "select count(*) c, sum(t.x) s from t join u on t.a = u.a where t.x < 3",
    "a text among the keys of a join": "select count(*) c, sum(t.x) s from t left join u "
    "on t.x = u.x and u.a = t.a where u.x is null or u.x > 2",
    "a text in others": "select count(*) c, sum(x) s from t where a in (select a from u) "
    "and i not in (select i from t where x = 5)",
    "a text as the key of two": "select t.a, count(*) c from t join u on t.a = u.a group by t.a",
    "a window's key": "select max(r) m, sum(r) s "
    "from (select row_number() over (partition by a, i order by x) r from t)",
    "two texts": "select a || i k, count(*) c from t group by k having count(*) > 3",
}


@pytest.mark.parametrize("query", _QUERIES.values(), ids=_QUERIES.keys())
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_answers_are_those_of_duckdb(tables: Path, query: str, ranks: int) -> None:
    _check(query, tables, ranks, threads=2)


@pytest.mark.parametrize("query", [name for name in _QUERIES if "hashed" in name or "join" in name])
def test_whatever_the_layout(tables: Path, query: str) -> None:
    """Also where rows go to other ranks by the hash of a text."""
    for seed in range(6):
        _check(_QUERIES[query], tables, 3, layout_seed=seed)


@pytest.mark.parametrize("mesh", [{"a": 2, "b": 2}, {"node": 2, "rank": 3}])
def test_on_meshes_of_several_axes(tables: Path, mesh: dict[str, int]) -> None:
    for name in ("keys that are hashed", "a text as the key of a join", "a key of the text and others"):
        for seed in (None, 1, 2):
            _check(_QUERIES[name], tables, 1, mesh=mesh, layout_seed=seed)


#: By what is made: with arguments in place of `{}`.
_TEXT = [
    "lower({})",
    "upper({})",
    "reverse({})",
    "trim({}, 'htp:/')",
    "replace({}, 'Site', '')",
    "substr({}, 4, 9)",
    "right({}, 5)",
    "split_part({}, '/', 3)",
    "regexp_replace({}, '[0-9]+', '#')",
    "regexp_extract({}, 'e([0-9]*)', 1)",
    "coalesce(nullif({}, ''), 'none')",
    "case when contains({0}, '1') then {0} else 'other' end",
    "md5({})",
    "{} || '!'",
    "lpad({}, 20, '*')",
]
_NUMBER = [
    "length({})",
    "strlen({})",
    "position('/' in {})",
    "ascii({})",
    "levenshtein({}, 'http')",
    "try_cast(regexp_extract({}, '[0-9]+') as int)",
    "case when {} like '%a%' then 1 end",
    "length({}) % 7 + 100 // (1 + length({}))",
    "(length({}) / 3)::decimal(9, 2)",
]


def _random_query(seed: int) -> str:
    rng = random.Random(seed)

    def text(depth: int) -> str:
        return (
            rng.choice(["a", "a", "n", "d"])
            if depth == 0
            else rng.choice(_TEXT).replace("{0}", "{}").format(*[text(depth - 1)] * 2)
        )

    def number() -> str:
        return rng.choice(_NUMBER).format(*[text(rng.randrange(2))] * 2)

    conditions = [
        "x > 30",
        f"{number()} > 5",
        f"{text(1)} < 'm'",
        f"{text(1)} like '%1%'",
        f"{number()} + x > 20",
    ]
    chosen = rng.sample(conditions, rng.randrange(3))
    where = f" where {' and '.join(chosen)}" if chosen else ""
    keys = [rng.choice([text, lambda _: number()])(rng.randrange(1, 3)) for _ in range(rng.randrange(3))]
    values = [f"max({text(2)})", f"sum({number()})", f"count({text(1)})", f"min({number()})", "count(*)"]
    names = [f"{value} as c{index}" for index, value in enumerate(keys + values)]
    group = f" group by {', '.join(str(1 + index) for index in range(len(keys)))}" if keys else ""
    return f"select {', '.join(names)} from t{where}{group}"


@pytest.mark.parametrize("seed", range(40))
def test_random_expressions(tables: Path, seed: int) -> None:
    _check(_random_query(seed), tables, 1 + seed % 3, threads=2)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_entries_that_no_row_asks_for_are_not_wrong(tables: Path, ranks: int) -> None:
    """An entry without a value is an error for the rows that have it, not for the dictionary."""
    _check("select sum(i::int) s, max(i::int + length(i)) m, count(*) c from t where x >= 0", tables, ranks)
    _check("select i::int k, count(*) c from t where x >= 0 group by k", tables, ranks)
    _check("select count(*) c from t where x >= 0 and i::int > 100", tables, ranks)
    _check("select sum(case when x >= 0 then i::int end) s from t", tables, ranks)
    for query in [
        "select sum(i::int) from t",
        "select i::int k, count(*) from t where x < 50 group by k",
        "select count(*) from t where i::int > 100",
    ]:
        with pytest.raises(hr.HeadraceError, match="value cannot be cast") as raised:
            hr.sql(query, tables, ranks=ranks)
        assert raised.value.kind == "data", query


def test_texts_without_room_are_computed_for_rows(tables: Path) -> None:
    """More texts than a map keeps, and a limit that has no room for a map."""
    few = "select max(repeat(a, 9000)) m, count(*) c from t where x = 3 and repeat(a, 9000) > 'a'"
    _check(few, tables)
    _check("select max(upper(a)) m, sum(length(a)) s from t where lower(a) > 'h'", tables, memory="24 MiB")


def test_random_numbers_are_drawn_for_rows(tables: Path) -> None:
    drawn = hr.sql("select count(distinct random() + length(a)) c from t", tables).to_pylist()[0]["c"]
    assert drawn > 3 * _ROWS
