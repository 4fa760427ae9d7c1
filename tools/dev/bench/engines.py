"""The engines of a benchmark, each behind the same few calls. All read the same Parquet files on each run."""

from __future__ import annotations

import os
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import pyarrow as pa


class Engine(ABC):
    """An engine opened on a folder of Parquet files. Made in a process of its own (see worker.py)."""

    #: Whether its package is one of requirements-peers.txt, which benchmarks alone need.
    is_peer_only = False

    def __init__(self, folder: Path, threads: int, memory: str = "") -> None:
        """memory: what the engine may use, such as 500MB; empty: its default."""
        self.folder = folder
        self.threads = threads
        self.memory = memory
        self.tables = {path.stem: path for path in sorted(folder.glob("*.parquet"))}
        self.open()

    @abstractmethod
    def open(self) -> None:
        """Imports the engine and names the tables; not measured."""

    @abstractmethod
    def version(self) -> str: ...

    @abstractmethod
    def run(self, text: str) -> pa.Table:
        """Runs a query to a complete Arrow table."""

    def compile_seconds(self) -> float | None:
        """The part of the last run that was planning and compiling; None if the engine does not say."""
        return None


class DuckDb(Engine):
    """DuckDB through views on the files, its default settings but for the threads."""

    def open(self) -> None:
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute(f"SET threads = {self.threads}")
        if self.memory:
            self.connection.execute(f"SET memory_limit = '{self.memory}'")
            self.connection.execute(f"SET temp_directory = '{tempfile.gettempdir()}/duckdb-spill'")
        for name, path in self.tables.items():
            self.connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{path}')")

    def version(self) -> str:
        import duckdb

        return duckdb.__version__

    def run(self, text: str) -> pa.Table:
        return self.connection.sql(text).to_arrow_table()


class Polars(Engine):
    """Polars through its SQL context over lazy scans, with the streaming engine."""

    def open(self) -> None:
        os.environ["POLARS_MAX_THREADS"] = str(self.threads)  # read once, at import
        import polars

        frames = {name: polars.scan_parquet(path) for name, path in self.tables.items()}
        self.context = polars.SQLContext(frames)

    def version(self) -> str:
        import polars

        return polars.__version__

    def run(self, text: str) -> pa.Table:
        return self.context.execute(text).collect(engine="streaming").to_arrow()


class DataFusion(Engine):
    """DataFusion over the files, its default settings but for the partitions, which are its threads."""

    is_peer_only = True

    def open(self) -> None:
        import datafusion

        settings = datafusion.SessionConfig().with_target_partitions(self.threads)
        self.context = datafusion.SessionContext(settings)
        for name, path in self.tables.items():
            self.context.register_parquet(name, str(path))

    def version(self) -> str:
        import datafusion

        return datafusion.__version__

    def run(self, text: str) -> pa.Table:
        return self.context.sql(text).to_arrow_table()


class Headrace(Engine):
    """headrace on one rank of this process."""

    def open(self) -> None:
        import headrace

        self.headrace: Any = headrace
        self.query = headrace.sql  # its modules are loaded when it is first named

    def version(self) -> str:
        return str(getattr(self.headrace, "__version__", "unreleased"))

    def run(self, text: str) -> pa.Table:
        return self.query(text, tables=str(self.folder), threads=self.threads, memory=self.memory or None)

    def compile_seconds(self) -> float | None:
        last_profile = getattr(self.headrace, "last_profile", None)
        profile = last_profile() if last_profile else None
        return None if profile is None else float(profile.compile_seconds)


ENGINES: dict[str, type[Engine]] = {
    "headrace": Headrace,
    "duckdb": DuckDb,
    "polars": Polars,
    "datafusion": DataFusion,
}
