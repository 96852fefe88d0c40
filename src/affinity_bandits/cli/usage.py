"""What the help of a command shows beside its own texts: the kind of each value, and an example."""

from __future__ import annotations

from typing import Any

NUMBER, NUMBERS, FILE, NAME, NAMES = "N", "N,...", "FILE", "NAME", "NAME,..."
KINDS = {
    NUMBER: (
        *("horizon", "replicates", "seed", "memory", "workers", "port", "admin_port", "pool_size"),
        *("statement_cache", "keep_requests_days", "in_flight", "judges_per_group", "days"),
        *("initial_lead", "steepness", "lipschitz", "largest_mean", "rate", "body", "campaigns"),
        *("events", "bytes_"),
    ),
    NUMBERS: ("means", "initial_pulls", "committee", "checkpoints"),
    FILE: (
        "plot",
        "save",
        "log",
        "report",
        "json",
        "people",
        "out",
        "config",
        "databases",
        "from_",
    ),
    NAMES: ("groups", "scopes"),
    "COLUMN": ("candidate", "group", "judge", "judge_group", "score", "session", "date", "hired"),
    "LOW..HIGH": ("scale",),
    "POINTS": ("spread", "difference", "favor_gap", "matters"),
    "PERCENT": ("bonus", "failure"),
    "AMOUNT": ("budget",),
    "WHEN": ("begins",),
    "PART": ("joining",),
    "TEXT": ("groups_are", "responsible", "purpose"),
    "yes|no": ("outsiders",),
    "highest|lowest": ("best",),
    "DATE": ("date_format",),
    "URL": ("dsn", "read_dsn"),
    "FOLDER": ("store",),
    "HOST:PORT": ("address",),
}
"""The kind of value of options, by their names; of all others it is a name."""
OF_ONE = {
    ("serve archive", "out"): "FOLDER",
    ("paper run", "out"): "FOLDER",
    ("plan", "audit"): FILE,
    ("warm", "pack"): "FOLDER",
}
"""Of an option of one command."""
_kinds = {name: kind for kind, names in KINDS.items() for name in names}
EXAMPLES = {
    "show": "affinity show --out loop.html",
    "app": "affinity app --port 8400",
    "plan": "affinity plan --groups 'a,b' --scale 1..5 --difference 0.3 --budget 2000",
    "audit": "affinity audit scores.xlsx --scale 1..5 --report report.html",
    "simulate": "affinity simulate --means 0.4,0.6 --policy ucb1 --horizon 1e5",
    "policies": "affinity policies",
    "biases": "affinity biases",
    "noises": "affinity noises",
    "warm": "affinity warm",
    "paper list": "affinity paper list",
    "paper show": "affinity paper show figure-1",
    "paper run": "affinity paper run --quick",
    "sweep run": "affinity sweep run sweep.toml --workers 4",
    "sweep status": "affinity sweep status sweep.toml",
    "sweep show": "affinity sweep show sweep.toml --out picture.png",
    "sweep export": "affinity sweep export sweep.toml results.csv",
    "serve": "affinity serve --dsn postgresql://localhost/affinity --port 8500",
    "serve migrate": "affinity serve --dsn postgresql://localhost/affinity migrate",
    "serve roles": "affinity serve roles > roles.sql",
    "serve quotas": "affinity serve quotas my-team --campaigns 20",
    "serve settings": "affinity serve settings",
    "serve digest": "affinity serve digest CAMPAIGN",
    "serve verify": "affinity serve verify CAMPAIGN",
    "serve export": "affinity serve export CAMPAIGN --out answers.csv",
    "serve archive": "affinity serve archive CAMPAIGN --out archive",
    "serve removals": "affinity serve removals",
    "serve delete-tenant": "affinity serve delete-tenant my-team --confirm my-team",
    "serve keys add": "affinity serve keys add --tenant my-team --name web --scopes campaign:read",
    "serve keys list": "affinity serve keys list --tenant my-team",
    "serve keys revoke": "affinity serve keys revoke 7",
}
"""An example of each command, by its words after `affinity`."""


def complete_help(command: Any, words: str) -> None:
    """Give a command and those below it the kinds of their options and an example.

    Args:
        command: of click.
        words: its name, with those of the groups above it.
    """
    for option in command.params:
        if option.param_type_name == "option" and not getattr(option, "is_flag", False):
            kind = OF_ONE.get((words, option.name)) or _kinds.get(option.name, NAME)
            option.metavar = option.metavar or kind
    if words in EXAMPLES:
        command.epilog = f"\b\nExample:\n  {EXAMPLES[words]}"
    for name, inner in getattr(command, "commands", {}).items():
        complete_help(inner, f"{words} {name}")
