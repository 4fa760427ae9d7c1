"""What a user of an SQL engine expects, statement by statement, against DuckDB on 1 to 4 ranks."""

from __future__ import annotations

import datetime
from decimal import Decimal

import duckdb
import headrace as hr
import pyarrow as pa
import pytest
from duckdb_oracle import same

D = datetime.date
_PRICES = "1.25,-7.50,0.05,,99.99,-0.45,12.00,3.33,3.33,,1000.00,-0.05"


def _tables() -> dict[str, pa.Table]:
    items = pa.table(
        {
            "id": pa.array(range(1, 13), pa.int64()),
            "k": pa.array([1, 1, 2, None, 3, 3, None, 5, 8, 8, 8, 9], pa.int32()),
            "name": pa.array(
                [
                    "ash",
                    "Birch",
                    None,
                    "cedar",
                    "",
                    "ash ",
                    " oak",
                    "žluť",
                    "ash",
                    None,
                    "Elm",
                    "fir-tree, the longest",
                ]
            ),
            "price": pa.array(
                [Decimal(text) if text else None for text in _PRICES.split(",")], pa.decimal128(15, 2)
            ),
            "weight": pa.array([1.5, -2.5, 0.5, None, 2.25, -0.75, 3.0, 7.125, None, 0.0, 1e3, -1.25]),
            "day": pa.array(
                [
                    D(2024, 1, 31),
                    D(2024, 2, 29),
                    None,
                    D(1999, 12, 31),
                    D(1969, 7, 20),
                    D(2024, 1, 31),
                    D(2023, 3, 1),
                    D(2000, 2, 29),
                    D(2024, 5, 31),
                    None,
                    D(1970, 1, 1),
                    D(2024, 12, 25),
                ],
                pa.date32(),
            ),
            "sold": pa.array([True, False, None, True, False, True, True, None, False, False, True, True]),
        }
    )
    groups = pa.table(
        {
            "g": pa.array([1, 2, 3, None, 6, 8, 8], pa.int32()),
            "title": pa.array(["one", "two", None, "none", "six", "eight", "ash"]),
            "digits": pa.array(["1", " 22", "-3", "4", "0", "+5", "6"]),
        }
    )
    # Without NULLs, and typed so.
    schema = pa.schema([pa.field("n", pa.int32(), nullable=False)])
    return {
        "items": items,
        "sets": groups,
        "firm": pa.table({"n": pa.array([1, 2, 5, 5], pa.int32())}, schema=schema),
    }


TABLES = _tables()

UNIONS = """
select k from items union all select g from sets
select k, name from items union all select g, title from sets
select k from items union select g from sets
select name from items union select title from sets
select k from items intersect select g from sets
select name from items intersect select title from sets
select k from items except select g from sets
select name, k from items except select title, g from sets
select count(*) from (select k from items union all select g from sets)
select k, count(*), sum(price) from (select k, price from items union all select g, 1.5 from sets) group by k
select k from items union all select k from items union all select n from firm
select * from (select k from items union all select g from sets) u join firm on u.k = firm.n
select k from items where price > 3 union all select k + 100 from items where price <= 3 order by 1 limit 7
select max(k) from (select k from items union all select g * 10 from sets)
select name from items where k = 1 union all select 'literal' union all select title from sets where g = 6
"""

VALUES = """
select a // b as q, a // 3 as t from (values (-9223372036854775808, 1), (-7, -1)) as v(a, b)
select 1
select 1 as a, 'x' as b, 2.5 as c, true as d
select 1 + 2 * 3 as x
values (1, 'a'), (2, null), (null, 'c')
select * from (values (1, 'a'), (2, 'b')) as t(x, y) where x > 1
select v.y, i.id from items i join (values (1, 'one'), (8, 'eight')) as v(x, y) on i.k = v.x
select * from items where 1 = 0
select count(*) from items where false
select k, count(*) from items where 1 = 2 group by k
select sum(price), count(*) from items where 1 = 0
select id from items where id > 3 and null
select count(*) from (values (1), (2), (3)) as t(x)
select * from (select 1 as a union all select 2) t
select date '2024-02-29' as d
select cast(null as integer) as n
"""

JOINS = """
select id, g, title from items right join sets on k = g
select id, g, title from items full join sets on k = g
select count(*) from items full join sets on k = g
select id, k, g, title from items full join sets on k = g and id > 5
select id, title from items full join sets on k = g where title is null or id is null
select sum(id), count(title) from items full join sets on k = g
select i.id, s.title, f.n from items i full join sets s on i.k = s.g full join firm f on f.n = s.g
select name, title from items full join sets on name = title
select i.id, s.g from items i right join sets s on i.k = s.g and i.price > 2
select s.g, count(i.id) from items i right join sets s on i.k = s.g group by s.g
select a.id, b.id from items a full join items b on a.k = b.id
select id, g from items left join sets on k = g and g > (select min(g) from sets)
select id from items where exists (select 1 from sets where g = k)
select id from items where not exists (select 1 from sets where g = k)
select id from items where k in (select g from sets where g is not null)
select id from items where k not in (select g from sets where g is not null)
select id from items where k not in (select g from sets)
select id from items where k not in (select g from sets where g > 100)
select id from items where k not in (select n from firm)
select n from firm where n not in (select k from items)
select id, (select max(title) from sets where g = k) as t from items
select exists (select 1 from sets) as e
select exists (select 1 from sets where g > 100) as e
select id from items join sets on k = g and id > (select min(id) from items)
select k from items where k is not distinct from (select max(g) from sets)
select a.id, s.title from items a join sets s on a.k is not distinct from s.g
select id, n from items, firm where id < 4
"""

ORDERS = """
select id from items order by id limit 3 offset 2
select id from items order by price desc nulls last, id offset 9
select id, name from items order by name nulls first, id limit 4 offset 1
select count(*) from (select id from items limit 5 offset 4) t
select id from items order by id limit 9223372036854775807 offset 1
select count(*) from (select id from items limit 9223372036854775807 offset 4) t
select count(*) from (select id from items offset 4) t
select count(*) from (select id from items limit 5 offset 100) t
select id + 1 as x from items order by id desc limit 2
select id * 2 as x, name from items order by price, id limit 3 offset 3
select * from (select id from items order by id limit 6) t order by id desc limit 2
select k, max(name) from items group by k order by k nulls first limit 3 offset 1
"""

STRINGS = """
select id, case when k = 1 then 'one' when k > 5 then 'many' else name end as c from items
select id, case when sold then name end as c from items
select id, case when k = 1 then 0 when 10 / (k - 1) > 5 then 1 else 2 end as c from items
select id, case when k = 1 then 0 when 10 // (k - 1) > 5 then 1 else 2 end as c from items
select id, coalesce(name, 'nobody') as c from items
select id, coalesce(name, title, 'nobody') as c from items left join sets on k = g
select case when k > 3 then 'high' else 'low' end as c, count(*) from items group by 1
select upper(name), lower(name) from items
select id, length(name), char_length(name) as c from items
select name || '!' as c from items
select concat(name, '-', k, '-', title) as c from items left join sets on k = g
select trim(name), ltrim(name), rtrim(name) from items
select trim(both 'ah' from name) as c from items
select trim(leading 'a' from name) as a, trim(trailing 'h' from name) as b from items
select replace(name, 'a', 'AA') as c, replace(name, 'sh', '') as d from items
select id from items where upper(name) = 'ASH'
select id from items where length(trim(name)) > 3
select upper(name) as u, count(*) from items group by upper(name)
select substring(upper(name), 2, 3) as c from items
select min(name), max(name) from items
select k, min(name), max(upper(name)) from items group by k
select id from items where name || coalesce(name, '') like '%ash%'
select nullif(name, 'ash') as c from items
select id from items where name ilike 'ASH%' or starts_with(name, 'c')
select left(name, 2) as c from items
select greatest(name, 'b') as c from items
select id from items order by lower(name) nulls last, id limit 4
select case when id < 6 then upper(name) else lower(name) end as c from items
"""

NUMBERS = """
select abs(k), abs(price), abs(weight) from items
select abs(k - 5) as a from items
select round(price, 1) as a, round(weight) as b, round(weight, 1) as c from items
select floor(weight) as a, ceil(weight) as b, trunc(weight) as c from items
select floor(price) as a, ceil(price) as b from items
select sqrt(abs(weight)) as s from items
select id % 3 as m, count(*) from items group by 1
select cast(id as varchar) as a, cast(price as varchar) as b, cast(day as varchar) as c from items
select cast(sold as varchar) as a from items
select cast(digits as integer) + 1 as a, cast(digits as bigint) as b, cast(digits as double) as c from sets
select cast(digits as decimal(10, 2)) as a from sets
select cast(cast(id as varchar) as integer) as a, cast(cast(day as varchar) as date) as b from items
select cast(k as double) / 2 as a, cast(price as double) as b from items
select cast(weight as decimal(10, 1)) as a from items where weight > 0
select nullif(k, 8) as a, greatest(k, 3) as b, least(k, 3) as c from items
select stddev(price), var_pop(weight), stddev_pop(k), var_samp(id) from items
select k, stddev(weight), var_samp(price) from items group by k
select count(distinct k), sum(distinct k) from items
select count(distinct k), count(distinct name) from items
select sold, count(distinct k), sum(distinct price), count(distinct name), sum(price) from items group by 1
select k, count(distinct sold), count(distinct name), max(price) from items group by k
select sum(price) filter (where k > 2) as a, count(*) filter (where sold) as b from items
select id from items where sold is true
select id from items where sold is not true
"""

DATES = """
select id, extract(year from day) as y, extract(month from day) as m, extract(day from day) as d from items
select extract(quarter from day) as q, extract(dow from day) as w from items
select cast(day + interval '1' month as date) as a, cast(day - interval '3' day as date) as b from items
select cast(day + interval '1' year as date) as a, cast(day - interval '13' month as date) as b from items
select id from items where day + interval '1' month > date '2024-03-01'
select day - date '2000-01-01' as n from items
select extract(month from day) as m, count(*) from items group by 1
select min(day), max(day) from items
select cast(day + interval '1' hour as date) as a, day + interval '90' minute as b from items
"""

LITERALS = """
select 9223372036854775807 as a, 9223372036854775808 as b, -9223372036854775808 as c
select 18446744073709551615 as a
select 1e3 as a, 1.50 as b, 12345678901234567890.12345 as c, 1e-20 as d
select id from items where weight > 0.0 or weight = 0.3
select weight * 1.5 as a, price * 1.5 as b, k * 1.5 as c, weight + price as d from items
select coalesce(weight, 0.0) as a, coalesce(price, 0) as b, coalesce(k, 0.5) as c from items
select id from items where weight < 1e25
select id from items where k > 2.5
select case when id = 1 then 1 when id = 2 then 2.5 else weight end as c from items
select id / 2 as a, id // 2 as b, id % 5 as c, -id // 5 as d, -id % 5 as e from items
select price / 3 as a, price / 0 as b, id / 0 as c, weight / 0.0 as d from items
select sum(id) as a, sum(k) as b, sum(price) as c, sum(weight) as d, avg(id) as e, avg(price) as f from items
select k, sum(id) / count(*) as a, sum(price) / sum(id) as b from items group by k
select cast(1.5 as integer) as a, cast(2.5 as integer) as b, cast(-1.5 as integer) as c
select cast(weight as integer) as a, cast(price as integer) as b, cast(weight as bigint) as c from items
select price * price as a, price + id as b, price - 0.001 as c, -price as d from items
select id + 1 as a, id * 2 as b, k + id as c, k - k as d from items
select * from (values (1, 2.5), (2, 1.25)) as t(x, y)
select x + y as z from (values (1, 2.5), (null, 1.25)) as t(x, y)
"""

NULLS = """
select id from items where (k in (select g from sets)) is null
select id from items where (k in (select g from sets)) is false
select id from items where (k not in (select g from sets)) is null
select id, k in (select g from sets) as c from items
select id, k in (select n from firm) as c from items
select id, coalesce(k in (select g from sets), true) as c from items
select id, case when k in (select g from sets) then 'in' else 'out' end as c from items
select id from items where k = 1 or k not in (select nullif(g, 1) from sets)
select id from items where not 'v' in (select null from sets)
select id from items where k in (1, 2, null)
select id from items where k not in (1, 2, null)
select a.id, b.id as other from items a join items b on a.k is not distinct from b.k and a.name = b.name
select a.id, b.id as other from items a join items b on null
select k from items group by k having k in (select g from sets)
select id, exists (select 1 from sets where g = k) as c from items
select id, not exists (select 1 from sets where g = k) or id = 1 as c from items
select id from items where k > any (select g from sets)
select id from items where k <= all (select n from firm)
select id, k = any (select g from sets) as c from items
select a.id from items a join firm on a.k = firm.n and a.id = firm.n
select a.id, n from items a left join firm on a.k = firm.n and a.id = firm.n
select nullif(k, 1) is null as c from items
select id, k is distinct from 1 as a, null is null as b from items
select count(*) as a, count(k) as b, count(distinct k) as c from items
select id from items order by price, id
select id from items order by price desc, id
"""

GUARDS = """
select id from items where id <> 3 and 10 // (id - 3) > 2
select starts_with(name, 'a') as a, starts_with(name, 'a_h') as b, starts_with(name, '%') as c from items
select name like 'a_h%' as a, name like '%\\%%' escape '\\' as b, name not like '%e%' as c from items
"""

SHARED = """
with a as (select k, count(*) as n from items group by k) select x.k, y.n from a x join a y on x.k = y.n
with a as (select * from items where id > 3), b as (select max(id) as m from a) select id from a, b where id<m
select id, (select count(*) from sets where g = k) as c from items
select id, (select title from sets where g = k and g < 4) as c from items
select id from items i where price > (select avg(price) from items j where j.k = i.k)
select id from items i where exists (select 1 from items j where j.k = i.k and j.id <> i.id)
select id from items i where not exists (select 1 from items j where j.k = i.k and j.id > i.id)
select id from items i where k in (select g from sets where length(title) > i.id)
create view v as select id + 1 as w from items; create macro double(x) as x * 2; select double(w) as d from v
create macro pairs(a) as table select id, a as a from items; select * from pairs(7) where id < 3
"""

STATEMENTS = [
    line
    for block in (UNIONS, VALUES, JOINS, ORDERS, STRINGS, NUMBERS, DATES, LITERALS, NULLS, GUARDS, SHARED)
    for line in block.split("\n")
    if line
]


@pytest.fixture(scope="module")
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for name, table in TABLES.items():
        connection.register(name, table)
    return connection


def _answer(connection: duckdb.DuckDBPyConnection, text: str) -> pa.Table:
    *definitions, query = text.split("; ")
    for definition in definitions:
        connection.execute(definition.replace("create ", "create or replace temp "))
    return connection.sql(query).to_arrow_table()


@pytest.mark.parametrize("text", STATEMENTS)
def test_statement(text: str, connection: duckdb.DuckDBPyConnection) -> None:
    expected = _answer(connection, text)
    ordered = text.rfind("order by") > text.rfind(")")
    for ranks in (1, 2, 3, 4):
        same(hr.sql(text, TABLES, ranks=ranks, threads=2), expected, ordered=ordered)
    for seed in (1, 2):  # random layouts
        same(hr.sql(text, TABLES, ranks=1 + seed, threads=2, layout_seed=seed), expected, ordered=ordered)


def test_order_is_kept() -> None:
    text = "select id + 1 as x from items order by price desc nulls last, id limit 4 offset 1"
    answers = [hr.sql(text, TABLES, ranks=ranks).column(0).to_pylist() for ranks in (1, 2, 4)]
    assert answers == [[6, 8, 9, 10]] * 3
    everything = "select id from items order by price desc nulls last, id"
    for seed in range(1, 7):  # also where every rank sorts, and the first keeps its copy
        found = hr.sql(everything, TABLES, ranks=3, layout_seed=seed).column(0).to_pylist()
        assert found == [11, 5, 7, 8, 9, 1, 3, 12, 6, 2, 4, 10]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "select fill(id::decimal(16, 2)) over (order by k) from items",
            "unsupported fill of decimals of more than 15 digits and of UHUGEINT: cast them to double",
        ),
        ("select bitstring_agg(id) from items", "unsupported aggregate function: bitstring_agg"),
        ("select hash(name) from items", "unsupported function: hash"),
    ],
)
def test_refused(text: str, words: str) -> None:
    with pytest.raises(hr.HeadraceError) as caught:
        hr.sql(text, TABLES)
    assert caught.value.kind in ("unsupported", "user")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("select id, 1 // (id - 3) as x from items", "division by zero (at (1 / "),
        ("select id, cast(name as integer) as x from items", "cannot be cast (at CAST(name)"),
        ("select abs(k - 3) // (k - k) as x from items", "division by zero (at (ABS("),
        ("select cast(digits || 'x' as integer) as x from sets", "cannot be cast (at CAST("),
        ("select id, name, day + interval '1000000' year as x from items", ""),
    ],
)
@pytest.mark.parametrize("ranks", [1, 3])
def test_data_errors_name_their_expression(text: str, words: str, ranks: int) -> None:
    with pytest.raises(hr.HeadraceError) as caught:
        hr.sql(text, TABLES, ranks=ranks)
    assert words in str(caught.value)
