"""Tables that several ops read, larger than memory: rows wait on disk, answers are as if it were enough."""

from __future__ import annotations

import re
from pathlib import Path

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check, same

_MIB = 1 << 20
_ROWS = 600_000
#: Of a rank with one worker; the rows of JOINED take about 60 MB.
_MEMORY = 24 * _MIB

_JOINED = "select t.k, t.v, t.p, t.s, u.w, u.name from t join u on t.p = u.p"

#: What is kept, by whom it is read, and whether it is more than a rank of three has room for.
_QUERIES = {
    "joined with itself": f"with c as materialized ({_JOINED}) select count(*) as n, sum(a.v) as v, "
    "max(b.s) as s, min(a.name) as m from c a join c b on a.k = b.k + 1",
    "read three times": f"with c as materialized ({_JOINED}) select 'all' as what, count(*) as n from c "
    "union all select 'greatest', max(v) from c union all select s, v from c where k = 5",
    "a part of it": f"with c as materialized ({_JOINED}) select "
    "(select count(*) from (select k from c limit 10) f) as n, sum(k) as k, "
    "sum(w) as w, max(s) as s, min(name) as m from c",
    "arg_max": "select p, arg_max(s, k) as s, arg_min(name, k) as m, count(*) as n "
    f"from ({_JOINED}) c group by p",
    "correlated": "select count(*) as n, sum(x) as x, max(s) as s, max(name) as m from (select c.s, c.name, "
    f"(select max(u.w) from u where u.p = c.p and u.w > c.v) as x from ({_JOINED}) c) q",
    "either": f"select count(*) as n, max(s) as s from ({_JOINED}) c where c.v > 990 or exists "
    "(select 1 from u where u.p = c.p + 1 and u.w < c.w)",
    "groups and the greatest": "with g as (select k, s, sum(v) as v from t group by k, s) "
    "select count(*) as n, min(k) as k, max(s) as s from g where v = (select max(v) from g)",
    "windows and the greatest": "with w as (select k, s, lag(v) over (partition by k // 3 order by k) as v "
    "from t) select count(*) as n, min(k) as k, max(s) as s from w where v = (select max(v) from w)",
}


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    random = np.random.default_rng(17)
    value = random.integers(-1000, 1000, _ROWS)
    return {
        "t": pa.table(
            {
                "k": random.permutation(_ROWS),
                "p": random.integers(0, 4000, _ROWS),
                "v": value,
                "s": [f"a text of some length, {n}" if n % 7 else None for n in value],
            }
        ),
        "u": pa.table(
            {
                "p": np.arange(4000),
                "w": random.integers(-1000, 1000, 4000),
                "name": [f"name {n}" for n in range(4000)],
            }
        ),
    }


@pytest.mark.parametrize("name", _QUERIES)
def test_rows_that_are_kept_wait_on_disk(name: str, tables: dict[str, pa.Table], tmp_path: Path) -> None:
    wanted = answer(_QUERIES[name], tables)
    for ranks, threads in ((1, 1), (1, 2), (2, 2), (3, 3)):
        memory = _MEMORY * max(ranks, threads)
        settings = {"spillDirectory": str(tmp_path)}
        found = hr.sql(_QUERIES[name], tables, ranks=ranks, threads=threads, memory=memory, settings=settings)
        same(found, wanted)
        run = hr.last_profile().run
        assert sum(run["peak_bytes"]) <= memory
        assert sum(run["spilled_bytes"]) > 0 or ranks * threads > 1
        assert not list(tmp_path.iterdir())
    same(hr.sql(_QUERIES[name], tables, threads=2, memory="4GB"), wanted)
    assert sum(hr.last_profile().run["spilled_bytes"]) == 0


def test_steps_of_a_recursion_keep_rows(tables: dict[str, pa.Table]) -> None:
    text = (
        "with recursive r as (select k, p, s, 0 as depth from t where p < 300 union all "
        "select a.k, a.p, a.s, a.depth + 1 from r a join r b on a.k = b.k where a.depth < 2) "
        "select depth, count(*) as n, max(s) as s from r group by depth"
    )
    check(text, tables, threads=1, memory=2 * _MEMORY)


def test_explain_says_what_is_kept_on_disk(tables: dict[str, pa.Table]) -> None:
    text = _QUERIES["joined with itself"]
    shown = hr.explain(text, tables, threads=1, memory=_MEMORY)
    told = re.search(
        r"^kept to be read again: .*; (\S+) MiB of rows wait, of them about (\S+) MiB on disk$",
        shown,
        re.MULTILINE,
    )
    assert told, shown
    assert 40 < float(told[1]) < 80
    assert float(told[2]) == pytest.approx(float(told[1]) - 18, abs=0.2)
    assert "kept to be read again" not in hr.explain(text, tables, threads=1, memory="4GB")


def test_a_full_disk_is_an_error_that_says_so(tables: dict[str, pa.Table]) -> None:
    text = _QUERIES["arg_max"]
    with pytest.raises(hr.HeadraceError, match="exceed spillLimit, 1 MiB"):
        hr.sql(text, tables, threads=1, memory=2 * _MEMORY, settings={"spillLimit": "1MiB"})
    with pytest.raises(hr.HeadraceError, match="set spillDirectory to a directory on a disk") as error:
        hr.sql(text, tables, threads=1, memory=_MEMORY, settings={"spillDirectory": "/no/such"})
    assert error.value.kind == "io"
