"""`affinity simulate`: run policies on a biased bandit, print, draw, save and log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from affinity_bandits.base import errors, registry
from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.catalogue import refuse_blocks
from affinity_bandits.cli import options

if TYPE_CHECKING:
    from affinity_bandits.model.bandit import AffinityBandit
    from affinity_bandits.simulation import Result
    from affinity_bandits.simulation.logs import LoggedRun


def _log_by_steps(path: Path, run: dict[str, Any]) -> None:
    """Check that runs can be logged, and let them be simulated by steps, with single pulls."""
    from affinity_bandits.base.tables import TableFile

    TableFile("log", path)
    if run.get("engine") == "rounds":
        rule = "left out with engine rounds, which draws no single pull"
        raise InvalidInput("log", rule, str(path))
    if run.get("engine", "auto") == "auto":
        run["engine"] = "steps"


def make_recorder(bandit: AffinityBandit, policies: Any, settings: Mapping[str, Any]) -> LoggedRun:
    """Return the recorder of a run; raise errors before the run begins."""
    from affinity_bandits.simulation.logs import LoggedRun
    from affinity_bandits.simulation.simulator import require_policy

    several = isinstance(policies, Mapping) and "name" not in policies
    items = list(policies.values()) if several else policies
    if isinstance(items, list):
        if len(items) != 1:
            rule = "of one policy, e.g. --policy ucb1"
            raise InvalidInput("log", rule, f"{len(items)} policies")
        items = items[0]
    policy = require_policy("policies", items, bandit)
    return LoggedRun(bandit, policy, settings["horizon"], settings.get("seed", 0))


BANDIT_KEYS = (
    *("true_means", "bias", "initial_pulls", "noise", "mechanism", "memory"),
    *("joining", "judges"),
)
RUN_KEYS = ("policies", "horizon", "replicates", "seed", "engine", "checkpoints")
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
        str | None, typer.Option(help="Who judges: committee, panel:seats=6 or recused.")
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
    own_code: Annotated[bool, typer.Option("--own-code", help=options.OWN_CODE_HELP)] = False,
) -> None:
    """Run policies on a biased bandit and print their regret.

    Each figure has its confidence interval.
    """
    data = {} if config is None else options.read_file(config)
    is_plan = "plan" in data
    file: dict[str, dict[str, Any]] = {}
    if config is not None:
        file = options.known_tables(config, data, {"bandit": BANDIT_KEYS, "run": RUN_KEYS})
    bandit_settings = file.get("bandit", {})
    run = file.get("run", {})
    typed_bandit = options.drop_missing(
        true_means=means and options.numbers("means", means),
        bias=bias and registry.parse_settings("bias", bias),
        initial_pulls=initial_pulls and options.numbers("initial-pulls", initial_pulls),
        noise=noise and registry.parse_settings("noise", noise),
        mechanism=mechanism,
        memory=memory and registry.read_number("memory", memory),
        joining=joining and registry.read_number("joining", joining),
        judges=judges and _judges(judges),
    )
    typed_run = options.drop_missing(
        horizon=horizon and registry.read_number("horizon", horizon),
        replicates=replicates and registry.read_number("replicates", replicates),
        seed=seed and registry.read_number("seed", seed),
        policies=policy and [registry.parse_settings("policy", text) for text in policy],
        engine=engine,
        checkpoints=checkpoints and options.numbers("checkpoints", checkpoints),
    )
    bandit_settings |= typed_bandit
    run |= typed_run
    if isinstance(run.get("checkpoints"), list) and len(run["checkpoints"]) == 1:
        run["checkpoints"] = run["checkpoints"][0]
    options.check_picture(plot)
    errors.need("study", "scipy")
    options.check_place("save", save)
    if log is not None:
        _log_by_steps(log, run)
    settings: dict[str, Any] = {"policies": list(POLICIES), "horizon": 100_000} | run
    policies = settings.pop("policies")
    typed = [typed_bandit, typed_run]
    refuse_blocks(policies)
    limit = _limit_imports(typed, is_plan) if is_plan or not own_code else nullcontext()
    with nullcontext() if config is None else limit:
        bandit = _bandit(bandit_settings)
        recorder = None if log is None else make_recorder(bandit, policies, settings)
        from affinity_bandits.simulation import simulate as run_simulation

        result = run_simulation(bandit, policies, **settings)
    _print(result)
    if save is not None:
        with _writing(save):
            result.save(save)
    if plot is not None:
        from affinity_bandits.plots import draw_regret
        from affinity_bandits.plots.style import save_figure

        with _writing(plot):
            save_figure(draw_regret(result), plot)
        typer.echo(f"picture: {plot}")
    if log is not None and recorder is not None:
        from affinity_bandits.simulation import write_logs

        with _writing(log):
            rows = write_logs(log, (recorder.log(int(number)) for number in result.replicates))
        typer.echo(f"log: {log}, {rows:,} decisions")


def _limit_imports(typed: Sequence[Any], is_plan: bool) -> AbstractContextManager[None]:
    """Let modules be imported that flags name, but none that a file names."""
    way_out = "a plan cannot name code" if is_plan else "to import code of the file, add --own-code"
    return registry.importing_only(registry.named_places(typed), way_out)


def _judges(text: str) -> dict[str, Any]:
    described = registry.parse_settings("judges", text, places=False)
    return {"who": described.pop("name")} | described


def _bandit(settings: dict[str, Any]) -> AffinityBandit:
    from affinity_bandits import AffinityBandit

    if "true_means" not in settings:
        raise InvalidInput("means", "given, e.g. --means 0.4,0.6", None)
    return AffinityBandit.from_json(settings, imports=True)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Add the file's name to an error while writing it, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _print(result: Result) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    console.print(result.summary().to_rich(console.width))
    bandit = result.bandit
    console.print(
        f"{len(result.replicates)} runs of {result.horizon:,} pulls, f(x) = {bandit.bias}, "
        f"{bandit.noise} ({bandit.mechanism}), seed {result.seed}.",
        style="dim",
        highlight=False,
    )
    for run in result.runs:
        if run.note:
            text = f"{escape(run.label)} ran pull by pull, which is slower: {run.note}."
            console.print(text, style="dim", highlight=False)
        if run.caveat:
            console.print(f"Note: {escape(run.caveat)}.", highlight=False)
