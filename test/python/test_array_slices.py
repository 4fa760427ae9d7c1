"""Slices and concatenations of traced arrays against NumPy, on several ranks and axes.

Sources: passes/shard/localize.cpp, runtime/exec/task/box_copy.cpp, model/plan/check_boxes.cpp
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from array_programs import integers, normal
from headrace import array as xp

X = normal(7, 10, 4)
# The same index of NumPy's arrays and of traced ones.
INDICES: dict[str, Callable] = {
    "first": lambda x: x[0],
    "last": lambda x: x[-1],
    "element": lambda x: x[2, -3, 1],
    "of NumPy's type": lambda x: x[np.int64(3), np.array(2)],
    "range": lambda x: x[2:5],
    "negative bounds": lambda x: x[-4:-1, :-7],
    "bounds are clamped": lambda x: x[-99:99, 8:1000],
    "steps": lambda x: x[::2, 1::3, ::3],
    "negative steps": lambda x: x[::-1, 8:2:-2],
    "one element left": lambda x: x[6:, 9:4:-9],
    "last dimension": lambda x: x[..., 1],
    "middle of it": lambda x: x[..., 1:3],
    "leading and last": lambda x: x[1:3, ..., -1],
    "new dimensions": lambda x: x[None, :, 3, None, 1:2, None],
    "all": lambda x: x[...],
    "nothing named": lambda x: x[()],
    "integer beside new": lambda x: x[:, None, 5],
    "columns": lambda x: x[:, 3:4],
    "nothing": lambda x: x[3:3],
    "nothing twice": lambda x: x[5:2, :, 7:7:-1],
    "of nothing": lambda x: x[3:3][:, 2:5, 1],
    "slice of a slice": lambda x: x[1:6:2][1:][:, ::-1][:, 2:9:3],
    "index of a slice": lambda x: x[::-2, 2][1, ::-1],
    "turned twice": lambda x: x[::-1][::-1],
}
CONCATENATIONS: dict[str, Callable] = {
    "rows": lambda n, x: n.concat([x, x[2:5], x[:1]]),
    "columns": lambda n, x: n.concat((x[:, :3], x, x[:, 9:]), axis=1),
    "last axis": lambda n, x: n.concat([x, -x], axis=-1),
    "flat": lambda n, x: n.concat([x, x[0, 0], x[1:3]], axis=None),
    "one": lambda n, x: n.concat([x]),
    "of nothing": lambda n, x: n.concat([x[:0], x, x[4:4]]),
    "of nothing but nothing": lambda n, x: n.concat([x[:0], x[4:4]]),
    "stack": lambda n, x: n.stack([x, x * 2, x[::-1]]),
    "stack inside": lambda n, x: n.stack([x, x * 2], axis=1),
    "stack last": lambda n, x: n.stack([x[0], x[1], x[2]], axis=-1),
    "stack of numbers": lambda n, x: n.stack([x[0, 0, 0], x[1, 1, 1]]),
    "halves exchanged": lambda n, x: n.concat([x[:, 5:], x[:, :5]], axis=1),
    "rotation of pairs": lambda n, x: n.stack([-x[..., 1::2], x[..., ::2]], axis=-1),
    "unstack": lambda n, x: n.unstack(x, axis=1)[3] + n.unstack(x, axis=-2)[-1],
    "flip": lambda n, x: n.flip(x),
    "flip of axes": lambda n, x: n.flip(x, axis=(0, -1)),
    "roll": lambda n, x: n.roll(x, 3),
    "roll of an axis": lambda n, x: n.roll(x, -2, axis=1),
    "roll of axes": lambda n, x: n.roll(x, (1, -13, 8), axis=(0, 1, 2)),
    "roll of two axes alike": lambda n, x: n.roll(x, 5, axis=(0, 1)),
    "moveaxis": lambda n, x: n.moveaxis(x, 0, -1),
    "moveaxis of two": lambda n, x: n.moveaxis(x, (0, 2), (-1, 0)),
    "take": lambda n, x: n.take(x, [2, 4, 6, 0, 0, 0, -1, 3], axis=0),
    "take of columns": lambda n, x: n.take(x, np.array([9, 8, 7, 1, 5, 1, 2]), axis=1),
    "take backwards to the first": lambda n, x: n.take(x, [3, 2, 1, 0], axis=-1),
    "take of nothing": lambda n, x: n.take(x, np.array([], int), axis=0),
    "repeat": lambda n, x: n.repeat(x, 3),
    "repeat of an axis": lambda n, x: n.repeat(x, 2, axis=1),
    "repeat of none": lambda n, x: n.repeat(x, 0, axis=0),
    "repeat by numbers": lambda n, x: n.repeat(x, [1, 0, 3, 1, 1, 2, 0], axis=0),
    "tile": lambda n, x: n.tile(x, (2, 1, 3)),
    "tile of the last": lambda n, x: n.tile(x, (2,)),
    "tile in a new dimension": lambda n, x: n.tile(x, (2, 1, 1, 1)),
    "tile of none": lambda n, x: n.tile(x, (1, 0, 2)),
}


@pytest.fixture(autouse=True)
def _numpy_has_unstack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Older ones have not."""
    monkeypatch.setattr(np, "unstack", lambda x, axis=0: tuple(np.moveaxis(x, axis, 0)), raising=False)


def targets() -> list[dict]:
    return [
        {"ranks": 1},
        {"ranks": 2},
        {"ranks": 3},
        *({"ranks": ranks, "layout_seed": seed} for ranks in (2, 3) for seed in range(3)),
        {"mesh": "a:2,b:2"},
        *({"mesh": "a:2,b:3", "layout_seed": seed} for seed in range(3)),
    ]


def check(function: Callable, expected: object, *arguments: np.ndarray, exact: bool = True) -> None:
    """On all targets, and traced with NumPy."""
    values = [hr.jit(function).trace(*arguments).evaluate(*arguments)]
    values += [hr.jit(threads=2, **target)(function)(*arguments) for target in targets()]
    for target, value in zip(["evaluate", *targets()], values, strict=True):
        for got, wanted in zip(*map(_several, (value, expected)), strict=True):
            assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype), target
            if exact:
                np.testing.assert_array_equal(got, wanted, err_msg=str(target))
            else:
                np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5, err_msg=str(target))


def _several(value: object) -> tuple:
    return tuple(map(np.asarray, value)) if isinstance(value, (tuple, list)) else (np.asarray(value),)


@pytest.mark.parametrize("name", INDICES)
def test_indices_mean_what_numpy_says(name: str) -> None:
    check(lambda x: INDICES[name](x), INDICES[name](X), X)


@pytest.mark.parametrize("name", CONCATENATIONS)
def test_concatenations_mean_what_numpy_says(name: str) -> None:
    check(lambda x: CONCATENATIONS[name](xp, x), CONCATENATIONS[name](np, X), X)


@pytest.mark.parametrize(
    "x", [normal(9, 5), normal(9, 5, dtype="float64"), integers(9, 5)], ids=["f32", "f64", "i64"]
)
def test_of_every_type(x: np.ndarray) -> None:
    def halves(n, x):
        return n.concat([x[4:, ::2], x[:4, 1:4]]), n.stack([x[:, 0], x[:, 3]])

    check(lambda x: halves(xp, x), halves(np, x), x)


def test_iteration() -> None:
    x, y = normal(3, 8), normal(2, 8)

    def rows(n, x, y):
        first, second = y
        total = sum(row * (index + 1) for index, row in enumerate(x))
        return total + first - second, n.stack(list(reversed(x)))

    assert len(list(hr.jit(rows.__get__(xp)).trace(x, y).results)) == 2
    check(lambda x, y: rows(xp, x, y), rows(np, x, y), x, y, exact=False)


def test_large_copies_are_cut_into_morsels() -> None:
    """Runs that are longer and shorter than a morsel."""
    x = np.arange(3 * 70_000 * 2, dtype="int64").reshape(3, 70_000, 2)

    def parts(n, x):
        flat = x.reshape(-1) if n is np else n.reshape(x, -1)
        long = n.concat([flat[3:], flat[:200_001]])
        return long, x[:, ::-1, 1], x[1:, 5:], n.concat([x[..., 1:], x], axis=2)

    check(lambda x: parts(xp, x), parts(np, x), x)


def heads(n, qkv, batch: int, length: int, width: int, count: int) -> list:
    """Queries, keys and values of each head, of one product."""
    shape = (batch, length, count, width // count)
    parts = [qkv[..., part * width : (part + 1) * width] for part in range(3)]
    if n is np:
        return [part.reshape(shape).transpose(0, 2, 1, 3) for part in parts]
    return [n.permute_dims(n.reshape(part, shape), (0, 2, 1, 3)) for part in parts]


def rotated(n, x, cosine, sine):
    """Positions, as angles of halves of each head."""
    half = x.shape[-1] // 2
    return x * cosine + n.concat([-x[..., half:], x[..., :half]], axis=-1) * sine


def block(n, x, wqkv, wo, wgate, wdown, cosine, sine):
    batch, length, width, count = 4, 6, 16, 4
    q, k, v = heads(n, x @ wqkv, batch, length, width, count)
    q, k = rotated(n, q, cosine, sine), rotated(n, k, cosine, sine)
    swap = (0, 1, 3, 2)
    scores = q @ (k.transpose(swap) if n is np else n.permute_dims(k, swap))
    weights = n.exp(scores - n.max(scores, axis=-1, keepdims=True))
    mixed = weights / n.sum(weights, axis=-1, keepdims=True) @ v
    back = mixed.transpose(0, 2, 1, 3) if n is np else n.permute_dims(mixed, (0, 2, 1, 3))
    x = x + n.reshape(back, (batch, length, width)) @ wo
    both = x @ wgate
    gate, up = both[..., : 2 * width], both[..., 2 * width :]
    return x + (gate * n.tanh(up)) @ wdown, (x @ wqkv)[:, -1]


def test_a_transformer_block_of_one_product_for_queries_keys_and_values() -> None:
    random = np.random.default_rng(11)
    shapes = [(4, 6, 16), (16, 48), (16, 16), (16, 64), (32, 16)]
    arguments = [random.standard_normal(shape) / np.sqrt(shape[-2]) for shape in shapes]
    angles = np.arange(6)[:, None] / 10.0 ** np.arange(2)[None]
    angles = np.concatenate([angles, angles], axis=1)
    arguments = [a.astype("float32") for a in (*arguments, np.cos(angles), np.sin(angles))]
    expected = block(np, *arguments)
    check(
        lambda x, wqkv, wo, wgate, wdown, c, s: block(xp, x, wqkv, wo, wgate, wdown, c, s),
        expected,
        *arguments,
        exact=False,
    )


PLACES = [("a", None, None), (None, "b", None), ("a", "b", None), (None, ("a", "b"), None), ("b", None, "a")]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_of_placed_arrays(place: tuple) -> None:
    def traced(x):
        x = hr.place(x, place)
        y = hr.place(xp.concat([x[2:, ::2], x[:3, 5:]], axis=0) * 2.0, place)
        return y[1:7, 1:], xp.roll(y, 1, axis=1), hr.place(x[:, :, 1:], place)

    y = np.concatenate([X[2:, ::2], X[:3, 5:]]) * np.float32(2)
    expected = (y[1:7, 1:], np.roll(y, 1, axis=1), X[:, :, 1:])
    for mesh in ("a:2,b:2", "a:3,b:2", "a:1,b:3"):
        for got, wanted in zip(hr.jit(mesh=mesh, threads=2)(traced)(X), expected, strict=True):
            np.testing.assert_array_equal(got, wanted, err_msg=mesh)


def phase(function: Callable, *arguments: np.ndarray, name: str = "shard", **target: object) -> str:
    return hr.jit(**target)(function).trace(*arguments).lower().phases[name]  # type: ignore[call-overload]


def test_what_is_taken_whole_stays_divided() -> None:
    """The rows of a slice of columns, of a concatenation of columns, and nothing moves for them."""

    def columns(x):
        x = hr.place(x, ("ranks", None))
        return hr.place(xp.concat([x[:, 6:], x[:, :2]], axis=1), ("ranks", None))

    text = phase(columns, normal(64, 10), ranks=4)
    assert re.findall(r"dist\.\w+", text.partition("func.func")[2].partition("\n")[2]) == ["dist.all_gather"]
    assert "tensor<?x10xf32> to tensor<?x4xf32>" in text
    assert "(tensor<?x4xf32>, tensor<?x2xf32>) -> tensor<?x6xf32>" in text


def operations(program: object) -> list[str]:
    return [task["operation"] for task in json.loads(program.plan_json)["tasks"] if "operation" in task]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda x: x[...], []),
        (lambda x: x[:, :], []),
        (lambda x: x[::-1][::-1], []),
        (lambda x: x[1:][1:][:, 2], ["slice"]),
        (lambda x: xp.concat([x]), []),
        (lambda x: xp.roll(x, 10, axis=1), []),
        (lambda x: xp.roll(x, 1, axis=1), ["slice", "slice", "concat"]),
        (lambda x: x[3], ["slice"]),
    ],
)
def test_tasks(function: Callable, wanted: list[str]) -> None:
    """What takes everything, or a slice of a slice, is no task of its own."""
    program = hr.jit(ranks=1)(function).compile(X)
    assert operations(program) == wanted


def test_the_rows_of_a_query_are_taken_whole() -> None:
    table = {
        "t": pa.table({"k": range(20), "a": [float(k) for k in range(20)], "b": [k / 2 for k in range(20)]})
    }
    values = np.stack([np.arange(20.0), np.arange(20) / 2, np.arange(20.0)], axis=1)

    def features(x, w):
        both = xp.concat([x[:, 1:], x[:, :1] * 2.0, x[:, ::-1]], axis=1)
        more = xp.tile(x, (1, 2)), xp.repeat(x, 2, axis=1), xp.take(x, [2, 2, 0], axis=1)
        return both[..., :4] @ w, xp.sum(x[:, 2] * x[..., 1], axis=0), x[:, None, 0], *more

    both = np.concatenate([values[:, 1:], values[:, :1] * 2, values[:, ::-1]], axis=1)
    w = normal(4, 3, dtype="float64")
    for target in targets():
        query = hr.query("select k, a, b, k as c from t order by k", table).to_tensor(["a", "b", "c"])
        found = hr.jit(threads=2, **target)(features)(query, w)
        more = np.tile(values, (1, 2)), np.repeat(values, 2, axis=1), np.take(values, [2, 2, 0], axis=1)
        expected = (both[:, :4] @ w, (values[:, 2] * values[:, 1]).sum(), values[:, None, 0], *more)
        for got, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12, err_msg=str(target))
    text = phase(features, query, w, ranks=2)
    assert "tensor<?x3xf64> to tensor<?x1xf64>" in text


REFUSED: dict[str, tuple[Callable, type, str]] = {
    "index beyond": (lambda x, y: x[7], IndexError, "index out of range for dimension 0 of extent 7: got 7"),
    "index before": (lambda x, y: x[0, -11], IndexError, "dimension 1 of extent 10: got -11"),
    "too many": (
        lambda x, y: x[0, 0, 0, 0],
        IndexError,
        "more indices than the 3 dimensions of the array: got 4",
    ),
    "two ellipses": (lambda x, y: x[..., 0, ...], IndexError, "an index has at most one `...`"),
    "mask": (lambda x, y: x[np.ones(7, bool)], TypeError, "not by masks or other arrays .*: got ndarray"),
    "truth": (lambda x, y: x[True], TypeError, "not by masks or other arrays .*: got bool"),
    "NumPy's truth": (lambda x, y: x[np.True_], TypeError, "not by masks or other arrays .*: got bool"),
    "index array": (
        lambda x, y: x[np.array([1, 2])],
        TypeError,
        "not by masks or other arrays .*: got ndarray",
    ),
    "list": (lambda x, y: x[[1, 2]], TypeError, "not by masks or other arrays .*: got list"),
    "traced": (lambda x, y: x[y[0]], TypeError, r"arrays of i64 \(convert with astype\): got f32"),
    "traced bound": (lambda x, y: x[: y[0]], TypeError, "a traced array has no value yet.*a use as an index"),
    "float": (lambda x, y: x[1.0], TypeError, "indexed by integers, slices, .*: got float"),
    "text": (lambda x, y: x["a"], TypeError, "indexed by integers, slices, .*: got str"),
    "no step": (lambda x, y: x[::0], ValueError, "slice step cannot be zero"),
    "of a number": (lambda x, y: y[0][0], IndexError, "more indices than the 0 dimensions"),
    "iteration of a number": (lambda x, y: list(y[0]), TypeError, "without dimensions has no length"),
    "unpacking too few": (lambda x, y: (lambda a, b: a)(*y), TypeError, "takes 2 positional arguments"),
    "concat of none": (lambda x, y: xp.concat([]), ValueError, "concat needs at least one array"),
    "stack of none": (lambda x, y: xp.stack([]), ValueError, "concat needs at least one array"),
    "concat of types": (
        lambda x, y: xp.concat([x, xp.astype(x, "f64")]),
        TypeError,
        r"concat needs arrays of one type \(convert with astype\): got f32 and f64",
    ),
    "concat of constants": (
        lambda x, y: xp.concat([y, np.ones(3)]),
        TypeError,
        "concat needs a traced array",
    ),
    "concat of extents": (
        lambda x, y: xp.concat([x, x[:, 1:]]),
        ValueError,
        r"equal extents but along the axis 0: got \(7, 10, 4\) and \(7, 9, 4\)",
    ),
    "concat of ranks": (lambda x, y: xp.concat([x, y]), ValueError, r"got \(7, 10, 4\) and \(3,\)"),
    "concat of numbers": (
        lambda x, y: xp.concat([y[0], y[1]]),
        ValueError,
        r"concat needs arrays of at least one dimension \(there is stack\)",
    ),
    "concat along none": (
        lambda x, y: xp.concat([x], axis=3),
        ValueError,
        "axis out of range for 3 dimensions",
    ),
    "stack of shapes": (
        lambda x, y: xp.stack([y, y[1:]]),
        ValueError,
        r"stack needs arrays of one shape: got \(3,\) and \(2,\)",
    ),
    "stack of a list": (lambda x, y: xp.stack([[1.0]]), TypeError, "stack needs a traced array"),
    "take without an axis": (
        lambda x, y: xp.take(x, [0]),
        ValueError,
        "take needs an axis of an array of 3 dimensions",
    ),
    "take beyond": (
        lambda x, y: xp.take(y, [0, -4]),
        IndexError,
        "take has no element of an extent of 3 at: -4",
    ),
    "take of fractions": (lambda x, y: xp.take(y, [0.5]), TypeError, "'float' object cannot be interpreted"),
    "take of traced": (lambda x, y: xp.take(x, [y[0]], axis=0), TypeError, "a use as an index"),
    "repeat backwards": (
        lambda x, y: xp.repeat(y, -1),
        ValueError,
        "repeat needs one number or 3, none negative: got -1",
    ),
    "repeat of some": (
        lambda x, y: xp.repeat(x, [1, 2], axis=0),
        ValueError,
        r"one number or 7, none negative: got \[1, 2\]",
    ),
    "tile": (lambda x, y: xp.tile(y, (-2,)), ValueError, "tile needs numbers that are not negative: got"),
    "moveaxis": (
        lambda x, y: xp.moveaxis(x, (0, 1), 2),
        ValueError,
        r"moveaxis needs a destination for each source: got \(0, 1\) and 2",
    ),
    "moveaxis twice": (lambda x, y: xp.moveaxis(x, (0, 0), (1, 2)), ValueError, "an axis is named twice"),
    "roll": (
        lambda x, y: xp.roll(x, (1, 2), axis=(0,)),
        ValueError,
        r"roll needs a shift for each axis: got \(1, 2\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_mistakes_name_the_line(name: str) -> None:
    body, kind, message = REFUSED[name]
    with pytest.raises(hr.HeadraceError, match=message) as caught:
        hr.jit(body).trace(X, normal(3))
    assert isinstance(caught.value, kind)
    line = body.__code__.co_firstlineno
    assert caught.value.place in (f"{__file__}:{line}", f"{__file__}:{line + 1}")


@pytest.mark.parametrize(
    "body",
    [
        lambda x: x[0],
        lambda x: x[1:],
        lambda x: x[::2],
        lambda x: x[:3],
        lambda x: x[: x.shape[0]],
        lambda x: x[x.shape[0]],
        lambda x: xp.flip(x),
        lambda x: xp.roll(x, 1),
        lambda x: xp.unstack(x),
        lambda x: xp.take(x, [0]),
        lambda x: xp.repeat(x, 2),
        lambda x: xp.tile(x, (2,)),
        lambda x: xp.concat([x, x]),
        lambda x: list(x),
        lambda x: (lambda a, b: a)(*x),
    ],
)
def test_rows_of_a_query_are_not_cut(body: Callable) -> None:
    query = hr.query("select a from t", {"t": pa.table({"a": [1.0, 2.0]})}).to_tensor("a")
    with pytest.raises(hr.HeadraceError, match="known only when the program runs") as caught:
        hr.jit(body).trace(query)
    assert caught.value.place == f"{__file__}:{body.__code__.co_firstlineno}"


TEXT = """
func.func @main(%x: tensor<6x8xf32> loc("x"), %y: tensor<6x3xf32> loc("y"))
    -> (tensor<3xf32>, tensor<6x7xf32>, tensor<6x8xf32>) {
  %row = tensor.extract_slice %x[4, 6] [1, 3] [1, -2] : tensor<6x8xf32> to tensor<3xf32>
  %some = tensor.extract_slice %x[0, 1] [6, 4] [1, 1] : tensor<6x8xf32> to tensor<6x4xf32>
  %both = tensor.concat dim(1) %some, %y : (tensor<6x4xf32>, tensor<6x3xf32>) -> tensor<6x7xf32>
  %all = tensor.extract_slice %x[0, 0] [6, 8] [1, 1] : tensor<6x8xf32> to tensor<6x8xf32>
  %one = tensor.concat dim(0) %all : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %row, %both, %one : tensor<3xf32>, tensor<6x7xf32>, tensor<6x8xf32>
}
"""


def test_programs_in_mlir() -> None:
    x, y = normal(6, 8), normal(6, 3)
    expected = (x[4, 6:1:-2], np.concatenate([x[:, 1:5], y], axis=1), x)
    for target in targets():
        for got, wanted in zip(hr.mlir(TEXT, threads=2, **target)(x, y), expected, strict=True):
            np.testing.assert_array_equal(got, wanted, err_msg=str(target))
    assert operations(hr.mlir(TEXT, ranks=1)) == ["slice", "slice", "concat"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "[4, 6] [1, 3] [1, -2]",
            "[4, 3] [1, 3] [1, -2]",
            "leaves its source along the dimension 1 of extent 8",
        ),
        ("[4, 6] [1, 3] [1, -2]", "[6, 6] [1, 3] [1, -2]", "out-of-bounds"),
        ("[0, 1] [6, 4] [1, 1]", "[0, 5] [6, 4] [1, 1]", "out-of-bounds"),
    ],
)
def test_texts_that_leave_their_source_are_refused(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(hr.HeadraceError, match=message):
        hr.mlir(TEXT.replace(old, new), ranks=2)
