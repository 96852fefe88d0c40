"""A comparison on live traffic, from an empty database to a decision (docs/run/live-example.md).

It needs AFFINITY_DSN, a plan file (docs/run/live-example.md has the command), the extra plot, the
service and its client:

    python examples/live_walkthrough.py plan.toml --picture live.png
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from affinity_bandits import AffinityBandit, Live, Power
from affinity_bandits.plots.style import GROUPS, SETTINGS, save_figure
from affinity_bandits.policies import UCB1
from affinity_bandits.simulation import Environment
from affinity_bandits_client import Client, ClosedRound, Finished, Lease, run_campaign

AFFINITY = Path(sys.executable).with_name("affinity")
SOURCES = ["referrals", "open call", "agency"]
WORLD = AffinityBandit([0.6, 0.8, 0.5], bias=Power(1.0), initial_pulls=[35, 5, 20])
"""What only the script knows: the open call is the best source, referrals hold most seats, and a
group's candidates are liked in proportion to its seats."""
TRUTH = (SOURCES, WORLD.true_means)
TINTS = GROUPS[: len(SOURCES)]
HORIZON = 100_000
SHOWN = 8_000


class Committee:
    """Sixty people who rate candidates with a 0 or a 1; whoever is rated joins them.

    Args:
        seed: of their moods; two committees of one seed differ only by whom they were shown.
    """

    def __init__(self, seed: int) -> None:
        self._environment = Environment(WORLD, seed)
        self.seen: list[int] = []

    def score(self, source: str) -> float:
        """Rate a candidate of this source."""
        self.seen.append(SOURCES.index(source))
        return self._environment.pull(self.seen[-1])


def affinity(*words: str) -> str:
    """Run the `affinity` command and return what it prints."""
    done = subprocess.run([AFFINITY, *words], check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout.strip()


@contextmanager
def service() -> Iterator[str]:
    """Run the service on a free port; give its address."""
    command = [AFFINITY, "serve", "--port", "0", "--admin-port", "0", "--quiet"]
    with subprocess.Popen(command, text=True, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        try:
            line = server.stderr.readline()
            if not line.startswith("{"):
                sys.exit(line + server.stderr.read())
            yield json.loads(line)["url"]
        finally:
            server.terminate()


def ucb1_loop(committee: Committee) -> None:
    """Choose as a usual bandit loop does: by the scores so far and how sure they are."""
    ucb1 = Live(UCB1(), len(SOURCES), HORIZON)
    while len(committee.seen) < SHOWN:
        arm = ucb1.ask()
        ucb1.tell(arm, committee.score(SOURCES[arm]))


def campaign(client: Client, plan: str, committee: Committee) -> str:
    """Let the service choose; return the campaign's id."""
    made = client.create_campaign("where to look for candidates", SOURCES, plan=plan)
    found = run_campaign(client, made, committee.score, count=50)
    print(f"after {len(committee.seen):,} answers the campaign recommends {found.recommended}")
    while len(committee.seen) < SHOWN:  # a decided campaign goes on: its one group is served
        lease = client.ask(made, min(50, SHOWN - len(committee.seen)))
        assert isinstance(lease, Lease)
        client.tell(lease, [committee.score(slot.arm) for slot in lease.slots])
    client.stop(made)
    assert client.ask(made) == Finished(status="stopped")
    return made.id


def last_choices(committee: Committee) -> str:
    """Return what most of the last thousand choices were."""
    counts = np.bincount(committee.seen[-1000:], minlength=len(SOURCES))
    best = int(counts.argmax())
    return f"{counts[best]:,} of the last 1,000 choices are {SOURCES[best]}"


def shares(committee: Committee) -> Any:
    """Return each source's share of the seats, before the first choice and after each."""
    chosen = np.eye(len(SOURCES))[committee.seen].cumsum(axis=0)
    seats = np.vstack([np.zeros(len(SOURCES)), chosen]) + WORLD.initial_pulls
    return (seats / seats.sum(axis=1, keepdims=True)).T


def draw(usual: Committee, fair: Committee, rounds: list[ClosedRound]) -> Any:
    """Draw who sits on both committees over time."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: Any = SETTINGS | {"axes.grid": False}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(9.6, 4.2), layout="constrained", dpi=150)
        panels = figure.subplots(1, 2, sharey=True)
        for axes, committee, name in zip(panels, (usual, fair), ("UCB1", "Campaign"), strict=True):
            draw_seats(axes, committee)
            ending = SOURCES[committee.seen[-1]]
            axes.set_title(f"{name}: ends on {ending}", loc="left", fontweight="bold")
        panels[0].yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1.0))
        panels[0].set_ylabel("share of the committee's seats")
        over, height = 0, 0.75  # one below the other, so that close ones do not meet
        for one in rounds:
            over += sum(one.counts)
            if one.dropped:
                words = f"after {over:,} answers:\n{' and '.join(one.dropped)} dropped"
                panels[1].axvline(over, color="black", linewidth=0.9, linestyle="--")
                panels[1].text(over + SHOWN / 80, height, words, va="center", fontsize=8.5)
                height -= 0.25
        known = [f"{name} (true value {mean:g})" for name, mean in zip(*TRUTH, strict=True)]
        figure.legend(panels[0].collections, known, loc="outside lower center", ncols=len(SOURCES))
    return figure


def draw_seats(axes: Any, committee: Committee) -> None:
    """Draw the shares of one committee, one above the other, with the last ones as numbers."""
    parts = shares(committee)
    axes.stackplot(range(parts.shape[1]), parts, colors=TINTS, alpha=0.85, linewidth=0)
    middles = parts[:, -1].cumsum() - parts[:, -1] / 2
    lowest = 0.0
    for share, middle in zip(parts[:, -1], middles, strict=True):
        height = max(middle, lowest)  # thin bands would have their numbers on top of each other
        lowest = height + 0.045
        at = ("axes fraction", "data")
        axes.annotate(f"{share:.0%}", (1.015, height), xycoords=at, va="center")
    axes.set_xlabel("answers")
    axes.set_xlim(0, parts.shape[1] - 1)
    axes.locator_params(axis="x", nbins=5)
    axes.set_ylim(0, 1)
    axes.xaxis.set_major_formatter("{x:,.0f}")


def main() -> None:
    """Run both committees and say where each ended."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plan", type=Path, help="made by 'affinity plan'")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()

    usual, fair = Committee(given.seed), Committee(given.seed)
    ucb1_loop(usual)
    print(affinity("serve", "migrate"))
    scopes = "ask,tell,read,admin"
    key = affinity("serve", "keys", "add", "--tenant=hiring", "--name=demo", f"--scopes={scopes}")
    with service() as url, Client(url, key) as client:
        made = campaign(client, given.plan.read_text(encoding="utf-8"), fair)
        rounds = list(client.rounds(made))
    print(affinity("serve", "verify", made))
    print(f"UCB1: {last_choices(usual)}")
    print(f"the campaign: {last_choices(fair)}")
    if given.picture is not None:
        save_figure(draw(usual, fair, rounds), given.picture)


if __name__ == "__main__":
    main()
