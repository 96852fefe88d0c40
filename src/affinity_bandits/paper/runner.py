"""Run items, write their pictures, data and claims, and one HTML report."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from affinity_bandits._version import __version__
from affinity_bandits.base import checks
from affinity_bandits.base.errors import need
from affinity_bandits.base.looks import read_style
from affinity_bandits.experiments import Cell, Executor, Experiment, Store, Summary, run_experiment
from affinity_bandits.paper.item import CellRunner, Claim, Collection, Item
from affinity_bandits.paper.statements import with_number
from affinity_bandits.plots.style import save_figure
from affinity_bandits.simulation import Result


@dataclass(frozen=True)
class StoreCellRunner:
    """A `CellRunner` that reuses the finished work in a store.

    Args:
        store: where results are kept.
        executor: runs the cells; by default this process.
        progress: counts the finished runs.
    """

    store: Store
    executor: Executor | None = None
    progress: Summary | None = None

    def results(self, cells: Sequence[Cell], replicates: int) -> list[Result]:
        experiment = Experiment(tuple(cells), replicates)
        found = run_experiment(experiment, self.store, self.executor, self.progress)
        by_identity = {cell.identity: result for cell, result in found.items()}
        return [by_identity[cell.identity] for cell in cells]


class PlantedOutcome(NamedTuple):
    """Verdicts on the claims in a world in which some of them are false.

    Attributes:
        world: its name.
        failing: the claims that are false there and fail.
        as_planted: whether every verdict is the expected one.
    """

    world: str
    failing: Sequence[str]
    as_planted: bool


@dataclass(frozen=True)
class ItemOutcome:
    """The claims of an item, also in planted worlds, and the folder with its files."""

    item: Item
    scale: str
    claims: tuple[Claim, ...]
    planted: tuple[PlantedOutcome, ...]
    folder: Path

    @property
    def as_known(self) -> bool:
        """Whether every verdict is the expected one."""
        return all(
            (
                *(claim.as_known for claim in self.claims),
                *(world.as_planted for world in self.planted),
            )
        )

    @property
    def holding(self) -> int:
        """The number of claims that hold."""
        return sum(claim.holds for claim in self.claims)


def run_item(item: Item, scale: str, runner: CellRunner, out: Path) -> ItemOutcome:
    """Run one item and write its files; a finished item is read instead."""
    checks.choice("scale", scale, tuple(item.settings))
    folder = out / item.identity
    mark = fingerprint(item, scale)
    finished = read_finished(folder, mark)
    if finished is not None:
        return ItemOutcome(item, scale, *finished, folder)
    need("experiments", "pyarrow")
    import pyarrow as arrow
    from pyarrow import parquet

    data = item.run(item.settings[scale], runner)
    verdicts = tuple(item.claims(data))
    planted = tuple(run_planted(item, world, runner) for world in item.planted)
    folder.mkdir(parents=True, exist_ok=True)
    columns = {name: arrow.array(list(data[name])) for name in data}
    parquet.write_table(arrow.table(columns), folder / "data.parquet")
    figure = item.draw(data)
    for kind in ("png", "svg"):
        save_figure(figure, folder / f"figure.{kind}")
    about = {
        "item": item.identity,
        "title": item.title,
        "labels": item.labels,
        "notes": item.notes,
        "scale": scale,
        "version": __version__,
        "fingerprint": mark,
        "claims": [claim._asdict() for claim in verdicts],
        "planted": [world._asdict() for world in planted],
    }
    # Written last: if this file exists, so do the others.
    (folder / "claims.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return ItemOutcome(item, scale, verdicts, planted, folder)


def run_planted(item: Item, world: str, runner: CellRunner) -> PlantedOutcome:
    """Run an item in one of its planted worlds and compare the verdicts with the expected ones."""
    changes, expected = item.planted[world]
    claims = item.claims(item.run(replace(item.settings["quick"], **changes), runner))
    verdicts = list(zip(claims, expected, strict=True))
    return PlantedOutcome(
        world,
        [claim.sentence for claim, wanted in verdicts if wanted == "F" and not claim.holds],
        all(wanted in ("-", "T" if claim.holds else "F") for claim, wanted in verdicts),
    )


def add_finished(outcomes: Sequence[ItemOutcome], of: Collection, out: Path) -> list[ItemOutcome]:
    """Return outcomes together with those of items that were finished in the folder before."""
    found = {outcome.item.identity: outcome for outcome in outcomes}
    for item in of.items().values():
        for scale in item.settings if item.identity not in found else ():
            folder = out / item.identity
            finished = read_finished(folder, fingerprint(item, scale))
            if finished is not None:
                found[item.identity] = ItemOutcome(item, scale, *finished, folder)
    return [found[identity] for identity in of.items() if identity in found]


def fingerprint(item: Item, scale: str) -> str:
    """Return a digest of everything that determines an item's outcome: settings, version, code."""
    state = hashlib.blake2b(digest_size=16)
    state.update(f"{item.identity} {item.settings[scale]!r} {__version__}".encode())
    own = sys.modules[type(item.settings[scale]).__module__].__file__ or __file__
    for room in dict.fromkeys((Path(__file__).parent, Path(own).parent)):
        for path in sorted(room.glob("*.py")):
            state.update(path.read_bytes())
    return state.hexdigest()


def read_finished(
    folder: Path, mark: str
) -> tuple[tuple[Claim, ...], tuple[PlantedOutcome, ...]] | None:
    """Return the claims and planted worlds of an item finished under the same fingerprint."""
    try:
        about = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    if about.get("fingerprint") != mark:
        return None
    return (
        tuple(Claim(**claim) for claim in about["claims"]),
        tuple(PlantedOutcome(**world) for world in about["planted"]),
    )


STYLE = files("affinity_bandits.paper").joinpath("report.css")


def render_report(outcomes: Sequence[ItemOutcome], about: Collection) -> str:
    """Return the page as HTML."""
    claims = [claim for outcome in outcomes for claim in outcome.claims]
    failed = [claim for claim in claims if not claim.as_known]
    known = [claim for claim in claims if claim.as_known and claim.erratum]
    verdict = f"{sum(claim.holds for claim in claims)} of {len(claims)} claims hold."
    if known:
        verdict += f" Known slips of the paper, see the errata: {len(known)}."
    if failed:
        verdict += f" Verdicts that are not what was known: {len(failed)}."
    scale = outcomes[0].scale if outcomes else ""
    contents = "".join(
        f'<tr><td><a href="#{outcome.item.identity}">{outcome.item.identity}</a></td>'
        f"<td>{escape(outcome.item.title)}</td>"
        f'<td><span class="{_color(outcome)}">{outcome.holding} of {len(outcome.claims)} hold'
        "</span></td></tr>"
        for outcome in outcomes
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(about.title)}</title><style>{read_style(STYLE)}</style>",
            '</head><body><main class="report">',
            f"<h1>{escape(about.heading)}</h1>",
            f'<p class="{"fails" if failed else "holds"}">{verdict}</p>',
            f'<p class="quiet">affinity-bandits {escape(__version__)}, scale {escape(scale)}.</p>',
            f"<table>{contents}</table>",
            *map(_section, outcomes),
            "</main></body></html>",
        ]
    )


def _color(judged: ItemOutcome | Claim) -> str:
    return "holds" if judged.as_known else "fails"


def _section(outcome: ItemOutcome) -> str:
    item = outcome.item
    picture = base64.b64encode((outcome.folder / "figure.png").read_bytes()).decode()
    labels = ", ".join(escape(with_number(label)) for label in item.labels)
    rows = "".join(_row(claim) for claim in outcome.claims)
    return (
        f'<h2 id="{item.identity}">{item.identity}: {escape(item.title)}</h2>'
        f'<p class="quiet">{labels}</p>'
        f'<img alt="{escape(item.title)}" src="data:image/png;base64,{picture}">'
        f"<table><tr><th>claim</th><th>test</th><th>evidence</th><th></th></tr>{rows}</table>"
        f"{_planted(outcome)}"
        f'<p class="quiet">{escape(item.notes)}</p>'
    )


def _planted(outcome: ItemOutcome) -> str:
    """Return a table of the worlds in which claims are false, if there are any."""
    if not outcome.planted:
        return ""
    rows = "".join(
        f"<tr><td>{escape(one.world)}</td><td>{'<br>'.join(map(escape, one.failing))}</td>"
        f'<td><span class="{"holds" if one.as_planted else "fails"}">'
        f"{'noticed' if one.as_planted else 'not as expected'}</span></td></tr>"
        for one in outcome.planted
    )
    return (
        "<h3>The same tests in worlds in which claims are false</h3>"
        "<table><tr><th>planted world</th><th>claims that fail there</th><th></th></tr>"
        f"{rows}</table>"
    )


def _row(claim: Claim) -> str:
    word = "holds" if claim.holds else "fails"
    known = f" (errata: {escape(claim.erratum)})" if claim.erratum else ""
    return (
        f"<tr><td>{escape(claim.sentence)}</td><td>{escape(claim.test)}</td>"
        f"<td>{escape(claim.evidence)}</td>"
        f'<td><span class="{_color(claim)}">{word}</span>{known}</td></tr>'
    )
