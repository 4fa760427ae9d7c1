"""headrace: compiles programs over tables and tensors for a described cluster, and runs them.

Public names are loaded when they are first used.
"""

from __future__ import annotations

import importlib

# name -> the module that defines it
_PUBLIC = {
    "Cancel": "headrace._src.query.stop",
    "HeadraceError": "headrace._src.errors",
    "cost": "headrace._src.cost",
    "explain": "headrace._src.query.sql",
    "jit": "headrace._src.array.jit",
    "last_profile": "headrace._src.query.sql",
    "mlir": "headrace._src.array.program",
    "query": "headrace._src.array.queries",
    "sql": "headrace._src.query.sql",
    "tune": "headrace._src.tuning.tune",
}

__all__ = list(_PUBLIC)


_MODULES = ("array", "errors")


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f"headrace.{name}")
    if name == "__version__":
        from headrace._runtime import version

        return version
    if name not in _PUBLIC:
        raise AttributeError(f"module 'headrace' has no attribute: {name}")
    value = getattr(importlib.import_module(_PUBLIC[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC, *_MODULES})
