"""Arrays that are indexed by arrays, against NumPy, on several ranks and axes.

Sources: dialects/interfaces/TensorGather.cpp, runtime/exec/task/row_gather.cpp, passes/schedule/tensor_placement.cpp
"""

from __future__ import annotations

from collections.abc import Callable

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from array_programs import integers, normal
from headrace import array as xp
from test_array_slices import check, targets

X = normal(7, 10, 4)
PLACES = np.array([[2, -1, 0], [6, -7, 2]])
INDICES: dict[str, Callable] = {
    "first axis": lambda n, x, i: x[i],
    "take": lambda n, x, i: n.take(x, i, axis=0),
    "take of the middle": lambda n, x, i: n.take(x, i, axis=1),
    "take from the end": lambda n, x, i: n.take(x, i, axis=-2),
    "beside slices": lambda n, x, i: x[1:6, i, ::2],
    "beside all": lambda n, x, i: x[:, i],
    "before an ellipsis": lambda n, x, i: x[i, ..., 1:],
    "behind an ellipsis": lambda n, x, i: x[..., i, :],
    "new dimensions": lambda n, x, i: x[None, i, None],
    "new dimensions behind an ellipsis": lambda n, x, i: x[..., i, None, :],
    "one dimension": lambda n, x, i: x[i[0]],
    "one place": lambda n, x, i: x[i[0, 1]],
    "numbers": lambda n, x, i: x[:, 3, 2][i],
    "computed places": lambda n, x, i: x[i * 0 + 3] + x[-abs(i[:1]) - 1],
    "twice": lambda n, x, i: x[i][abs(i[0]) * 0 + 1],
    "no places": lambda n, x, i: x[i[:0]],
    "of rows without elements": lambda n, x, i: x[:, :0][i],
    "of a slice": lambda n, x, i: x[::-1, 2:5][i],
    "added": lambda n, x, i: x[i] * 2 + x[i[::-1]],
}


@pytest.mark.parametrize("name", INDICES)
def test_index_arrays_mean_what_numpy_says(name: str) -> None:
    body = INDICES[name]
    check(lambda x, i: body(xp, x, i), body(np, X, PLACES), X, PLACES)


@pytest.mark.parametrize(
    "x", [normal(9, 5), normal(9, 5, dtype="float64"), integers(9, 5)], ids=["f32", "f64", "i64"]
)
@pytest.mark.parametrize("shape", [(4,), (2, 3), (1, 2, 2), ()])
def test_of_every_type(x: np.ndarray, shape: tuple[int, ...]) -> None:
    places = np.random.default_rng(3).integers(-9, 9, size=shape)
    check(lambda x, i: (x[i], x[:, 1][i]), (x[places], x[:, 1][places]), x, places)


def test_signs_of_zero_and_nan_are_kept() -> None:
    x = np.array([[0.0, -0.0], [np.nan, -np.inf], [-0.0, 1e-40]], np.float32)
    places = np.array([2, 0, 1, 2])
    for target in targets():
        found = hr.jit(**target)(lambda x, i: x[i])(x, places)
        assert found.tobytes() == x[places].tobytes()


def _embedded(tokens: xp.Array, table: xp.Array, w: xp.Array) -> xp.Array:
    return xp.relu(table[tokens] @ w)


def test_embeddings() -> None:
    """(batch, sequence) tokens of a vocabulary, of more rows and elements than a morsel has."""
    table, w = normal(5000, 64), normal(64, 16)
    tokens = np.random.default_rng(1).integers(0, 5000, size=(16, 300))
    expected = np.maximum(table[tokens] @ w, 0)
    check(_embedded, expected, tokens, table, w, exact=False)


def test_many_numbers() -> None:
    x = np.arange(1000) * 7
    places = np.random.default_rng(2).integers(-1000, 1000, size=200_000)
    for threads in (1, 2):
        found = hr.jit(threads=threads, ranks=2)(lambda x, i: x[i])(x, places)
        np.testing.assert_array_equal(found, x[places])


def test_rows_of_a_query_as_places_and_as_source() -> None:
    table = pa.table({"k": range(6), "v": [5, 0, 3, 3, 1, 2]})
    x = normal(6, 3, dtype="float64")
    values = np.array([5, 0, 3, 3, 1, 2])

    def chosen(rows: xp.Array, x: xp.Array, i: xp.Array) -> tuple[xp.Array, ...]:
        return x[rows[:, 0]], rows[i], rows[:, 0][i] * 2, rows[rows[:, 0]]

    places = np.array([4, -1, 4])
    for target in targets():
        query = hr.query("select v from t order by k", {"t": table}).to_tensor(["v"], dtype="i64")
        found = hr.jit(threads=2, **target)(chosen)(query, x, places)
        wanted = (x[values], values[:, None][places], values[places] * 2, values[:, None][values])
        for got, expected in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(got, expected, err_msg=str(target))


@pytest.mark.parametrize("place", [7, -8, 2**62, -(2**63)])
@pytest.mark.parametrize("target", [{"ranks": 1}, {"ranks": 3}, {"mesh": "a:2,b:2"}])
def test_places_out_of_bounds_are_errors_of_the_data(place: int, target: dict) -> None:
    places = PLACES.copy()
    places[1, 1] = place
    with pytest.raises(hr.errors.DataError, match=f"an index is out of bounds: got {place} for an extent of 7"):
        hr.jit(**target)(lambda x, i: x[i] + 1)(X, places)


def test_of_nothing() -> None:
    empty = np.zeros((0, 3), np.float32)
    no_places = np.zeros((2, 0), np.int64)
    check(lambda x, i: x[i], empty[no_places], empty, no_places)
    with pytest.raises(hr.errors.DataError, match="got 0 for an extent of 0"):
        hr.jit(lambda x, i: x[i])(empty, np.array([0]))


def test_results_stay_divided() -> None:
    """What of the table's features a rank has is taken on that rank, and so are places that are divided."""

    def placed(x: xp.Array, i: xp.Array) -> xp.Array:
        return hr.place(hr.place(x, [None, "b"])[hr.place(i, ["a", None])], ["a", None, "b"])

    x, places = normal(40, 8), np.random.default_rng(5).integers(0, 40, size=(4, 6))
    found = hr.jit(mesh="a:2,b:2")(placed)
    np.testing.assert_array_equal(found(x, places), x[places])


REFUSED: dict[str, tuple[Callable, type, str]] = {
    "floats": (lambda x, i: x[x[0, 0]], TypeError, r"indices are arrays of i64 \(convert with astype\): got f32"),
    "two arrays": (lambda x, i: x[i, i], TypeError, "an array index has slices.*: got 2 arrays"),
    "a number beside it": (lambda x, i: x[0, i], TypeError, r"\(x\[0\]\[:, i\] takes one.*: got int"),
    "a list beside it": (lambda x, i: x[[0], i], TypeError, "an array index has slices.*: got list"),
    "too many": (
        lambda x, i: x[i, :, :, :],
        IndexError,
        "more indices than the 3 dimensions of the array: got 4",
    ),
    "two ellipses": (lambda x, i: x[..., i, ...], IndexError, "an index has at most one `...`"),
    "of a number": (lambda x, i: x[0, 0, 0][i], IndexError, "more indices than the 0 dimensions"),
    "take without an axis": (lambda x, i: xp.take(x, i), ValueError, "take needs an axis of an array of 3"),
    "take of an axis beyond": (lambda x, i: xp.take(x, i, axis=3), ValueError, "axis out of range for 3"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_mistakes_name_the_line(name: str) -> None:
    body, kind, message = REFUSED[name]
    with pytest.raises(hr.HeadraceError, match=message) as caught:
        hr.jit(body).trace(X, PLACES)
    assert isinstance(caught.value, kind)
    line = body.__code__.co_firstlineno
    assert caught.value.place in (f"{__file__}:{line}", f"{__file__}:{line + 1}")
