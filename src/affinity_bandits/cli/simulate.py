"""`affinity simulate`: run policies on a bandit and print what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affinity_bandits.cli import decisions, parsing
from affinity_bandits.cli.formatting import two_lines
from affinity_bandits.errors import InvalidInput

if TYPE_CHECKING:
    from affinity_bandits.bandit import AffinityBandit
    from affinity_bandits.simulation import Result

BANDIT_KEYS = (
    *("true_means", "bias", "initial_pulls", "noise", "mechanism", "memory"),
    *("joining", "judges"),
)
RUN_KEYS = ("policies", "horizon", "replicates", "seed", "engine", "checkpoints")
PLAN_TABLES = ("plan", "assumptions", "end")
"""Tables of a plan file that say how it was made; a run needs none, if the plan is not too old."""
POLICIES = ("elimination", "ucb1")


def simulate(
    config: Annotated[
        Path | None,
        typer.Argument(
            help="TOML file with tables [bandit] and [run], or a plan; flags override it."
        ),
    ] = None,
    means: Annotated[
        str | None, typer.Option(help="True means, e.g. 0.4,0.6. Never seen by a policy.")
    ] = None,
    bias: Annotated[
        str | None, typer.Option(help="Bias model, e.g. power:alpha=2. See 'affinity biases'.")
    ] = None,
    initial_pulls: Annotated[
        str | None, typer.Option(help="Members of each group on the committee, e.g. 100,10.")
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(help="Noise, e.g. gaussian:sigma=0.5 or ordinal. See 'affinity noises'."),
    ] = None,
    mechanism: Annotated[
        str | None, typer.Option(help="scaled, shifted, gated or redrawn.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="Only the last so many members count; all if left out.")
    ] = None,
    joining: Annotated[
        str | None, typer.Option(help="The part of those chosen that joins; all if left out.")
    ] = None,
    judges: Annotated[
        str | None, typer.Option(help="Who judges: committee, panel:seats=6 or strangers.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            help="Policy, e.g. ucb1, elimination:offset=3 or mine:Greedy; may be repeated."
        ),
    ] = None,
    horizon: Annotated[str | None, typer.Option(help="Pulls of each run, e.g. 1e6.")] = None,
    replicates: Annotated[str | None, typer.Option(help="Independent runs of each policy.")] = None,
    seed: Annotated[str | None, typer.Option(help="Seed of all randomness.")] = None,
    engine: Annotated[str | None, typer.Option(help="auto, rounds, steps or python.")] = None,
    checkpoints: Annotated[
        str | None, typer.Option(help="How often, or at which pulls, to count.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw regret curves to this .png, .svg or .pdf.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Save the result to this .npz.")] = None,
    log: Annotated[
        Path | None,
        typer.Option(help="Write every decision of one policy to this .csv or .parquet."),
    ] = None,
) -> None:
    """Run policies on a biased bandit and print their regret with confidence intervals."""
    known = {"bandit": BANDIT_KEYS, "run": RUN_KEYS}
    file = parsing.read_toml(config, known, PLAN_TABLES) if config else {}
    if config is not None and "\n[plan]" in config.read_text(encoding="utf-8"):
        from affinity_bandits.planning.files import refuse_old

        refuse_old(config)
    bandit_settings = dict(file.get("bandit", {}))
    run = dict(file.get("run", {}))
    bandit_settings |= parsing.given(
        true_means=means and parsing.numbers("means", means),
        bias=bias and parsing.described("bias", bias),
        initial_pulls=initial_pulls and parsing.numbers("initial-pulls", initial_pulls),
        noise=noise and parsing.described("noise", noise),
        mechanism=mechanism,
        memory=memory and parsing.number("memory", memory),
        joining=joining and parsing.number("joining", joining),
        judges=judges and _judges(judges),
    )
    run |= parsing.given(
        horizon=horizon and parsing.number("horizon", horizon),
        replicates=replicates and parsing.number("replicates", replicates),
        seed=seed and parsing.number("seed", seed),
        policies=policy and [parsing.described("policy", text) for text in policy],
        engine=engine,
        checkpoints=checkpoints and parsing.numbers("checkpoints", checkpoints),
    )
    if isinstance(run.get("checkpoints"), list) and len(run["checkpoints"]) == 1:
        run["checkpoints"] = run["checkpoints"][0]
    if plot is not None and plot.suffix not in (".png", ".svg", ".pdf"):
        raise InvalidInput("plot", "a file that ends in .png, .svg or .pdf", str(plot))
    for path in (plot, save):
        if path is not None and not path.parent.is_dir():  # said now, not after hours of work
            raise InvalidInput("plot" if path is plot else "save", "in a directory", str(path))
    if plot is not None:
        from affinity_bandits.plots.style import need_matplotlib

        need_matplotlib()  # the same
    if log is not None:
        run = decisions.by_steps(log, run)
    bandit, policies, settings = _made(bandit_settings, run)
    recorder = None if log is None else decisions.recorder(bandit, policies, settings)
    from affinity_bandits.simulation import simulate as run_simulation

    result = run_simulation(bandit, policies, **settings)
    _print(result)
    if save is not None:
        with _named(save):
            result.save(save)
    if plot is not None:
        from affinity_bandits.plots import draw_regret
        from affinity_bandits.plots.style import save_figure

        with _named(plot):
            save_figure(draw_regret(result), plot)
        typer.echo(f"picture: {plot}")
    if log is not None and recorder is not None:
        with _named(log):
            rows = decisions.write(log, recorder, result)
        typer.echo(f"log: {log}, {rows:,} decisions")


def _judges(text: str) -> dict[str, Any]:
    described = parsing.described("judges", text, places=False)
    return {"who" if name == "name" else name: value for name, value in described.items()}


def _made(
    bandit_settings: dict[str, Any], run: dict[str, Any]
) -> tuple[AffinityBandit, Any, dict[str, Any]]:
    """Return the bandit, the policies and the other settings of a run."""
    from affinity_bandits import AffinityBandit

    for key in ("bias", "noise"):
        if isinstance(bandit_settings.get(key), str):
            bandit_settings[key] = parsing.described(key, bandit_settings[key])
    if "true_means" not in bandit_settings:
        raise InvalidInput("means", "given, e.g. --means 0.4,0.6", None)
    bandit = AffinityBandit.from_json(bandit_settings, imports=True)
    settings = {"policies": list(POLICIES), "horizon": 100_000} | run
    policies = _described(settings.pop("policies"))
    return bandit, policies, settings


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Add the file's name to an error raised while writing it: that of a full disk has none."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _described(policies: Any) -> Any:
    """Return the policies of a file with every short form spelled out."""
    if isinstance(policies, str):
        return parsing.described("policy", policies)
    if isinstance(policies, list):
        return [_described(item) for item in policies]
    if isinstance(policies, dict) and "name" not in policies:
        return {label: _described(item) for label, item in policies.items()}
    return policies


def _print(result: Result) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("policy")
    columns = {
        "mean regret": "95% interval",
        "median run": "90% of runs",
        "wrong arm": "95%",
        "undecided": "95%",
    }
    for column, below in columns.items():
        table.add_column(f"{column}\n[dim]{below}[/]", justify="right", no_wrap=True)
    table.add_column("engine")
    for row in result.summary():
        table.add_row(
            escape(row.label),
            two_lines(row.regret),
            two_lines(row.regret_runs),
            two_lines(row.wrong_arm, of_runs=True),
            two_lines(row.undecided, of_runs=True),
            row.engine,
        )
    console = Console()
    console.print(table)
    bandit = result.bandit
    console.print(
        f"{len(result.replicates)} runs of {result.horizon:,} pulls, f(x) = {bandit.bias}, "
        f"{bandit.noise} ({bandit.mechanism}), seed {result.seed}.",
        style="dim",
        highlight=False,
    )
    for run in result.runs:
        if run.note:
            text = f"{escape(run.label)} ran by steps: {run.note}."
            console.print(text, style="dim", highlight=False)
        if run.caveat:
            console.print(f"Note: {escape(run.caveat)}.", highlight=False)
