# ruff: noqa: E501
"""Queries over a made-up web log, for `./dev bench accuracy`: sorts, texts, many groups, wide joins.

Neither the tables nor the queries are those of TPC-H or of `headrace calibrate`: other widths, other counts of
distinct values, keys that are skewed, and texts with long common prefixes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet

VISITS = 2_500_000
USERS = 300_000
PAGES = 40_000
REFERRERS = 120_000

_COUNTRIES = [f"{first}{second}" for first in "ABDFGILNPSU" for second in "AERTZ"]
_SITES = ["https://www.example.com", "https://search.example.org/q", "http://news.example.net/story"]
_TOPICS = ["music", "science", "weather", "sports and games", "politics", "travel", "cooking", "history"]
_PLANS = ["free", "monthly", "yearly", "company"]
_WORDS = ["how", "to", "repair", "a", "garden", "bicycle", "before", "winter", "comes", "again", "without", "tools"]


def _texts(random: np.random.Generator, count: int, words: int) -> list[str]:
    picks = random.integers(0, len(_WORDS), (count, words))
    return [" ".join(_WORDS[pick] for pick in row) for row in picks]


def _cents(values: np.ndarray) -> pa.Array:
    """decimal(12, 2) of so many hundredths."""
    pairs = np.stack([values.astype(np.int64), np.zeros(len(values), np.int64)], axis=1)
    return pa.Array.from_buffers(pa.decimal128(12, 2), len(values), [None, pa.py_buffer(pairs.tobytes())])


def write_tables(folder: Path, visits_count: int = VISITS) -> None:
    """The Parquet files `visits`, `users` and `pages` in `folder`."""
    random = np.random.default_rng(20)
    user_keys = random.permutation(USERS) * 7_919 + 11
    referrers = pa.array(
        [f"{_SITES[number % 3]}/{text}/{number}" for number, text in enumerate(_texts(random, REFERRERS, 4))]
    )
    agents = pa.array([f"Agent/{number % 90}.{number} ({text})" for number, text in enumerate(_texts(random, 3_000, 3))])
    # A few users, pages and referrers have most of the visits.
    skewed = np.minimum(random.pareto(1.2, visits_count) * 500, 1e12).astype(np.int64)
    visits = {
        "visit": pa.array(np.arange(visits_count), pa.int64()),
        "user": pa.array(user_keys[random.integers(0, USERS, visits_count)], pa.int64()),
        "page": pa.array(skewed % PAGES, pa.int32()),
        "day": pa.array(random.integers(18_000, 19_100, visits_count).astype(np.int32), pa.date32()),
        "seconds": pa.array(random.gamma(1.3, 60, visits_count).astype(np.int32), pa.int32()),
        "bytes": pa.array(random.integers(200, 5_000_000, visits_count), pa.int64()),
        "paid": _cents(random.integers(0, 900, visits_count) * (random.random(visits_count) < 0.2)),
        "score": pa.array(random.normal(0, 1, visits_count)),
        "country": pa.array(_COUNTRIES).take(pa.array((skewed * 31) % len(_COUNTRIES))),
        "referrer": referrers.take(pa.array((skewed * 17 + random.integers(0, 40, visits_count)) % REFERRERS)),
        "agent": agents.take(pa.array(random.integers(0, 3_000, visits_count))),
    }
    users = {
        "id": pa.array(np.sort(user_keys), pa.int64()),
        "name": pa.array([f"{text} #{number}" for number, text in enumerate(_texts(random, USERS, 2))]),
        "home": pa.array(_COUNTRIES).take(pa.array(random.integers(0, len(_COUNTRIES), USERS))),
        "born": pa.array(random.integers(-10_000, 13_000, USERS).astype(np.int32), pa.date32()),
        "plan": pa.array(_PLANS).take(pa.array(random.integers(0, 4, USERS))),
        "balance": _cents(random.integers(0, 1_000_000, USERS)),
        "visits_seen": pa.array(random.integers(0, 500, USERS), pa.int32()),
    }
    pages = {
        "number": pa.array(np.arange(PAGES), pa.int32()),
        "title": pa.array(_texts(random, PAGES, 7)),
        "topic": pa.array(_TOPICS).take(pa.array(random.integers(0, len(_TOPICS), PAGES))),
        "words": pa.array(random.integers(50, 20_000, PAGES), pa.int32()),
    }
    for name, columns in (("visits", visits), ("users", users), ("pages", pages)):
        parquet.write_table(
            pa.table(columns), folder / f"{name}.parquet", row_group_size=250_000, store_decimal_as_integer=True
        )


def queries() -> Iterator[tuple[str, str]]:
    """(name, SQL) of each."""
    # Sorts.
    yield "sort-two-keys", "select user, seconds, visit from visits order by user, seconds, visit"
    yield "sort-decimal", "select paid, visit from visits where paid > 0 order by paid desc, visit"
    yield "sort-real", "select score, page from visits where seconds < 100 order by score, page"
    yield "sort-country", "select country, seconds, visit from visits where score > 0 order by country, seconds desc, visit"
    yield "sort-referrer", "select referrer, visit from visits where seconds > 120 order by referrer, visit"
    yield "sort-titles", "select title, number from pages order by title, number"
    yield "sort-names", "select name, balance from users order by name"
    yield "top-referrers", "select referrer, seconds from visits order by referrer desc, seconds, visit limit 50"
    # Texts.
    yield "like-middle", "select count(*) c from visits where referrer like '%garden%winter%'"
    yield "like-start", "select country, count(*) c from visits where referrer like 'https://search%' group by country"
    yield "like-title", "select sum(seconds) s from visits join pages on page = number where title like '%repair a%'"
    yield "length-sum", "select country, sum(length(referrer)) s from visits where seconds < 40 group by country"
    yield "least-text", "select country, min(agent) a, max(agent) z from visits where score > 1 group by country"
    yield "agent-in", "select sum(bytes) s, count(*) c from visits where country in ('AA', 'BE', 'UZ') and agent not like '%tools%'"
    yield "texts-out", "select referrer, agent, bytes from visits where score > 1.5"
    # Many groups.
    yield "by-user", "select user, count(*) c, sum(paid) p from visits group by user order by c desc, user limit 10"
    yield "by-referrer", "select referrer, count(*) c, avg(seconds) s from visits group by referrer order by c desc, referrer limit 10"
    yield "by-agent-country", "select agent, country, sum(bytes) b from visits group by agent, country order by b desc, agent limit 10"
    yield "by-user-page", "select user, page, max(score) m from visits group by user, page order by m desc limit 10"
    yield "by-day", "select day, country, avg(score) s, count(*) c from visits group by day, country order by s desc limit 10"
    yield "distinct-users", "select country, count(distinct user) c from visits group by country"
    yield "frequent", "select count(*) c from (select user from visits where seconds > 20 group by user having count(*) > 8) t"
    # Wide joins.
    wide = "sum(bytes) b, sum(paid) p, sum(seconds) s, min(day) d, max(score) m, sum(visits_seen) v, max(born) y"
    yield "join-home", f"select home, {wide} from visits join users on user = id group by home"
    yield "join-two", f"select topic, plan, {wide} from visits join users on user = id join pages on page = number group by topic, plan"
    yield "join-out", "select name, balance, born, title, bytes, day from visits join users on user = id join pages on page = number where score > 1"
    yield "join-filtered", "select topic, sum(bytes) b from visits join pages on page = number join users on user = id where plan = 'company' and words > 15000 group by topic"
    yield "left-join", "select plan, count(visit) c, count(*) a from users left join visits on user = id and seconds > 300 group by plan"
    yield "not-exists", "select count(*) c, sum(balance) b from users where not exists (select 1 from visits where user = id and paid > 5)"
    yield "in-groups", "select home, count(*) c from users where id in (select user from visits group by user having sum(bytes) > 30000000) group by home"
    yield "order-joined", "select name, title, seconds from visits join users on user = id join pages on page = number where seconds > 250 order by seconds desc, name, title"
