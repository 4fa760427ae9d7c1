"""Functions of texts without a value, as conditions and as keys; the matrix of types has the rest."""

from __future__ import annotations

import headrace as hr
import pyarrow as pa
import pytest
from dev.text_functions import table
from duckdb_oracle import check

_WORDS = pa.table(
    {"a": ["kůň", "", "koala", None, "a b a", "𝄞x"], "n": pa.array([1, 0, -2, 3, 8, 2], pa.int32())}
)


def test_numbers_and_names_are_used_once() -> None:
    functions = table()
    numbers = [function.number for function in functions]
    assert numbers == sorted(set(numbers))
    assert len({function.name for function in functions}) == len(functions)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_conditions_and_keys(ranks: int) -> None:
    check(
        "select reverse(a) k, count(*) n, sum(length(a)) s, max(upper(a)) m from t"
        " where length(a) < 5 or a = '' group by all",
        {"t": _WORDS},
        ranks=ranks,
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("lpad(a, 9, '')", "insufficient padding in lpad"),
        ("rpad(a, 9, '')", "insufficient padding in rpad"),
        ("chr(n - 9)", "invalid code point in chr"),
        ("repeat(a, 100000000000)", "a string of more than 4 GiB"),
        ("(a like a || '!' escape '!')::varchar", "ends with its escape character"),
        ("regexp_extract(a, a || '(')", "a regular expression that RE2 refuses"),
        ("regexp_replace(a, 'a', a || '\\1')", "a replacement of one that RE2 refuses"),
        ("hamming(a, 'abc')::varchar", "texts of different lengths, or empty ones"),
    ],
)
def test_without_a_value(call: str, message: str) -> None:
    """An error, but only of rows that ask for it."""
    with pytest.raises(hr.errors.HeadraceError, match=message):
        hr.sql(f"select {call} from t", {"t": _WORDS})
    found = hr.sql(f"select case when n > 9 then {call} else 'x' end as x from t", {"t": _WORDS})
    assert found["x"].to_pylist() == ["x"] * _WORDS.num_rows


@pytest.mark.parametrize(
    "call",
    [
        *(
            "regexp_matches(a, '[ao]')",
            "regexp_matches(a, 'K', 'i')",
            "regexp_matches(a, '.', 'l')",
            "a ~ '^k'",
        ),
        *("regexp_full_match(a, '[a-z]+')", "a similar to 'k%|ko.+'", "a not similar to '.*a.*'"),
        *("regexp_matches(a, a)", "regexp_matches(a, '')", "regexp_matches('x\ny', 'x.y', 's')"),
        *("regexp_extract(a, 'o(.)')", "regexp_extract(a, 'o(.)', 1)", "regexp_extract(a, '(x)?o(.)', 1)"),
        *("regexp_extract(a, 'o', 7)", "regexp_extract(a, 'O.', 0, 'i')", "regexp_extract(a, '.$')"),
        *("regexp_replace(a, '[ao]', '_')", "regexp_replace(a, '[ao]', '_', 'g')"),
        *("regexp_replace(a, '(.)(.)', '\\2\\1', 'g')", "regexp_replace(a, '', '-', 'g')"),
        *("regexp_replace(a, 'A', a, 'ig')", "regexp_escape(a || '.*')"),
        *("levenshtein(a, 'koala')", "levenshtein(a, a)", "hamming(a || 'x', 'y' || a)"),
        *(
            "a like a",
            "a like '%' || n || '%'",
            "a not like '_' || substring(a, 2)",
            "'koala' like '%o%' || a",
        ),
        *(
            "'KOALA' ilike a",
            "a not ilike upper(a)",
            "a ilike '%Ů%'",
            "upper(a) ilike 'kŮ_%' or a ilike 'ÀÉÎ' or 'STRASSE' ilike 'Straße'",
            "a || '%' like a || '!%' escape '!'",
            "'ů' like '%__' || a",
        ),
        *("concat_ws('-', a, 'x', n)", "concat_ws(a, n, a, null)", "concat_ws('', a)", "concat_ws(null, a)"),
        *("concat_ws('äß', a, null, a)", "concat_ws('-', null::varchar)"),
        *("bit_length(a)", "hex(a)", "bin(a)", "sha256(a)", "url_encode(a || '/?~')"),
    ],
)
def test_beside_duckdb(call: str) -> None:
    check(f"select {call} as x from t", {"t": _WORDS})
    check(f"select count(*) as n from t group by {call}", {"t": _WORDS})


def test_patterns_by_the_row_do_not_wear_out() -> None:
    """More patterns than a thread keeps."""
    patterns = pa.table({"a": [f"x{i}y" for i in range(500)], "p": [f"x{i % 11}.*" for i in range(500)]})
    check("select a, regexp_matches(a, p) as x from t", {"t": patterns})


def test_a_constant_pattern_is_looked_at_by_the_binder() -> None:
    """DuckDB looks at a constant pattern as it binds: that error comes without rows, too."""
    with pytest.raises(hr.errors.HeadraceError, match="missing \\)"):
        hr.sql("select regexp_matches(a, '(') from t where false", {"t": _WORDS})
