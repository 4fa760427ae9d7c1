"""Functions that a few programs call: over columns with NULL and odd values, beside DuckDB.

Sources: passes/import/duckdb/round_even.cpp, passes/import/duckdb/round_by_column.cpp
"""

from __future__ import annotations

import math
import random
from typing import Any

import duckdb
import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import same

TEXTS = [
    None, "", "a", "ab", "abc", "aXbxc", "Peter:33 Paul:14", "äbc", "path/to/file.csv", "/a//b.c/d",
    "a\\b/c.d.e", ".gitignore", "https%3A%2F%2Fx+y%zz%4", "%C3%A4", "a*c", "a]c", "a-c", "ca", "an abct",
]  # fmt: skip
NUMBERS = [None, 0, 1, -1, 5, 42, 1023, 1024, 1234567, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]
POINTS = [[1.0, 2.0, 3.0], [0.5, -1.0, 4.0], [], None, [0.0, 0.0, 0.0], [1e300, 1e300, 1e300]]


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    draw = random.Random(1)
    lists = [[draw.choice([None, 1, 2, 3]) for _ in range(draw.randrange(4))] for _ in range(20)]
    return {
        "t": pa.table({"id": range(len(TEXTS)), "s": pa.array(TEXTS, pa.string())}),
        "n": pa.table({"id": range(len(NUMBERS)), "i": pa.array(NUMBERS, pa.int64())}),
        "l": pa.table(
            {
                "id": range(20),
                "a": pa.array(lists, pa.list_(pa.int32())),
                "b": pa.array(lists[::-1][:-1] + [None], pa.list_(pa.int32())),
                "w": pa.array([[str(x) for x in each] for each in lists], pa.list_(pa.string())),
            }
        ),
        "p": pa.table({"id": range(len(POINTS)), "x": pa.array(POINTS, pa.list_(pa.float64()))}),
        "o": pa.table(
            {
                "id": [0, 1],
                "s": pa.array([{"a": 1, "b": "x"}, None], pa.struct({"a": pa.int64(), "b": pa.string()})),
            }
        ),
    }


NAMED_GROUPS = (
    "'(\\w)(\\d)?', ['c', 'd']",
    "'(A)', ['x'], 'i'",
    "'(z)(y)', ['c', 'd']",
    "'(z)|(a)', ['c', 'd']",
)
OTHER_TEXTS = ("'abXc'", "''", "reverse(s)", "'abc', 0.9", "'abc', id / 20", "'abc', NULL")
EXPRESSIONS = [
    *[f"regexp_extract_all(s, {p})" for p in ("'[a-z]'", "'(\\w+):(\\d+)', 2", "'', 0", "'(a)|(b)', 2")],
    *[f"regexp_extract_all(s, {p})" for p in ("'A', 0, 'i'", "'a*'", "NULL", "'a', NULL", "'x', -1", "'^.'")],
    *[f"regexp_extract_all(s, 'no such text', {group})" for group in (1, 9)],
    *[f"string_split_regex(s, {p})" for p in ("'[xX]'", "'x', 'i'", "''", "'b*'", "'(b)'", "NULL", "'^'")],
    *[f"parse_filename(s{p})" for p in ("", ", true", ", false, NULL", ", true, 'backslash'")],
    *[f"parse_{f}('/'{p})" for f in ("dirname", "dirpath", "path") for p in ("", ", 'backslash'")],
    *[f"parse_{f}(s{p})" for f in ("dirname", "dirpath", "path") for p in ("", ", 'backslash'", ", NULL")],
    "parse_filename(s, 'forward_slash')",
    *[f"overlay(s, 'xyz', {p})" for p in ("2", "-1", "9, 1", "2, 0", "2, -1", "1, 100", "NULL")],
    *[f"s glob '{p}'" for p in ("*", "a?", "a[b-x]c", "a[!b]c", "a[]]c", "a\\*c", "a[", "*c*", "")],
    "s glob '[a-c]*'", "s glob '?bc'",
    *[f"{f}(s, {p})" for f in ("regexp_extract", "regexp_extract_all") for p in NAMED_GROUPS],
    *[f"{f}(s, {p})" for f in ("jaro_similarity", "jaro_winkler_similarity") for p in OTHER_TEXTS],
    *[f"jaccard(nullif(s, ''), {p})" for p in ("'abXc'", "reverse(nullif(s, ''))", "'ü'", "NULL")],
    "url_decode(s)", "damerau_levenshtein(s, 'abc')", "damerau_levenshtein(s, 'a cat')",
]  # fmt: skip
AGGREGATES = (
    "var_pop", "var_samp", "variance", "stddev_pop", "stddev_samp", "stddev", "sem", "skewness", "kurtosis",
    "kurtosis_pop", "fsum", "kahan_sum", "favg", "entropy", "any_value", "approx_count_distinct", "mad",
    "median", "Max", "sumKahan",
)  # fmt: skip
SLICES = (
    "3:1:-1", ":-:-1", "3:-:-2", ":2:-1", "-1:-3:-1", "1:3:2", "a[1]:3:id * 2 - 11", "1:-:b[1]", "2:-:NULL",
)  # fmt: skip
OF_NUMBERS = [
    "format_bytes(i)", "formatReadableSize(i)", "formatReadableDecimalSize(i)", "bit_count(i)",
    "bit_count((i % 1000)::int)", "bit_count((i % 100)::tinyint)", "factorial((i % 30)::int)",
    "binom((i % 127)::int, (i % 31)::int)",
    "to_base(i, 2)", "to_base(i, 36, 20)", "fsum(i) over (order by id)", "favg(i) over ()",
]  # fmt: skip
QUANTILED = (
    "a", "a::double[]", "a::decimal(5, 2)[]", "list_transform(a, x -> date '2020-01-01' + x)",
    "list_transform(a, x -> timestamp '2020-01-01' + to_days(x))",
)  # fmt: skip
OF_LISTS = [
    "list_zip(a, b)", "list_zip(a, w, b)", "list_zip(a, b, true)", "list_zip(a, NULL)", "list_zip(a)",
    "list_grade_up(a)", "list_grade_up(a, 'desc')", "array_grade_up(w, 'asc', 'nulls first')",
    "list_intersect(a, b)", "list_select(a, [1, 2, 9])", "list_where(a, [true, false, true])",
    "list_resize(a, 3)", "list_resize(a, 2, 7)", "list_resize(NULL, 2)",
    *[f"a[{p}]" for p in SLICES],
    *[f"list_aggr({a}, '{name}')" for a in ("a", "a::double[]") for name in AGGREGATES],
    *[f"list_aggr(w, '{name}')" for name in ("any_value", "entropy", "approx_count_distinct")],
    *[f"list_bit_{name}(a)" for name in ("and", "or", "xor")],
    "list_bool_and(list_transform(a, x -> x > 1))", "list_bool_or(list_transform(a, x -> x > 2))",
    "list_transform(a, x -> x + id)", "list_filter(a, x -> x > 1)",
    *[f"list_aggregate({a}, 'quantile_cont', {q})" for a in QUANTILED for q in ("0.3", "0.25::double", "1")],
    *[f"list_aggr({a}, '{f}', 0.6)" for a in (*QUANTILED, "w") for f in ("quantile", "quantile_disc")],
    "concat_ws('-', a)", "concat_ws(', ', 'x', w, id, NULL, b)", "concat_ws(NULL, w)", "concat(a, b)",
    "concat(a, NULL, [id::int])",
]  # fmt: skip
MEASURES = ("distance", "dot_product", "inner_product", "negative_dot_product", "cosine_similarity")


def compare(text: str, tables: dict[str, pa.Table], ranks: int) -> None:
    connection = duckdb.connect()
    connection.execute("set TimeZone = 'UTC'")
    connection.execute("set lambda_syntax = 'ENABLE_SINGLE_ARROW'")
    for name, table in tables.items():
        connection.register(name, table)
    same(hr.sql(text, tables, ranks=ranks), connection.sql(text).to_arrow_table(), ordered=True)


@pytest.mark.parametrize("ranks", [1, 3])
def test_beside_duckdb(tables: dict[str, pa.Table], ranks: int) -> None:
    cases = [(EXPRESSIONS, "t", ""), (OF_LISTS, "l", ""), (["struct_keys(s)"], "o", "")]
    cases.append((OF_NUMBERS[:5], "n", ""))
    cases.append((OF_NUMBERS[5:], "n", " where i >= 0"))
    for expressions, table, where in cases:
        for expression in expressions:
            compare(f"select id, {expression} as x from {table}{where} order by id", tables, ranks)
    for measure in MEASURES:
        for cast in ("", "::float[]"):
            text = f"list_{measure}(p.x{cast}, q.x{cast}) as x from p, p as q where len(p.x) = len(q.x)"
            compare(f"select p.id, q.id as j, {text} and p.id < 5 and q.id < 5 order by all", tables, ranks)


@pytest.mark.parametrize("ranks", [1, 2])
def test_digits_of_wide_integers(ranks: int) -> None:
    wide = ["0", "-1", "5", "-5", "18446744073709551616", "170141183460469231731687303715884105727", "NULL"]
    large = [*wide[:1], *wide[2:3], *wide[4:], "340282366920938463463374607431768211455"]
    long = ["0", "1", "9223372036854775808", "18446744073709551615", "NULL"]
    for kind, numbers in (("hugeint", wide), ("ubigint", long), ("uhugeint", large)):
        rows = ", ".join(f"({number}::{kind})" for number in numbers)
        for name in ("hex", "to_hex", "bin", "to_binary"):
            compare(f"select {name}(x) as d from (values {rows}) t(x) order by x", {}, ranks)
            compare(f"select {name}({numbers[2]}::{kind}) as d", {}, ranks)


def test_version() -> None:
    assert hr.sql("select version() as v").to_pylist() == [{"v": f"headrace {hr.__version__}"}]


SHARES = (
    "-0.25", "[0.25, 0.5]", "[-0.25, -0.5]", "[0, 1]", "[0, -1]", "[-1]", "-1", "0", "[0.1, 0.9, 0.5]",
    "-0.1::double", "[0.25::double, 0.5::double]",
)  # fmt: skip


@pytest.mark.parametrize("function", ["quantile_cont", "quantile_disc", "quantile"])
def test_lists_of_shares_and_negative_ones(tables: dict[str, pa.Table], function: str) -> None:
    """A negative share counts from the other end; also of constant lists, which are folded."""
    lists = [*QUANTILED, "[1, 2, 3, 4]", "[]::int[]", "[NULL]::int[]", "[1.5::decimal(4, 2), 2.25, 3]"]
    lists += ["w"] if function != "quantile_cont" else []
    for ranks in (1, 3):
        for share in SHARES:
            calls = ", ".join(
                f"list_aggregate({each}, '{function}', {share}) as c{n}" for n, each in enumerate(lists)
            )
            compare(f"select id, {calls} from l order by id", tables, ranks)
    for share in SHARES:
        compare(f"select {function}(i, {share}) as q from n where i between -1000 and 10000", tables, 2)


@pytest.mark.parametrize("share", ["NULL", "1.5", "[0.5, 2]", "[]"])
def test_shares_that_are_refused(share: str) -> None:
    with pytest.raises(hr.HeadraceError, match=r"aggregate quantile_cont of a list|QUANTILE|quantile"):
        hr.sql(f"select list_aggregate([1, 2], 'quantile_cont', {share})")


ROUNDED = {
    "tinyint": "5, 15, 25, 120, -5, -120, NULL",
    "bigint": "0, 5, 15, 25, -5, -15, -25, 4611686018427387904, 9223372036854775799, NULL",
    "ubigint": "5, 15, 9223372036854775807",
    "hugeint": "5, 15, 150000000000000000000000000000000000000, 50000000000000000000000000000000000000, "
    "-50000000000000000000000000000000000001",
    "decimal(5, 3)": "0.125, 0.135, -0.125, 12.5, 15.0, 99.999",
    "decimal(38, 0)": "5, 15, -45, 50000000000000000000000000000000000000",
    "float": "0.25, 0.35, -2.5, 1e38, 16777217.5, 0.15, NULL",
    "double": "0.25, 2.675, 1.005, 1e300, -1e300, 1.5e308, 5e-324, 'nan', 'inf', '-inf', -0.0, 0.5, -0.5, "
    "1234.5678, 0.49999999999999994, 4503599627370497.5, NULL",
}


@pytest.mark.parametrize("kind", ROUNDED)
def test_round_even(kind: str) -> None:
    """What is halfway goes to the even neighbour, before and behind the point; what overflows is an error."""
    values = f"(select unnest([{ROUNDED[kind]}]::{kind}[]) as x)"
    for digits in (-400, -39, -38, -37, -19, -2, -1, 0, 1, 2, 3, 308, 400):
        query = f"select round_even(x, {digits}) as r, roundbankers(x, {digits}) as s from {values}"
        try:
            expected = duckdb.sql(query).to_arrow_table()
        except duckdb.OutOfRangeException:
            with pytest.raises(
                hr.HeadraceError, match="overflow|cannot be represented|out of range|does not fit"
            ):
                hr.sql(query)
            continue
        same(hr.sql(query), expected, ordered=True)
    with pytest.raises(hr.HeadraceError, match="round_even.* must be a constant"):
        hr.sql(f"select round_even(x, x::int) from {values} where x = 5")


REALS = [math.inf, -math.inf, math.nan, -1.5, 1e308, 123456.789, -0.0, 5e-324, 2.675, 1e15 + 0.5, None]
DIGITS = [-400, -309, -308, -40, -21, -18, -10, -3, -2, -1, 0, 1, 2, 15, 308, 309, None]


@pytest.mark.parametrize(
    "kind", ["double", "float", "tinyint", "integer", "bigint", "hugeint", "utinyint", "ubigint"]
)
def test_rounding_to_digits_of_the_row(kind: str) -> None:
    values: list[Any] = REALS if kind == "double" else [None, 0, 4, 5, 15, 55, 99, 100]
    values = [0.15, -2.5, 1e30, *values] if kind == "float" else values
    values = values if kind[0] in "udf" else [*values, -5, -15, -99]
    # What is too large for its type is an error.
    rows = [
        (x, n)
        for x in values
        for n in DIGITS
        if kind in ("double", "float") or n != -2 or x not in (55, 99, -99, 100)
    ]
    table = pa.table(
        {"x": pa.array([x for x, _ in rows], pa.float64()), "n": pa.array([n for _, n in rows], pa.int32())}
    )
    query = f"select x, n, round(x::{kind}, n) as r, trunc(x::{kind}, n) as t from data"
    with duckdb.connect() as oracle:
        oracle.register("data", table)
        same(hr.sql(query, {"data": table}, ranks=2), oracle.sql(query).to_arrow_table())


def test_rounding_to_digits_of_the_row_that_overflows() -> None:
    with pytest.raises(hr.errors.DataError, match="out of range|overflow"):
        hr.sql("select round(x::tinyint, n) from (values (127, -1)) as t(x, n)")
    with pytest.raises(
        hr.errors.UnsupportedError, match="unsupported trunc: the digits must be a constant for UHUGEINT"
    ):
        hr.sql("select trunc(x::uhugeint, n) from (values (127, -1)) as t(x, n)")


def test_rounding_of_decimals_that_overflow() -> None:
    for value in ("99999999999999999999999999999999999999", "-60000000000000000000000000000000000000"):
        with pytest.raises(hr.HeadraceError, match="overflow"):
            hr.sql(f"select round_even(x, -38) from (select {value}::decimal(38, 0) as x)")


@pytest.mark.parametrize("ranks", [1, 2])
def test_names_that_functions_have_besides(tables: dict[str, pa.Table], ranks: int) -> None:
    for text in (
        "select add(i % 100, 1) as a, subtract(i % 100, 2) as s, multiply(i % 10, 3) as m from n order by id",
        "select add(id) as a, subtract(id) as s, multiply(interval '1 day', id) as m from n order by id",
        "select add(date '2020-01-01', 1) as a, subtract(timestamp '2020-01-02', interval '1 day') as s",
        "select char_length(a) as c, character_length(w) as d, char_length('äb') as e from l order by id",
        "select grade_up([3, 1, id]) as g, list_extract(s, 2) as x from t order by id",
        "select list_element(s, -1) as y from t order by id",
        "select contains(map {'a': id}, 'a') as a, contains(map {'a': NULL}, 'b') as b from n order by id",
        "select nanosecond(i) as n from (values (interval '3.5 second'), (NULL)) v(i)",
    ):
        compare(text, tables, ranks)


def test_a_list_that_is_too_long() -> None:
    """Of a series it is said before it is made, and what makes rows instead."""
    for call in ("unnest(range(1, 10000000000))", "unnest(generate_series(1, 10000000000))"):
        with pytest.raises(
            hr.HeadraceError, match=r"numbers is larger than 4 GiB; FROM range\(…\) gives rows"
        ):
            hr.sql(f"select {call}")
    with pytest.raises(hr.HeadraceError, match="a text or list larger than 4 GiB"):
        hr.sql("select len(range(x)) from (values (10000000000)) v(x)", memory="500MB")
    found = hr.sql("select range(5, 10000000000, 5000000000) as l").to_pylist()
    assert found == [{"l": [5, 5000000005]}]


@pytest.mark.parametrize("ranks", [1, 2])
def test_a_null_that_is_put_into_a_list_is_as_any_other(ranks: int) -> None:
    """Also into an empty one, which does not say of what type its elements are."""
    for kind, value in (
        ("int", "1"),
        ("varchar", "'a'"),
        ("double", "2.5"),
        ("int[]", "[1]"),
        ("date", "date '2020-01-01'"),
    ):
        given = {"t": pa.table({"id": [0, 1, 2]})}
        lists = f"case id when 0 then [NULL]::{kind}[] when 1 then []::{kind}[] else [{value}]::{kind}[] end"
        for call in ("list_select(l, [1])", "list_resize(l, 1)", "list_where(l, [true])"):
            text = (
                f"select {call} as x, count(*) as n from (select {lists} as l from t) group by all order by n"
            )
            compare(text, given, ranks)


FORMATS = [
    "%Y-%m-%d", "%d/%m/%y", "%Y%d%m", "%a %d, %B %Y, %I:%M:%S %p", "%A %-d %b %Y", "%Y %j",
    "%H:%M", "%c", "%x", "%X", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S.%n",
    "%Y-%m-%dT%H:%M:%S%z", "%Y %m", "%%%Y", "x %d", "%w %u %g",
]  # fmt: skip


def moments(count: int) -> list[str | None]:
    """Texts in these formats, some of them spoilt."""
    draw = random.Random(7)
    texts: list[str | None] = [None, "", " 2020-01-01 ", "2020-02-30", "12 pm", "0 1 5", "2019 366"]
    while len(texts) < count:
        moment = (
            f"timestamp '{draw.randrange(1800, 2200)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02} "
        )
        moment += f"{draw.randrange(24):02}:{draw.randrange(60):02}:{draw.randrange(60):02}."
        moment += f"{draw.randrange(10**6):06}'"
        form = draw.choice(FORMATS)
        text = duckdb.sql(f"select strftime({moment}, '{form.replace('%z', '')}')").fetchall()[0][0]
        text += draw.choice(["+02", "-0330", "+01:15:30", "Z"]) if "%z" in form else ""
        if draw.random() < 0.3:
            at = draw.randrange(len(text) + 1)
            text = text[:at] + draw.choice(" 0:x-") + text[at + draw.randrange(2) :]
        texts.append(text)
    return texts


@pytest.mark.parametrize("form", FORMATS)
def test_strptime(form: str) -> None:
    texts = pa.array(moments(300), pa.string())
    given = {"t": pa.table({"id": range(len(texts)), "s": texts})}
    compare(f"select id, try_strptime(s, '{form}') as x from t order by id", given, 2)
    fits = f"try_strptime(s, '{form}') is not null"
    compare(f"select id, strptime(s, '{form}') as x from t where {fits} order by id", given, 1)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("strptime('x', '%d')", "not of the form that strptime asks for"),
        ("strptime('x', '%d%Z')", "unsupported strptime: specifier %Z"),
        ("strptime('x', ['%d', '%m'])", "not of the form that strptime asks for"),
        ("hash([x])", "unsupported list function: hash"),
        ("to_base(-1, 2)", "a negative number, a radix that is not 2 to 36, or a length"),
        ("to_base(1, 2, 65)", "a length that is not 0 to 64 in to_base"),
        ("url_decode('%ff')", "a text that is no UTF-8 once decoded in url_decode"),
        *[(f"jaccard({of})", "an empty text in jaccard") for of in ("'', 'a'", "repeat('a', x), ''")],
        ("factorial(34)", "factorial of a number that is not 0 to 33"),
        ("factorial(-1)", "factorial of a number that is not 0 to 33"),
        *[
            (f"binom({of})", "binom of a negative number, or of so many things that 128 bits do not hold it")
            for of in ("-1, 2", "2, (-x)::int", "131, 65")
        ],
        ("regexp_extract_all('a', '[')", "missing ]|RE2 refuses"),
        ("regexp_extract_all('a', '(a)', (x + 7)::int)", "RE2 refuses"),
        ("string_split_regex('a', repeat('[', x))", "RE2 refuses"),
        ("parse_filename('a', x = 1)", "parse_filename: whether the name's end goes must be a constant"),
        ("list_zip([1], x = 1)", "unsupported list_zip: whether longer lists are cut must be a constant"),
        *[
            (f"list_{name}([1.0], [1.0, x])", f"lists of different lengths, or with NULL, in list_{name}")
            for name in (*MEASURES[:2], *MEASURES[3:], "cosine_distance")
        ],
        ("list_distance([1.0], [NULL])", "lists of different lengths, or with NULL, in list_distance"),
    ],
)  # fmt: skip
def test_what_is_refused(expression: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(f"select {expression} as y from t", {"t": pa.table({"x": [1]})})


@pytest.mark.parametrize("ranks", [1, 2])
def test_days_do_not_lead_to_infinity(ranks: int) -> None:
    """Which is the number behind the last day: it stays what it is, and is not reached."""
    infinity = 2**31 - 1
    days = pa.array([infinity, -infinity, infinity - 1, 0, None], pa.int32()).cast(pa.date32())
    rows = pa.table({"d": days, "n": pa.array([5, 5, -1, infinity - 1, 1], pa.int32())})
    compare("select (d + n)::varchar as a, (d - -n)::varchar as b from t order by n, 1", {"t": rows}, ranks)
    for moved in ("d + n", "d - (-n)", "n + d"):
        for day, count in ((infinity - 1, 1), (1 - infinity, -1), (0, infinity)):
            date = pa.array([day], pa.int32()).cast(pa.date32())
            one = pa.table({"d": date, "n": pa.array([count], pa.int32())})
            with pytest.raises(hr.HeadraceError, match="a date out of range"):
                hr.sql(f"select {moved} as r from t", {"t": one}, ranks=ranks)
