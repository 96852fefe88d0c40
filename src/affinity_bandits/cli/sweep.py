"""`affinity sweep`: run, resume, inspect and export grids of many cells."""

from __future__ import annotations

import contextlib
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from affinity_bandits.base.displays import amount, rate
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.base.words import brief_duration, counted
from affinity_bandits.cli import options

if TYPE_CHECKING:
    from affinity_bandits.experiments import Axis, CellSummary, Store, Summary, Sweep
    from affinity_bandits.experiments.store import SlowShard

MOST_SHOWN = 5  # failures that are spelled out
LOOK_SECONDS = 10.0  # between two looks at what is slow
MOST_ROWS = 20  # of the table that goes with a picture

app = typer.Typer(no_args_is_help=True, help="Run a grid of experiments, here or on a cluster.")

Spec = Annotated[Path, typer.Argument(help="TOML file of the sweep: axes, fixed, replicates.")]
StorePlace = Annotated[
    str | None,
    typer.Option(
        help="Directory or URI (s3://bucket/folder) of finished work. [the file's name + .store]"
    ),
]


@app.command()
def run(
    spec: Spec,
    store: StorePlace = None,
    executor: Annotated[str, typer.Option(help=options.KIND_HELP)] = "processes",
    address: Annotated[str | None, typer.Option(help=options.ADDRESS_HELP)] = None,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes, 1 works in this one; with ray, cores. [all cores]"),
    ] = None,
    own_code: Annotated[bool, typer.Option("--own-code", help=options.OWN_CODE_HELP)] = False,
    part: Annotated[
        str, typer.Option(help="i/n: run the i-th of n parts, beside other jobs with this store.")
    ] = "1/1",
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds for a shard. [an hour and 100 times the estimate]"),
    ] = None,
) -> None:
    """Run what is missing of a sweep; keep what is done.

    Status 1 if anything failed by its own fault; the rest is run all the same.
    """
    from affinity_bandits.base.progress import show_progress
    from affinity_bandits.experiments import Part, Store, Summary, Sweep, run_cells
    from affinity_bandits.experiments.summaries import keep_spec

    sweep = Sweep.from_toml(spec, own_code=own_code)
    sweep.require_code()
    mine = Part.parse(part)
    hands = options.executor(executor, workers, address, time_limit=time_limit)
    place = store or str(spec.with_suffix(".store"))
    kept = Store(place)
    changed = keep_spec(sweep, kept)
    if changed:
        typer.echo(
            f"the store held another sweep (it differs in {', '.join(changed)}): its spec.json is "
            "now this one; finished work of both stays"
        )
    total = len(sweep) * sweep.replicates // mine.of
    summary, slow, began = Summary(), _SlowShards(kept), time.monotonic()
    shown = show_progress(total, lambda: _progress(summary, total, time.monotonic() - began, slow))
    with options.resumable(), shown as bar:
        run_cells(sweep, kept, hands, summary, bar.tick, mine)
    which = "" if mine.of == 1 else f"part {part} of "
    typer.echo(
        f"{which}{len(sweep):,} cells: {summary.found:,} replicates were there, {summary.run:,} "
        f"were run; store: {place}"
    )
    if summary.aside:
        typer.echo(f"damaged or foreign, moved to {place}/aside, and run anew where need be:")
        typer.echo("\n".join(f"  {name}" for name in summary.aside))
    _list_failures(summary.errors, summary.failed, place)
    if summary.failed:
        raise typer.Exit(1)


class _SlowShards:
    """Looks in a store for shards that take long."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._due = time.monotonic() + LOOK_SECONDS
        self._before = 0
        self._words = ""

    def look(self) -> tuple[int, str]:
        """Return how many replicates were finished before them in their tasks, and words."""
        if time.monotonic() >= self._due:
            with contextlib.suppress(OSError, ValueError):
                found = self._store.slow()
                self._before = sum(note.before for note in found)
                self._words = slow_words(found)
            self._due = time.monotonic() + LOOK_SECONDS
        return self._before, self._words


def slow_words(found: list[SlowShard]) -> str:
    """Return the shard that takes longest in words, or nothing if there is none."""
    if not found:
        return ""
    first = min(found, key=lambda note: note.since)
    passed = max(0.0, time.time() - first.since)
    others = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
    return f", slow: {first.policy} in {first.shard} for {brief_duration(passed)}{others}"


def _progress(summary: Summary, total: int, seconds: float, slow: _SlowShards) -> str:
    before, slow_ones = slow.look()
    done = summary.found + summary.run + before
    text = f"{done:,} of {total:,} replicates"
    if summary.run > 0:
        rate = summary.run / seconds
        text += f", {rate:,.3g} a second, {brief_duration((total - done) / rate)} left"
    if summary.failed:
        text += f", {counted(summary.failed, 'shard')} failed"
    return text + slow_ones


@app.command()
def status(spec: Spec, store: StorePlace = None) -> None:
    """Print how much is finished, and what failed.

    Damaged files count as finished here: only 'run' reads them all.
    """
    from affinity_bandits.experiments.summaries import count_finished

    sweep, kept, place = _opened(spec, store)
    counts = count_finished(sweep, kept)
    _print_counts(sweep, counts.by_value)
    typer.echo(
        f"{counts.done:,} of {counts.total:,} replicates ({_percent(counts.done, counts.total)}) "
        f"of {len(sweep):,} cells are finished{slow_words(kept.slow())}"
    )
    failures = kept.failures()
    _list_failures({item["shard"]: item["error"] for item in failures}, len(failures), place)


@app.command()
def show(
    spec: Spec,
    store: StorePlace = None,
    out: Annotated[
        Path | None, typer.Option(help="Directory for pictures. [that of the file]")
    ] = None,
    value: Annotated[str, typer.Option(help="regret, median, wrong or undecided.")] = "regret",
    x: Annotated[
        str | None, typer.Option(help="Axis from left to right, e.g. horizon. [one of numbers]")
    ] = None,
    y: Annotated[
        str | None, typer.Option(help="Axis from bottom to top of a heat map, e.g. bias.")
    ] = None,
) -> None:
    """Draw the finished cells: heat maps, or curves.

    A heat map has two axes; --x alone draws curves over one.
    """
    from affinity_bandits.experiments import axes_of, cell_summaries
    from affinity_bandits.experiments.sweep import fixed_words
    from affinity_bandits.plots import draw_sweep, sweep_grid
    from affinity_bandits.plots.style import need_matplotlib, save_figure
    from affinity_bandits.plots.sweep import chosen_axes, measure_of

    sweep, kept, _ = _opened(spec, store)
    folder = spec.parent if out is None else out
    if not folder.is_dir():
        raise InvalidInput("out", "a directory", str(folder))
    axes = axes_of(sweep)
    measure = measure_of(value)
    chosen_axes(axes, x, y)  # a mistake is said before a large store is read
    need_matplotlib()
    cells = list(cell_summaries(sweep, kept))
    grid = sweep_grid(axes, cells, value, x, y)
    figures = draw_sweep(grid, fixed_words(sweep))
    _print_cells(axes, cells, measure)
    if grid.missing:
        typer.echo(f"{grid.missing:,} of {len(cells):,} cells are not run yet and left blank")
    if grid.without:
        typer.echo(f"{grid.without:,} cells are left blank: their policy never decides")
    for i, figure in enumerate(figures):
        number = f"-{i + 1}" if len(figures) > 1 else ""
        picture = folder / f"{spec.stem}-{value}{number}.png"
        save_figure(figure, picture)
        typer.echo(f"picture: {picture}")


@app.command()
def export(
    spec: Spec,
    out: Annotated[Path, typer.Argument(help="File to write: .parquet or .csv.")],
    store: StorePlace = None,
) -> None:
    """Write a table with one row for each cell.

    It has the axes, the replicates, and figures with their 95% intervals.
    """
    from affinity_bandits.experiments import write_table

    sweep, kept, _ = _opened(spec, store)
    options.check_place("out", out)
    rows = write_table(sweep, kept, out)
    typer.echo(f"table: {out} ({rows:,} rows)")


def _opened(spec: Path, store: str | None) -> tuple[Sweep, Store, str]:
    """Return a sweep and its store, which must exist: looking at a store must not create it.

    Code that the file names is not imported.
    """
    from affinity_bandits.experiments import Store, Sweep
    from affinity_bandits.experiments.summaries import cells_are_known

    sweep = Sweep.from_toml(spec)
    place = store or str(spec.with_suffix(".store"))
    if "://" not in place and not Path(place).is_dir():
        raise InvalidInput("store", "a directory that 'affinity sweep run' has made", place)
    kept = Store(place)
    if sweep.unimported:
        state = "are as they were last run"
        if not cells_are_known(sweep, kept):
            state = "count as not run: this file was not run with this store and this version"
        typer.echo(f"{', '.join(sweep.unimported)} is not imported; its cells {state}")
    return sweep, kept, place


def _list_failures(errors: dict[str, str], failed: int, place: str) -> None:
    if not failed:
        return
    typer.echo(f"{counted(failed, 'shard')} failed:")
    for name, error in islice(errors.items(), MOST_SHOWN):
        typer.echo(f"  {name}: {error}")
    if failed > MOST_SHOWN:
        typer.echo(f"  and {failed - MOST_SHOWN:,} more, in {place}/failures")


def _print_counts(sweep: Sweep, by_value: dict[str, list[tuple[int, int]]]) -> None:
    from affinity_bandits.experiments import axes_of

    rows = [
        (axis.key, label, f"{done:,}", f"{of:,}", _percent(done, of))
        for axis in axes_of(sweep)
        for label, (done, of) in zip(axis.labels, by_value[axis.key], strict=True)
    ]
    options.print_table(("axis", "value", "finished", "of", ""), rows, left=2)


def _percent(done: int, of: int) -> str:
    """Return a part in percent, rounded down: 100% means all."""
    return f"{1000 * done // of / 10:g}%"


def _print_cells(axes: tuple[Axis, ...], cells: list[CellSummary], measure: str) -> None:
    words = {"regret": "mean regret", "regret_runs": "median run (90% of runs)"}
    head = [*(axis.short for axis in axes), "runs", words.get(measure, measure.replace("_", " "))]
    rows = []
    for cell in cells[:MOST_ROWS]:
        labels = [axis.labels[i] for axis, i in zip(axes, cell.place, strict=True)]
        found = getattr(cell, measure)
        is_amount = measure.startswith("regret") and found is not None
        text = amount(found, cell.replicates) if is_amount else rate(found)
        rows.append([*labels, f"{cell.replicates:,}", text])
    options.print_table(head, rows, left=len(axes))
    if len(cells) > MOST_ROWS:
        more = f"and {len(cells) - MOST_ROWS:,} more cells: 'affinity sweep export' writes them all"
        options.say(more, style="dim")
