"""What Python's data model offers, a traced array means elementwise or refuses with the user's line."""

from __future__ import annotations

import builtins
import copy
import inspect
import math
import operator
import pickle
from collections.abc import Callable

import headrace as hr
import numpy as np
import pyarrow as pa
import pytest
from array_programs import normal
from headrace import array as xp

# Answers that say nothing about elements.
_ABOUT_THE_OBJECT = """
    callable delattr dir getattr hasattr help id isinstance issubclass print repr setattr str super type vars
    ascii input open breakpoint exec eval compile quit exit copyright credits license staticmethod classmethod
    property object globals locals is_ is_not attrgetter itemgetter methodcaller length_hint len
"""
# Python's C code takes them for `+` wherever there is a __getitem__.
_CONCATENATION = "concat iconcat"
# They ask for elements only later: their iteration is in USES.
_LATER = "map filter enumerate zip iter reversed format slice"
_PASSED_OVER = f"{_ABOUT_THE_OBJECT} {_CONCATENATION} {_LATER}".split()


def _functions() -> dict[str, Callable]:
    found = {}
    for module in (operator, builtins, math):
        for name, value in vars(module).items():
            if name.startswith("__") or name in _PASSED_OVER or not callable(value):
                continue
            if inspect.isclass(value) and issubclass(value, BaseException):
                continue
            found[f"{module.__name__}.{name}"] = value
    return found


@pytest.mark.parametrize("name", _functions())
def test_no_function_of_python_answers_for_the_elements(name: str) -> None:
    function = _functions()[name]
    tried = 0

    def traced(x: xp.Array, y: xp.Array) -> xp.Array:
        nonlocal tried
        for arguments in [(x,), (x, y), (x, 2.0), (2.0, x), (x, 0, y), (x, y, x), (x, [x]), ([y], x)]:
            try:
                result = function(*arguments)
            except (TypeError, ValueError, AttributeError):
                tried += 1
                continue
            # A list or tuple holds arrays, those that were given or their rows, and has not looked into them.
            assert isinstance(result, xp.Array) or result is None or _has_no_values(result, arguments), (
                arguments,
                result,
            )
            tried += 1
        return x

    hr.jit(traced).trace(normal(3), normal(3))
    assert tried


def _has_no_values(result: object, arguments: tuple) -> bool:
    return isinstance(result, (list, tuple)) and all(
        isinstance(item, xp.Array) or any(item is argument for argument in arguments) for item in result
    )


USES: dict[str, tuple[Callable, str]] = {
    "if": (lambda x, y: x if x else y, "no value yet"),
    "while": (lambda x, y: next(z for z in [x] if not x), "no value yet"),
    "and": (lambda x, y: x and y, "no value yet"),
    "equal in a branch": (lambda x, y: x * 2 if x == 0 else x, "cannot be compared yet .*: got =="),
    "unequal": (lambda x, y: x if x != y else y, "cannot be compared yet .*: got !="),
    "NumPy on the left": (lambda x, y: x if np.ones(3) == x else y, "cannot be compared yet .*: got =="),
    "NumPy scalar on the left": (
        lambda x, y: x if np.float32(3) == x else y,
        "cannot be compared yet .*: got ==",
    ),
    "less, reflected": (lambda x, y: x if x > 3 else y, "cannot be compared yet .*: got >"),
    "in an array": (lambda x, y: x if 3.0 in x else y, "cannot be compared yet .*: got in"),
    "in a list": (lambda x, y: x if x in [y] else y, "cannot be compared yet .*: got =="),
    "index of a list": (lambda x, y: [y, x].index(x), "cannot be compared yet .*: got =="),
    "key of a dict": (lambda x, y: {x: 1}, r"key of a dict or in a set"),
    "sorted": (lambda x, y: sorted([x, y]), "cannot be compared yet .*: got <"),
    "the larger": (lambda x, y: max(x, y), "cannot be compared yet .*: got >"),
    "element by itself": (lambda x, y: x[x], "indices are arrays of i64"),
    "assignment": (lambda x, y: x.__setitem__(0, 1), "never changed in place: got an assignment"),
    "iteration over a number": (lambda x, y: list(x[0]), "without dimensions has no length"),
    "set of the elements": (lambda x, y: set(x), "key of a dict or in a set"),
    "range": (lambda x, y: range(x), "no value yet.*index"),
    "format": (lambda x, y: f"{x:.2f}", "no value yet to be formatted: got .2f"),
    "asarray": (lambda x, y: np.asarray(x), "is not a NumPy array"),
    "array of arrays": (lambda x, y: np.array([x, y]), "is not a NumPy array"),
    "NumPy's sum": (lambda x, y: np.sum(x), "NumPy's functions do not take .*: got sum"),
    "NumPy's equality": (lambda x, y: np.array_equal(x, y), "NumPy's functions .*: got array_equal"),
    "NumPy's where": (lambda x, y: np.where(x, x, y), "NumPy's functions .*: got where"),
    "ufunc": (lambda x, y: np.exp(x), "NumPy's functions do not take traced arrays"),
    "constant matrix": (lambda x, y: np.ones((3, 3), "float32") @ x, "pass arrays as arguments"),
    "copy": (lambda x, y: copy.deepcopy(x), "copy or pickle"),
    "pickle": (lambda x, y: pickle.dumps(x), "copy or pickle"),
    "DLPack": (lambda x, y: np.from_dlpack(x), "DLPack"),
}


@pytest.mark.parametrize("use", USES)
def test_refusals_name_the_line(use: str) -> None:
    body, message = USES[use]
    with pytest.raises(hr.HeadraceError, match=message) as caught:
        hr.jit(body).trace(normal(3), normal(3))
    assert isinstance(caught.value, TypeError)
    assert caught.value.place == f"{__file__}:{body.__code__.co_firstlineno}"


def test_what_is_known_is_answered() -> None:
    def answers(x: xp.Array) -> xp.Array:
        assert len(x) == 3
        assert x is x  # noqa: PLR0124
        assert str(x) == f"{x}" == repr(x) == "Array(shape=(3, 4), dtype=f32)"
        y = x
        y += 1  # another array: `x` stays
        return +x + y

    x = normal(3, 4)
    np.testing.assert_allclose(hr.jit(answers).trace(x).evaluate(x), x + x + 1)
    with pytest.raises(TypeError, match="without dimensions has no length"):
        hr.jit(lambda x: x if len(x) else x).trace(np.float32(1))


@pytest.mark.parametrize(
    "body",
    [
        lambda x, y: x if len(x) == 4 else y,
        lambda x, y: x if x.shape[0] == 4 else y,
        lambda x, y: x if x.shape[0] != 4 else y,
        lambda x, y: x if x.shape[0] else y,
        lambda x, y: x if x.shape[0] > 1 else y,
        lambda x, y: x if x.shape == y.shape else y,
        lambda x, y: x if x.shape == (4,) else y,
        lambda x, y: x if 4 in x.shape else y,
        lambda x, y: x / x.shape[0],
        lambda x, y: x * float(x.shape[0]),
        lambda x, y: x + x.size if x.shape[0] - 1 else y,
        lambda x, y: [x][x.shape[0]],
        lambda x, y: xp.mean(x),
    ],
)
def test_the_rows_of_a_query_are_no_number_yet(body: Callable) -> None:
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0]})
    x, y = (hr.query("select a from t", {"t": table}).to_tensor("a") for _ in range(2))
    message = "known only when the program runs|operands are traced"
    with pytest.raises(hr.HeadraceError, match=message) as caught:
        hr.jit(body).trace(x, y)
    assert caught.value.place == f"{__file__}:{body.__code__.co_firstlineno}"


def test_lines_are_those_of_the_user() -> None:
    """Not those of NumPy or of methods that Python generates."""
    table = {"q": pa.table({"a": [1.0, 2.0], "b": [3.0, 2.0]})}
    one, other = (
        hr.query(text, table).to_tensor(["a", "b"])
        for text in ("select * from q", "select * from q where a > 1")
    )
    for function, arguments, words in (
        (
            lambda x: np.sin(x),
            (np.ones(3),),
            "NumPy's functions do not take traced arrays (use those of headrace.array)",
        ),
        (
            lambda x: x * np.prod(x.shape),
            (one,),
            "the number of rows of a query is known only when the program runs",
        ),
        (
            lambda x, y: x @ y.T,
            (one, other),
            "rows of two queries cannot be dimensions of one array yet",
        ),
    ):
        with pytest.raises(hr.HeadraceError) as caught:
            hr.jit(function)(*arguments)
        assert str(caught.value) == f"{words} (at {__file__}:{function.__code__.co_firstlineno})"
