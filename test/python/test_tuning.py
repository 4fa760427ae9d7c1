"""The tuner: records on disk, their use by later compilations, and searches."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
from dataclasses import replace
from pathlib import Path

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from headrace import array as xp
from headrace._src.command_line import main
from headrace._src.programs import Target
from headrace._src.query.statistics import table_sizes
from headrace._src.query.tables import resolve
from headrace._src.tuning import database, use
from headrace._src.tuning.choice import Choice
from headrace._src.tuning.database import Record
from headrace._src.tuning.search import Budget, _ToStderr, search
from headrace._src.tuning.subject import SqlSubject
from machine_file import write_machine
from tuned_programs import JOIN, NETWORK


@pytest.fixture
def home(tpch_small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache directory."""
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    monkeypatch.delenv("HEADRACE_TUNING", raising=False)
    return tmp_path


def _record(choice: Choice, **changes: object) -> Record:
    plain = Record(
        "program", "topology", choice, "select 1", "2026-11-21", {"t": 1000}, 0.1, 0.2, 0.3, (), ({"a": 1},)
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


def _found() -> Record | None:
    """The newest record of the program."""
    return next(iter(database.records("program", "topology")), None)


def test_records_come_back(home: Path) -> None:
    record = _record(Choice(3, 4096, (("exchangeWindow", "8"),)))
    path = database.put(record)
    assert database.records("program", "topology") == [record]
    assert database.records("program", "another") == []
    assert path.parent == home / "tuning"
    assert not list(path.parent.glob("*.tmp"))
    assert database.forget("program", "topology")
    assert database.records("program", "topology") == []
    assert not database.forget("program", "topology")


def test_every_size_of_the_tables_has_a_record(home: Path) -> None:
    small, large = _record(Choice(1)), _record(Choice(2), sizes={"t": 100_000})
    database.put(small)
    database.put(large)
    assert database.records("program", "topology") == [large, small]
    again = _record(Choice(3), sizes={"t": 2000})
    database.put(again)
    assert database.records("program", "topology") == [again, large]
    for power in range(40):
        database.put(_record(Choice(4), sizes={"t": 10**power}))
    assert len(database.records("program", "topology")) == 16


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"schema": "tuning/1"}',
        '{"schema": "tuning/2", "program": "program", "topology": "topology"}',
        '{"schema": "tuning/2", "program": "program", "topology": "topology", "records": [{}]}',
    ],
)
def test_what_is_no_record_is_warned_about(home: Path, text: str) -> None:
    path = database.put(_record(Choice()))
    path.write_text(text)
    with pytest.warns(RuntimeWarning, match=f"cannot be read are ignored: {path}; headrace tune makes new"):
        assert _found() is None
    with pytest.warns(RuntimeWarning):
        database.put(_record(Choice(2)))
    found = _found()
    assert found is not None and found.choice == Choice(2)


@pytest.mark.parametrize("alternative", [-1, "1", 1.5, True, 2**32])
def test_a_record_with_a_wrong_choice_is_warned_about(home: Path, alternative: object) -> None:
    path = database.put(_record(Choice()))
    document = json.loads(path.read_text())
    document["records"][0]["choice"]["alternative"] = alternative
    path.write_text(json.dumps(document))
    with pytest.warns(RuntimeWarning, match="cannot be read"):
        assert _found() is None


def test_a_record_is_for_a_query_however_it_is_spaced() -> None:
    plain = use.sql_program("select a from t where b = 'x  y' and c = 1")
    assert (
        use.sql_program("\n select  a\nfrom t -- a comment\n where b = 'x  y'\t/* two\nlines */and c = 1 ")
        == plain
    )
    for other in (
        "select a from t where b = 'x y' and c = 1",
        "select a from t where b = 'x  y' -- and c = 1",
        'select a from t where b = "x  y" and c = 1',
    ):
        assert use.sql_program(other) != plain


def test_simulation_does_not_replace_measurement(home: Path) -> None:
    database.put(_record(Choice(1)))
    path = database.put(_record(Choice(2), measured_seconds=None, candidates=({"b": 2},)))
    found = _found()
    assert found is not None and found.choice == Choice(1) and found.candidates == ({"b": 2},)
    for _ in range(20):
        database.put(_record(Choice(4)))
    assert len(json.loads(path.read_text())["records"][0]["searches"]) == 8


def _put_many(worker: int) -> None:
    for number in range(15):
        database.put(_record(Choice(worker), candidates=({"worker": worker, "number": number},)))
        assert _found() is not None


def test_processes_write_one_record(home: Path) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_put_many, args=(worker,)) for worker in (1, 2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    path = database.path_of("program", "topology")
    searches = json.loads(path.read_text())["records"][0]["searches"]
    assert len(searches) == 8
    # Whoever was last has all of his last ones there, in order: nothing was lost between read and write.
    for worker in (1, 2, 3):
        numbers = [one[0]["number"] for one in searches if one[0]["worker"] == worker]
        assert numbers == list(range(15 - len(numbers), 15))
    assert sorted(os.listdir(path.parent)) == sorted([path.name, path.with_suffix(".lock").name])


def test_a_record_is_for_tables_of_its_size() -> None:
    record = _record(Choice())
    for size in (1000, 3999, 251, 0):  # 0 is not known
        assert record.is_of_sizes({"t": size})
    assert record.is_of_sizes({})
    assert not record.is_of_sizes({"t": 4001}) and not record.is_of_sizes({"t": 249})


def _put_for(text: str, tables: Path, ranks: int, choice: Choice, **changes: object) -> None:
    target = Target.of(ranks, None, None)
    sizes = {name: size for name, size in table_sizes(resolve(tables)).items() if name in text}
    record = Record(
        use.sql_program(text),
        use.key_of(target),
        choice,
        text,
        "2026-11-21",
        sizes,
        0.1,
        0.2,
        0.3,
        use.build_of(target),
    )
    database.put(replace(record, **changes))  # type: ignore[arg-type]


def test_later_compilations_use_the_record(
    home: Path, tpch_small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = hr.sql(JOIN, tpch_small, ranks=2)
    assert "tuned by a record" not in hr.explain(JOIN, tpch_small, ranks=2)
    _put_for(JOIN, tpch_small, 2, Choice(5, 4096, (("exchangeWindow", "8"),)))
    assert hr.sql(JOIN, tpch_small, ranks=2).equals(expected)
    text = hr.explain(JOIN, tpch_small, ranks=2)
    assert "tuned by a record of 2026-11-21: layout 5, chunks of 4096 rows, exchangeWindow 8" in text
    assert "x 4096 rows" in hr.explain(JOIN, tpch_small, ranks=2, tasks=True)
    # Another number of ranks, a forced layout, and the switch: no record.
    assert "tuned" not in hr.explain(JOIN, tpch_small, ranks=3)
    assert "tuned" not in hr.explain(JOIN, tpch_small, ranks=2, layout_seed=1)
    monkeypatch.setenv("HEADRACE_TUNING", "off")
    assert "tuned" not in hr.explain(JOIN, tpch_small, ranks=2)
    monkeypatch.delenv("HEADRACE_TUNING")
    # The number of a layout is one compiler's; sizes of chunks are anyone's.
    _put_for(JOIN, tpch_small, 2, Choice(5), build=("another",))
    text = hr.explain(JOIN, tpch_small, ranks=2)
    assert text.startswith(
        "a tuning record of 2026-11-21 is of another build of the compiler or calibration: "
    )
    _put_for(JOIN, tpch_small, 2, Choice(0, 8192), build=("another",))
    assert "x 8192 rows" in hr.explain(JOIN, tpch_small, ranks=2, tasks=True)
    # A record for larger tables is another one.
    _put_for(JOIN, tpch_small, 2, Choice(0, 2048), sizes={"lineitem": 1 << 40})
    assert "x 8192 rows" in hr.explain(JOIN, tpch_small, ranks=2, tasks=True)
    _put_for(JOIN, tpch_small, 3, Choice(5), sizes={"lineitem": 1})
    text = hr.explain(JOIN, tpch_small, ranks=3)
    assert text.startswith("a tuning record of 2026-11-21 is of tables of other sizes: headrace tune makes")


def test_alternatives_are_right(home: Path, tpch_small: Path) -> None:
    expected = hr.sql(JOIN, tpch_small, ranks=3)
    plans = set()
    for alternative in (1, 2, 9, 30, 47):
        _put_for(JOIN, tpch_small, 3, Choice(alternative))
        assert hr.sql(JOIN, tpch_small, ranks=3).equals(expected), alternative
        plans.add(hr.explain(JOIN, tpch_small, ranks=3).split("\n", 1)[1])
    assert len(plans) > 1  # else nothing would be searched


def test_a_query_is_tuned_here(home: Path, tpch_small: Path) -> None:
    lines: list[str] = []
    expected = hr.sql(JOIN, tpch_small, ranks=2)
    subject = SqlSubject(JOIN, resolve(tpch_small))
    budget = Budget(seconds=20, alternatives=6, measured=3, rounds=2)
    outcome = search(subject, Target.of(2, None, None), threads=2, budget=budget, progress=lines.append)
    assert outcome.default.least is not None and outcome.best.least is not None
    assert outcome.best.least <= outcome.default.least
    assert all(one.predicted is not None for one in outcome.candidates)
    assert any("layouts compiled" in line for line in lines) and any(
        line.startswith("round 1") for line in lines
    )
    (found,) = database.records(outcome.record.program, outcome.record.topology)
    assert found == outcome.record
    # Printed, it is a table: no plans, no kernels.
    assert repr(outcome) == str(outcome)
    assert "<- chosen" in str(outcome) and outcome.path in str(outcome) and len(str(outcome)) < 4000
    assert "ELF" not in repr(outcome.candidates[0])
    assert set(found.sizes) == {"orders", "lineitem"}
    assert "tuned by a record" in hr.explain(JOIN, tpch_small, ranks=2)
    assert hr.sql(JOIN, tpch_small, ranks=2).equals(expected)


def test_a_record_that_cannot_be_written(
    home: Path, tpch_small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(record: object) -> Path:
        raise OSError("no space left")

    monkeypatch.setattr(database, "put", full)
    subject = SqlSubject(JOIN, resolve(tpch_small))
    budget = Budget(seconds=0.01, alternatives=1, measured=1, rounds=1)
    with pytest.raises(hr.HeadraceError, match="cannot write the tuning record: no space left"):
        search(subject, Target.of(1, None, None), threads=1, budget=budget, progress=lambda line: None)


def test_a_search_ends_in_time(home: Path, tpch_small: Path) -> None:
    subject = SqlSubject(JOIN, resolve(tpch_small))
    budget = Budget(seconds=0.01, alternatives=48, measured=6, rounds=50)
    outcome = search(subject, Target.of(2, None, None), threads=2, budget=budget, progress=lambda line: None)
    assert outcome.stopped == "out of time"
    assert outcome.default.least is not None


@pytest.mark.parametrize(("noisy", "wins"), [(False, True), (True, False)])
def test_a_gain_within_the_noise_is_none(
    home: Path, tpch_small: Path, monkeypatch: pytest.MonkeyPatch, noisy: bool, wins: bool
) -> None:
    """Every other choice is 10 % quicker; equal runs of the default differ by nothing, or by 17 %."""
    turns = itertools.cycle((1.0, 1.2) if noisy else (1.0,))

    def run(self: SqlSubject, handle: object, threads: int, target: Target) -> float:
        return 0.9 if target.choice and target.choice != Choice() else next(turns)

    monkeypatch.setattr(SqlSubject, "run", run)
    subject = SqlSubject(JOIN, resolve(tpch_small))
    budget = Budget(seconds=20, alternatives=3, measured=3, rounds=3)
    outcome = search(subject, Target.of(2, None, None), threads=2, budget=budget, progress=lambda line: None)
    assert outcome.noise == pytest.approx(1 - 1 / 1.2 if noisy else 0)
    assert (outcome.best is not outcome.default) == wins
    assert ("equal runs differ by 16.7 %" in str(outcome)) == noisy


def test_what_is_varied_are_settings(home: Path, tpch_small: Path) -> None:
    from headrace import _runtime

    known = {setting["name"] for setting in _runtime.settings()}
    subject = SqlSubject(JOIN, resolve(tpch_small))
    budget = Budget(seconds=20, alternatives=1, measured=1, rounds=1)
    outcome = search(subject, Target.of(2, None, None), threads=2, budget=budget, progress=lambda line: None)
    varied = {name for one in outcome.candidates for name, _ in one.choice.settings}
    assert varied and varied <= known


@pytest.mark.parametrize("doing", ["layouts: 4", "round 1", "chunks"])
def test_an_interrupt_keeps_what_was_found(home: Path, tpch_small: Path, doing: str) -> None:
    def interrupt(line: str) -> None:
        if line.startswith(doing):
            raise KeyboardInterrupt

    subject = SqlSubject(JOIN, resolve(tpch_small))
    outcome = search(
        subject, Target.of(2, None, None), budget=Budget(seconds=20, measured=2), progress=interrupt
    )
    assert outcome.stopped == "interrupted" and len(outcome.candidates) > 1
    assert (outcome.best.least is None) == (doing == "layouts: 4")
    assert database.records(outcome.record.program, outcome.record.topology) == [outcome.record]


def test_an_interrupt_ends_a_command(
    home: Path, tpch_small: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as before_there_is_anything_to_keep:
        before_there_is_anything_to_keep.setattr(SqlSubject, "compile", interrupt)
        assert main(["tune", JOIN, "--tables", str(tpch_small)]) == 130
    assert capsys.readouterr().err == "headrace: interrupted\n"
    monkeypatch.setattr(_ToStderr, "__call__", interrupt)
    assert main(["tune", JOIN, "--tables", str(tpch_small), "--ranks", "1,2"]) == 130
    assert "1 plan on 1 rank; interrupted\n" in (out := capsys.readouterr().out) and "2 ranks" not in out


def test_only_this_machine_is_measured(
    home: Path, tpch_small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("p5-2node", "ethernet-fast"):
        words = ["--tables", str(tpch_small), "--topology", name, "--measure"]
        assert main(["tune", JOIN, *words]) == 2
        message = capsys.readouterr().err
        assert "says nothing of ranks that are not CPUs of one machine; give the topology" in message
        assert message.endswith(f"got {name}\n")
    assert not (home / "tuning").exists()
    here = home / "here.json"
    write_machine(here, os.cpu_count() or 1)
    outcome = hr.tune(JOIN, tpch_small, ranks=1, topology=here, seconds=2, measure=True)
    assert outcome.record.measured_seconds is not None
    assert "tuned" not in hr.explain(JOIN, tpch_small)  # records are of their topology
    write_machine(here, 4 * (os.cpu_count() or 1))
    with pytest.raises(hr.HeadraceError, match=r"cores of this machine says nothing of one of \d+; give"):
        hr.tune(JOIN, tpch_small, topology=here, measure=True)


def test_options_mean_the_same_everywhere(
    home: Path, tpch_small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hr.explain(JOIN, tpch_small, topology="machine") == hr.explain(JOIN, tpch_small)
    broken = home / "broken.json"
    broken.write_text("{")
    for command in ("explain", "cost", "tune"):
        words = [command, JOIN, "--tables", str(tpch_small), "--topology"]
        assert main([*words, "nope"]) == 2
        message = capsys.readouterr().err
        assert message.count("user error: ") == 1 and "nope" in message
        assert main([*words, str(broken)]) == 2
        message = capsys.readouterr().err
        assert message.count("user error: ") == 1 and message.endswith(f"(at {broken})\n")
    for ask in (hr.cost, hr.sql):
        with pytest.raises(
            hr.HeadraceError, match="memory must be at least 1 byte, of all ranks together, got 0"
        ):
            ask(JOIN, tpch_small, memory=0)
    words = ["cost", JOIN, "--tables", str(tpch_small)]
    assert main(words) == 0
    assert main([*words, "--memory", "1000"]) == 2
    assert "give ranks more memory" in capsys.readouterr().err
    with pytest.raises(hr.HeadraceError, match="ranks must be an int, got 'x'"):
        hr.cost(JOIN, tpch_small, ranks="x")  # type: ignore[arg-type]


def test_other_topologies_are_simulated(home: Path, tpch_small: Path) -> None:
    subject = SqlSubject(JOIN, resolve(tpch_small))
    budget = Budget(seconds=20, alternatives=8)
    for name in ("ethernet-slow", "ethernet-fast"):
        target = Target.of(4, name, None)
        outcome = search(subject, target, budget=budget, progress=lambda line: None)
        assert outcome.record.measured_seconds is None
        assert outcome.best.predicted is not None and outcome.default.predicted is not None
        assert outcome.best.predicted <= outcome.default.predicted
        assert "(simulated " in hr.explain(JOIN, tpch_small, ranks=4, topology=name)
        assert "the compiler's own" in str(outcome)
        assert outcome.record.default_seconds == outcome.default.predicted


def test_a_tensor_program_is_tuned(home: Path) -> None:
    random = np.random.default_rng(1)
    x, w = random.standard_normal((64, 32)).astype("f4"), random.standard_normal((32, 16)).astype("f4")
    program = hr.mlir(NETWORK, ranks=2)
    outcome = hr.tune(program, arrays=(x, w), ranks=2, seconds=4)
    assert outcome.default.least is not None
    again = hr.mlir(NETWORK, ranks=2)
    assert "tuned by a record" in again.explain()
    np.testing.assert_allclose(again(x, w), x @ w, rtol=1e-4, atol=1e-4)
    assert hr.tune(program, ranks=2, seconds=1).default.least is not None  # arrays made up


_LINES = """select l_quantity as q, l_extendedprice * (1 - l_discount) as p, l_orderkey as k
            from lineitem where l_shipdate < date '1995-01-01'"""


def test_a_program_with_queries_is_tuned(
    home: Path, tpch_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    w = np.random.default_rng(1).standard_normal((2, 5))
    rows = hr.query(_LINES, tpch_small).to_tensor(["q", "p"])

    def weigh(x, w):  # noqa: ANN001, ANN202
        return xp.sum(xp.relu(x @ w), axis=0)

    program = hr.jit(weigh, ranks=2).compile(rows, w)
    expected = program(w)
    outcome = hr.tune(program, arrays=(w,), ranks=2, seconds=6)
    assert outcome.default.least is not None and outcome.default.predicted is not None
    assert set(outcome.record.sizes) == {"lineitem"}
    again = hr.jit(weigh, ranks=2).compile(rows, w)
    assert "tuned by a record" in again.explain()
    np.testing.assert_allclose(again(w), expected, rtol=1e-9)
    # Other columns are another program; arrays may be made up; wrong ones are refused.
    other = hr.query(_LINES, tpch_small).to_tensor(["p", "q"])
    assert "tuned" not in hr.jit(weigh, ranks=2).compile(other, w).explain()
    assert hr.tune(program, ranks=2, seconds=1).default.least is not None
    with pytest.raises(hr.HeadraceError, match="the program takes 1 arrays, got 2"):
        hr.tune(program, arrays=(w, w), ranks=2, seconds=1)
    simulated = hr.tune(program, ranks=4, topology="ethernet-slow", seconds=5)
    assert simulated.record.measured_seconds is None and simulated.best.predicted is not None
    # The command line: the function's text, and which arguments are columns.
    file = tmp_path / "weigh.mlir"
    file.write_text(program.source)
    common = [
        "tune",
        str(file),
        "--ranks",
        "2",
        "--seconds",
        "2",
        "--alternatives",
        "2",
        "--tables",
        str(tpch_small),
    ]
    assert main([*common, "--query", f"0=q,p: {_LINES}"]) == 0
    assert "record: " + outcome.path in capsys.readouterr().out  # the same program
    assert main([*common, "--query", f"q,p: {_LINES}"]) == 2
    assert "expected arguments and a query such as" in capsys.readouterr().err
    assert main(["tune", JOIN, "--tables", str(tpch_small), "--query", f"0=q: {_LINES}"]) == 2


def test_a_record_of_a_program_is_for_tables_of_its_size(
    home: Path, tpch_small: Path, tmp_path: Path
) -> None:
    def summed(x):  # noqa: ANN001, ANN202
        return xp.sum(x, axis=0)

    def compiled(rows: int):  # noqa: ANN202
        table = pa.table({"a": np.arange(rows, dtype="f8")})
        return hr.jit(summed).compile(hr.query("select a from t", {"t": table}).to_tensor("a"))

    hr.tune(compiled(1000), seconds=1)
    assert "tuned by a record" in compiled(2000).explain()
    assert "tuned by a record" not in compiled(100_000).explain()


def test_cost_is_told_in_parts(home: Path, tpch_small: Path) -> None:
    costs = {
        name: hr.cost(JOIN, tpch_small, ranks=4, topology=name) for name in ("ethernet-slow", "ethernet-fast")
    }
    for cost in costs.values():
        assert sum(term.seconds for term in cost.terms) == pytest.approx(cost.seconds)
        assert cost.seconds_low <= cost.seconds <= cost.seconds_high
        assert len(str(cost).splitlines()) >= len(cost.terms) + 2
        assert cost.tiers
    assert costs["ethernet-slow"].seconds > costs["ethernet-fast"].seconds
    # On the slow network every rank reads all of these small tables; on the fast one rows move.
    assert any(term.kind == "exchange" for term in costs["ethernet-fast"].terms)
    here = hr.cost(JOIN, tpch_small)
    assert 0 < here.seconds < 60
    assert hr.mlir(NETWORK, ranks=2).cost().seconds > 0


def test_unions_cost_what_their_parts_cost(home: Path, tpch_small: Path) -> None:
    once = "select l_orderkey as k, l_quantity as q from lineitem"
    two, three, four = (
        hr.cost(
            " union all ".join([once] * parts) + " order by k", tpch_small, ranks=4, topology="ethernet-slow"
        ).seconds
        for parts in (2, 3, 4)
    )
    assert three > 1.3 * two
    assert (four - two) / (three - two) == pytest.approx(2, abs=0.2)
    literal = "select * from (select 1 as a union all select 2) order by a"
    assert hr.cost(literal, tpch_small, ranks=2, topology="ethernet-slow").seconds > 0


def test_the_command_line(
    home: Path, tpch_small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["--tables", str(tpch_small)]
    assert main(["cost", JOIN, *common, "--ranks", "2"]) == 0
    assert "total, from" in capsys.readouterr().out
    fast = ["--seconds", "3", "--alternatives", "2", "--measured", "2"]
    assert main(["tune", JOIN, *common, "--ranks", "1,2", *fast]) == 0
    out = capsys.readouterr()
    assert out.out.count("record: ") == 2 and "quickest with" in out.out
    assert "layouts compiled" in out.err
    file = tmp_path / "network.mlir"
    file.write_text(NETWORK)
    assert main(["tune", str(file), "--ranks", "2", *fast]) == 0
    assert main(["tune", JOIN]) == 2
    assert main(["tune", JOIN, *common, "--ranks", "two"]) == 2
    assert main(["tune", "@" + str(tmp_path / "missing.sql"), *common]) == 1
    assert main(["tune", JOIN, *common, "--seconds", "0"]) == 2


def test_plans_and_runs_of_a_search_have_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_HOME", str(tmp_path))
    query, tables = "select k, count(*) as n from t group by k", {"t": pa.table({"k": range(1_000_000)})}
    with pytest.raises(hr.errors.MemoryLimitError):
        hr.tune(query, tables, memory="1MiB", seconds=1)
    assert hr.tune(query, tables, memory="1gb", seconds=1).best.runs
    program = hr.jit(lambda x: x + 1).compile([1.0])
    with pytest.raises(hr.errors.UserError, match="memory must be at least 1 byte"):
        hr.tune(program, memory=0, seconds=1)
