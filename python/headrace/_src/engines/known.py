"""Which engine a user's object is of."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from headrace._src.engines.driver import Engine
from headrace._src.errors import UserError


def engine_of(given: Any, ranks: int | None, settings: Mapping[str, str]) -> Engine:
    """Of a Dask client, the module ray, a Spark session; UserError for anything else."""
    # By their names: engines do not have to be installed.
    kind = type(given)
    name = f"{kind.__module__}.{kind.__name__}"
    if name.startswith("distributed.") and name.endswith(".Client"):
        from headrace._src.engines.dask import DaskEngine

        return DaskEngine(given, ranks)
    if isinstance(given, ModuleType) and given.__name__ == "ray":
        if not given.is_initialized():
            raise UserError("ranks in Ray need a connection: call ray.init() first")
        from headrace._src.engines.ray import RayEngine

        return RayEngine(ranks, settings)
    if name.startswith("pyspark.") and name.endswith((".SparkSession", ".SparkContext")):
        if name.startswith("pyspark.sql.connect."):
            raise UserError("ranks need a SparkContext in this process: a session of Spark Connect has none")
        context = getattr(given, "sparkContext", given)
        if context.getConf().get("spark.dynamicAllocation.enabled") == "true":
            raise UserError(
                "ranks need a barrier stage, which Spark does not start with spark.dynamicAllocation.enabled"
            )
        from headrace._src.engines.spark import SparkEngine

        return SparkEngine(context, ranks, settings)
    raise UserError(
        "cluster() takes the name of a launcher, a Dask client, the module ray or a Spark session, "
        f"got: {kind.__name__}"
    )
