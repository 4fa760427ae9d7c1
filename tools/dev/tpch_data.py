"""TPC-H data as Parquet, one file a table, made by tpchgen-cli outside the source tree."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from dev import places
from dev.python_environment import exclusive
from dev.steps import StepFailed, run, step

TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


def ensure(scale: str = "1") -> Path:
    """The folder of the tables at a scale factor (a decimal as text: 0.01, 1, 10); made when missing."""
    if not re.fullmatch(r"\d+(\.\d+)?", scale) or float(scale) == 0:
        raise StepFailed(f"scale must be a positive decimal number, got: {scale}")
    folder = places.tpch_folder(scale)
    if _complete(folder):
        return folder
    with exclusive(folder.parent / f"sf{scale}.lock"):
        if not _complete(folder):
            with step(f"TPC-H data at scale {scale}") as current:
                current.always = True
                _generate(scale, folder)
                size = sum(file.stat().st_size for file in folder.iterdir())
                current.outcome = f"{size / 1e6:.0f} MB in {folder}"
    return folder


def _complete(folder: Path) -> bool:
    return all((folder / f"{table}.parquet").exists() for table in TABLES)


def _generate(scale: str, folder: Path) -> None:
    """Writes beside the folder and renames: a stopped run leaves no half-written table under the name."""
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    tool = places.environment() / "bin" / "tpchgen-cli"
    run([tool, "parquet", "-s", scale, f"--output-dir={partial}"], f"tpch-sf{scale}")
    folder.mkdir(exist_ok=True)
    for table in TABLES:
        (partial / f"{table}.parquet").replace(folder / f"{table}.parquet")
    shutil.rmtree(partial)
