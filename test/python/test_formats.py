"""format, printf, bar, sizes in bytes, places in structs: over NULL and extremes, beside DuckDB."""

from __future__ import annotations

import random

import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import answer, check

_TABLES = {
    "t": pa.table(
        {
            "id": range(7),
            "i": pa.array([1, -255, None, 1234567, 0, 2**63 - 1, -(2**63)], pa.int64()),
            "k": pa.array([5, None, -1, 65, 127, -128, 0], pa.int8()),
            "w": pa.array([5, None, 255, 65, 127, 0, 1], pa.uint8()),
            "u": pa.array([5, None, 2**64 - 1, 65, 127, 0, 1], pa.uint64()),
            "s": ["x", None, "züb", "", "abcdefghijk", "日本語", "a%{}"],
            "d": [1.5, None, -1234567.891, float("inf"), 1e20, float("-inf"), 123456.5],
            "f": pa.array([0.1, float("nan"), -0.0, 1e-5, 100, 3e38, 2.5], pa.float32()),
            "b": [True, None, False, True, False, True, False],
        }
    )
}
_FORMATS = [
    "format('{} {} {} {} {} {}', i, k, u, s, d, b)", "format('{}|{}', f, i::hugeint)",
    "format('{1} {0} {1}', i, s)", "format('{{}} {}', i)", "format('x')", "format('{:}', d)",
    "format('{:,}|{:_}|{:''}|{:,}|{:,.2f}|{:,d}', i, i, i, d, d, i)",
    "format('{:>10}|{:<10}|{:^10}|{:*^10}|{:10}', s, s, s, s, s)",
    "format('{:>10}|{:<10}|{:^10}|{:*^10}|{:10}|{:-}', i, i, i, i, i, i)",
    "format('{:10}|{:10.2f}|{:<12.1f}|{:^14.3e}|{:010.2f}', d, d, d, d, d)",
    "format('{:+}|{: }|{:+d}|{: d}|{:+06}|{: 9}', d, f, i, k, f, d)",
    "format('{:x} {:X} {:o} {:b} {:B} {:#x} {:#X}', i, i, i, i, i, i, i)",
    "format('{:#b} {:08d} {:#08x} {:+x}', i, i, i, i)",
    "format('{:f} {:e} {:g} {:F} {:E} {:G}', d, d, d, f, f, f)",
    "format('{:.0f} {:.3g} {:.1e}', f, f, f)",
    "format('{:.3}|{:.1s}|{:5s}', s, s, s)", "format('{:d}|{:5}|{:>7}|{:x}|{}', b, b, b, b, w)",
    "format('{}', 1, s)", "format('{}', 1, NULL)", "format(NULL, 1)", "format('{}', NULL::int)",
    "format('{}|{:.1f}', (i % 100)::decimal(5,2), 3.14)",
    "format('{}|{:>12}', date '2020-01-01' + k, [i, 2])",
    "printf('%d %s %f %5.2f %x %c', k, s, d, d, k, 65)",
    "printf('%5d|%-5d|%05d|%+d|% d', i, i, i, i, i)",
    "printf('%x %X %#x %o %u', i, i, i, i, i)", "printf('%s|%10s|%-10s|%.2s|%5.1s', s, s, s, s, s)",
    "printf('%,d|%_d|%''d|%,.2f', i, i, i, d)",
    "printf('%e %g %G %E %.1f %10.2e|%-12g|', d, d, d, d, d, d, d)",
    "printf('%08.2f|%+.1f|% f|%5.1f|%08.1f', d, d, d, f, f)", "printf('%d %s %5s', b, b, b)",
    "printf('%i%% %ld %lld %5c %c', i, i, i, 65, abs(k::int) % 100)",
    "printf('%s %d', date '2020-01-01', i::hugeint)",
]  # fmt: skip
_OTHERS = [
    "bar(i, 0, 100)", "bar(i, -1000, 2000000, 10)", "bar(d, 0, 10, 3)", "bar(f, 0, 1, 7.6)", "bar(i, i, 100)",
    "bar(5, 0, 10, abs(k::int) % 10 + 1)", "bar(k, 10, 0, 5)", "bar(k, NULL, 5)",
    "bar('nan'::double, 0, 5, 3)",
    "bar(5, 'nan'::double, 2, 3)", "bar(k, 0, 'inf'::double, 3)", "bar(6, 5, 5, 3)", "bar(i, 0, 100, NULL)",
    "parse_formatted_bytes(abs(k::int)::varchar || ' MB')", "parse_formatted_bytes(' 1.5KB ')",
    "parse_formatted_bytes('1.5kilobytes x')", "parse_formatted_bytes('1e3 TiB')",
    "parse_formatted_bytes('-0 b')",
    "parse_formatted_bytes(NULL)",
    "struct_contains(row(i, k, 7), 7)", "struct_contains(row(i, k), 5)", "struct_contains(row(i, k), NULL)",
    "struct_contains(row(i, k), k)", "struct_has(row(i, s), 'x')", "struct_position(row(i, k, NULL), 5)",
    "struct_position(row(i, k), NULL)", "struct_position(row(i, k), k)", "struct_position(row(i, s), i)",
    "struct_contains(case when i > 0 then row(i, 1) end, 1)", "struct_position(row(i, 7, 7), 7)",
    "struct_position(case when i > 0 then row(i, 1) end, 1)", "struct_contains(row(1.5, 'x'), d)",
    "struct_indexof(row(s, 'x'), 'x')", "struct_contains(row([i], [1]), [1])",
    "struct_contains(row(k, 'a'), 2.5::double)",
    "strptime('2020-01-0' || id + 1, ['%d/%m/%Y', '%Y-%m-%d'])",
    "strptime('2020-02-01', ['%Y-%d-%m', '%Y-%m-%d'])",
    "try_strptime(case id when 1 then '1/2/2020' when 2 then 'x' when 3 then '2020-02-30'"
    " else '2020-02-01' end, ['%d/%m/%Y', NULL, '%Y-%m-%d', '%Y-%d-%m'])",
    "strptime(NULL, ['%Y-%m-%d'])", "strptime('2020-02-01', NULL)",
]  # fmt: skip


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("expressions", [_FORMATS, _OTHERS], ids=["formats", "others"])
def test_beside_duckdb(expressions: list[str], ranks: int) -> None:
    columns = ", ".join(f"{expression} as x{number}" for number, expression in enumerate(expressions))
    check(f"select id, {columns} from t order by id", _TABLES, ranks=ranks)


def test_random_forms() -> None:
    """Each is right, refused, or an error of DuckDB too."""
    draw = random.Random(5)
    right: list[str] = []
    while len(right) < 60:
        column = draw.choice("ikwsdfb")
        width = draw.choice(["", "", "5", "12", "07"])
        precision = draw.choice(["", "", ".3", ".0"])
        letter = draw.choice("dxXbofFeEgGsc") if draw.random() < 0.7 else ""
        if draw.random() < 0.5:
            start = draw.choice(["", "", "<", ">", "^", "*^"]) + draw.choice(["", "", "+", " "])
            call = f"format('[{{:{start}{draw.choice(['', '#'])}{width}{precision}{letter}}}]', {column})"
        else:
            start = draw.choice(["", "", "-", "+", " ", "#", ","])
            call = f"printf('[%{start}{width}{precision}{letter or 's'}]', {column})"
        text = f"select id, {call} as x from t order by id"
        try:
            got = hr.sql(text, _TABLES).to_pylist()
        except hr.HeadraceError:
            continue
        assert got == answer(text, _TABLES).to_pylist(), text
        right.append(call)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("format('{:z}', i)", 'unsupported format: the form "z" of such a value: i'),
        ("format('{:d}', s)", 'the form "d" of such a value: s'),
        ("format('{:x}', u)", 'the form "x" of such a value: u'),
        ("format('{:+d}', w)", 'the form "\\+d" of such a value'),
        ("format('{:07}', b)", 'the form "07" of such a value: b'),
        ("printf('%.3d', i)", 'unsupported printf: the form "%.3d"'),
        ("printf('%*d', 5, i)", 'the form "%\\*d"'),
        ("format('{', i)", "unsupported format: the format {"),
        ("format('}', i)", "unsupported format: the format }"),
        ("format('{:{}}', i, 3)", "unsupported format: the form"),
        ("format('{0} {}', i, i)", "unsupported format: the format \\{0} {}"),
        ("format('{} {0}', i, i)", "unsupported format: the format {} \\{0}"),
        ("format('{} {}', i)", "the format has more parts than there are values: {} {}"),
        ("printf('%')", "the format has more parts than there are values: %"),
        ("format(s, i)", "unsupported format: the format must be a constant"),
        ("bar(i, 0, 100, 0.5)", "a bar must be 1 to 1000 wide, and of finite numbers"),
        ("bar(i, 0, 100, 2000)", "a bar must be 1 to 1000 wide"),
        ("bar(i, 0, 100, 'nan'::double)", "a bar must be 1 to 1000 wide"),
        ("bar(1, '-inf'::double, 5)", "and of finite numbers"),
        *[
            (f"parse_formatted_bytes('{text}')", "a text that is no size with its unit")
            for text in ("", "1", "b", "1 x", "-1 b", "1.2.3 b", "inf b", "1 pb", "1e30 kb")
        ],
        ("struct_contains(row(date '2020-01-01', 5), 5)", "of fields of other types than the value"),
        ("strptime('2020', ['%m', '%d'])", "not of the form that strptime asks for"),
        ("strptime('2020', ['%Y', '%Q'])", "specifier %Q"),
    ],
)
def test_what_is_refused(expression: str, message: str) -> None:
    with pytest.raises(hr.HeadraceError, match=message):
        hr.sql(f"select {expression} as y from t", _TABLES)
