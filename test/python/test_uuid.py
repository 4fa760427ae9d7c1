"""UUID beside DuckDB: literals, casts, functions, keys, orders, aggregates, windows, lists; in and out."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from uuid import UUID

import duckdb
import headrace as hr
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import answer, check, same
from headrace._src.command_line import main
from queries_of_types import queries

_ROWS = 400
_SOME = [
    UUID(text)
    for text in (
        "00000000-0000-0000-0000-000000000000",
        "00000000-0000-0000-0000-0000000000ff",
        "019a1234-5678-7abc-8def-0123456789ab",
        "7fffffff-ffff-4fff-bfff-ffffffffffff",
        "80000000-0000-4000-8000-000000000000",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "ffffffff-ffff-1fff-ffff-ffffffffffff",
    )
]


def _value(rng: random.Random) -> bytes | None:
    """Some come often."""
    if rng.random() < 0.1:
        return None
    return rng.choice(_SOME).bytes if rng.random() < 0.6 else UUID(int=rng.getrandbits(128), version=4).bytes


def _values(rng: random.Random, count: int) -> pa.Array:
    return pa.array([_value(rng) for _ in range(count)], pa.uuid())


def _tables() -> dict[str, pa.Table]:
    rng = random.Random(7)
    texts = ["", "x", str(_SOME[5]).upper(), _SOME[2].hex, f"{{{_SOME[3]}}}", str(_SOME[4])[:-1], None]
    columns = {
        "k": pa.array(range(_ROWS), pa.int32()),
        "g": pa.array([rng.choice([0, 1, 2, None]) for _ in range(_ROWS)], pa.int32()),
        "u": _values(rng, _ROWS),
        "w": _values(rng, _ROWS),
        "v": pa.array([rng.choice(texts) for _ in range(_ROWS)]),
    }
    return {
        "t": pa.table(columns),
        "r": pa.table({"u": _values(rng, 60), "n": pa.array(range(60), pa.int64())}),
    }


_TABLES = _tables()
_RANKS = pytest.mark.parametrize("ranks", [1, 3])
_ONE = "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"

_EXPRESSIONS = (
    f"{_ONE}::uuid",
    f"uuid {_ONE}",
    f"{_ONE}::guid",
    "'{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'::uuid",
    "'-a0ee--bc999c0b4ef8bb6d6bb9bd380a11-'::uuid",
    "u::varchar",
    "u::varchar::uuid",
    "try_cast(v as uuid)",
    "try_cast('x' as uuid)",
    "case when length(v) > 35 then try(v::uuid) end",
    "u::blob",
    "u::blob::uuid",
    "try_cast(encode(v) as uuid)",
    "try_cast('abcdefghijklmnop'::blob as uuid)",
    "u::uhugeint::varchar",
    "u::uhugeint::uuid",
    "(k::uhugeint << 100)::uuid",
    "uuid_extract_version(u)",
    f"uuid_extract_version({_ONE})",
    "typeof(uuid_extract_version(u))",
    "epoch_us(case when uuid_extract_version(u) = 7 then uuid_extract_timestamp(u) end)",
    "epoch_us(uuid_extract_timestamp('019a1234-5678-7abc-8def-0123456789ab'))",
    "epoch_us(try(uuid_extract_timestamp(u)))",
    "typeof(try(uuid_extract_timestamp(u)))",
    "md5(u::varchar)",
    "sha256(u::blob)",
    "hex(u::blob)",
    "concat(u, 'x')",
    "concat_ws(',', u, w)",
    "u || '-' || w",
    "format('{} {}', u, k)",
    "printf('%s', u)",
    "u = w",
    "u < w",
    "u >= w",
    "u is distinct from w",
    f"u = {_ONE}",
    f"u > upper({_ONE})::uuid",
    "u > '80000000000000000000000000000000'",
    f"u between '00000000-0000-0000-0000-0000000000ff' and {_ONE}",
    f"u in (w, {_ONE})",
    f"u not in ({', '.join(repr(str(each)) for each in _SOME)})",
    f"coalesce(u, w, {_ONE})",
    "nullif(u, w)",
    f"ifnull(u, {_ONE})",
    "case when u < w then u when k % 3 = 0 then w end",
    "greatest(u, w)",
    "least(u, w)",
    "typeof(u)",
    "u is null",
    "[u, w]",
    "[u, w]::varchar",
    "[u, w]::varchar[]",
    "[u, w]::blob[]",
    "['x', v]::varchar[]",
    "try_cast([v] as uuid[])",
    "{'a': u, 'n': k}",
    "{'a': u}::varchar",
    "{'a': u}::struct(a varchar)",
    "map([k], [u])",
    "map {'a': [u]}",
    "list_sort([u, w, '00000000-0000-0000-0000-000000000000'])",
    f"list_contains([u, w], {_ONE})",
    "list_sort(list_distinct([u, w, u]))",
    "list_aggregate([u, w], 'max')",
    "array_value(u, w)",
    "row(u, k)",
    "cast(null as uuid)",
    "[null::uuid]",
)


@pytest.mark.parametrize("expression", _EXPRESSIONS)
def test_expressions(expression: str) -> None:
    query = f"select k, {expression} as x from t"
    for ranks in (1, 3):
        check(query, _TABLES, ranks=ranks)


_QUERIES = (
    *queries("u", "w"),
    "select g, list(distinct u order by u), max(u, 3) from t group by g",
    "select count(distinct u), approx_count_distinct(u) > 0 from t",
    "select k, n from t join r on t.u is not distinct from r.u",
    "select k, r.u from t asof join r on t.g = r.n % 3 and t.u >= r.u",
    "select k, n from t join r on t.u::varchar = r.u::varchar",
    "select u from t union all select '019a1234-5678-7abc-8def-0123456789ab'",
    f"select u from (values ({_ONE}::uuid, 1), (null, 2)) v(u, n) where n > 0",
    f"select k from t where u = {_ONE}",
    "select k from t where u > '7fffffffffffffffffffffffffffffff' and u < 'a0000000000000000000000000000000'",
    f"select histogram(u, [uuid {_ONE}]) from t",
    "select quantile_disc(u, 0.5), median(u), quantile_disc(u, [0.1, 0.9]) from t",
    "select entropy(u) > 0 from t",
    f"select is_histogram_other_bin(u) from t where u = {_ONE}",
)


@_RANKS
@pytest.mark.parametrize("query", _QUERIES)
def test_queries(query: str, ranks: int) -> None:
    check(query, _TABLES, ranks=ranks)


@_RANKS
def test_orders(ranks: int) -> None:
    for order in ("u, k", "u desc, k", "u nulls first, k", "w, u desc nulls last, k", "u::varchar, k"):
        query = f"select k, u from t order by {order}"
        same(hr.sql(query, dict(_TABLES), ranks=ranks), answer(query, _TABLES), ordered=True)
    query = "select u, k from t order by u desc, k limit 17 offset 3"
    same(hr.sql(query, dict(_TABLES), ranks=ranks), answer(query, _TABLES), ordered=True)


_FAILURES = (
    ("select v::uuid from t where v = 'x'", "DataError"),
    ("select 'a0eebc99'::uuid", "value cannot be cast (at CAST('a0eebc99'), 1:18)"),
    ("select ' a0eebc999c0b4ef8bb6d6bb9bd380a11'::uuid", "value cannot be cast"),
    (f"select u from t where u > {_ONE[:-2]}'", "value cannot be cast (at CAST('a0eebc99"),
    ("select ['x']::uuid[]", "DataError"),
    ("select encode(v)::uuid from t", "bytes that are no UUID, which has 16"),
    (
        "select uuid_extract_timestamp(u) from t",
        "a UUID of another version than 7 in uuid_extract_timestamp",
    ),
)


@pytest.mark.parametrize(("query", "message"), _FAILURES)
def test_failures(query: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError) as caught:
        hr.sql(query, dict(_TABLES), ranks=2)
    assert message in str(caught.value) or message == type(caught.value).__name__
    with pytest.raises(Exception, match=r"."):
        answer(query, _TABLES)


_REFUSED = (
    (
        "select k::uuid from t",
        "unsupported cast of a UUID to or from another type than VARCHAR, BLOB and UHUGEINT",
    ),
    (
        "select u::date from t",
        "unsupported cast of a UUID to or from another type than VARCHAR, BLOB and UHUGEINT",
    ),
)


@pytest.mark.parametrize(("query", "message"), _REFUSED)
def test_refused(query: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(query, dict(_TABLES))


def test_versions_and_times_of_the_standard() -> None:
    """RFC 9562 has 16 versions, and times without a sign; DuckDB gives 54 for version 15, and 1969."""
    query = """select uuid_extract_version('ffffffff-ffff-ffff-ffff-ffffffffffff') as v,
        uuid_extract_timestamp('ffffffff-ffff-7fff-bfff-ffffffffffff')::varchar as t"""
    assert hr.sql(query).to_pylist() == [{"v": 15, "t": "10889-08-02 05:31:50.655+00"}]


def test_results_are_texts() -> None:
    """As DuckDB's Arrow tables have them; a table that has Arrow's UUIDs is read as such."""
    query = (
        "select u, [u, w] as l, {'a': u, 'b': [w]} as s, map([k], [u]) as m, array_value(u, w) as a, k from t"
    )
    found, wanted = hr.sql(query, dict(_TABLES)), answer(query, _TABLES)
    assert found.schema.types == wanted.schema.types
    assert found.sort_by("k").to_pylist() == wanted.sort_by("k").to_pylist()
    assert (
        hr.batches(query, dict(_TABLES)).read_all().sort_by("k").to_pylist() == found.sort_by("k").to_pylist()
    )
    session = hr.connect()
    session.register("t", _TABLES["t"])
    relation = session.sql(query)
    assert relation.schema.types == found.schema.types
    assert relation.pl()["u"].to_list() == wanted["u"].to_pylist()
    again = "select u, typeof(u) as x from t where u is not null order by k limit 3"
    assert hr.sql(again, dict(_TABLES)).to_pylist() == answer(again, _TABLES).to_pylist()
    assert hr.sql("select u from t where k < 0", dict(_TABLES)).schema.types == [pa.string()]


def test_nested_columns_of_arrow() -> None:
    one, two = (pa.scalar(each.bytes, pa.uuid()) for each in _SOME[2:4])
    uuids = pa.array([_SOME[2].bytes, None, _SOME[3].bytes, _SOME[4].bytes], pa.uuid())
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 2, 4]), uuids)
    structs = pa.StructArray.from_arrays([uuids[:3], pa.array([1, 2, 3])], ["a", "b"])
    table = pa.table({"l": lists, "s": structs, "k": [0, 1, 2]})
    assert one.as_py() != two.as_py()
    for query in (
        "select k, l, s, typeof(l) as x, typeof(s) as y from t",
        "select l[1] as x, s.a::varchar as y from t",
    ):
        check(query, {"t": table}, ranks=1)
    blobs = pa.table({"b": pa.array([_SOME[2].bytes, None], pa.binary(16))})
    check("select b, typeof(b) as x, b::uuid as u from t", {"t": blobs}, ranks=1)


def test_datasets_and_recursion() -> None:
    """Rows that another plan reads stay UUIDs."""
    for by in ((), ("u",)):
        kept = hr.persist("select u, [w] as l, k from t", dict(_TABLES), by=by, ranks=3)
        query = "select typeof(d.u) as a, typeof(l) as b, k, l[1] as c, n from d join r on d.u = r.u"
        found = hr.sql(query, {"d": kept, "r": _TABLES["r"]}, ranks=3)
        same(found, answer(query.replace("from d", "from (select u, [w] as l, k from t) d"), _TABLES))
    step = f"select (n::uhugeint + 1::uhugeint)::uuid, [n] from r where n < '{'0' * 31}3'"
    first = f"select uuid '{'0' * 32}', []::uuid[]"
    check(f"with recursive r(n, l) as ({first} union all {step}) select * from r", {})


def _files() -> pa.Table:
    rng = random.Random(11)
    rows = 3000
    lists = [
        None if rng.random() < 0.2 else [_value(rng) for _ in range(rng.randrange(4))] for _ in range(rows)
    ]
    storage = pa.array(lists, pa.list_(pa.binary(16)))
    inner = pa.ExtensionArray.from_storage(pa.uuid(), storage.values)
    structs = pa.StructArray.from_arrays([_values(rng, rows), pa.array(range(rows))], ["x", "y"])
    columns = {
        "u": _values(rng, rows),
        "m": pa.array([_value(rng) or _SOME[0].bytes for _ in range(rows)], pa.uuid()),
        "o": pa.array(sorted(rng.randbytes(16) for _ in range(rows)), pa.uuid()),
        "l": pa.ListArray.from_arrays(storage.offsets, inner, mask=storage.is_null()),
        "s": structs,
        "k": pa.array(range(rows), pa.int32()),
    }
    schema = pa.schema(
        [pa.field(name, column.type, nullable=name not in ("m", "o")) for name, column in columns.items()]
    )
    return pa.table(list(columns.values()), schema=schema)


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("layout", ["dictionary", "plain", "no statistics"])
def test_parquet(tmp_path: Path, version: str, layout: str) -> None:
    path = tmp_path / "t.parquet"
    parquet.write_table(
        _files(),
        path,
        data_page_version=version,
        use_dictionary=layout == "dictionary",
        write_statistics=layout != "no statistics",
        row_group_size=500,
        data_page_size=2000,
        store_schema=False,
    )
    assert parquet.ParquetFile(path).schema.column(0).logical_type.type == "UUID"
    for ranks, query in enumerate(
        (
            "select * from {}",
            "select u, count(*), min(m), max(o) from {} group by u",
            f"select o, u from {{}} where o > '80{'0' * 30}' and o <= '9080{'0' * 28}'",
            "select m, o from {} where m = u and o is not null",
            f"select count(*) from {{}} where u = {_ONE}",
            "select s.x as x, count(*) from {} group by all",
            "select l, typeof(l) as a, typeof(s) as b, s::varchar as c from {} where l[1] < l[2]",
        )
    ):
        found = hr.sql(query.format("t"), {"t": path}, ranks=ranks % 3 + 1)
        same(found, answer(query.format(f"'{path}'"), {}))


def test_row_groups_are_left_out(tmp_path: Path) -> None:
    """By bytes without a sign: 80… is above 7f…."""
    values = [UUID(bytes=bytes([byte]) + bytes(15)).bytes for byte in range(256)]
    table = pa.table({"u": pa.array(values, pa.uuid())})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=16)
    zeros = "0" * 30
    for condition in (f"u > '7f{zeros}'", f"u = '80{zeros}'", f"u < '10{zeros}'", f"u >= 'f0{zeros}'"):
        query = f"select u from t where {condition}"
        same(hr.sql(query, {"t": tmp_path / "t.parquet"}), answer(query, {"t": table}))
    assert "u > '7f000000-0000-0000-0000-000000000000'" in hr.explain(
        f"select u from t where u > '7f{zeros}'", {"t": tmp_path / "t.parquet"}
    )


_COPIED = "select k, u, [w] as l, {'a': w} as s from t order by k"


@pytest.mark.parametrize("more", ["", ", interval 1 day as i"])
def test_copy_as_parquet(tmp_path: Path, more: str) -> None:
    query = _COPIED.replace(" from", f"{more} from")
    for name, options in (("x.parquet", ""), ("parts", "(format parquet, per_thread_output)")):
        hr.sql(f"copy ({query}) to '{tmp_path / name}' {options}", dict(_TABLES), ranks=2)
        files = [tmp_path / name] if name.endswith("parquet") else sorted((tmp_path / name).iterdir())
        assert {parquet.ParquetFile(each).schema.column(1).logical_type.type for each in files} == {"UUID"}
        read = "select *, typeof(u) as a, typeof(l) as b, typeof(s) as c"
        found = hr.sql(f"{read} from x", {"x": tmp_path / name})
        same(found, answer(f"{read} from ({query})", _TABLES))
        listed = ", ".join(f"'{each}'" for each in files)
        same(found, answer(f"{read} from read_parquet([{listed}])", {}))


def test_copy_as_csv(tmp_path: Path) -> None:
    hr.sql(f"copy ({_COPIED}) to '{tmp_path}/ours.csv'", dict(_TABLES))
    with duckdb.connect() as connection:
        connection.register("t", _TABLES["t"])
        connection.sql(f"copy ({_COPIED}) to '{tmp_path}/theirs.csv'")
    assert (tmp_path / "ours.csv").read_text() == (tmp_path / "theirs.csv").read_text()


def test_folders_by_uuids(tmp_path: Path) -> None:
    for suffix in ("parquet", "csv"):
        query = "select u, w, k from t where k < 40 and u is not null"
        hr.sql(f"copy ({query}) to '{tmp_path}/{suffix}' (format {suffix}, partition_by (u))", dict(_TABLES))
        files = f"read_{suffix}('{tmp_path}/{suffix}/*/*', hive_partitioning=true)"
        read = f"select u::uuid as u, w::uuid as w, k::int as k from {files}"
        same(answer(read, {}), answer(query, _TABLES))


def test_csv(tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    texts = [str(_SOME[5]), _SOME[3].hex.upper(), f'"{{{_SOME[4]}}}"', "", str(_SOME[6])]
    file.write_text("k,u\n" + "".join(f"{place},{text}\n" for place, text in enumerate(texts)))
    for read in (
        "read_csv('{}', columns = {{'k': 'INTEGER', 'u': 'UUID'}})",
        "read_csv('{}', types = {{'u': 'UUID'}})",
    ):
        check(
            f"select u, typeof(u) as t, k from {read.format(file)} where u is null or u > '8{'0' * 31}'", {}
        )
    file.write_text(f"k,u\n0,{_SOME[5]}\n1,{_SOME[4].hex[1:]}\n")
    with pytest.raises(hr.HeadraceError, match=f"cannot be read as uuid: '{_SOME[4].hex[1:]}'"):
        hr.sql(f"select u from read_csv('{file}', types = {{'u': 'UUID'}})")


def test_parameters() -> None:
    session = hr.connect()
    session.register("t", _TABLES["t"])
    for given in (_SOME[5], pa.scalar(_SOME[5].bytes, pa.uuid())):
        found = session.sql("select $1 as u, typeof($1) as t, [$1] as l", [given]).arrow()
        assert found.to_pylist() == [{"u": str(_SOME[5]), "t": "UUID", "l": [str(_SOME[5])]}]
    found = session.sql("select k from t where u in $x", parameters={"x": _SOME[3:5]}).arrow()
    assert found.num_rows == sum(each in _SOME[3:5] for each in _TABLES["t"]["u"].to_pylist()) > 0
    assert hr.sql("describe select u from t", dict(_TABLES))["column_type"].to_pylist() == ["UUID"]


def test_frames() -> None:
    """Frames have them as texts, as results do."""
    frame = hr.from_arrow(_TABLES["t"])
    found = frame.group_by("u").agg(hr.len()).sort("u", nulls_last=True).collect()
    wanted = answer("select u, count(*) as len from t group by u order by u", _TABLES)
    assert found["u"].to_pylist() == wanted["u"].to_pylist()
    some = frame.filter(hr.col("u").str.starts_with("a0ee")).select("k").collect()
    assert some.num_rows == sum(str(each).startswith("a0ee") for each in _TABLES["t"]["u"].to_pylist())


def test_texts_of_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line, headrace-run and EXPLAIN write them as a cast does."""
    parquet.write_table(_TABLES["t"], tmp_path / "t.parquet")
    query = f"select distinct u from t where u > {_ONE} order by u limit 20"
    wanted = answer(query, _TABLES)["u"].to_pylist()
    assert main(["sql", query, "--tables", str(tmp_path)]) == 0
    assert capsys.readouterr().out.split()[2 : 2 + len(wanted)] == wanted
    assert main(["compile", query, "--tables", str(tmp_path), "--output", f"{tmp_path}/q.plan"]) == 0
    tool = Path(hr.__path__[-1]).parents[1] / "bin" / "headrace-run"
    done = subprocess.run(
        [tool, tmp_path / "q.plan", "--ranks", "2", "--topology", "any"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split()[2 : 2 + len(wanted)] == wanted
