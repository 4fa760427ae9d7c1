"""How long TPC-H's q06 takes from a store whose answers begin after some milliseconds, beside Polars.

Run it by `./dev python test/python/store_benchmark.py FOLDER [MILLISECONDS]`, with a folder of TPC-H's files.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from datetime import date
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from store_server import serving


def _serve(folder: str, latency: float, pipe: Connection) -> None:
    with serving(latency=latency) as store:
        store.put("/bucket/lineitem.parquet", (Path(folder) / "lineitem.parquet").read_bytes())
        pipe.send(store.url)
        while pipe.recv():
            pipe.send((len(store.asked), store.bytes_sent))
            store.forget()


def _q06_of_polars(source: str, **options: Any) -> Any:
    import polars as pl

    quantity, discount, day = map(pl.col, ("l_quantity", "l_discount", "l_shipdate"))
    kept = (day >= date(1994, 1, 1)) & (day < date(1995, 1, 1)) & discount.is_between(0.05, 0.07)
    frame = pl.scan_parquet(source, **options).filter(kept & (quantity < 24))
    return frame.select((pl.col("l_extendedprice") * discount).sum()).collect(engine="streaming")


def main(folder: str, milliseconds: float) -> None:
    import headrace as hr

    mine, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(folder, milliseconds / 1000, theirs), daemon=True
    )
    server.start()
    url = mine.recv()
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "us-east-1"}
    os.environ.update(keys, AWS_ENDPOINT_URL=url)
    options = {"endpoint_url": url, **{name.lower(): value for name, value in keys.items()}}
    address, local = "s3://bucket/lineitem.parquet", f"{folder}/lineitem.parquet"
    query = (
        "select sum(l_extendedprice * l_discount) as revenue from '{}' where l_quantity < 24 and "
        "l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01' and "
        "l_discount between 0.05 and 0.07"
    )

    def measured(name: str, run: Callable[[], Any]) -> None:
        start = time.perf_counter()
        run()
        seconds = time.perf_counter() - start
        mine.send(True)
        requests, size = mine.recv()
        print(f"{name:26} {seconds * 1000:6.0f} ms {requests:5} requests {size / 1e6:7.1f} MB")

    measured("headrace: count(*)", lambda: hr.sql(f"select count(*) from '{address}'"))
    for again in ("", ", again"):
        measured(f"headrace: q06{again}", lambda: hr.sql(query.format(address)))
    measured("headrace: q06, local", lambda: hr.sql(query.format(local)))
    for again in ("", ", again"):
        measured(f"Polars: q06{again}", lambda: _q06_of_polars(address, storage_options=options))
    measured("Polars: q06, local", lambda: _q06_of_polars(local))
    mine.send(False)
    server.join()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 20)
