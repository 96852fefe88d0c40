"""The result of an audit in sentences for people: size in points first, then its basis."""

from __future__ import annotations

import math
from dataclasses import dataclass

from affinity_bandits.audit.conclude import Audit, Estimate, GroupScores
from affinity_bandits.audit.judges import FEWEST_JUDGES

QUESTION = "Do judges favor candidates of their own group?"
FOUND = ("shown", "indicated")
FOUND_LESS = ("shown less", "indicated less")
HEADINGS = {
    "shown": "Yes: judges {give} their own group {size}.",
    "indicated": "Perhaps: judges seem to {give} their own group {size}.",
    "shown less": "No, the opposite: judges {give} their own group {size}.",
    "indicated less": "Perhaps the opposite: judges seem to {give} their own group {size}.",
    "not seen": (
        "This file does not show it: a favor of {size} points would have been seen, smaller ones "
        "perhaps not."
    ),
    "cannot tell": "This file cannot tell whether judges favor their own group.",
}
"""The answers to the question."""
ASSUMPTIONS = {
    "steady judges": "each judge is about equally strict with candidates of all groups",
    "rota": "a rota or chance, and not the candidate's group, decided which judges sat",
    "lots": "chance decided who judged whom",
}
MISSING = {
    "evidence": "the file has too few comparisons to rule out chance; more rows may settle it",
    "judge ids": "judges have no names in the file, so a few of them may have caused it alone",
    "judges": "there are fewer than six judges, so what single persons like cannot be told from "
    "what their group likes",
    "permutation": "a few judges may have caused it alone",
    "scale": "scores of one group hardly differ or lie at an end of the scale, where strictness "
    "looks like favor",
    "scale use": "judges of some groups may use more of the scale than others, which looks like "
    "favor if one group's candidates are better",
    "choices": "scores may have decided whose candidates a judge saw next, which looks like favor",
}
CANNOT_TELL = {
    "no judge groups": (
        "the file says who judged, but not which group the judges belong to",
        "Add a second file with the name and the group of each judge (--people people.csv).",
    ),
    "no judges": (
        "the file does not say who judged",
        "Write down who judged: with each score the judge and the judge's group.",
    ),
    "one judge each": (
        "each candidate had one judge, and who gets a judge of their own group may depend on the "
        "candidate",
        "Let two judges of different groups see each candidate. If chance decided who judged whom, "
        "say so and audit again (--by-lot).",
    ),
    "never both": (
        "no two candidates of different groups were seen by the same two kinds of judges",
        "Let a judge of the candidate's own group and one of another group see each candidate.",
    ),
    "groups are sessions": (
        "in most sessions all judges had the same group, so favor looks the same as a good day",
        "Let judges of different groups sit in each session.",
    ),
    "no size": (
        "the tests find nothing, but the file allows no interval for the size, so no favor can be "
        "excluded",
        "Let judges follow a rota and use a scale with more steps, and audit again with more rows.",
    ),
    "too little": (
        "the file has too few candidates who were seen by judges of different groups",
        "Let two judges of different groups see each candidate, and audit again with more rows.",
    ),
}
WARNINGS = {
    "chosen score less": "Those who were chosen have lower scores than the others. Check which end "
    "of the scale is the best score.",
    "one own value": "All scores that judges gave to candidates of their own group are the same: "
    "{}. Such scores rank nobody.",
    "few own scores": "Only {} scores come from judges of the candidate's own group.",
    "few judges": "Only {} judges: what single persons like weighs heavily.",
    "group without judges": "No judge belongs to these groups: {}.",
    "unknown judge groups": "{} of the scores come from judges whose group is not known; they were "
    "not compared.",
    "end of the scale": "Many scores of these groups are at an end of the scale, or hardly differ: "
    "{}. Strictness can look like favor there; use a scale with more steps.",
    "repeated pairs": "{} of the scores are by a judge who had met the candidate before. A lasting "
    "personal liking counts again each time.",
    "groups are sessions": "In most sessions all judges had the same group.",
    "no rota": "Strict and lenient judges did not see the same mix of groups, so only scores of "
    "the same judges were compared. Scores may have decided whom they saw.",
    "scores decided": "How judges differed on a candidate goes with the groups of the candidates "
    "around. So scores may have decided who was seen next, which looks like favor.",
    "uneven scale use": "Scores hint at favor only as long as all judges are taken to use equally "
    "much of the scale.",
    "drifting strictness": "Judges of {} became stricter or more lenient over time, compared with "
    "the others. That can look like favor.",
    "distant sessions": "Candidates were compared with others about {} sessions earlier. If "
    "judges' strictness changed meanwhile, this can look like favor.",
    "opposite groups": "Judges of these groups give their own candidates less, while others give "
    "theirs more: {}. The average hides that.",
    "one judge": "Without the judge {} the size would be less than half.",
    "one session": "Without the session {} the size would be less than half.",
}
REMOVED = (
    "Strict or lenient judges, good and bad days and how good candidates are do not explain it by "
    "themselves: they were removed."
)
CHOICES = (
    "Choices: scores that a panel had given decided whose candidates it saw next. Not every such "
    "rule leaves a trace in the file."
)
EXPLANATIONS_LESS = (
    "Direction: the audit was told that {best} is the best score. If it is {worst}, the same "
    "numbers show a favor.",
    "Assignment by quality: judges were sent to those candidates of their own group whom they "
    "would have scored lower anyway.",
    "Style: one group's candidates do something that its judges dislike in everybody.",
    "Care: judges who know that they are watched are stricter with their own group.",
    CHOICES,
)
EXPLANATIONS = (
    "Assignment by quality: judges were sent to those candidates of their own group whom they "
    "would have scored higher anyway.",
    "Style: one group's candidates do something that its judges like in everybody.",
    "Repeated pairs: judges meet persons they already know and like.",
    "Use of the scale: judges of one group see differences between candidates that others do not "
    "see.",
    CHOICES,
)
LIMITS = "This is about averages, not about any person, and says nothing about intent or law."
METHOD = (
    "Two judges of different groups see two candidates, one of each group. The first judge's lead "
    "over the second with one candidate, less the same lead with the other, is zero on average if "
    "nobody favors their own group. Two tests use these double differences: bets that stay valid "
    "whenever you look, and a permutation of the judges' groups, which allows for lasting personal "
    "tastes. The audit says yes only if both agree. The same tests look for judges who give "
    "their own group less. If nobody favored anyone, at most 1 file in 20 would be answered with "
    "yes, and at most 1 in 20 with the opposite."
)


@dataclass(frozen=True)
class Story:
    """An audit in words.

    Attributes:
        heading: the answer to the question, with the size.
        sentence: the interval, then the assumption; or why the log cannot tell.
        reasons: further parts of the verdict, one sentence each.
        explanations: other explanations of the result, if there is a result.
        power: the power of a log like this one.
        steps: next steps.
        warnings: to be read before relying on the verdict.
        extent: how many scores there were.
        direction: which end of the scale was taken as the best score.
    """

    heading: str
    sentence: str
    reasons: tuple[str, ...]
    explanations: tuple[str, ...]
    power: tuple[str, ...]
    steps: tuple[str, ...]
    warnings: tuple[str, ...]
    extent: str
    direction: str


def tell(audit: Audit) -> Story:
    """Put an audit into words."""
    reasons = []
    if audit.word in ("indicated", "indicated less"):
        reasons = [f"Not proven: {MISSING.get(code, code)}." for code in audit.missing]
    if audit.word in ("shown", "shown less"):
        reasons = ["If nobody favored anyone, at most 1 file in 20 would get this answer."]
    if audit.word in FOUND + FOUND_LESS:
        reasons.append(REMOVED)
    reasons += _scale_use(audit)
    reasons += _by_group(audit)
    judges = f" by {audit.judges:,} judges" if audit.judges else ""
    days = f" in {audit.sessions:,} sessions" if audit.sessions > 1 else ""
    worst, best = (f"{end:g}" for end in audit.scale)
    explanations: tuple[str, ...] = EXPLANATIONS if audit.word in FOUND else ()
    if audit.word in FOUND_LESS:
        explanations = tuple(one.format(best=best, worst=worst) for one in EXPLANATIONS_LESS)
    return Story(
        _heading(audit),
        _sentence(audit),
        tuple(reasons),
        explanations,
        tuple(_power(audit)),
        tuple(_steps(audit)),
        tuple(
            WARNINGS.get(code, f"{code}: {{}}").format(detail) for code, detail in audit.warnings
        ),
        f"{audit.scores:,} scores of {audit.candidates:,} candidates{judges}{days}",
        f"The best score is {best}, the worst {worst}.",
    )


def _heading(audit: Audit) -> str:
    more, fewer = _words(audit)
    size = fewer if audit.word in FOUND_LESS else more
    if audit.word == "not seen":
        assert audit.seen_from is not None
        size = format_points(audit, audit.seen_from, up=True)
    elif audit.favor is not None and (audit.favor.points < 0.0) == (size == fewer):
        size = f"{format_points(audit, abs(audit.favor.points))} points {size}"
    elif audit.favor is not None:
        size += " at some time"
    return HEADINGS[audit.word].format(give="give" if more == "more" else "score", size=size)


def _words(audit: Audit) -> tuple[str, str]:
    """Return the words for points towards the best score and for points away from it."""
    return ("more", "less") if audit.scale[0] < audit.scale[1] else ("better", "worse")


def format_points(audit: Audit, value: float, *, up: bool = False) -> str:
    """Return points with the decimals that suit the scale, rounded up for a bound from above.

    >>> from types import SimpleNamespace
    >>> five = SimpleNamespace(scale=(1, 5))
    >>> format_points(five, 0.2814), format_points(five, 0.2814, up=True)
    ('0.28', '0.29')
    """
    width = abs(audit.scale[1] - audit.scale[0])
    decimals = 3 if width <= 2.0 else 2 if width <= 20.0 else 1 if width <= 200.0 else 0
    if up:  # but 0.4 does not become 0.41 because of its last bit
        value = math.ceil(round(value * 10**decimals, 6)) / 10**decimals
    text = f"{value:,.{decimals}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0.0 else text


def has_interval(audit: Audit, favor: Estimate | None) -> bool:
    """Return whether an interval says anything: it is narrower than the scale."""
    return favor is not None and favor.high - favor.low < abs(audit.scale[1] - audit.scale[0])


def format_interval(audit: Audit, favor: Estimate, *, less: bool = False) -> str:
    """Return "95% interval 0.21 to 0.35", or "95% interval from 0.12 less to 0.35 more".

    Args:
        audit: has the scale.
        favor: with ends in points.
        less: whether points less are counted instead, if no end is above 0.
    """
    more, fewer = _words(audit)
    low, high = (format_points(audit, abs(end)) for end in (favor.low, favor.high))
    if favor.low < 0.0 < favor.high:
        return f"95% interval from {low} {fewer} to {high} {more}"
    return f"95% interval {high} to {low}" if less else f"95% interval {low} to {high}"


def format_mean(audit: Audit, part: tuple[int, float | None]) -> str:
    """Return a mean and how many scores it has."""
    count, mean = part
    return "-" if mean is None else f"{format_points(audit, mean)} ({count:,})"


def _sentence(audit: Audit) -> str:
    conditions = " and ".join(ASSUMPTIONS.get(code, code) for code in audit.assumptions)
    assumption = f"This holds if {conditions}."
    if audit.word == "cannot tell":
        return _cannot_tell(audit)
    if audit.favor is None:
        return (
            f"This compares them with what other judges give the same candidates. {assumption} How "
            f"many points cannot be said, because {_no_size(audit)}."
        )
    if audit.word == "not seen":
        sentence = f"Judges give {_difference(audit, audit.favor)}. {assumption}"
        sentence += " The difference may be chance."
    else:
        sentence = f"{_compare(audit, audit.favor)} {assumption}"
    if audit.word == "indicated" and audit.favor.points < 0.0:
        sentence += " On average they give less, but one of the tests finds favor at some time."
    sentence += _one_look(audit)
    if not has_interval(audit, audit.favor):
        sentence += " The file is too small for an interval of the size."
    return sentence


def _one_look(audit: Audit) -> str:
    """Return the assumption of an interval that comes from the permutation alone."""
    if audit.favor is None or not audit.favor.one_look or not has_interval(audit, audit.favor):
        return ""
    return (
        " The interval comes from permuting the judges' groups alone: it holds for one look at the "
        "file, if judges' tastes have nothing to do with their group."
    )


def _compare(audit: Audit, favor: Estimate) -> str:
    """Say what the size is compared with, and its interval."""
    others = "what other judges give the same candidates"
    if not has_interval(audit, favor):
        return f"This compares them with {others}."
    more, fewer = _words(audit)
    ends = sorted((favor.low, favor.high), key=abs)
    low, high = (format_points(audit, abs(end)) for end in ends)
    between = f"{low} and {high} points"
    if favor.low < 0.0 < favor.high:
        low, high = (format_points(audit, abs(end)) for end in (favor.low, favor.high))
        between = f"{low} points {fewer} and {high} {more}"
    return f"The difference from {others} is between {between} (95% interval)."


def _difference(audit: Audit, favor: Estimate) -> str:
    """Return what judges give their own group, with the interval."""
    more, fewer = _words(audit)
    negative = favor.points < 0.0
    size = f"{format_points(audit, abs(favor.points))} points {fewer if negative else more}"
    if has_interval(audit, favor):
        size += f" ({format_interval(audit, favor, less=negative)})"
    if more == "more":
        return f"candidates from their own group {size} than other judges give the same candidates"
    return (
        f"candidates from their own group scores that are {size} than those that other judges give "
        "the same candidates"
    )


def _no_size(audit: Audit) -> str:
    """Return why there is no interval."""
    if {"no rota", "scores decided"} & {code for code, _ in audit.warnings}:
        return "scores may have decided who was seen"
    return "scores of some groups hardly differ"


def _scale_use(audit: Audit) -> list[str]:
    """Return how unevenly judges use the scale, and how unevenly they would have to."""
    use = audit.scale_use
    if use is None or audit.word == "cannot tell":
        return []
    wide, narrow = use.best, use.worst
    ratio, low, high, tipping = use.ratio, use.low, use.high, use.tipping
    if (ratio if tipping is None else tipping) < 1.0:
        wide, narrow = narrow, wide
        ratio, low, high = 1.0 / ratio, 1.0 / high, 1.0 / low
        tipping = None if tipping is None else 1.0 / tipping if tipping else math.inf
    known = not math.isnan(ratio)
    warned = any(code == "uneven scale use" for code, _ in audit.warnings)
    if known and ("scale use" in audit.missing or warned):
        of = "" if audit.favor is None else f" of {format_points(audit, audit.favor.points)}"
        return [
            f"Judges from {wide} use {ratio:.1f} times as much of the scale as those from {narrow} "
            f"({low:.1f} to {high:.1f}), and candidates from {use.best} score best. This alone can "
            f"look like favor: once it is taken out, {format_points(audit, use.favor)}{of} points "
            "remain."
        ]
    if tipping is not None:
        differ = (
            f"they use {low:.1f} to {high:.1f} times as much"
            if known
            else "the file cannot tell how much they use, because judges of one group never saw "
            "the same candidate"
        )
        size = "more than 4" if math.isinf(tipping) else f"{tipping:.1f}"
        return [
            f"To explain this, judges from {wide} would have to use {size} times as much of the "
            f"scale as those from {narrow}; {differ}."
        ]
    return []


def _cannot_tell(audit: Audit) -> str:
    reason, _ = CANNOT_TELL.get(audit.missing[0], (audit.missing[0], ""))
    text = f"{reason[0].upper()}{reason[1:]}."
    if audit.favor is not None and has_interval(audit, audit.favor):
        text += f" The favor may be anywhere in the {format_interval(audit, audit.favor)} points."
        text += _one_look(audit)
    if "too little" in audit.missing:
        matters, seen = format_points(audit, audit.matters), audit.seen_from
        largest = format_points(audit, max(size for size, _ in audit.power))
        shown = (
            f"not even have shown one of {largest} points"
            if seen is None
            else f"have shown only one of {format_points(audit, seen, up=True)} points or more"
        )
        text += f" A favor of {matters} points would matter; this file would {shown}."
    return text


def _by_group(audit: Audit) -> list[str]:
    found = [group for group in audit.groups if group.favor is not None]
    if found:
        listed = "; ".join(_one_group(audit, group) for group in found)
        return [f"By group, in points {_words(audit)[0]}: {listed}."]
    if audit.word in FOUND + FOUND_LESS and len(audit.groups) == 2:
        return ["With two groups only the average of both can be measured."]
    return []


def _one_group(audit: Audit, group: GroupScores) -> str:
    assert group.favor is not None
    low, high = format_points(audit, group.favor.low), format_points(audit, group.favor.high)
    return f"{group.name} {format_points(audit, group.favor.points)} ({low} to {high})"


def _power(audit: Audit) -> list[str]:
    """Return sentences on the power: from favors that are hardly ever shown to nearly always."""
    found: list[str] = []
    verb = "shown" if _could_be_shown(audit) else "indicated"
    for place, (favor, chance) in enumerate(audit.power):
        if place + 1 < len(audit.power) and audit.power[place + 1][1] < 0.05:
            continue
        size = format_points(audit, favor)
        found.append(
            f"If judges gave their own group {size} points {_words(audit)[0]}, {_of_ten(chance)} "
            f"would have {verb} it."
        )
        if chance >= 0.95:
            break
    if found and verb == "shown":
        found.append("Fewer would have, if one group's candidates are much better than another's.")
    elif found:
        found.append("Whatever its size, no favor could have been shown: at most indicated.")
    return found


def _could_be_shown(audit: Audit) -> bool:
    """Return whether enough is known of the judges for "shown", however large the favor is."""
    named = not math.isnan(audit.p_value) and audit.judges >= FEWEST_JUDGES
    slopes_known = audit.scale_use is not None and not math.isnan(audit.scale_use.ratio)
    codes = {code for code, _ in audit.warnings}
    return named and slopes_known and not codes & {"no rota", "scores decided"}


def _of_ten(chance: float) -> str:
    tenths = round(10.0 * chance)
    if tenths >= 10:
        return "nearly every file like this one"
    return f"{tenths} of 10 files like this one" if tenths else "hardly any file like this one"


def _steps(audit: Audit) -> list[str]:
    if audit.word == "cannot tell":
        _, step = CANNOT_TELL.get(audit.missing[0], ("", ""))
        return [one for one in (step, "Keep one row per score; do not average.") if one]
    if audit.word == "not seen":
        return [
            "Audit again when the file has more rows, if a favor smaller than that above matters."
        ]
    steps = [
        "Let judges of several groups see each candidate, and compare candidates by scores of the "
        "same judges.",
        "Unless the groups are protected attributes: plan a comparison that allows for the favor "
        "(affinity plan --from audit.json).",
    ]
    if audit.word in FOUND_LESS:
        del steps[1]  # plans allow for judges who give their own group more
    if audit.word in ("indicated", "indicated less"):
        steps.insert(0, "Collect more rows of the same kind, then audit again.")
    if "judge ids" in audit.missing:
        steps.insert(0, "Write down which judge gave each score; a pseudonym is enough.")
    return steps
