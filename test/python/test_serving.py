"""`hr.serve` and `headrace serve`: a session behind Arrow Flight SQL, asked by ADBC's driver."""

from __future__ import annotations

import contextlib
import datetime
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import adbc_driver_flightsql.dbapi as dbapi
import adbc_driver_manager as adbc
import headrace as hr
import pyarrow as pa
import pyarrow.compute
import pyarrow.flight as flight
import pyarrow.parquet
import pytest
from headrace._src.serving.messages import Fields, message, packed, unpacked

T = pa.table(
    {
        "k": [1, 1, 2, None],
        "d": pa.array([Decimal("1.50"), None, Decimal("-2.25"), Decimal("0.00")], pa.decimal128(9, 2)),
        "s": ["a", None, "žlutý", ""],
        "t": pa.array([0, 1, None, 86_400_000_000], pa.timestamp("us")),
        "l": [[1], [], None, [2, None]],
    }
)
# Rows whose number nobody knows from a statistic, for a while; a minute at least, on any machine.
LONG = "select count(*) n from range(3000000) a, range(3000) b where (a.range * 7 + b.range) % 100003 = 5"
ENDLESS = LONG.replace("range(3000)", "range(3000000)")


@pytest.fixture
def server() -> Iterator[hr.Server]:
    with hr.serve({"t": T}) as server:
        yield server


def connected(server: hr.Server, **options: str) -> dbapi.Connection:
    return dbapi.connect(server.location, db_kwargs=options or None, autocommit=True)


def rows(server: hr.Server, text: str, parameters: Any = None, **options: str) -> list[tuple[Any, ...]]:
    with connected(server, **options) as connection, connection.cursor() as cursor:
        cursor.execute(text, parameters)
        return cursor.fetchall()


def test_rows_are_those_of_the_session(server: hr.Server) -> None:
    with connected(server) as connection, connection.cursor() as cursor:
        cursor.execute("select * from t")
        assert cursor.fetch_arrow_table() == T
        cursor.execute("select s, sum(d) as d, max(t) as t from t group by s order by s nulls first")
        assert cursor.fetchone() == (None, None, datetime.datetime(1970, 1, 1, 0, 0, 0, 1))
        assert [column[0] for column in cursor.description] == ["s", "d", "t"]
        cursor.execute("select * from t where false")
        assert cursor.fetchall() == []
        cursor.execute("explain select k from t")
        assert "scan t (k)" in "\n".join(line for (line,) in cursor.fetchall())
        cursor.execute("describe t")
        assert [row[:2] for row in cursor.fetchall()][:2] == [("k", "BIGINT"), ("d", "DECIMAL(9,2)")]


def test_many_rows_come_in_batches(server: hr.Server) -> None:
    with connected(server) as connection, connection.cursor() as cursor:
        cursor.execute("select range as x, repeat('x', 100) as s from range(300000)")
        batches = list(cursor.fetch_record_batch())
    assert len(batches) > 1
    assert sum(pa.compute.sum(batch["x"]).as_py() for batch in batches) == 299_999 * 300_000 // 2


def test_a_statement_is_run_with_one_set_of_values_and_then_another(server: hr.Server) -> None:
    with connected(server) as connection, connection.cursor() as cursor:
        for least, expected in ((0, 3), (2, 1), (7, 0)):
            cursor.execute("select count(*) from t where k >= ? and s is distinct from ?", (least, "x"))
            assert cursor.fetchall() == [(expected,)]
        cursor.execute("select $2 as b, $1 as a", ("it's", None))
        assert cursor.fetchall() == [(None, "it's")]
        with pytest.raises(adbc.NotSupportedError, match="a query takes one set of parameters, got 2"):
            cursor.execute("select ?", pa.table({"0": [1, 2]}).to_batches()[0])
    with pytest.raises(adbc.ProgrammingError, match="no value for the parameter"):
        rows(server, "select ?")


def test_schemas_are_known_before_rows(server: hr.Server) -> None:
    with connected(server) as connection, connection.cursor() as cursor:
        schema = cursor.adbc_execute_schema("select k, d * 2 as d from t")
        assert schema == pa.schema(
            {"k": pa.int64(), "d": hr.connect({"t": T}).sql("select d * 2 d from t").schema[0].type}
        )
        with pytest.raises(adbc.ProgrammingError, match="no such column: nope"):
            cursor.adbc_execute_schema("select nope from t")
        assert connection.adbc_get_table_schema("t") == T.schema


def test_views_are_there_for_all_clients(server: hr.Server) -> None:
    assert rows(server, 'create view "a view" as select k * 2 as k from t where k is not null;') == []
    assert rows(server, 'select sum(k) from "a view"') == [(8,)]
    with pytest.raises(adbc.ProgrammingError, match="A view; CREATE OR REPLACE VIEW makes it anew"):
        rows(server, 'create view "A view" as select 1 as x')
    rows(server, 'create or replace view "a view" as select 1 as x')
    assert rows(server, 'select * from "a view"') == [(1,)]
    rows(server, 'drop view "a view"')
    rows(server, 'drop view if exists "a view"')
    with pytest.raises(adbc.ProgrammingError, match="no such view: a view"):
        rows(server, 'drop view "a view"')
    with pytest.raises(adbc.ProgrammingError, match="t is a table: DROP TABLE"):
        rows(server, "drop view t")
    rows(
        server,
        "/* made\nby a tool */ -- and\n create or replace temp view main.b as select 2 as x -- no more",
    )
    rows(server, "create view if not exists b as select 3 as x")
    assert rows(server, "select * from b") == [(2,)]
    rows(server, "create view c as select 1 as x; create view d as select x + 1 as x from c")
    assert rows(server, "select * from d") == [(2,)]
    rows(server, "drop view c; drop view d")
    rows(server, 'create view e (/* not x, */ "a ""b", c -- nor y\n) as select 1, 2, 3 as z; -- all')
    assert rows(server, 'select "a ""b" + c + z from e') == [(6,)]
    with pytest.raises(adbc.ProgrammingError, match="has 1 columns available but 2 columns specified"):
        rows(server, "create view f(a, b) as select 1")
    rows(server, "drop view e")
    assert server.session.views == ["b"]
    rows(server, "drop view memory.main.b cascade;")
    with connected(server) as connection, connection.cursor() as cursor:
        with pytest.raises(adbc.NotSupportedError, match="DELETE of a table that the session was given: t"):
            cursor.executemany("delete from t where k = ?", [(1,), (2,)])
        with pytest.raises(adbc.NotSupportedError, match="an update is a statement that changes tables or"):
            cursor.executemany("select ?", [(1,), (2,)])
        with pytest.raises(
            adbc.NotSupportedError, match="headrace's server takes no rows: CommandStatementIngest"
        ):
            cursor.adbc_ingest("u", T)


def test_tables_are_there_for_all_clients(server: hr.Server) -> None:
    rows(server, "create table a (i integer not null, s varchar default 'd')")
    with connected(server) as connection, connection.cursor() as cursor:
        cursor.executemany("insert into a values (?, ?)", [(each, f"s{each}") for each in range(1000)])
        assert cursor.rowcount == 1000
        cursor.execute("insert into a (i) values (?)", [5000])
        cursor.execute("insert into a select k, s from t where k is not null")
        cursor.execute("select count(*), sum(i), max(s) from a")
        assert cursor.fetchall() == [(1004, 504504, "žlutý")]
        cursor.executemany("delete from a where i = ?", [(10,), (11,), (-5,)])
        assert cursor.rowcount == 2
        with pytest.raises(adbc.ProgrammingError, match="NOT NULL constraint failed: a.i"):
            cursor.executemany("insert into a values (?, ?)", [(1, "x"), (None, "y")])
        assert connection.adbc_get_table_schema("a").names == ["i", "s"]
    assert rows(server, "select count(*) from a") == [(1002,)]
    rows(server, "update a set s = 'u' where i = 5000; drop table if exists nope")
    assert rows(server, "select s from a where i = 5000") == [("u",)]
    rows(server, "drop table a")
    assert server.session.tables == ["t"]


def test_views_are_made_and_forgotten_though_nobody_fetches(server: hr.Server) -> None:
    for number in range(20):
        with connected(server) as connection, connection.cursor() as cursor:
            cursor.execute(f"create view v{number} as select {number} as x")
        assert server.session.views == [f"v{number}"]
        with connected(server) as connection, connection.cursor() as cursor:
            cursor.execute(f"drop view v{number}")
            cursor.execute("create view v as select 1 as x")
            cursor.execute("select x from v")
            assert cursor.fetchall() == [(1,)]
            cursor.execute("drop view v")
        assert server.session.views == []
    with (
        connected(server) as connection,
        connection.cursor() as cursor,
        pytest.raises(adbc.ProgrammingError, match="no such view: v"),
    ):
        cursor.execute("drop view v")


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("select '" + "x" * (9 << 20) + "'", adbc.ProgrammingError, "a statement has at most 4 MiB"),
        ("select '" + "ž" * (3 << 20) + "'", adbc.ProgrammingError, "a statement has at most 4 MiB"),
        ("selec 1", adbc.ProgrammingError, r"syntax error at or near .selec."),
        ("select nope from t", adbc.ProgrammingError, "no such column: nope"),
        ("select 1 // (k - 1) from t", adbc.ProgrammingError, "division by zero"),
        (
            "insert into t (k) values (1)",
            adbc.NotSupportedError,
            "INSERT of a table that the session was given",
        ),
        ("drop table t", adbc.NotSupportedError, "DROP TABLE of a table that the session was given: t"),
        (
            "create view w as select 1 as x; select * from t; drop view w; select 1",
            adbc.NotSupportedError,
            "behind statements that change tables a server's clients ask no query: ask it alone",
        ),
        (
            "copy (select 1) to '/tmp/never.csv'; create view never as select 1 as x",
            adbc.NotSupportedError,
            "a server's clients write no files by COPY, and change no setting of it",
        ),
        (
            "copy t from '/tmp/never.csv'",
            adbc.NotSupportedError,
            r"COPY \(query\) TO 'file' is supported, in a session also COPY table FROM 'file'",
        ),
        (
            "pragma threads = 1",
            adbc.NotSupportedError,
            "a server's clients write no files by COPY, and change no setting of it",
        ),
        (
            "copy t to 'x.csv'",
            adbc.NotSupportedError,
            "a server's clients write no files by COPY, and change no setting of it",
        ),
        (" ;", adbc.ProgrammingError, "the query is empty"),
    ],
)
def test_errors_are_of_their_kind(server: hr.Server, text: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        rows(server, text)
    assert rows(server, "select 1") == [(1,)]


def test_what_fails_for_want_of_memory_or_a_file(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(pa.table({"x": range(1000)}), tmp_path / "t.parquet")
    with hr.serve({"t": tmp_path / "t.parquet"}, memory="24MB", threads=1) as server:
        with pytest.raises(adbc.OperationalError, match="^IO: .*memory"):
            rows(server, "select list(range) from range(9000000)")
        (tmp_path / "t.parquet").unlink()
        with pytest.raises(adbc.OperationalError, match="^IO: .*no such file"):
            rows(server, "select sum(x) from t")


def test_what_the_server_says_of_itself(server: hr.Server) -> None:
    server.session.view("v", "select k from t")
    with connected(server) as connection:
        assert connection.adbc_get_info()["vendor_name"] == "headrace"
        assert connection.adbc_get_table_types() == ["TABLE", "VIEW"]
        (catalogue,) = connection.adbc_get_objects(depth="all").read_all().to_pylist()
        assert catalogue["catalog_name"] == "memory"
        (schema,) = catalogue["catalog_db_schemas"]
        found = {
            table["table_name"]: (
                table["table_type"],
                [each["column_name"] for each in table["table_columns"]],
            )
            for table in schema["db_schema_tables"]
        }
        assert schema["db_schema_name"] == "main"
        assert found == {"t": ("TABLE", T.column_names), "v": ("VIEW", ["k"])}

        def names(**filters: Any) -> list[str]:
            (catalogue,) = connection.adbc_get_objects(depth="tables", **filters).read_all().to_pylist()
            return [t["table_name"] for s in catalogue["catalog_db_schemas"] for t in s["db_schema_tables"]]

        assert names(table_name_filter="_") == ["t", "v"]
        assert names(table_name_filter="t%") == ["t"]
        assert names(table_types_filter=["VIEW"]) == ["v"]
        assert names(db_schema_filter="other") == []
        server.session.sql("create schema s; create table s.a (x integer)")
        assert names(db_schema_filter="s") == ["a"] and names(table_name_filter="_") == ["t", "v", "a"]
    with pytest.raises(Exception, match="a server's clients write no files by COPY, and change no setting"):
        rows(server, "use s")
    assert rows(server, "select count(*) from memory.main.t") == [(4,)]


def test_clients_run_beside_each_other(server: hr.Server) -> None:
    found: dict[int, list[tuple[Any, ...]]] = {}

    def ask(number: int) -> None:
        found[number] = [
            row for _ in range(5) for row in rows(server, f"select sum(range + {number}) from range(10000)")
        ]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [(49_995_000 + 10_000 * number,)] * 5 for number in range(8)}


def test_a_client_that_goes_stops_its_query(server: hr.Server) -> None:
    with connected(server) as connection, connection.cursor() as cursor:
        timer = threading.Timer(1.0, cursor.adbc_cancel)
        timer.start()
        started = time.monotonic()
        with pytest.raises(adbc.Error, match="(?i)cancel"):
            cursor.execute(LONG)
            cursor.fetchall()
        assert time.monotonic() - started < 20
    for _ in range(200):  # and the server is at rest again
        if not any(thread.name == "headrace-client" for thread in threading.enumerate()):
            break
        time.sleep(0.1)
    else:
        pytest.fail("the query goes on")


def command_of(text: str) -> flight.FlightDescriptor:
    return flight.FlightDescriptor.for_command(packed("CommandStatementQuery", {1: text}))


def fetched(server: hr.Server, text: str) -> pa.Table:
    """By a client of Flight: ADBC's cursors complain of a server that ends when nobody hears them."""
    with flight.FlightClient(server.location) as client:
        return client.do_get(client.get_flight_info(command_of(text)).endpoints[0].ticket).read_all()


def test_the_end_of_the_server_stops_queries() -> None:
    server = hr.serve({"t": T})
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            fetched(server, ENDLESS)
        except flight.FlightError as error:
            failed.append(error)

    client = threading.Thread(target=ask)
    client.start()
    time.sleep(1)
    started = time.monotonic()
    server.shutdown()
    client.join()
    assert failed
    assert time.monotonic() - started < 15


#: Asks for many rows of the server at a place, reads few of them, and stays.
IDLE = """
import sys, time
import pyarrow.flight as flight
from headrace._src.serving.messages import packed
client = flight.FlightClient(sys.argv[1])
text = "select range, range + 1, range * 2 from range(3000000)"
asked = flight.FlightDescriptor.for_command(packed("CommandStatementQuery", {1: text}))
rows = client.do_get(client.get_flight_info(asked).endpoints[0].ticket)
rows.read_chunk()
print("reading", flush=True)
time.sleep(100)
"""


def idle(location: str) -> subprocess.Popen[str]:
    client = subprocess.Popen([sys.executable, "-c", IDLE, location], stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    assert client.stdout.readline() == "reading\n"
    return client


def test_a_client_that_does_not_read_does_not_keep_the_server() -> None:
    with hr.serve({}) as server:
        clients = [idle(server.location) for _ in range(2)]
        clients[0].kill()  # it goes by itself, the other stays
        started = time.monotonic()
        server.shutdown(grace=0.2)
        assert time.monotonic() - started < 10
    for client in clients:
        client.kill()
        client.wait()


def test_a_client_that_reads_slowly_is_told() -> None:
    server = hr.serve({})
    client = flight.FlightClient(server.location)
    asked = command_of("select range, range + 1, range * 2 from range(3000000)")
    reader = client.do_get(client.get_flight_info(asked).endpoints[0].ticket)
    first = reader.read_chunk().data.num_rows
    ends = threading.Thread(target=server.shutdown, args=(0.3,))
    ends.start()
    time.sleep(0.6)
    with pytest.raises(flight.FlightUnavailableError):
        while first < 3_000_000:
            first += reader.read_chunk().data.num_rows
    ends.join(timeout=10)
    assert not ends.is_alive()
    with pytest.raises(flight.FlightUnavailableError):
        client.get_flight_info(asked)


def test_so_many_queries_run_at_once() -> None:
    """A third waits, until one of the two is stopped; one that waits can be stopped too."""
    with hr.serve({"t": T}, queries=2) as server:
        connections = [connected(server) for _ in range(3)]
        cursors = [connection.cursor() for connection in connections]
        outcomes: list[BaseException] = []

        def ask(cursor: dbapi.Cursor) -> None:
            try:
                cursor.execute(ENDLESS)
                cursor.fetchall()
            except adbc.Error as error:
                outcomes.append(error)

        threads = [threading.Thread(target=ask, args=(cursor,)) for cursor in cursors]
        for thread in threads:
            thread.start()
        time.sleep(1)
        answer: list[object] = []
        waits = threading.Thread(target=lambda: answer.append(rows(server, "select 1")))
        waits.start()
        time.sleep(0.5)
        assert answer == []
        for cursor in cursors:
            cursor.adbc_cancel()
        waits.join(timeout=30)
        assert answer == [[(1,)]]
        for thread in threads:
            thread.join()
        assert len(outcomes) == 3
        for cursor, connection in zip(cursors, connections, strict=True):
            cursor.close()
            connection.close()


def test_the_end_of_the_server_stops_those_that_wait() -> None:
    server = hr.serve({"t": T}, queries=1)
    outcomes: list[str] = []

    def ask() -> None:
        with pytest.raises(flight.FlightError) as caught:
            fetched(server, ENDLESS)
        outcomes.append(str(caught.value))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    server.shutdown()
    for thread in threads:
        thread.join(timeout=30)
    waited = "the query was cancelled while it waited for others"
    assert sum(waited in each for each in outcomes) == 1, outcomes


def test_files_are_read_where_that_is_allowed(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(T, tmp_path / "x.parquet")
    queries = (
        f"select count(*) from '{tmp_path}/x.parquet'",
        f"select count(*) from t join read_parquet('{tmp_path}/x.parquet') on true where false",
        f"create view w as select * from '{tmp_path}/x.parquet'",
        f"select count(*) from '{tmp_path}/none.csv'",
    )
    with hr.serve({"t": T}) as server:
        for query in queries:
            with pytest.raises(adbc.NotSupportedError, match="a server's clients read its tables alone"):
                rows(server, query)
        assert rows(server, "select 'from ''x.parquet'' read_csv(1)' from t limit 1") == [
            ("from 'x.parquet' read_csv(1)",)
        ]
    with hr.serve({"t": T}, files=True) as server:
        assert rows(server, queries[0]) == [(4,)]


def test_a_time_limit() -> None:
    with (
        hr.serve({"t": T}, timeout=0.5) as server,
        pytest.raises(adbc.Error, match="longer than its timeout"),
    ):
        rows(server, LONG)


def test_only_who_knows_the_token_comes_in() -> None:
    with hr.serve({"t": T}, token="a secret") as server:
        for options in (
            {"adbc.flight.sql.authorization_header": "Bearer a secret"},
            {"username": "anybody", "password": "a secret"},
        ):
            assert rows(server, "select count(*) from t", **options) == [(4,)]
        for options in (
            {},
            {"adbc.flight.sql.authorization_header": "Bearer a secre"},
            {"adbc.flight.sql.authorization_header": "Basic ????"},
            {"adbc.flight.sql.authorization_header": "Digest a secret"},
            {"username": "a secret", "password": ""},
        ):
            with pytest.raises(adbc.Error, match="the token is missing or not that of the server"):
                rows(server, "select count(*) from t", **options)


def test_tls(tmp_path: Path) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        + ["-addext", "subjectAltName=DNS:localhost", "-out", str(certificate), "-keyout", str(key)],
        check=True,
        capture_output=True,
    )
    with hr.serve({"t": T}, host="localhost", certificate=certificate, key=key) as server:
        assert server.location.startswith("grpc+tls://localhost:")
        roots = {"adbc.flight.sql.client_option.tls_root_certs": certificate.read_text()}
        assert rows(server, "select count(*) from t", **roots) == [(4,)]
        with pytest.raises(adbc.Error):
            rows(server, "select 1")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"host": "0.0.0.0"}, "a server on 0.0.0.0 needs a token: others than this machine can reach it"),
        ({"queries": 0}, "queries must be at least 1, got 0"),
        ({"token": ""}, "the token of a server must not be empty"),
        ({"certificate": "x.pem"}, "TLS needs both certificate and key"),
        ({"certificate": "/no/x.pem", "key": "/no/y.pem"}, "No such file or directory"),
        ({"tables": hr.connect(), "memory": "1GB"}, "a session has its options already: memory"),
        ({"rank": 2}, "rank"),
        ({"host": "203.0.113.1", "token": "x"}, "cannot listen on 203.0.113.1:0"),
    ],
)
def test_mistakes(options: dict[str, Any], message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.serve(**options)


def test_garbage_is_refused(server: hr.Server) -> None:
    """By messages that are none, and by those that are, but of which something is missing or changed."""
    client = flight.connect(server.location)
    known = [packed("CommandStatementQuery", {1: "select 1"}), packed("CommandGetTables", {3: "x%", 5: 1})]
    chance = random.Random(1)
    for _ in range(300):
        data = bytearray(chance.choice(known))
        for _ in range(chance.randrange(4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        data = data[: chance.randrange(len(data) + 1)]
        calls = [
            lambda data=data: client.get_flight_info(flight.FlightDescriptor.for_command(bytes(data))),
            lambda data=data: client.do_get(flight.Ticket(bytes(data))).read_all(),
            lambda data=data: list(client.do_action(flight.Action("CreatePreparedStatement", bytes(data)))),
        ]
        with contextlib.suppress(pa.ArrowInvalid, NotImplementedError):
            chance.choice(calls)()
    for command, problem in (
        (
            packed("CommandGetCrossReference", {}),
            "headrace's server has no such command: CommandGetCrossReference",
        ),
        (
            message({1: "type.googleapis.com/other", 2: b""}),
            "not a message of Flight SQL: 'type.googleapis.com/other'",
        ),
        (b"\x0b", "a message with a field of the unknown kind 3"),
        (b"\x0a\x05x", "a message ends within a field"),
        (b"\x08", "a message ends within a number"),
        (b"\xff" * 11, "a number of a message is longer than 64 bits"),
        (b"\x08\x01", "field 1 of a message is no text"),
    ):
        with pytest.raises((pa.ArrowInvalid, NotImplementedError), match=problem):
            client.get_flight_info(flight.FlightDescriptor.for_command(command))
    with pytest.raises(NotImplementedError, match="headrace's server has no such action: BeginSavepoint"):
        list(client.do_action(flight.Action("BeginSavepoint", b"")))
    assert [action.type for action in client.list_actions()] == [
        "CreatePreparedStatement",
        "ClosePreparedStatement",
        "BeginTransaction",
        "EndTransaction",
    ]
    assert rows(server, "select 1") == [(1,)]


def test_messages_read_back() -> None:
    name, fields = unpacked(packed("CommandGetSqlInfo", {1: 300, 2: "ž" * 200, 3: b"\0\xff", 4: -1}))
    assert (name, fields.numbers(1), fields.text(2), fields.data(3)) == (
        "CommandGetSqlInfo",
        [300],
        "ž" * 200,
        b"\0\xff",
    )
    assert fields.numbers(4) == [2**64 - 1]
    assert Fields(message({7: b"\x01\xac\x02"})).numbers(7) == [1, 300]  # packed
    assert Fields(b"\x0d\0\0\0\0\x11\0\0\0\0\0\0\0\0\x18\x01").truth(3)


def test_the_command(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("of the file\n")
    command = [
        sys.executable,
        "-m",
        "headrace",
        "serve",
        "--port",
        "0",
        "--token-file",
        str(token),
        "--ranks",
        "2",
    ]
    pa.parquet.write_table(T, tmp_path / "t.parquet")
    command += ["--tables", f"t={tmp_path / 't.parquet'}", "--memory", "256MB"]
    for end in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("serving t at grpc://127.0.0.1:")
        with dbapi.connect(
            line.split()[-1], db_kwargs={"username": "x", "password": "of the file"}, autocommit=True
        ) as c:
            cursor = c.cursor()
            cursor.execute("select count(*) from t")
            assert cursor.fetchall() == [(4,)]
            cursor.close()
            with pytest.raises(adbc.ProgrammingError, match="no such column: nope") as caught:
                c.cursor().execute("select nope from t")
            assert "line" not in str(caught.value) and ".py" not in str(caught.value)
        process.send_signal(end)
        assert process.wait(timeout=30) == (0 if end == signal.SIGTERM else 130)
    mistaken = subprocess.run([*command[:4], "--token-file", "/no/token"], capture_output=True, text=True)
    assert (mistaken.returncode, "No such file or directory" in mistaken.stderr) == (1, True)
