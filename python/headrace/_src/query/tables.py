"""What a query's table names mean: Parquet files or Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from headrace._src.errors import HeadraceError
from headrace._src.query import arrow_tables

#: What `tables=` takes: a directory of Parquet files, or names with path(s) or Arrow tables.
TablesArgument = str | Path | Mapping[str, Any]


@dataclass(frozen=True)
class FileTable:
    """A table in Parquet files that share a schema."""

    paths: tuple[str, ...]

    def identity(self) -> list[tuple[str, int, int]]:
        """Path, size and modification time of every file: what a cached plan was made for."""
        out = []
        for path in self.paths:
            try:
                status = Path(path).stat()
            except FileNotFoundError:
                raise HeadraceError(f"no such file: {path}", "io") from None
            out.append((str(Path(path).resolve()), status.st_size, status.st_mtime_ns))
        return out


@dataclass(frozen=True)
class ArrowTable:
    """A table in memory that speaks the Arrow C stream interface."""

    data: Any

    @cached_property
    def imported(self) -> Any:
        """What the runtime reads; the same in all uses of one query."""
        return arrow_tables.read(self.data)

    @cached_property
    def statistics(self) -> str:
        from headrace import _runtime

        return _runtime.statistics(self.imported)


Table = FileTable | ArrowTable


def resolve(tables: TablesArgument) -> dict[str, Table]:
    """Names to tables. A directory gives one table per Parquet file, and one per folder of Parquet files."""
    if isinstance(tables, (str, Path)):
        return _directory(Path(tables))
    out: dict[str, Table] = {}
    for name, value in tables.items():
        if isinstance(value, (str, Path)):
            path = Path(value)
            out[name] = FileTable(_files(path) if path.is_dir() else (str(path),))
        elif hasattr(value, "__arrow_c_stream__"):
            out[name] = ArrowTable(value)
        elif isinstance(value, Sequence):
            out[name] = FileTable(tuple(str(path) for path in value))
        else:
            raise HeadraceError(
                f"table {name}: not a path, a list of paths or an Arrow table: {type(value).__name__}"
            )
    return out


def _directory(folder: Path) -> dict[str, Table]:
    if not folder.is_dir():
        raise HeadraceError(f"no such directory of tables: {folder}", "io")
    out: dict[str, Table] = {}
    for entry in sorted(folder.iterdir()):
        if entry.suffix == ".parquet" and entry.is_file():
            out[entry.stem] = FileTable((str(entry),))
        elif entry.is_dir() and any(entry.glob("*.parquet")):
            out[entry.name] = FileTable(_files(entry))
    if not out:
        raise HeadraceError(f"no Parquet files in: {folder}", "io")
    return out


def _files(folder: Path) -> tuple[str, ...]:
    paths = tuple(str(path) for path in sorted(folder.glob("*.parquet")))
    if not paths:
        raise HeadraceError(f"no Parquet files in: {folder}", "io")
    return paths
