"""headrace: compiles programs over tables and tensors for a described cluster, and runs them.

Public names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace import array as array
    from headrace import errors as errors
    from headrace._src.array.jit import jit as jit
    from headrace._src.array.program import mlir as mlir
    from headrace._src.array.queries import query as query
    from headrace._src.array.tracer import place as place
    from headrace._src.cluster import Cluster as Cluster
    from headrace._src.cluster import cluster as cluster
    from headrace._src.cost import cost as cost
    from headrace._src.errors import HeadraceError as HeadraceError
    from headrace._src.query.sql import batches as batches
    from headrace._src.query.sql import explain as explain
    from headrace._src.query.sql import last_profile as last_profile
    from headrace._src.query.sql import lower as lower
    from headrace._src.query.sql import sql as sql
    from headrace._src.query.stop import Cancel as Cancel
    from headrace._src.session.relation import Relation as Relation
    from headrace._src.session.session import Session as Session
    from headrace._src.session.session import connect as connect
    from headrace._src.tuning.tune import tune as tune

    __version__: str

# name -> the module that defines it
_PUBLIC = {
    "Cancel": "headrace._src.query.stop",
    "Cluster": "headrace._src.cluster",
    "HeadraceError": "headrace._src.errors",
    "Relation": "headrace._src.session.relation",
    "Session": "headrace._src.session.session",
    "batches": "headrace._src.query.sql",
    "cluster": "headrace._src.cluster",
    "connect": "headrace._src.session.session",
    "cost": "headrace._src.cost",
    "explain": "headrace._src.query.sql",
    "jit": "headrace._src.array.jit",
    "last_profile": "headrace._src.query.sql",
    "lower": "headrace._src.query.sql",
    "mlir": "headrace._src.array.program",
    "place": "headrace._src.array.tracer",
    "query": "headrace._src.array.queries",
    "sql": "headrace._src.query.sql",
    "tune": "headrace._src.tuning.tune",
}

__all__ = list(_PUBLIC)


_MODULES = ("array", "errors")


if not TYPE_CHECKING:  # a type checker would take any name for one of these

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
