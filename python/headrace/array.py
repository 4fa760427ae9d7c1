"""The array namespace, named as in the array API standard: `from headrace import array as xp`."""

from headrace._src.array.functions import *  # noqa: F403
from headrace._src.array.functions import __all__ as __all__


def __getattr__(name: str) -> object:
    raise AttributeError(f"no such array function (there are {', '.join(__all__)}): {name}")
