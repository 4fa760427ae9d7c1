"""Six ranks on three hosts: two of each share memory, the others talk over a bridge."""

from __future__ import annotations

import ctypes
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import headrace as hr
import pyarrow.feather as feather
import pytest
from launched_ranks import Ranks
from three_hosts import ThreeHosts
from tpch_queries import QUERIES

pytestmark = pytest.mark.waits

RANKS = 6
HEAD = """
import os, time
import headrace as hr, pyarrow.feather as feather
tables, folder = os.environ["TABLES"], os.environ["FOLDER"]
"""
#: Hours of work.
LONG = """
select count(*) as n from lineitem a join lineitem b on a.l_linenumber = b.l_linenumber
join lineitem c on a.l_linenumber = c.l_linenumber
and a.l_extendedprice + c.l_tax < b.l_extendedprice + c.l_extendedprice
"""


@pytest.fixture
def hosts() -> Iterator[ThreeHosts]:
    if why := ThreeHosts.why_not():
        pytest.skip(why)
    with ThreeHosts() as made:
        yield made


def has_ucx() -> bool:
    try:
        ctypes.CDLL("libucp.so.0")
    except OSError:
        return False
    return True


def host_of(rank: int) -> int:
    return 1 + rank // 2


class RanksOnHosts(Ranks):
    def __init__(self, hosts: ThreeHosts, body: str, folder: Path, tables: Path, **variables: str) -> None:
        self._hosts = hosts
        (folder / "program.py").write_text(HEAD + textwrap.dedent(body))
        super().__init__(
            [sys.executable, folder / "program.py"],
            RANKS,
            f"{hosts.address(1)}:7000",
            HEADRACE_SECRET="what only these ranks know",
            FOLDER=str(folder),
            TABLES=str(tables),
            **variables,
        )

    def _begin(self, rank: int) -> None:
        super()._begin(rank)
        self._hosts.enter(host_of(rank))


@pytest.mark.parametrize("network", ["sockets", "ucx"])
def test_tpch_on_three_hosts(network: str, hosts: ThreeHosts, tpch_small: Path, tmp_path: Path) -> None:
    """All queries; where a machine has no UCX, sockets are used in its place."""
    texts = {path.stem: path.read_text() for path in sorted(QUERIES.glob("q*.sql"))}
    assert len(texts) == 22
    body = f"""
        with hr.cluster() as group:
            for name, text in {texts!r}.items():
                table = hr.sql(text, tables)
                if group.rank == 0:
                    assert hr.last_profile().run["ranks"] == {RANKS}
                    feather.write_feather(table, f"{{folder}}/{{name}}.arrow")
    """
    with RanksOnHosts(
        hosts, body, tmp_path, tpch_small, HEADRACE_NETWORK=network, HEADRACE_LOG="info"
    ) as ranks:
        found = ranks.ended(timeout=240)
    assert [each.status for each in found] == [0] * RANKS, [each.errors[-2000:] for each in found]
    by_ucx = 4 if network == "ucx" and has_ucx() else 0
    for each in found:  # one neighbour each, and four ranks on other hosts
        assert f"linked with 5 ranks, through shared memory: 1, by UCX: {by_ucx}" in each.errors
    for name, text in texts.items():
        got, alone = feather.read_table(tmp_path / f"{name}.arrow"), hr.sql(text, tpch_small)
        order = [(column, "ascending") for column in alone.column_names]
        assert got.sort_by(order).equals(alone.sort_by(order)), name


@pytest.mark.parametrize(
    "part", [ThreeHosts.pull_cable, ThreeHosts.lose_what_is_sent], ids=["partition", "one-way loss"]
)
@pytest.mark.parametrize("when", ["in a run", "before a call"])
def test_a_host_that_is_cut_off_is_named(
    part: Callable[[ThreeHosts, int], None], when: str, hosts: ThreeHosts, tpch_small: Path, tmp_path: Path
) -> None:
    """Within 10 s, by default, on the hosts that are left; and the ranks of that host end, too."""
    body = f"""
        with hr.cluster(on_loss="fail") as group:
            open(f"{{folder}}/ready.{{group.rank}}", "w").close()
            if group.rank >= 4 and {when == "before a call"}:
                time.sleep(20)
            try:
                hr.sql({LONG!r}, tables)
            except hr.HeadraceError as error:
                print(f"{{time.time():.2f}} {{error.kind}} {{error}}")
    """
    with RanksOnHosts(hosts, body, tmp_path, tpch_small) as ranks:
        end = time.monotonic() + 60
        while len(list(tmp_path.glob("ready.*"))) < RANKS and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(1.5)
        at = time.time()
        part(hosts, 3)
        found = ranks.ended(timeout=60)
    for rank, each in enumerate(found):
        assert each.status == 0, each.errors[-2000:]
        seconds, _, error = each.output.strip().partition(" ")
        assert error.startswith("io "), error
        if rank < 4:
            assert float(seconds) - at < 10, each.output
            assert error.endswith(tuple(f"rank {lost} on host {hosts.name(3)}" for lost in (4, 5))), error
        elif when == "in a run":
            assert float(seconds) - at < 10, each.output
