"""headrace: compiles programs over tables and tensors for a described cluster, and runs them.

Public names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headrace import array as array
    from headrace import dbapi as dbapi
    from headrace import errors as errors
    from headrace._src.array.jit import jit as jit
    from headrace._src.array.program import mlir as mlir
    from headrace._src.array.queries import query as query
    from headrace._src.array.resident import ResidentArray as ResidentArray
    from headrace._src.array.tracer import place as place
    from headrace._src.cluster import Cluster as Cluster
    from headrace._src.cluster import cluster as cluster
    from headrace._src.cost import cost as cost
    from headrace._src.errors import HeadraceError as HeadraceError
    from headrace._src.frame.expression import Expr as Expr
    from headrace._src.frame.functions import all as all
    from headrace._src.frame.functions import any as any
    from headrace._src.frame.functions import coalesce as coalesce
    from headrace._src.frame.functions import col as col
    from headrace._src.frame.functions import concat_str as concat_str
    from headrace._src.frame.functions import exclude as exclude
    from headrace._src.frame.functions import len as len
    from headrace._src.frame.functions import lit as lit
    from headrace._src.frame.functions import max_horizontal as max_horizontal
    from headrace._src.frame.functions import min_horizontal as min_horizontal
    from headrace._src.frame.functions import sum_horizontal as sum_horizontal
    from headrace._src.frame.functions import when as when
    from headrace._src.frame.group_by import GroupBy as GroupBy
    from headrace._src.frame.lazy_frame import LazyFrame as LazyFrame
    from headrace._src.frame.lazy_frame import concat as concat
    from headrace._src.frame.sources import from_arrow as from_arrow
    from headrace._src.frame.sources import scan_csv as scan_csv
    from headrace._src.frame.sources import scan_ipc as scan_ipc
    from headrace._src.frame.sources import scan_ndjson as scan_ndjson
    from headrace._src.frame.sources import scan_parquet as scan_parquet
    from headrace._src.polars.engine import PolarsEngine as PolarsEngine
    from headrace._src.polars.engine import polars_engine as polars_engine
    from headrace._src.query.dataset import Dataset as Dataset
    from headrace._src.query.profile import last_profile as last_profile
    from headrace._src.query.sql import batches as batches
    from headrace._src.query.sql import explain as explain
    from headrace._src.query.sql import lower as lower
    from headrace._src.query.sql import persist as persist
    from headrace._src.query.sql import sql as sql
    from headrace._src.serving.server import Server as Server
    from headrace._src.serving.server import serve as serve
    from headrace._src.session.relation import Relation as Relation
    from headrace._src.session.session import Session as Session
    from headrace._src.session.session import connect as connect
    from headrace._src.stop import Cancel as Cancel
    from headrace._src.tuning.tune import tune as tune

    __version__: str

# name -> the module that defines it
_PUBLIC = {
    "Cancel": "headrace._src.stop",
    "Cluster": "headrace._src.cluster",
    "Dataset": "headrace._src.query.dataset",
    "Expr": "headrace._src.frame.expression",
    "GroupBy": "headrace._src.frame.group_by",
    "HeadraceError": "headrace._src.errors",
    "LazyFrame": "headrace._src.frame.lazy_frame",
    "PolarsEngine": "headrace._src.polars.engine",
    "Relation": "headrace._src.session.relation",
    "ResidentArray": "headrace._src.array.resident",
    "Server": "headrace._src.serving.server",
    "Session": "headrace._src.session.session",
    "all": "headrace._src.frame.functions",
    "any": "headrace._src.frame.functions",
    "batches": "headrace._src.query.sql",
    "cluster": "headrace._src.cluster",
    "coalesce": "headrace._src.frame.functions",
    "col": "headrace._src.frame.functions",
    "concat": "headrace._src.frame.lazy_frame",
    "concat_str": "headrace._src.frame.functions",
    "connect": "headrace._src.session.session",
    "cost": "headrace._src.cost",
    "exclude": "headrace._src.frame.functions",
    "explain": "headrace._src.query.sql",
    "from_arrow": "headrace._src.frame.sources",
    "jit": "headrace._src.array.jit",
    "last_profile": "headrace._src.query.profile",
    "len": "headrace._src.frame.functions",
    "lit": "headrace._src.frame.functions",
    "lower": "headrace._src.query.sql",
    "max_horizontal": "headrace._src.frame.functions",
    "min_horizontal": "headrace._src.frame.functions",
    "mlir": "headrace._src.array.program",
    "persist": "headrace._src.query.sql",
    "place": "headrace._src.array.tracer",
    "polars_engine": "headrace._src.polars.engine",
    "query": "headrace._src.array.queries",
    "scan_csv": "headrace._src.frame.sources",
    "scan_ipc": "headrace._src.frame.sources",
    "scan_ndjson": "headrace._src.frame.sources",
    "scan_parquet": "headrace._src.frame.sources",
    "serve": "headrace._src.serving.server",
    "sql": "headrace._src.query.sql",
    "sum_horizontal": "headrace._src.frame.functions",
    "tune": "headrace._src.tuning.tune",
    "when": "headrace._src.frame.functions",
}

__all__ = list(_PUBLIC)


_MODULES = ("array", "dbapi", "errors")


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
