"""Write and read plans as TOML files, which `affinity simulate` and the service also read."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from affinity_bandits._version import __version__
from affinity_bandits.base.declaration import Declaration
from affinity_bandits.base.errors import AffinityError, InvalidInput
from affinity_bandits.base.plan_format import FORMAT, check_format
from affinity_bandits.catalogue import policy_from_json
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.judge_worlds import BlockWorld, block_world
from affinity_bandits.planning.judges_differ import IfJudgesDiffer
from affinity_bandits.planning.making import make_plan
from affinity_bandits.planning.otherwise import Otherwise
from affinity_bandits.planning.outcomes import Outcome
from affinity_bandits.planning.plan import Plan
from affinity_bandits.planning.policy import PlannedBlocks
from affinity_bandits.planning.reach import Reach, horizons_around
from affinity_bandits.planning.worlds import HardWorld, example, hard_worlds
from affinity_bandits.policies import RoundPolicy

LABEL = "plan"  # the label of the policy in tables and pictures of `simulate`
HEADER = """\
# A plan made by 'affinity plan'. Try it on an example: affinity simulate THIS_FILE
# [assumptions] is what it takes for granted, in your scores; [run.policies.plan] the policy to run
# and [bandit] that example, on scores mapped to [0, 1]; [plan] is what was measured.

"""
HEADER_OF_BLOCKS = """\
# A plan of neutral blocks made by 'affinity plan'. Run it as a campaign, by hand or from Python:
# docs/plan/neutral-blocks.md. [assumptions] is what it takes for granted, in your scores;
# [run.policies.plan] the policy to run, on scores mapped to [0, 1]; [plan] is what was measured.

"""


def plan_to_toml(plan: Plan) -> str:
    """Return a plan as the text of a TOML file."""
    import tomli_w

    blocks = plan.assumptions.judges == "neutral"
    data = {
        "assumptions": plan.assumptions.to_json(),
        "bandit": None if blocks else example(plan.assumptions).to_json(),
        "run": {
            "horizon": plan.assumptions.horizon,
            "replicates": 100,
            "seed": plan.seed,
            "policies": {LABEL: plan.policy.to_json()},
        },
        "plan": {
            "format": FORMAT,
            "version": plan.version,
            "detectable": plan.detectable,
            "sufficient": plan.sufficient,
            "enough_choices": plan.enough_choices,  # to be read; it follows from the others
            "needed": None if plan.needed is None else asdict(plan.needed),
            "otherwise": [asdict(one) for one in plan.otherwise],
            "seed": plan.seed,
            "worlds": [_world(hard) for hard in plan.worlds],
            "hardest": [asdict(one) for one in plan.hardest],
            "reach": [asdict(one) for one in plan.reach],
            "if_judges_differ": [asdict(one) for one in plan.if_judges_differ],
        },
        "declaration": None if plan.declaration is None else plan.declaration.to_json(),
        # Last, to recognize a file that was cut off.
        "end": {"whole": True},
    }
    return (HEADER_OF_BLOCKS if blocks else HEADER) + tomli_w.dumps(_without_none(data))


def plan_from_toml(text: str) -> Plan:
    """Return the plan that `plan_to_toml` wrote."""
    try:
        data = tomllib.loads(text)
        plan = dict(data["plan"])
        check_format(plan)
        complete = data["end"]["whole"] is True
        assumptions = Assumptions.from_json(data["assumptions"])
        policy = _policy(assumptions, data["run"]["policies"][LABEL])
        found = Plan(
            assumptions=assumptions,
            policy=policy,
            worlds=_worlds(assumptions, plan["worlds"]),
            hardest=tuple(_outcome(one) for one in plan["hardest"]),
            detectable=plan.get("detectable"),
            sufficient=plan.get("sufficient"),
            needed=None if "needed" not in plan else _outcome(plan["needed"]),
            otherwise=tuple(Otherwise(**one) for one in plan["otherwise"]),
            reach=tuple(Reach(**({"detectable": None} | one)) for one in plan["reach"]),
            if_judges_differ=tuple(IfJudgesDiffer(**one) for one in plan["if_judges_differ"]),
            seed=plan["seed"],
            version=plan["version"],
            declaration=Declaration.from_json(data["declaration"])
            if "declaration" in data
            else None,
        )
    except AffinityError:
        raise
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InvalidInput("plan", "a file written by 'affinity plan'", str(error)) from error
    # The file may have been cut off or edited.
    horizons = horizons_around(assumptions) if assumptions.identified else []
    if not (
        complete
        and len(found.hardest) == len(found.worlds)
        and [one.horizon for one in found.reach] == horizons
    ):
        raise InvalidInput("plan", "a whole file written by 'affinity plan'", "parts of one")
    return found


def write_plan(plan: Plan, path: Path) -> None:
    """Write a plan file atomically."""
    text = plan_to_toml(plan)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:  # name the requested file, not the temporary one
        raise OSError(error.errno, error.strerror, str(path)) from error


def read_plan(path: Path) -> Plan:
    """Read a plan file."""
    try:
        return plan_from_toml(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InvalidInput(str(path), "the text of a TOML file", "not text") from None
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error.parameter}", error.rule, error.value) from error


def remembered_plan(
    assumptions: Assumptions,
    *,
    seed: int = 0,
    progress: Any = None,
    cache: Path | None = None,
    again: bool = False,
) -> tuple[Plan, bool]:
    """Return a plan, from the cache unless it is to be made `again`, and whether it was there.

    The cache is in the user's cache directory. Its key is a digest of everything that a plan
    depends on. An unreadable file is replaced.
    """
    if cache is None:
        import platformdirs

        cache = Path(platformdirs.user_cache_dir("affinity-bandits")) / "plans"
    key = json.dumps([FORMAT, __version__, assumptions.to_json(), seed], sort_keys=True)
    path = cache / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.toml"
    with suppress(AffinityError, OSError):
        if not again:
            return read_plan(path), True
    plan = make_plan(assumptions, seed=seed, progress=progress)
    with suppress(OSError):  # the plan is useful even if it cannot be kept
        cache.mkdir(parents=True, exist_ok=True)
        write_plan(plan, path)
    return plan, False


# The fields that differ between the worlds of one committee.
VARIED = ("least_mean", "largest_mean", "drawn_at", "gift")


def _policy(assumptions: Assumptions, data: Any) -> RoundPolicy | PlannedBlocks:
    """Return the policy of a file."""
    if assumptions.judges == "neutral":
        if data["name"] != PlannedBlocks.name:
            raise InvalidInput("policy", "neutral-elimination for neutral blocks", data["name"])
        return PlannedBlocks.from_json(data)
    policy = policy_from_json(data)
    if not isinstance(policy, RoundPolicy):
        raise InvalidInput("policy", "a round policy", policy.name)
    return policy


def _world(hard: HardWorld | BlockWorld) -> dict[str, Any]:
    if isinstance(hard, BlockWorld):  # the assumptions determine it
        return {"committee": str(hard)}
    return {"committee": str(hard)} | {name: getattr(hard.world, name) for name in VARIED}


def _worlds(
    assumptions: Assumptions, data: list[Mapping[str, Any]]
) -> tuple[HardWorld | BlockWorld, ...]:
    """Return the worlds of a file; there must be one for every committee."""
    if assumptions.judges == "neutral":
        return (block_world(assumptions),)
    plain = hard_worlds(assumptions)
    if [one["committee"] for one in data] != [str(hard) for hard in plain]:
        raise ValueError("its worlds are not those of its assumptions")
    return tuple(
        replace(hard, world=hard.world._replace(**{name: one[name] for name in VARIED}))
        for hard, one in zip(plain, data, strict=True)
    )


def _outcome(data: Mapping[str, Any]) -> Outcome:
    lists = {name: tuple(data[name]) for name in ("per_group", "per_group_95")}
    return Outcome(**(dict(data) | lists))


def _without_none(data: Any) -> Any:
    """Return the data without its None values, which TOML cannot express."""
    if isinstance(data, Mapping):
        return {key: _without_none(value) for key, value in data.items() if value is not None}
    if isinstance(data, list | tuple):
        return [_without_none(value) for value in data]
    return data
