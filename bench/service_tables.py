"""The figures of the live service in the documentation: from files that benchmarks write.

`python -m bench.service --out docs/data/service.json` measures them, likewise `bench.stream` and
`bench.databases`. `python -m bench.service_tables` puts them into the pages.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
FILES = {
    one: DOCS / "data" / f"{one}.json"
    for one in ("service", "stream", "databases")
    if (DOCS / "data" / f"{one}.json").exists()
}
PLACE = "<!-- {0}: from data/{1}.json -->\n{2}<!-- end of {0} -->"
TABLES = {
    "what a request costs": """
| request | measured here |
|---|---|
| a FastAPI endpoint that inserts one row | {service.single.bare_per_s:,.0f} requests/s |
| ask for one slot, one hot campaign | {service.single.ask_per_s:,.0f} requests/s, {service.single.ask.ratio:.2f} of it |
| tell one slot, one hot campaign | {service.single.tell_per_s:,.0f} requests/s, {service.single.tell.ratio:.2f} |
| the same, spread over 100 campaigns | {service.single.spread.ask_per_s:,.0f} and {service.single.spread.tell_per_s:,.0f} requests/s, {service.single.spread.ask.ratio:.2f} and {service.single.spread.tell.ratio:.2f} |
| the same, spread over 10,000 campaigns | {service.single.spread_10000.ask_per_s:,.0f} and {service.single.spread_10000.tell_per_s:,.0f} requests/s, {service.single.spread_10000.ask.ratio:.2f} and {service.single.spread_10000.tell.ratio:.2f} |
| the same, when the processes meet those campaigns for the first time | {service.single.spread_10000.at_first.ask_per_s:,.0f} and {service.single.spread_10000.at_first.tell_per_s:,.0f} requests/s, {service.single.spread_10000.at_first.ask.ratio:.2f} and {service.single.spread_10000.at_first.tell.ratio:.2f} |
| blocks of 100 slots, asked and answered | {service.block.answers_per_s:,.0f} answers/s; with sums instead of scores {service.block.totals.answers_per_s:,.0f} |
| 99th percentile under that load (32 connections) | {service.p99_ms:.0f} ms single, {service.block.p99_ms:.0f} ms in blocks; bare insert {service.bare.p99_ms:.0f} ms |
| `pgbench`, insert one row, 1 and 32 clients | {service.pgbench.insert.1.tps:,.0f} and {service.pgbench.insert.32.tps:,.0f} a second |
| `pgbench`, ask on one campaign, 1 and 32 clients | {service.pgbench.ask.1.tps:,.0f} and {service.pgbench.ask.32.tps:,.0f} a second |
| an ask among 10 campaigns, among 100,000 | {service.ask_ms.campaigns_10:.2f} and {service.ask_ms.campaigns_100000:.2f} ms (ratio {service.campaigns.ratio:.2f}) |
| an ask after 10^3 answers, after 10^8 | {service.ask_ms.answers_1e3:.2f} and {service.ask_ms.answers_1e8:.2f} ms (ratio {service.age.ratio:.2f}) |
""",  # noqa: E501
    "the service against a bare insert": """
| what it is | measured |
|---|---|
| single-slot ask and tell on one hot campaign, part of the bare insert's requests a second | {service.single.ask.ratio:.2f} and {service.single.tell.ratio:.2f} |
| the same over 100 campaigns | {service.single.spread.ask.ratio:.2f} and {service.single.spread.tell.ratio:.2f} |
| the same over 10,000 campaigns | {service.single.spread_10000.ask.ratio:.2f} and {service.single.spread_10000.tell.ratio:.2f} |
| the same, when the processes meet those campaigns for the first time | {service.single.spread_10000.at_first.ask.ratio:.2f} and {service.single.spread_10000.at_first.tell.ratio:.2f} |
| answers a second in blocks of 100 | {service.block.answers_per_s:,.0f} |
| 99th percentile, 32 connections: single, bare | {service.p99_ms:.0f} ms, {service.bare.p99_ms:.0f} ms |
| an ask among 100,000 campaigns against 10; after 10^8 answers against 10^3 | {service.campaigns.ratio:.2f}; {service.age.ratio:.2f} |
""",  # noqa: E501
    "sizes to begin with": """
| load | to begin with |
|---|---|
| up to {spread:,} asks and tells a second | 2 processes, `pool_size` 10, PostgreSQL on 2 cores |
| one hot campaign, {hot:,} a second | the same: its requests share transactions |
| {blocks:,} answers a second | blocks of 100 slots, not more processes |
| disk | 400 bytes an ask, somewhat more a tell, 16 bytes a slot of a block |
""",
    "decisions from memory": """
| what | measured here |
|---|---|
| `next`, the median and the 99th percentile | {stream.next_p50_us:.1f} and {stream.next_p99_us:.1f} microseconds |
| decisions, one process with one thread | {stream.decisions_per_s:,.0f} a second |
| answers that the service counted, end to end | {stream.counted_per_s:,.0f} a second |
| the same by the bulk route alone | {stream.bulk_per_s:,.0f} a second |
| one request per ask and one per tell | {stream.single_per_s:,.0f} a second |
""",  # noqa: E501
    "several databases": """
| what | one server | two servers |
|---|---|---|
| answers counted | {databases.one.answers_per_s:,.0f} a second | {databases.two.answers_per_s:,.0f} a second, {databases.ratio:.2f} times as many |
| CPU time per answer: load generator | {databases.one.client_us:.1f} microseconds | {databases.two.client_us:.1f} |
| service processes | {databases.one.service_us:.1f} microseconds | {databases.two.service_us:.1f} |
| PostgreSQL | {databases.one.postgres_us:.1f} microseconds | {databases.two.postgres_us:.1f} |
| cores that all of them got together, of {databases.cores:.0f} | {databases.one.cores_busy:.1f} | {databases.two.cores_busy:.1f} |
""",  # noqa: E501
    "removing events": """
| how | time | log that replicas have to read |
|---|---|---|
| deleted, as `archive` does | {databases.remove.delete_s:.0f} seconds | {databases.remove.delete_wal_mb:,.0f} MB |
| dropped with a table that has nothing else | {databases.remove.drop_s:.1f} seconds | {databases.remove.drop_wal_mb:.1f} MB |
""",  # noqa: E501
}
SOURCES = {
    "decisions from memory": "stream",
    "several databases": "databases",
    "removing events": "databases",
}
"""The file of each table; "service" for all others."""
PAGES = {
    page: [name for name in names if SOURCES.get(name, "service") in FILES]
    for page, names in {
        "scale.md": ["what a request costs", *SOURCES],
        "benchmarks.md": ["the service against a bare insert"],
        "operations.md": ["sizes to begin with"],
    }.items()
}


def table_of(name: str, figures: dict[str, float]) -> str:
    """Return a table in Markdown.

    The docs promise the measured figure rounded down to one digit.
    """
    promised = {
        "spread": min(figures[f"service.single.spread.{one}_per_s"] for one in ("ask", "tell")),
        "hot": min(figures[f"service.single.{one}_per_s"] for one in ("ask", "tell")),
        "blocks": figures["service.block.answers_per_s"],
    }
    known = figures | {word: _round_down(value) for word, value in promised.items()}

    def shown(found: re.Match[str]) -> str:
        return format(known[found[1]], found[2])

    return re.sub(r"\{([^:}]+):([^}]*)\}", shown, TABLES[name]).lstrip("\n")


def _round_down(value: float) -> int:
    """Return a number with its first digit alone.

    >>> _round_down(62_853.1), _round_down(1_494)
    (60000, 1000)
    """
    unit = 10 ** int(math.log10(value))
    return int(value // unit * unit)


def rewritten(page: str, text: str, figures: dict[str, float]) -> str:
    """Return a page with its tables as the figures have them."""
    for name in PAGES[page]:
        source = SOURCES.get(name, "service")
        pattern = PLACE.format(re.escape(name), source, "(?:.*\n)*?")
        places = re.findall(pattern, text)
        if len(places) != 1:
            raise ValueError(f"{page} must have one place for {name!r}, and has {len(places)}")
        text = text.replace(places[0], PLACE.format(name, source, table_of(name, figures)))
    return text


def measured() -> dict[str, float]:
    """Return the figures of all files."""
    found: dict[str, float] = {}
    for path in FILES.values():
        found |= json.loads(path.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Put the figures into the pages."""
    figures = measured()
    for page in PAGES:
        path = DOCS / page
        text = rewritten(page, path.read_text(encoding="utf-8"), figures)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
