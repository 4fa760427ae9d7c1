"""The messages of Flight SQL, as far as they are needed: Protocol Buffers by hand, without a package for it.

A field is a varint or bytes; numbers of fields are those of FlightSql.proto of Apache Arrow.
"""

from __future__ import annotations

from collections.abc import Iterator

_PREFIX = "type.googleapis.com/arrow.flight.protocol.sql."
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Fields:
    """A message that was read: values of fields by their numbers. Raises ValueError for what is none."""

    def __init__(self, data: bytes) -> None:
        self._values: dict[int, list[bytes | int]] = {}
        for number, value in _fields(data):
            self._values.setdefault(number, []).append(value)

    def has(self, number: int) -> bool:
        return number in self._values

    def text(self, number: int) -> str:
        """The last value of a field, as proto3 has it; "" if there is none."""
        return self.data(number).decode()

    def data(self, number: int) -> bytes:
        value = self._values.get(number, [b""])[-1]
        if not isinstance(value, bytes):
            raise ValueError(f"field {number} of a message is no text")
        return value

    def truth(self, number: int) -> bool:
        return bool(self._values.get(number, [0])[-1])

    def texts(self, number: int) -> list[str]:
        return [value.decode() for value in self._values.get(number, []) if isinstance(value, bytes)]

    def numbers(self, number: int) -> list[int]:
        """Of a repeated number, packed or not."""
        found: list[int] = []
        for value in self._values.get(number, []):
            if isinstance(value, int):
                found.append(value)
                continue
            at = 0
            while at < len(value):
                one, at = _varint(value, at)
                found.append(one)
        return found


def message(fields: dict[int, bytes | str | int]) -> bytes:
    """A message of these fields."""
    out = bytearray()
    for number, value in fields.items():
        if isinstance(value, int):
            out += _put(number << 3 | _VARINT) + _put(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += _put(number << 3 | _BYTES) + _put(len(data)) + data
    return bytes(out)


def packed(name: str, fields: dict[int, bytes | str | int]) -> bytes:
    """A message of Flight SQL with its name (google.protobuf.Any)."""
    return message({1: _PREFIX + name, 2: message(fields)})


def unpacked(data: bytes) -> tuple[str, Fields]:
    """The name and the fields of such a message."""
    outer = Fields(data)
    name = outer.text(1)
    if not name.startswith(_PREFIX):
        raise ValueError(f"not a message of Flight SQL: {name[:100]!r}")
    return name.removeprefix(_PREFIX), Fields(outer.data(2))


def _fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind not in (_BYTES, _FIXED32, _FIXED64):
            raise ValueError(f"a message with a field of the unknown kind {kind}")
        length, at = _varint(data, at) if kind == _BYTES else (4 if kind == _FIXED32 else 8, at)
        if at + length > len(data):
            raise ValueError("a message ends within a field")
        yield key >> 3, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError("a message ends within a number")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise ValueError("a number of a message is longer than 64 bits")


def _put(value: int) -> bytes:
    out = bytearray()
    value &= 2**64 - 1  # of what is negative the two's complement
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
