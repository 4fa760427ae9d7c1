"""The launchers themselves: each starts four ranks, which answer queries and a network like one process.

`./dev test --only engines` installs what a machine lacks for all of them.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import headrace as hr
import numpy as np
import pyarrow.feather as feather
import pytest
import slurm_on_one_machine
from headrace._src.query.sql import compile_to
from launched_ranks import Ranks
from test_cluster import LONG
from tpch_queries import QUERIES

pytestmark = pytest.mark.waits

NAMES = ("01", "03", "05", "09", "13", "18", "21")
PROGRAM = """
import sys
import headrace as hr, headrace.array as ha, numpy as np, pyarrow.feather as feather
queries, tables, folder, names = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]

@hr.jit
def network(x, w, v):
    return ha.tanh(ha.relu(x @ w) @ v)

with hr.cluster() as group:
    assert group.size == 4
    for name in names:
        table = hr.sql(open(f"{queries}/q{name}.sql").read(), tables)
        assert (table is None) == (group.rank > 0)
        if table:
            feather.write_feather(table, f"{folder}/{name}.arrow")
    draw = np.random.default_rng(1).normal
    x, w, v = draw(size=(64, 32)), draw(size=(32, 48)), draw(size=(48, 16))
    found = network(x, w, v)
    if group.rank == 0:
        np.save(f"{folder}/network.npy", [found, np.tanh(np.maximum(x @ w, 0) @ v)])
"""


def absent(why: str, expected: str | None) -> None:
    """A launcher that is not there: skipped, unless it is `expected` to be."""
    if expected:
        pytest.fail(why)
    pytest.skip(why)


@contextmanager
def mpirun(folder: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    if not shutil.which("mpirun"):
        absent("mpirun is not installed (Debian: openmpi-bin)", os.environ.get("CI"))
    options = ["--oversubscribe", "--bind-to", "none", "-n", "4"]
    yield ["mpirun", *(["--allow-run-as-root"] if os.geteuid() == 0 else []), *options], {}


@contextmanager
def srun(folder: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    if why := slurm_on_one_machine.missing():
        absent(f"Slurm: {why}; ./dev test --only engines", os.environ.get("HEADRACE_ENGINES"))
    with slurm_on_one_machine.slurm(folder / "slurm") as variables:
        yield ["srun", "-n", "4", "--overcommit"], variables


@contextmanager
def torchrun(folder: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    program = os.environ.get("HEADRACE_TORCHRUN") or shutil.which("torchrun")
    if not program:
        pytest.skip("torchrun is not installed (HEADRACE_TORCHRUN says where it is)")
    yield [program, "--standalone", "--nproc-per-node", "4", "--no-python"], {}


LAUNCHERS = {"mpirun": mpirun, "srun": srun, "torchrun": torchrun}


@pytest.fixture(params=LAUNCHERS)
def launcher(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[str]]:
    """The words before a command that start four ranks of it."""
    monkeypatch.setenv("HEADRACE_THREADS", "1")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with LAUNCHERS[request.param](tmp_path) as (words, variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        yield words
    assert list(tmp_path.glob("headrace-*")) == [], "a meeting is left behind"


def check(folder: Path, tables: Path) -> None:
    for name in NAMES:
        found = feather.read_table(folder / f"{name}.arrow")
        alone = hr.sql((QUERIES / f"q{name}.sql").read_text(), tables)
        order = [(column, "ascending") for column in alone.column_names]
        assert found.num_rows > 0
        assert found.sort_by(order).equals(alone.sort_by(order)), name
    network, expected = np.load(folder / "network.npy")
    assert np.allclose(network, expected)


def test_queries_and_a_network(launcher: list[str], tpch_small: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, tmp_path / "program.py", QUERIES, tpch_small, tmp_path, *NAMES]
    done = subprocess.run([*launcher, *map(str, command)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    check(tmp_path, tpch_small)


def test_queries_with_the_variables_of_torchrun(tpch_small: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, tmp_path / "program.py", QUERIES, tpch_small, tmp_path, *NAMES]
    own = {
        rank: {"RANK": str(rank), "LOCAL_RANK": str(rank), "HEADRACE_RANK": "", "HEADRACE_SIZE": ""}
        for rank in range(4)
    }
    with Ranks(
        command,
        4,
        f"{tmp_path}/meeting",
        own,
        WORLD_SIZE="4",
        LOCAL_WORLD_SIZE="4",
        TORCHELASTIC_RUN_ID="none",
        TORCHELASTIC_RESTART_COUNT="0",
        MASTER_ADDR="127.0.0.1",
        MASTER_PORT="29500",
    ) as ranks:
        for each in ranks.ended():
            assert each.status == 0, each.errors[-3000:]
    check(tmp_path, tpch_small)


def test_the_tool(launcher: list[str], tpch_small: Path, tmp_path: Path) -> None:
    compile_to(tmp_path / "q03.plan", (QUERIES / "q03.sql").read_text(), tpch_small, ranks=4)
    tool = shutil.which("headrace-run")
    command = [str(tool), str(tmp_path / "q03.plan"), "--format", "csv"]
    alone = subprocess.run([*command, "--launcher", "none"], capture_output=True, text=True, check=True)
    done = subprocess.run([*launcher, *command], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    assert sorted(done.stdout.splitlines()) == sorted(alone.stdout.splitlines())
    failed = subprocess.run(
        [*launcher, *command, "--ranks", "3"], capture_output=True, text=True, timeout=120
    )
    assert failed.returncode != 0
    assert "the launcher has started 4 ranks" in failed.stderr + failed.stdout


#: What makes a launcher go on without a process that has ended.
RECOVERY = {"mpirun": ["--enable-recovery"], "srun": ["--no-kill", "--kill-on-bad-exit=0"]}


@pytest.mark.parametrize("name", RECOVERY)
def test_a_launcher_lets_the_others_go_on(
    name: str, tpch_small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "program.py").write_text("""
import os, sys
import headrace as hr

with hr.cluster() as group:
    dies = group.rank == 2
    for number in range(3):
        table = hr.sql("select count(*) as n from lineitem", sys.argv[1])
        if group.rank == 0:
            print(group.size, table["n"][0])
        if dies and number == 0:
            os.kill(os.getpid(), 9)
""")
    with LAUNCHERS[name](tmp_path) as (words, variables):
        command = [*words, *RECOVERY[name], sys.executable, str(tmp_path / "program.py"), str(tpch_small)]
        environment = {**os.environ, **variables}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout == "4 60175\n3 60175\n3 60175\n", done.stderr[-3000:]
    assert list(tmp_path.glob("headrace-*")) == []


def test_a_rank_is_killed_and_nothing_is_left(launcher: list[str], tpch_small: Path, tmp_path: Path) -> None:
    compile_to(tmp_path / "long.plan", LONG, tpch_small, ranks=4)
    command = [*launcher, str(shutil.which("headrace-run")), str(tmp_path / "long.plan")]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        end = time.monotonic() + 60
        while len(ranks := ranks_of(tmp_path / "long.plan")) < 4 and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(2)
        os.kill(ranks[-1], signal.SIGKILL)
        output, _ = running.communicate(timeout=30)
        assert running.returncode != 0, output
        while ranks_of(tmp_path / "long.plan"):
            assert time.monotonic() < end, "a rank is left"
            time.sleep(0.1)
    finally:
        running.kill()
        running.wait()


def ranks_of(plan: Path) -> list[int]:
    """Processes of headrace-run that run this plan."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"headrace-run") and str(plan).encode() in words:
            found.append(int(folder.name))
    return found
