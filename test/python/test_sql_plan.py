"""The SQL helper: what it refuses, what it puts back, and that its plans are those kept for the C++ tests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from headrace._src.sql.errors import SqlError, SqlErrorKind
from headrace._src.sql.plan import substrait_json

DATA = Path(__file__).parents[1] / "data"

NULLABLE = pa.schema([pa.field("a", pa.int64()), pa.field("b", pa.string_view())])
REQUIRED = pa.schema([pa.field("k", pa.int64(), nullable=False)])
SCHEMAS = {"t": NULLABLE, "u": pa.schema([pa.field("n", pa.int64())]), "r": REQUIRED, "Upper": REQUIRED}


def joins(node: Any) -> list[dict[str, Any]]:
    found = []
    if isinstance(node, dict):
        for key, value in node.items():
            found += joins(value)
            if key == "join":
                found.append(value)
    elif isinstance(node, list):
        for value in node:
            found += joins(value)
    return found


def plan(text: str) -> dict[str, Any]:
    return json.loads(substrait_json(text, SCHEMAS))


def test_kept_plans_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(DATA / "make_substrait.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_not_in_is_null_aware() -> None:
    (join,) = joins(plan("select a from t where a not in (select n from u)"))
    assert join["type"] == "JOIN_TYPE_LEFT_ANTI"
    assert join["nullAware"] is True


def test_not_exists_is_not_null_aware() -> None:
    (join,) = joins(plan("select a from t where not exists (select 1 from u where n = a)"))
    assert join["type"] == "JOIN_TYPE_LEFT_ANTI"
    assert "nullAware" not in join


def test_each_join_gets_its_own_flag() -> None:
    text = """select a from t where a not in (select n from u where n = 'null_aware: true })')
              and exists (select 1 from r where k = a)"""
    text = text.replace("n = 'null_aware: true })'", "n > 3")
    flags = {join["type"]: join.get("nullAware", False) for join in joins(plan(text))}
    assert flags == {"JOIN_TYPE_LEFT_SEMI": False, "JOIN_TYPE_LEFT_ANTI": True}


def test_text_in_a_literal_is_no_flag() -> None:
    text = "select a from t where b <> 'null_aware: true })' and exists (select 1 from r where k = a)"
    assert [join.get("nullAware") for join in joins(plan(text))] == [None]


def test_table_names_are_case_sensitive_when_quoted() -> None:
    document = plan('select k from "Upper"')
    assert "Upper" in json.dumps(document)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("select nope from t", SqlErrorKind.INVALID, "No field named nope"),
        ("select a from nowhere", SqlErrorKind.INVALID, "nowhere"),
        ("select a frm t x y", SqlErrorKind.INVALID, "Line: 1, Column: 14"),
        ("select a + b from t where a = date '2020-01-01'", SqlErrorKind.INVALID, ""),
        ("create table x as select 1", SqlErrorKind.UNSUPPORTED, "DDL not supported"),
        ("insert into t values (1, 'x')", SqlErrorKind.UNSUPPORTED, "not supported"),
        ("select a from t intersect all select n from u", SqlErrorKind.UNSUPPORTED, "INTERSECT ALL is not"),
        ("select a from t EXCEPT  ALL select n from u", SqlErrorKind.UNSUPPORTED, "EXCEPT ALL is not"),
        (
            "select a from t where a not in (select n from u) or b = 'x'",
            SqlErrorKind.UNSUPPORTED,
            "under OR is not supported",
        ),
        (
            "select a from t where a > (select count(*) from t where a not in (select n from u))",
            SqlErrorKind.UNSUPPORTED,
            "",
        ),
    ],
)
def test_refused(text: str, kind: SqlErrorKind, words: str) -> None:
    with pytest.raises(SqlError) as error:
        plan(text)
    assert error.value.kind == kind, error.value
    assert words in str(error.value)


def test_all_in_a_comment_is_not_refused() -> None:
    plan("select a from t /* intersect all */ -- except all\n where b <> 'except all'")


def test_import_is_light() -> None:
    heavy = "'datafusion' in sys.modules or 'pyarrow' in sys.modules"
    script = f"import sys, headrace._src.sql.plan; sys.exit({heavy})"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
