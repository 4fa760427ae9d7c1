"""Texts compared whatever their case and accents: COLLATE, and the collation of a session, beside DuckDB.

Sources: runtime/base/canonical_forms.cpp
"""

from __future__ import annotations

import random

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check, same
from headrace import errors

_ROWS = 1000
#: Letters with marks as one code point and as several, in any order, and what is composed in other ways.
_CHARACTERS = (
    *"aAeE\u00e4\u00c4\u00e9\u00c9\u1ea5\u0301\u0308\u0323\u0302\u0316\u00df\u1e9e\u0130\u0131\u212b\u00c5",
    *"\u1100\u1161\u11a8\uac00\uac01\u0915\u093c\u0958\u0344\u2126\u03a9\u0387\U0001d15e\u0f73 ",
)
_COLLATIONS = ("nocase", "noaccent", "nfc", "nocase.noaccent", "nfc.nocase", "NOACCENT", "C")


def _texts(seed: int) -> list[str | None]:
    draw = random.Random(seed)
    texts = [None, "", "abc", "Ábc", "ÁBC", "a\u0301bc"]
    return texts + ["".join(draw.choices(_CHARACTERS, k=draw.randrange(5))) for _ in range(_ROWS)]


def _table(seed: int) -> pa.Table:
    texts = _texts(seed)
    return pa.table({"i": range(len(texts)), "k": [place % 7 for place in range(len(texts))], "s": texts})


_TABLES = {"t": _table(1), "u": _table(2).slice(0, 300)}


def test_every_code_point() -> None:
    """Alone, and where marks stand before and behind it."""
    c = "chr(i)"
    beside = (c, f"concat('a', {c}, chr(803))", f"concat({c}, chr(790), chr(769))")
    beside += (f"concat('a', chr(769), {c}, chr(790))", f"concat(chr(4352), {c}, chr(4520))")
    calls = [f"{name}({text})" for name in ("nfc_normalize", "strip_accents") for text in beside]
    sums = ", ".join(f"md5(string_agg({call}, ',' order by i)) as c{n}" for n, call in enumerate(calls))
    codes = [code for code in range(1, 0x110000) if not 0xD800 <= code < 0xE000]
    check(
        f"select i // 64 as block, {sums} from c group by all",
        {"c": pa.table({"i": pa.array(codes, pa.int32())})},
    )


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("collation", _COLLATIONS)
def test_where_texts_are_compared(collation: str, ranks: int) -> None:
    c = f"s collate '{collation}'"
    queries = (
        f"select i, {c} = 'ábc', {c} < 'ab', {c} between 'a' and 'b', {c} in ('ABC', 'ábc') from t",
        f"select i, {c} like 'áb%', contains({c}, 'B'), {c} is distinct from 'ABC', nullif({c}, 'b') from t",
        f"select i, row_number() over (order by {c}, i) from t",
        f"select i, rank() over (partition by k order by {c} desc), max({c}) over (partition by k) from t",
        f"select count(distinct {c}), count(*) from t",
        f"select count(*) from (select distinct {c} as s from t)",
        f"select count(*), sum(n) from (select {c} as s, count(*) as n from t group by 1)",
        f"select count(*) from t join u on t.{c} = u.s",
        f"select count(*) from t where {c} in (select s from u)",
        f"select count(*) from (select {c} from t intersect select s from u)",
        f"select count(*) from (select {c} from t except select s from u order by 1)",
        f"select count(*) from (select {c} from t union select s from u)",
        f"select count(*), sum(k) from (select {c}, k from t intersect all select s, k from u)",
        f"select count(*), sum(k) from (select {c}, k from t except all select s, k from u)",
        f"select k, string_agg(s, ',' order by {c}, i) from t group by k",
    )
    for query in queries:
        check(query, _TABLES, ranks=ranks)
    in_order = f"select s from t order by {c}, i"
    same(hr.sql(in_order, dict(_TABLES), ranks=ranks), answer(in_order, _TABLES), ordered=True)


def test_extremes() -> None:
    """Of texts that differ in bytes and in the collation."""
    tables = {"t": pa.table({"k": [1, 1, 2, 2, 3], "s": ["Zoë", "apple", "b", "Ä", None]})}
    check("select k, min(s collate noaccent), max(s collate nocase) from t group by k", tables, ranks=2)
    check("select min(s collate nocase.noaccent), arg_max(k, s collate nocase) from t", tables)


def test_a_session_has_a_collation() -> None:
    query = "select count(distinct s) as n, count(*) filter (s = 'ABC') as m from t"
    tables = {"t": pa.table({"s": ["abc", "ABC", "Ábc", None]})}
    session = hr.connect(tables)
    by_bytes, in_any_case, without_accents = ({"n": n, "m": m} for n, m in ((3, 1), (2, 2), (1, 3)))
    assert session.sql(query).arrow().to_pylist() == [by_bytes]
    for statement, name, rows in (
        ("SET default_collation = 'NOCASE'", "nocase", in_any_case),
        ("pragma default_collation=nocase.noaccent;", "nocase.noaccent", without_accents),
        ("reset default_collation", "", by_bytes),
        ("set session default_collation to nocase", "nocase", in_any_case),
    ):
        assert session.sql(statement).arrow().to_pylist() == [{"default_collation": name}]
        assert session.sql(query).arrow().to_pylist() == [rows]
    assert session.sql(query, collation="c").arrow().to_pylist() == [by_bytes]
    assert hr.sql(query, tables, collation="nocase.noaccent", ranks=2).to_pylist() == [without_accents]
    assert "lower" in session.sql(query).explain()
    for text in ("set default_collation = 'de'", "pragma default_collation=no_case"):
        with pytest.raises(errors.UserError, match="unknown collation; NOCASE, NOACCENT, NFC and such as"):
            session.sql(text)
    with pytest.raises(errors.UserError, match=r"unknown collation.*: nocase\.x"):
        hr.sql("select 1", collation="nocase.x")


def test_other_collations_are_refused() -> None:
    tables = {"t": pa.table({"s": ["a"]})}
    for name in ("de", "icu_noaccent", "de.nocase"):
        with pytest.raises(errors.UnsupportedError, match="of ICU; NOCASE, NOACCENT and NFC are supported"):
            hr.sql(f"select s from t order by s collate {name}", tables)
        with pytest.raises(errors.UnsupportedError, match=r"unsupported collation: \w+, of ICU"):
            hr.sql(f"select s collate {name} from t intersect all select s from t", tables)
    with pytest.raises(errors.SqlError, match="no such collation: foo"):
        hr.sql("select s collate foo from t", tables)


def test_behind_a_zero() -> None:
    """DuckDB ends the text there."""
    assert hr.sql("select strip_accents('é' || chr(0) || 'é') as s").to_pylist() == [{"s": "e\0e"}]
