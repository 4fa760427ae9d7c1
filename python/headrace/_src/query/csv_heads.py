"""The begins of CSV files, as far as they show what the rest is like."""

from __future__ import annotations

import re

#: Of a file in a store or of another encoding so much is copied for DuckDB's sniffer.
HEAD_BYTES = 4 << 20


def begin_of(path: str, count: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(count)


def decompressed(head: bytes, compression: str) -> bytes:
    """What the begin of a compressed file says."""
    import pyarrow as pa

    found = []
    stream = pa.CompressedInputStream(pa.BufferReader(head), compression)
    try:
        while block := stream.read(HEAD_BYTES):
            found.append(block)
    except OSError:  # it is cut off
        pass
    return b"".join(found)


def line_end(path: str, compression: str, quote: str) -> str:
    """The end of the first line, as DuckDB writes it: a carriage return alone, or a line feed.

    compression: none, or of the file.
    """
    head = begin_of(path, HEAD_BYTES)
    if compression != "none":
        head = decompressed(head, compression)
    if mark := re.escape(quote.encode()):
        head = re.sub(rb"%s[^%s]*%s" % (mark, mark, mark), b"", head)
    found = re.search(rb"\r(?!\n)|\n", head)
    return "\\r" if found and found[0] == b"\r" else "\\n"
