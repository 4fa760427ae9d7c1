"""Files over HTTP: the answers of local ones, what is asked of the server, and what comes of its faults.

Sources: runtime/storage/files/read_ahead.cpp
"""

from __future__ import annotations

import gzip
import io
import json
import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import headrace as hr
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as parquet
import pytest
from duckdb_oracle import same
from headrace import errors
from headrace._src.engines.driver import Driver, RemoteRanks
from headrace._src.query.statistics import table_statistics
from headrace._src.query.verify import check_statistics
from rank_processes import Processes
from store_server import Asked, Fault, StoreServer, serving
from test_fork import in_child
from tpch_queries import NAMES, QUERIES

ROWS = 200_000
GROUPS = 10
#: Of ten columns of about the same size, 100 kB each in a row group, so that no two are read as one.
COLUMNS = [f"c{i}" for i in range(10)]


def _bytes(table: pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    parquet.write_table(table, file, **options)
    return file.getvalue()


@pytest.fixture(scope="module")
def wide() -> pa.Table:
    numbers = np.random.default_rng(1)
    return pa.table({name: numbers.integers(0, 1 << 60, ROWS) for name in COLUMNS})


@pytest.fixture(scope="module")
def wide_bytes(wide: pa.Table) -> bytes:
    return _bytes(wide, row_group_size=ROWS // GROUPS, use_dictionary=False, compression="none")


@pytest.fixture(autouse=True)
def _short_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_STORE_TIMEOUT", "10")


@pytest.fixture()
def server() -> Iterator[StoreServer]:
    with serving() as store:
        yield store


@pytest.mark.parametrize("ranks", [1, 2, 4])
@pytest.mark.parametrize(
    "query",
    [
        "select count(*), sum(l_quantity), max(l_comment) from {lineitem}",
        "select l_returnflag, l_linestatus, sum(l_extendedprice) from {lineitem} group by all order by all",
        "select o_orderpriority, count(*) from {orders} join {lineitem} on l_orderkey = o_orderkey "
        "where l_shipdate > date '1995-01-01' group by all order by all",
        "select * from {orders} order by o_totalprice limit 10",
    ],
)
def test_the_answers_of_local_files(server: StoreServer, tpch_small: Path, query: str, ranks: int) -> None:
    names = ("lineitem", "orders")
    local = {name: f"'{tpch_small}/{name}.parquet'" for name in names}
    remote = {
        name: f"'{server.put(f'/{name}.parquet', (tpch_small / f'{name}.parquet').read_bytes())}'"
        for name in names
    }
    same(hr.sql(query.format(**remote), ranks=ranks), hr.sql(query.format(**local)))


@pytest.mark.parametrize("ranks", [1, 2])
def test_columns_are_read_and_no_others(
    server: StoreServer, wide: pa.Table, wide_bytes: bytes, ranks: int
) -> None:
    url = server.put("/x.parquet", wide_bytes)
    server.forget()
    # A rank that takes a morsel of another reads again what is on its way to that one.
    settings = {"shareMorsels": False}
    query = f"select sum(c2 % 1000) as a, sum(c7 % 1000) as b from '{url}'"
    found = hr.sql(query, ranks=ranks, settings=settings)
    sums = [int((wide[name].to_numpy() % 1000).sum()) for name in ("c2", "c7")]
    assert found.to_pylist() == [{"a": sums[0], "b": sums[1]}]
    # What is there, the footer, and two columns of each row group, which lie apart.
    assert len(server.asked) == 2 + 2 * GROUPS
    assert 2 * 8 * ROWS < server.bytes_sent < 2 * 8 * ROWS + (100 << 10)
    assert {each.method for each in server.asked} == {"GET"}
    server.forget()
    hr.sql(query, ranks=ranks, settings=settings)
    assert [each.range for each in server.asked] == ["bytes=0-0"]  # the pages are kept


def test_near_columns_are_one_request(server: StoreServer, wide_bytes: bytes) -> None:
    url = server.put("/x.parquet", wide_bytes)
    hr.sql(f"select sum(c4 % 10), sum(c5 % 10) from '{url}'")
    assert len(server.asked) == 2 + GROUPS


def test_count_reads_footers(server: StoreServer, wide_bytes: bytes) -> None:
    url = server.put("/x.parquet", wide_bytes)
    assert hr.sql(f"select count(*) as n from '{url}'").to_pylist() == [{"n": ROWS}]
    assert len(server.asked) == 2
    assert server.bytes_sent <= 1 + (64 << 10)
    server.forget()
    assert hr.sql(f"select count(*) + 1 as n from '{url}'").to_pylist() == [{"n": ROWS + 1}]
    assert [each.range for each in server.asked] == ["bytes=0-0"]


def test_row_groups_that_no_row_comes_from_are_not_read(server: StoreServer) -> None:
    table = pa.table({"k": range(ROWS), "v": np.random.default_rng(2).integers(0, 1 << 60, ROWS)})
    url = server.put("/x.parquet", _bytes(table, row_group_size=ROWS // GROUPS, use_dictionary=False))
    found = hr.sql(f"select count(*) as n, min(v) as v from '{url}' where k between 50000 and 50100")
    same(
        found,
        hr.sql("select count(*) as n, min(v) as v from t where k between 50000 and 50100", {"t": table}),
    )
    assert server.bytes_sent < len(server.files["/x.parquet"].data) / GROUPS * 1.5 + (64 << 10)


def test_large_row_groups_are_read_once_and_shared(server: StoreServer) -> None:
    table = pa.table({"k": range(600_000), "t": [f"text {i % 1000}" for i in range(600_000)]})
    data = _bytes(table, row_group_size=600_000)
    url = server.put("/x.parquet", data)
    query = "select count(*) as n, sum(k) as k, count(distinct t) as t, max(t) as m from {}"
    same(hr.sql(query.format(f"'{url}'")), hr.sql(query.format("t"), {"t": table}))
    assert server.bytes_sent < len(data) * 1.1 + (64 << 10)
    other = server.put("/y.parquet", data)
    same(hr.sql(query.format(f"'{other}'"), ranks=3), hr.sql(query.format("t"), {"t": table}))


def test_nested_columns_and_foreign_encodings(server: StoreServer) -> None:
    table = pa.table(
        {
            "k": [1, 2, None, 4],
            "l": [[1, 2], None, [], [3]],
            "s": [{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 4, "b": None}],
        }
    )
    data = _bytes(table, use_dictionary=False, column_encoding={"k": "DELTA_BINARY_PACKED"})
    url = server.put("/x.parquet", data)
    same(hr.sql(f"select k, l, s from '{url}'"), hr.sql("select k, l, s from t", {"t": table}))


def test_everywhere_a_path_goes(server: StoreServer, tmp_path: Path) -> None:
    table = pa.table({"k": [1, 2, 3], "t": ["a", "b", None]})
    parquet.write_table(table, tmp_path / "x.parquet")
    url = server.put("/d/x.parquet", (tmp_path / "x.parquet").read_bytes())
    more = server.put("/d/y.parquet", (tmp_path / "x.parquet").read_bytes())
    text = io.BytesIO()
    pa.csv.write_csv(table, text)
    csv = server.put("/d/x.csv", text.getvalue())
    arrow = io.BytesIO()
    with pa.ipc.new_file(arrow, table.schema) as writer:
        writer.write_table(table)
    ipc = server.put("/d/x.arrow", arrow.getvalue())
    lines = server.put("/d/x.ndjson", b'{"k": 1, "t": "a"}\n{"k": 2, "t": "b"}\n{"k": 3, "t": null}\n')
    wanted = [{"k": 6}]
    assert hr.sql("select sum(k) as k from x", url).to_pylist() == wanted
    assert hr.sql("select sum(k) as k from x", [url]).to_pylist() == wanted
    assert hr.sql("select sum(k) as k from t", {"t": url}).to_pylist() == wanted
    assert hr.sql("select sum(k) as k from t", {"t": [url, more]}).to_pylist() == [{"k": 12}]
    assert hr.sql(f"select sum(k) as k from read_parquet(['{url}', '{more}'])").to_pylist() == [{"k": 12}]
    named = hr.sql(f"select filename, sum(k) as k from read_parquet('{url}', filename=true) group by all")
    assert named.to_pylist() == [{"filename": url, "k": 6}]
    assert hr.sql(f"select sum(k) as k from '{csv}'").to_pylist() == wanted
    assert hr.sql(f"select sum(k) as k from read_csv('{csv}', delim=',')", ranks=2).to_pylist() == wanted
    for frame in (
        hr.scan_parquet(url),
        hr.scan_csv(csv),
        hr.scan_ipc(ipc),
        hr.scan_ndjson(lines),
    ):
        assert frame.select(hr.col("k").sum()).collect().to_pylist() == wanted
    session = hr.connect()
    session.register("t", url)
    assert session.sql("select sum(k) as k from t").arrow().to_pylist() == wanted
    assert url in hr.explain(f"select sum(k) from '{url}'", {})
    assert table_statistics({"t": url})["t"]["rows"] == 3
    hr.sql(f"select sum(k) from '{url}'", verify=True)


def test_a_changed_file_is_read_anew(server: StoreServer) -> None:
    for rows in (3, 4):
        url = server.put("/x.parquet", _bytes(pa.table({"k": range(rows)})))
        assert hr.sql(f"select count(*) as n, max(k) as k from '{url}'").to_pylist() == [
            {"n": rows, "k": rows - 1}
        ]
    frame = hr.scan_parquet(url)
    server.put("/x.parquet", _bytes(pa.table({"k": range(5)})))
    assert frame.select(hr.col("k").sum()).collect().to_pylist() == [{"k": 10}]


@pytest.mark.parametrize("options", [{}, {"tag": False}, {"weak": True}])
def test_a_file_that_changes_while_it_is_read(
    server: StoreServer, wide_bytes: bytes, wide: pa.Table, options: dict[str, Any]
) -> None:
    """Of the same length, and with the same footer; only what the server says of it differs."""
    url = server.put("/x.parquet", wide_bytes, **options)

    def fault(asked: Asked, before: int) -> Fault:
        if before == 7:
            changed = bytearray(wide_bytes)
            changed[4:1000] = bytes(996)
            server.put("/x.parquet", bytes(changed), modified="Thu, 26 Nov 2026 12:00:01 GMT", **options)
        return None

    server.fault = fault
    with pytest.raises(errors.InputOutputError, match="the file was changed while it was read: http://"):
        hr.sql(f"select sum(c1 % 10), sum(c8 % 10) from '{url}'")
    server.fault = lambda _asked, _before: None
    hr.sql(f"select sum(c1 % 10), sum(c8 % 10) from '{url}'")


@pytest.mark.parametrize("fault", [500, 503, 429, "reset", "truncate"])
def test_what_can_pass_is_tried_again(
    server: StoreServer, wide: pa.Table, wide_bytes: bytes, fault: Fault
) -> None:
    url = server.put("/x.parquet", wide_bytes)
    tried: dict[str, int] = {}

    def spoil(asked: Asked, before: int) -> Fault:
        with server.lock:
            tried[asked.range] = tried.get(asked.range, 0) + 1
            return fault if before % 3 == 1 and tried[asked.range] < 3 else None

    server.fault = spoil
    found = hr.sql(f"select sum(c3 % 1000) as a from '{url}'", ranks=2)
    assert found.to_pylist() == [{"a": int((wide["c3"].to_numpy() % 1000).sum())}]
    assert len(server.asked) > 2 + GROUPS


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (500, r"cannot reach http://\S+/x.parquet: the server answers 500 \(5 attempts\)"),
        ("reset", r"cannot reach http://\S+/x.parquet: .* \(5 attempts\)"),
        ("truncate", r"cannot reach http://\S+/x.parquet: .* \(5 attempts\)"),
        (403, r"access is denied \(403\): http://\S+/x.parquet"),
        (418, r"the server answers 418: http://\S+/x.parquet"),
        ("shift", r"the server sends another part of the file than bytes \d+ to \d+: http://\S+/x.parquet"),
    ],
)
def test_what_does_not_pass_is_an_error(
    server: StoreServer, wide_bytes: bytes, fault: Fault, message: str
) -> None:
    url = server.put("/x.parquet", wide_bytes)
    server.fault = lambda _asked, before: fault if before > 3 else None
    with pytest.raises(errors.InputOutputError, match=message):
        hr.sql(f"select sum(c3 % 1000), sum(c9 % 1000) from '{url}'")
    server.fault = lambda _asked, _before: None
    hr.sql(f"select sum(c3 % 1000), sum(c9 % 1000) from '{url}'")


def test_a_server_that_says_nothing(server: StoreServer, wide_bytes: bytes) -> None:
    url = server.put("/x.parquet", wide_bytes)
    hr.sql(f"select count(*) from '{url}'")
    server.forget()
    server.fault = lambda _asked, before: "stall" if before == 1 else None
    start = time.monotonic()
    hr.sql(f"select sum(c3 % 1000) from '{url}'", settings={"storeTimeout": 1})
    assert 0.9 < time.monotonic() - start < 10
    server.fault = lambda _asked, _before: "stall"
    with pytest.raises(errors.InputOutputError, match="Timeout was reached|Operation too slow"):
        hr.sql(f"select sum(c4 % 1000) from '{url}'", settings={"storeTimeout": 1})


def test_nobody_is_there() -> None:
    with pytest.raises(
        errors.InputOutputError, match=r"cannot reach http://127.0.0.1:1/x.parquet: .*connect"
    ):
        hr.sql("select * from 'http://127.0.0.1:1/x.parquet'")


def test_what_is_no_file_is_told(server: StoreServer, wide_bytes: bytes) -> None:
    with pytest.raises(errors.InputOutputError, match=r"no such file: http://\S+/none.parquet"):
        hr.sql(f"select * from '{server.url}/none.parquet'")
    url = server.put("/x.parquet", wide_bytes, ranges=False)
    with pytest.raises(
        errors.UnsupportedError, match="does not answer requests for a part of a file, download"
    ):
        hr.sql(f"select * from '{url}'")
    for data in (b"", b"no Parquet", b"PAR1" + bytes(100)):
        url = server.put("/y.parquet", data)
        with pytest.raises(errors.HeadraceError, match="not a Parquet file"):
            hr.sql(f"select * from '{url}'")
    with pytest.raises(errors.UnsupportedError, match="does not list its files, name each of them"):
        hr.sql(f"select * from '{server.url}/*.parquet'")
    with pytest.raises(errors.UnsupportedError, match="files are written to paths and to s3://, not to http"):
        hr.sql(f"copy (select 1 as x) to '{server.url}/z.parquet'")
    with pytest.raises(
        errors.UnsupportedError, match="files of ftp:// cannot be read; s3://, http:// and https"
    ):
        hr.sql("select * from 'ftp://host/x.parquet'")
    with pytest.raises(errors.UserError, match="an address needs a host or a bucket"):
        hr.sql("select * from 'http:///x.parquet'")
    server.put("/z.parquet", wide_bytes)
    for fault, message in (
        ("silent", "does not say which part of the file"),
        ("more", "the server sends more than it was asked for"),
    ):
        server.fault = lambda _asked, _before, fault=fault: fault
        with pytest.raises(errors.InputOutputError, match=message):
            hr.sql(f"select * from '{server.url}/z.parquet'")


def test_secrets_of_addresses_are_not_shown(
    server: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    monkeypatch.setenv("HEADRACE_LOG", "info")
    secret = "X-Amz-Signature=0123456789abcdef"
    server.put(f"/x.parquet?{secret}", _bytes(pa.table({"k": [1, 2, 3]})))
    url = f"{server.url}/x.parquet?{secret}"
    trace = tmp_path / "trace.json"
    found = hr.sql(f"select filename, sum(k) as k from read_parquet('{url}', filename=true) group by all")
    assert found.to_pylist()[0]["k"] == 6
    hr.sql("select sum(k) as k from x", url, settings={"trace": str(trace)})
    shown = [
        str(found.to_pylist()),
        hr.explain("select sum(k) from x", url),
        hr.explain("select sum(k) from x", url, analyze=True),
        json.dumps(table_statistics(url)),
    ]
    with pytest.raises(errors.HeadraceError) as wrong:
        hr.sql("select nonsense from x", url)
    shown.append(str(wrong.value))
    server.fault = lambda _asked, _before: 500
    with pytest.raises(errors.HeadraceError) as wrong:
        hr.sql("select sum(k) from x", url)
    shown.append(str(wrong.value))
    written = [path.read_bytes().decode(errors="ignore") for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) > 4
    assert [each[max(0, each.find(secret) - 200) :][:300] for each in shown + written if secret in each] == []
    with pytest.raises(errors.UserError, match="credentials do not belong into an address") as wrong:
        hr.sql("select * from 'https://me:secret@host/x.parquet'")
    assert "secret" not in str(wrong.value)


@pytest.mark.alone
def test_latency_is_hidden(server: StoreServer, wide: pa.Table, wide_bytes: bytes) -> None:
    server.latency = 0.25
    url = server.put("/x.parquet", wide_bytes)
    hr.sql(f"select count(*) from '{url}'")
    server.forget()
    start = time.monotonic()
    hr.sql(f"select sum(c1 % 7), sum(c5 % 7) from '{url}'", threads=1)
    taken = time.monotonic() - start
    assert server.concurrent_most >= GROUPS
    one_after_the_other = server.latency * len(server.asked)
    assert len(server.asked) > 2 * GROUPS
    assert taken < one_after_the_other / 2  # about a fifth, if nothing else runs


def test_requests_under_way_are_limited(server: StoreServer, wide_bytes: bytes) -> None:
    server.latency = 0.02
    url = server.put("/x.parquet", wide_bytes)
    hr.sql(f"select sum(c1 % 7), sum(c5 % 7) from '{url}'", settings={"storeRequests": 3})
    assert server.concurrent_most == 3


def test_memory_is_charged(server: StoreServer, wide_bytes: bytes, wide: pa.Table) -> None:
    url = server.put("/x.parquet", wide_bytes)
    found = hr.sql(f"select sum(c1 % 7) as a, sum(c5 % 7) as b from '{url}'", memory="24MiB")
    same(found, hr.sql("select sum(c1 % 7) as a, sum(c5 % 7) as b from t", {"t": wide}))
    with pytest.raises(errors.MemoryLimitError):
        hr.sql(f"select {', '.join(f'sum({c} % 7)' for c in COLUMNS)} from '{url}'", memory="1MiB")


def test_a_csv_file_is_read_by_pieces(server: StoreServer) -> None:
    rows = 300_000
    text = "a,b\n" + "".join(f"{i},text {i % 100}\n" for i in range(rows))
    url = server.put("/x.csv", text.encode())
    for ranks in (1, 2):
        found = hr.sql(f"select count(*) as n, sum(a) as a, max(b) as b from '{url}'", ranks=ranks)
        assert found.to_pylist() == [{"n": rows, "a": rows * (rows - 1) // 2, "b": "text 99"}]
    whole = hr.sql(f"select sum(a) as a from read_csv('{url}', sample_size=-1)")
    assert whole.to_pylist() == [{"a": rows * (rows - 1) // 2}]
    wrong = server.put("/y.csv", (text + "x,y,z,w\n").encode())
    with pytest.raises(errors.HeadraceError, match=r"http://\S+/y.csv, line 300002"):
        hr.sql(f"select * from '{wrong}'")


def test_statistics_are_checked_there_too(server: StoreServer) -> None:
    from headrace._src.query.tables import resolve

    url = server.put("/x.parquet", _bytes(pa.table({"k": [1, 2, 3]})))
    check_statistics(resolve({"t": url}))


def test_other_threads_run_meanwhile(server: StoreServer, wide_bytes: bytes) -> None:
    """The server is one of them."""
    url = server.put("/x.parquet", wide_bytes)
    found: list[Any] = []

    def ask(number: int) -> None:
        found.append(hr.sql(f"select max(c{number}) as m from '{url}'").to_pylist())

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 4


def test_a_forked_process_asks_by_itself(server: StoreServer, wide: pa.Table, wide_bytes: bytes) -> None:
    url = server.put("/x.parquet", wide_bytes)
    query = f"select max({{}}) as m from '{url}'"
    assert hr.sql(query.format("c1")).to_pylist() == [{"m": max(wide["c1"].to_pylist())}]
    wanted = [{"m": max(wide["c2"].to_pylist())}]
    assert in_child(lambda: _check(hr.sql(query.format("c2")).to_pylist() == wanted)) == 0
    assert hr.sql(query.format("c2")).to_pylist() == wanted


def _check(condition: bool) -> None:
    assert condition


def test_ranks_of_other_processes_read_their_shares(server: StoreServer, tpch_tenth: Path) -> None:
    path = tpch_tenth / "lineitem.parquet"
    secret = "token=not-to-be-shown"
    server.put(f"/lineitem.parquet?{secret}", path.read_bytes())
    query = "select l_returnflag, sum(l_quantity) as q from '{}' group by all order by all"
    with Driver(RemoteRanks(Processes(3), {}), "shrink"):
        found = hr.sql(query.format(f"{server.url}/lineitem.parquet?{secret}"))
        same(found, hr.sql(query.format(path)))
        assert sum(each.sent for each in server.asked) < path.stat().st_size / 4
        server.fault = lambda asked, _before: 403 if asked.range != "bytes=0-0" else None
        with pytest.raises(errors.InputOutputError, match="access is denied") as wrong:
            hr.sql(f"select max(l_comment) from '{server.url}/lineitem.parquet?{secret}'")
        assert secret not in str(wrong.value)


def test_queries_of_tpch_over_a_link_that_fails(server: StoreServer, tpch_small: Path) -> None:
    for path in tpch_small.glob("*.parquet"):
        server.put(f"/{path.name}", path.read_bytes())
    tables = {path.stem: f"{server.url}/{path.name}" for path in tpch_small.glob("*.parquet")}
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    faults = (500, 503, "reset", "truncate")
    server.fault = lambda _asked, _before: chance.choice(faults) if chance.random() < 0.03 else None
    for name in NAMES:
        text = (QUERIES / f"q{name}.sql").read_text()
        same(hr.sql(text, tables, ranks=chance.choice((1, 2, 4))), hr.sql(text, tpch_small))


def test_files_that_are_made_plain_or_read_by_duckdb(server: StoreServer) -> None:
    rows = "".join(f"{row},x{row % 7}\n" for row in range(20_000))
    packed = server.put("/d/x.csv.gz", gzip.compress(f"k,t\n{rows}".encode()))
    commented = server.put("/d/y.csv", f"# made by hand\nk,t\n{rows}".encode())
    lines = server.put("/d/x.json.gz", gzip.compress(b'{"k":1,"t":"a"}\n{"k":2}\n'))
    for address in (packed, commented):
        for ranks in (1, 2):
            found = hr.sql(f"select count(*) as n, sum(k)::bigint as s from '{address}'", ranks=ranks)
            assert found.to_pylist() == [{"n": 20_000, "s": 199_990_000}]
    assert hr.sql(f"from '{lines}' order by k").to_pylist() == [{"k": 1, "t": "a"}, {"k": 2, "t": None}]
    with pytest.raises(hr.HeadraceError, match="filename of files in a store"):
        hr.sql(f"from read_json('{lines}', filename=true)")
    plain = server.put("/d/y.json", b'{"k":3}\n')
    both = f"select sum(k)::int as s from read_json(['{lines}', '{plain}'])"
    assert hr.sql(both).to_pylist() == [{"s": 6}]
    packed = server.put("/d/z", gzip.compress(b'{"k":4}\n'))
    found = hr.sql(f"select k from read_json('{packed}', compression='gzip')")
    assert found.to_pylist() == [{"k": 4}]
