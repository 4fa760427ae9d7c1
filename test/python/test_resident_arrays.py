"""`persist` of jitted functions: results that stay on the ranks are arguments of what follows."""

from __future__ import annotations

import gc
import json
import subprocess
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from headrace import _runtime
from headrace import array as xp
from headrace._src.array.jit import TensorType
from headrace._src.array.resident import Layout, check_residents, here
from headrace._src.engines import driver
from rank_processes import Processes
from test_cluster import ended

RNG = np.random.default_rng(7)
X = RNG.standard_normal((12, 8)).astype(np.float32)
Y = RNG.standard_normal((12, 5)).astype(np.float32)
W1 = RNG.standard_normal((8, 10)).astype(np.float32)
W2 = RNG.standard_normal((10, 5)).astype(np.float32)


def step(x, y, w1, w2):
    """One step of gradient descent of a network with one hidden layer."""
    hidden = xp.tanh(x @ w1)
    error = hidden @ w2 - y
    g2 = xp.permute_dims(hidden, (1, 0)) @ error
    back = (error @ xp.permute_dims(w2, (1, 0))) * (1.0 - hidden * hidden)
    g1 = xp.permute_dims(x, (1, 0)) @ back
    return w1 - 0.01 * g1, w2 - 0.01 * g2


def expected(steps: int) -> tuple[np.ndarray, np.ndarray]:
    w1, w2 = W1.astype(np.float64), W2.astype(np.float64)
    for _ in range(steps):
        hidden = np.tanh(X @ w1)
        error = hidden @ w2 - Y
        g2 = hidden.T @ error
        g1 = X.T @ ((error @ w2.T) * (1 - hidden * hidden))
        w1, w2 = w1 - 0.01 * g1, w2 - 0.01 * g2
    return w1, w2


def placed(*axes: str | None) -> Callable:
    return lambda w: hr.place(w, axes)


def tasks(function: Any, *arguments: object, persist: bool = True) -> list[str]:
    """What the plan does, but for loads and results."""
    plan = json.loads(function.compile(*arguments, persist=persist).plan_json)
    kinds = [task.get("operation", task["kind"]) for task in plan["tasks"]]
    return [kind for kind in kinds if kind not in ("input", "tensor_result")]


OPTIONS: list[dict[str, Any]] = [
    {"ranks": 1},
    {"ranks": 2},
    {"ranks": 3},
    {"mesh": "a:2,b:2"},
    {"mesh": "a:1,b:3"},
    {"ranks": 3, "layout_seed": 5},
    {"mesh": "a:2,b:2", "layout_seed": 8},
    {"ranks": 4, "topology": "ethernet-slow"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_loop_whose_weights_stay(options: dict[str, Any]) -> None:
    train = hr.jit(**options)(step)
    w1, w2 = W1, W2
    for _ in range(4):
        w1, w2 = train.persist(X, Y, w1, w2)
        assert isinstance(w1, hr.ResidentArray)
    for found, wanted in zip((w1, w2), expected(4), strict=True):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-4, atol=1e-5)
    # The last step with a result for the caller.
    last, _ = train(X, Y, w1, w2)
    np.testing.assert_allclose(last, expected(5)[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["f32", "f64", "i64"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_layouts_that_are_asked_for(ranks: int, kind: str) -> None:
    whole = np.arange(7 * 5).reshape(7, 5).astype(kind.replace("f", "float").replace("i", "int"))
    for axes in (("ranks", None), (None, "ranks"), (None, None)):
        kept = hr.jit(ranks=ranks)(placed(*axes)).persist(whole)
        divided = [dim for dim, axis in enumerate(axes) if axis and ranks > 1]
        assert kept.layout == (f"dim {divided[0]} over ranks" if divided else "replicated")
        assert [axis[:1] for axis in kept.axes] == [
            ("ranks",) if dim in divided else () for dim in range(whole.ndim)
        ]
        assert (kept.shape, kept.dtype, kept.ndim) == (whole.shape, whole.dtype, 2)
        parts = here(kept).parts
        assert len(parts) == ranks
        for dim in range(2):
            extents = [part[dim] for part in parts]
            assert sum(extents) == whole.shape[dim] if dim in divided else set(extents) == {whole.shape[dim]}
        assert np.array_equal(kept.numpy(), whole)
        # Each other layout is made of it.
        for others in (("ranks", None), (None, "ranks"), (None, None)):
            moved = hr.jit(ranks=ranks)(placed(*others)).persist(kept)
            assert np.array_equal(moved.numpy(), whole), (axes, others)


def test_two_axes() -> None:
    whole = np.arange(6 * 10, dtype=np.float64).reshape(6, 10)
    mesh = {"a": 2, "b": 3}
    kept = hr.jit(mesh=mesh)(placed("b", "a")).persist(whole)
    assert kept.layout == "dim 0 over b, dim 1 over a"
    assert kept.mesh == mesh
    assert here(kept).parts == [[2, 5]] * 6
    assert np.array_equal(kept, whole)
    both = hr.jit(mesh=mesh)(lambda x: hr.place(x, [("a", "b"), None])).persist(kept)
    assert both.axes == (("a", "b"), ())
    assert here(both).parts == [[1, 10]] * 6
    assert np.array_equal(both, whole)


def test_nothing_moves_where_the_layouts_fit() -> None:
    by_columns = hr.jit(ranks=4)(placed(None, "ranks")).persist(np.ones((64, 64)))
    twice = hr.jit(ranks=4)(lambda x: x * 2.0)
    assert tasks(twice, by_columns) == ["kernel"]
    kept = twice.persist(by_columns)
    assert kept.layout == "dim 1 over ranks"
    assert set(tasks(twice, by_columns, persist=False)) == {"kernel", "all_gather"}
    by_rows = hr.jit(ranks=4)(placed("ranks", None))
    assert tasks(by_rows, by_columns) == ["all_to_all"]
    text = twice.explain(by_columns, persist=True)
    assert "stays on the ranks, dim 1 over ranks" in text, text
    assert "stays" not in twice.explain(by_columns)


def test_arguments_of_every_kind_together() -> None:
    table = pa.table({"x": [float(i) for i in range(20)], "y": [float(i % 3) for i in range(20)]})
    points = hr.query("select x, y from t", {"t": table}).to_tensor(["x", "y"])
    weights = np.array([[2.0, -1.0], [0.5, 3.0]])

    @hr.jit(ranks=3)
    def project(points, kept, plain):
        return xp.sum(points @ kept, axis=0) + plain

    kept = hr.jit(ranks=3)(lambda w: w).persist(weights)
    plain = np.array([10.0, 20.0])
    wanted = (np.stack([table["x"], table["y"]], axis=1) @ weights).sum(axis=0) + plain
    np.testing.assert_allclose(project(points, kept, plain), wanted)
    stays = project.persist(points, kept, plain)
    np.testing.assert_allclose(project(points, kept, stays), wanted - plain + wanted)


def test_rows_of_a_query_stay_whole() -> None:
    """How many each rank has only the run knows: later programs could not be planned."""
    table = pa.table({"x": [float(i) for i in range(50)]})
    points = hr.query("select x from t where x > 9", {"t": table}).to_tensor("x")
    kept = hr.jit(ranks=3)(lambda x: x * 2.0).persist(points)
    assert (kept.shape, kept.layout) == ((40,), "replicated")
    wanted = np.arange(10.0, 50.0) * 2
    assert np.array_equal(np.sort(kept.numpy()), wanted)
    assert hr.jit(ranks=3)(lambda x: xp.sum(x))(kept) == wanted.sum()


def test_scalars_and_the_same_result_twice() -> None:
    total, again, same = hr.jit(ranks=2)(lambda x: (xp.sum(x), x, x)).persist(np.arange(6.0))
    assert (total.shape, total.layout, float(total.numpy())) == ((), "replicated", 15.0)
    assert hr.jit(ranks=2)(lambda s, x: x + s)(total, again).tolist() == (np.arange(6.0) + 15).tolist()
    again.close()
    assert np.array_equal(same, np.arange(6.0))
    with pytest.raises(TypeError, match=r"len\(\) of an array without dimensions"):
        len(total)
    assert len(same) == 6


@pytest.mark.parametrize("ranks", [1, 2])
def test_what_the_caller_has_is_its_own(ranks: int) -> None:
    kept = hr.jit(ranks=ranks)(placed(None)).persist(np.zeros(4))
    given = hr.jit(ranks=ranks)(lambda x: x)(kept)
    given += 1.0
    assert kept.numpy().tolist() == [0.0] * 4
    gathered = np.asarray(kept)
    gathered += 1.0
    assert kept.numpy().tolist() == [0.0] * 4
    assert np.asarray(kept, dtype=np.int64).dtype == np.int64
    with pytest.raises(ValueError, match="copied to become one of NumPy"):
        np.asarray(kept, copy=False)


def test_memory_is_counted_and_given_back() -> None:
    """Twice as large as the limit has room for, if nothing came back."""
    options = {"ranks": 2, "memory": 64 << 20}
    make = hr.jit(**options)(lambda x: hr.place(x + 1.0, ("ranks",)))
    big = np.zeros((1 << 20,))  # 8 MiB
    kept = [make.persist(big) for _ in range(3)]
    with pytest.raises(hr.errors.MemoryLimitError):
        kept.extend(make.persist(big) for _ in range(6))
    kept[0].close()
    assert kept[0].closed
    del kept[1:]
    gc.collect()
    for _ in range(12):
        make.persist(big).close()
    with make.persist(big) as last:
        assert last.numpy()[5] == 1.0
    assert last.closed
    with pytest.raises(hr.errors.UserError, match="the array is closed"):
        last.numpy()


def test_a_run_reads_what_is_closed_meanwhile() -> None:
    kept = hr.jit(ranks=2)(lambda x: x).persist(np.ones(8))
    other = hr.jit(ranks=2)(lambda x: x).persist(kept)  # the same memory
    kept.close()
    assert np.array_equal(other, np.ones(8))


def test_repr() -> None:
    kept = hr.jit(ranks=2)(placed("ranks", None)).persist(np.zeros((4, 3), np.float32))
    assert repr(kept) == "ResidentArray of (4, 3) float32 on 2 ranks: dim 0 over ranks"
    assert (kept.nbytes, kept.size) == (48, 12)
    kept.close()
    assert repr(kept) == "ResidentArray of (4, 3) float32 on 2 ranks: closed"


def test_other_ranks_and_meshes() -> None:
    kept = hr.jit(ranks=4)(placed("ranks")).persist(np.zeros(8))
    error = (
        r"argument 'w' lies on the mesh ranks:4, and f runs on {}: "
        r'jit it with mesh="ranks:4", or hand over numpy.asarray\(w\)'
    )

    def f(w):
        return w + 1.0

    for options, own in (({"ranks": 2}, "ranks:2"), ({"mesh": "a:2,b:2"}, "a:2,b:2")):
        with pytest.raises(hr.errors.UserError, match=error.format(own)):
            hr.jit(**options)(f)(kept)
        assert hr.jit(**options)(f)(np.asarray(kept)).tolist() == [1.0] * 8
    # The mesh of the arguments is that of a function that names none.
    two = hr.jit(mesh="a:2,b:2")(placed("b")).persist(np.zeros(8))
    assert hr.jit(ranks=4)(f).persist(two).mesh == {"a": 2, "b": 2}
    assert hr.jit(mesh={"a": 2, "b": 2})(f).persist(two).layout == "dim 0 over b"
    with pytest.raises(hr.errors.UserError, match=r"argument 'v' lies on the mesh ranks:4, and <lambda>"):
        hr.jit(ranks=4)(lambda w, v: w + v)(two, kept)


def test_programs_for_other_arrays() -> None:
    kept = hr.jit(ranks=2)(placed("ranks", None)).persist(np.zeros((4, 4)))
    other = hr.jit(ranks=2)(placed(None, "ranks")).persist(np.zeros((4, 4)))
    program = hr.jit(ranks=2)(lambda w: w + 1.0).compile(kept)
    assert program(kept).sum() == 16.0
    for given, found in ((other, r"\(dim 1 over ranks of ranks:2\)"), (np.zeros((4, 4)), "one of NumPy")):
        with pytest.raises(hr.errors.UserError, match=rf"the program is for another array as 'w': .*{found}"):
            program(given)
    plain = hr.jit(ranks=2)(lambda w: w + 1.0).compile(np.zeros((4, 4)))
    with pytest.raises(hr.errors.UserError, match="it takes one of NumPy"):
        plain(kept)
    with pytest.raises(_runtime.Error, match="the program is for an array that lies on the ranks: w"):
        program._loaded.handle.run({"w": np.zeros((4, 4))}, ranks=2)
    stays = hr.jit(ranks=2)(lambda w: (w, w + 1.0)).compile(kept, persist=True)
    assert [each.numpy().sum() for each in stays(kept)] == [0.0, 16.0]
    # Without a value, by its type.
    layout = Layout((("ranks", 2),), (("ranks",), ()))
    typed = hr.jit(ranks=2)(lambda w: w + 1.0).compile(TensorType((4, 4), "f64", layout))
    assert typed(kept).sum() == 16.0


def test_a_plan_in_a_folder_has_no_ranks_with_parts(tmp_path: Path) -> None:
    double = hr.jit(lambda w: w * 2.0)
    kept = double.persist(np.ones(3))
    double.compile(kept).write(tmp_path / "reads.plan")
    double.compile(np.ones(3), persist=True).write(tmp_path / "keeps.plan")
    for name, error in (
        ("reads", "an argument of this plan lies on the ranks, which no run from a folder has: w"),
        ("keeps", "this plan's result stays on the ranks"),
    ):
        done = subprocess.run(
            ["headrace-run", tmp_path / f"{name}.plan"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode != 0
        assert error in done.stderr


def test_the_cost_of_a_step_without_loads() -> None:
    # Columns of an argument are copied; lines are read where they are.
    function = hr.jit(mesh="a:2")(lambda w: hr.place(w, [None, "a"]) + 1.0)
    whole = np.zeros((512, 512))
    kept = function.persist(whole)
    here, there = (function.compile(each, persist=True).cost().seconds for each in (kept, whole))
    assert here < there


def test_not_where_the_parts_are(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = hr.jit(lambda x: x).persist(np.ones(2))
    monkeypatch.setattr("headrace._src.query.dataset.current", lambda: object())
    with pytest.raises(
        hr.errors.UserError,
        match="the parts of an array are on the ranks of this process, and the program is not run there",
    ):
        check_residents([kept])


# Ranks that a launcher has started


@pytest.mark.waits
def test_processes_of_a_launcher(tpch_small: Path, tmp_path: Path) -> None:
    ended(
        """
        import numpy as np
        from headrace._src.array.resident import here
        whole = np.arange(60.0).reshape(12, 5)
        with hr.cluster() as group:
            kept = hr.jit(lambda x: hr.place(x, ("ranks", None))).persist(whole)
            assert kept.layout == "dim 0 over ranks" and kept.mesh == {"ranks": 3}, kept
            assert here(kept).parts == [[4, 5]], here(kept).parts
            double = hr.jit(lambda x: x * 2.0)
            for _ in range(3):
                kept = double.persist(kept)
            found = double(kept)
            gathered = kept.numpy()
            one, two = hr.jit(lambda x, y: (x + y, x - y)).persist(kept, whole)
            both = one.numpy(), two.numpy()
            if group.rank:
                try:
                    np.asarray(kept)
                    raise SystemExit("rank 0 alone has the elements")
                except hr.errors.UserError as error:
                    assert "rank 0 has the elements: call numpy() on all ranks" in str(error)
            else:
                np.asarray(kept)
            # Ranks that mean different arrays are told so.
            try:
                double(one if group.rank == 1 else two)
                raise SystemExit("two arrays were taken for one")
            except hr.errors.MismatchError as error:
                assert "this rank gives another one than rank 0 as: x" in str(error), error
            after = double.persist(one)
            one.close()
            closed = after.numpy()
        try:
            kept.numpy()
        except hr.errors.UserError as error:
            assert "on the ranks of a cluster, and the program is not run there" in str(error)
        if os.environ["HEADRACE_RANK"] == "0":
            assert np.array_equal(found, whole * 16) and np.array_equal(gathered, whole * 8)
            assert np.array_equal(both[0], whole * 9) and np.array_equal(both[1], whole * 7)
            assert np.array_equal(closed, whole * 18)
        else:
            assert found is None and gathered is None
        """,
        tmp_path,
        tpch_small,
    )


@pytest.mark.waits
def test_a_rank_of_a_launcher_that_is_lost(tpch_small: Path, tmp_path: Path) -> None:
    from test_cluster import started

    body = """
        import warnings
        import numpy as np
        warnings.simplefilter("ignore")
        with hr.cluster(settings={"peerTimeout": 3}) as group:
            double = hr.jit(lambda x: x * 2.0)
            kept = double.persist(np.ones(9))
            if group.rank == 2:
                os.kill(os.getpid(), 9)
            try:
                double(kept)
                raise SystemExit("parts of a lost rank were read")
            except hr.errors.InputOutputError as error:
                assert "ranks that had parts of an array have changed: persist it again" in str(error)
            kept = double.persist(np.ones(9))
            assert kept.mesh == {"ranks": 2}
            found = double(kept)
            if group.rank == 0:
                print(int(found.sum()))
        """
    with started(body, tmp_path, tpch_small) as ranks:
        found = ranks.ended()
    assert [each.status for each in found] == [0, 0, -9], [each.errors[-2000:] for each in found]
    assert found[0].output.split()[-1] == "36"


# Ranks of an engine, which a driver leads

SETTINGS = {"threads": "1", "memory": str(200 << 20)}


@pytest.mark.waits
def test_ranks_of_an_engine(engine: Processes) -> None:
    whole = np.arange(60.0).reshape(12, 5)
    with driver.Driver(driver.RemoteRanks(engine, SETTINGS), "shrink") as group:
        double = hr.jit(lambda x: x * 2.0)
        kept = hr.jit(placed("ranks", None)).persist(whole)
        assert kept.mesh == {"ranks": 3}
        for _ in range(3):
            kept = double.persist(kept)
        assert np.array_equal(kept, whole * 8)
        one, two = hr.jit(lambda x, y: (x + y, x - y)).persist(kept, whole)
        assert np.array_equal(one.numpy(), whole * 9)
        assert np.array_equal(hr.jit(lambda x, y: x - y)(one, two), whole * 2)
        # What is closed goes from the ranks: three times more than they have memory for.
        big = np.ones(4_000_000)  # 32 MB
        stay = hr.jit(placed("ranks"))
        for _ in range(50):
            stay.persist(big).close()
        assert stay.persist(big).layout == "dim 0 over ranks"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            engine.kill(engine.processes[1].pid)
            moved = "ranks that had parts of an array have changed: persist it again"
            with pytest.raises(hr.errors.InputOutputError, match=moved):
                for _ in range(100):
                    double(kept)
                    time.sleep(0.05)
        assert group.size == 2
        assert double.persist(whole).numpy()[2, 0] == 20.0
