"""Ibis over a session: `ibis.headrace.connect` where headrace is installed, else `headrace.ibis.connect`.

Needs Ibis: `pip install ibis-framework`. Expressions are compiled as for DuckDB, whose SQL headrace reads.
"""

from __future__ import annotations

from headrace._src.ibis_backend import Backend, connect

__all__ = ["Backend", "connect"]
