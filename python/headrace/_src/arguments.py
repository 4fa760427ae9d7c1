"""Arguments of public calls are of the kinds that their annotations say, or a UserError names them."""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from types import FunctionType
from typing import Any, TypeVar

from headrace._src.errors import UserError

Call = TypeVar("Call", bound=Callable[..., Any])
Class = TypeVar("Class", bound=type)


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")  # NumPy's


def _are_texts(value: Any) -> bool:
    return (
        isinstance(value, Iterable)
        and not isinstance(value, (str, bytes))
        and all(isinstance(each, str) for each in value)
    )


def _of_texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


# What an annotation lets through, and how a message calls that.
_KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "None": (lambda value: value is None, "None"),
    "bool": (_is_truth, "a bool"),
    "int": (lambda value: isinstance(value, Integral) and not _is_truth(value), "an int"),
    "float": (lambda value: isinstance(value, Real) and not _is_truth(value), "a number"),
    "str": (lambda value: isinstance(value, str), "a str"),
    "Path": (lambda value: isinstance(value, os.PathLike), "a path"),
    "Callable": (callable, "a function"),
    "Mapping[str]": (_of_texts, "a dict whose keys are str"),
    "Sequence[str]": (lambda value: isinstance(value, Sequence) and _are_texts(value), "a list of str"),
    "Iterable[str]": (_are_texts, "several str"),
}
# Beyond what any machine has; what does not fit the runtime's integers is refused here.
_INTEGER_MAX = 2**63


def checked(call: Call) -> Call:
    """Checks the arguments of a function by its annotations, as far as these are of simple kinds."""

    @functools.cache
    def expected() -> tuple[inspect.Signature, dict[str, Any]]:  # when first called: imports stay quick
        signature = inspect.signature(call)
        checks = {name: _check(call, parameter) for name, parameter in signature.parameters.items()}
        return signature, {name: check for name, check in checks.items() if check}

    @functools.wraps(call)
    def checking(*arguments: Any, **named: Any) -> Any:
        signature, checks = expected()
        try:
            given = signature.bind(*arguments, **named).arguments
        except TypeError as error:
            raise _no_such_call(call, signature, named, error) from None
        for name, (kinds, words) in checks.items():
            if name in given:
                value = given[name]
                if not any(is_one(value) for is_one in kinds):
                    raise UserError(f"{name} must be {words}, got {shown(value)}")
                if isinstance(value, Integral) and not -_INTEGER_MAX <= value < _INTEGER_MAX:
                    raise UserError(f"{name} is beyond the range of 64 bits: {value}")
        return call(*arguments, **named)

    return checking  # type: ignore[return-value]


def checked_methods(cls: Class) -> Class:
    """A class whose public methods are checked."""
    for name, member in list(vars(cls).items()):
        if isinstance(member, FunctionType) and not name.startswith("_"):
            setattr(cls, name, checked(member))
    return cls


_signature = functools.cache(inspect.signature)


def check_options(options: Mapping[str, Any], call: Callable[..., Any]) -> None:
    """Raises UserError for what is no keyword of a checked call, or is not of its kind."""
    signature = _signature(call)
    known = {name for name, each in signature.parameters.items() if each.kind is each.KEYWORD_ONLY}
    for name, value in options.items():
        if name not in known:
            raise UserError(f"no such option: {name}{_nearest(name, known)}")
        found = _check(inspect.unwrap(call), signature.parameters[name])
        if found and not any(is_one(value) for is_one in found[0]):
            raise UserError(f"{name} must be {found[1]}, got {shown(value)}")


def shown(value: Any) -> str:
    """A value as a message shows it: itself if it is short, else its type."""
    simple = isinstance(value, (str, bytes, int, float, type(None)))
    text = repr(value) if simple else ""
    if simple and len(text) <= 40:
        return text
    kind = type(value)
    library = kind.__module__.partition(".")[0]
    name = kind.__name__ if library in ("builtins", "headrace") else f"{library}.{kind.__name__}"
    return f"a value of type {name}"


def _check(
    call: Callable[..., Any], parameter: inspect.Parameter
) -> tuple[list[Callable[[Any], bool]], str] | None:
    """What lets a value through, and the words for it; None where the annotation is of no simple kind."""
    variadic = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    if variadic or not isinstance(parameter.annotation, str):
        return None
    kinds, words = [], []
    for name in _alternatives(ast.parse(parameter.annotation, mode="eval").body):
        is_one, word = _KINDS.get(name, (None, ""))
        if is_one is None:
            named = call.__globals__.get(name)  # type: ignore[attr-defined]
            if not isinstance(named, type) or named is Any:
                return None
            is_one, word = functools.partial(_is_instance, named), f"a {named.__name__}"
        kinds.append(is_one)
        words.append(word)
    return kinds, " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _alternatives(annotation: ast.expr) -> list[str]:
    """The names between the bars of an annotation; with what a generic one is of, if that is simple."""
    if isinstance(annotation, ast.BinOp):
        return [*_alternatives(annotation.left), *_alternatives(annotation.right)]
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name):
        of = annotation.slice.elts[0] if isinstance(annotation.slice, ast.Tuple) else annotation.slice
        name = annotation.value.id
        return [name if name == "Callable" else f"{name}[{of.id if isinstance(of, ast.Name) else ''}]"]
    return [ast.unparse(annotation)]


def _is_instance(cls: type, value: Any) -> bool:
    return isinstance(value, cls)


def _no_such_call(
    call: Callable[..., Any], signature: inspect.Signature, named: Mapping[str, Any], error: TypeError
) -> Exception:
    """Of a keyword that there is not; what else does not fit the signature Python says itself."""
    known = signature.parameters
    for name in named:
        if name not in known and not any(each.kind is each.VAR_KEYWORD for each in known.values()):
            return UserError(f"{call.__name__} has no argument {name}{_nearest(name, known)}")
    return TypeError(f"{call.__name__}: {error}")


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""
