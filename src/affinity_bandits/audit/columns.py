"""Guess the role of each column of a log from its name."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from affinity_bandits.base.errors import InvalidInput, one_of

ROLES = {
    "candidate": "who was judged",
    "group": "the candidate's group",
    "judge": "who judged",
    "judge_group": "the judge's group",
    "score": "the score",
    "session": "the day, round or panel",
    "date": "the date",
    "hired": "whether the candidate was chosen",
}
NEEDED = ("group", "score")
GUESSED_LEFTMOST = ("session", "date", "hired")
"""Roles that take the first of several fitting columns; for the others the user must choose."""
WORDS = {
    "judge": """judge interviewer rater assessor reviewer evaluator panelist panellist examiner
        marker juror referee grader gutachter prüfer évaluateur juge juez evaluador""",
    "group": """group source channel team school federation background department country nation
        origin unit pool gruppe quelle kanal herkunft groupe filière grupo fuente canal arm""",
    "candidate": """candidate applicant interviewee contestant competitor skater performance student
        supplier participant kandidat kandidatin bewerber bewerberin candidat candidato person
        name""",
    "score": """score rating stars points mark marks grade bewertung punkte note sterne wertung
        puntuación nota puntos""",
    "session": "session round panel competition event meeting runde sitzung tour ronda",
    "date": "date day time timestamp when datum tag jour fecha día week",
    "hired": """hired chosen selected joined accepted offer eingestellt gewählt embauché retenu
        contratado elegido""",
}
TOKENS = {kind: frozenset(words.split()) for kind, words in WORDS.items()}
OFTEN_BESIDE = frozenset({"id", "of", "the", "no", "number", "nr", "candidate", "applicant"})
"""Words that do not make a name less fitting."""


COUNTED_DOWN_WORDS = """grade grades zensur zensuren rank ranks ranking place placing placement
    position ordinal classement puesto lugar známka známky"""
COUNTED_DOWN = frozenset(COUNTED_DOWN_WORDS.split())
COUNTED_DOWN_ENDS = ("note", "noten", "rang", "rank", "platz", "platzierung")


def may_count_down(name: str) -> bool:
    """Return whether 1 is often the best score in a column with this name.

    >>> [may_count_down(name) for name in ("Gesamtnote", "final rank", "Stars (1-5)")]
    [True, True, False]
    """
    return any(word in COUNTED_DOWN or word.endswith(COUNTED_DOWN_ENDS) for word in _split(name))


def guess_role(name: str) -> str | None:
    """Return the role of a column with this name, if it suggests one.

    >>> [guess_role(name) for name in ("Applicant ID", "Interviewer's source", "Stars (1-5)")]
    ['candidate', 'judge_group', 'score']
    """
    tokens = _split(name)
    kinds = {kind for kind, words in TOKENS.items() if tokens & words}
    for kind in ("date", "hired", "score"):
        if kind in kinds:
            return kind
    if "group" in kinds:
        return "judge_group" if "judge" in kinds else "group"
    return next((kind for kind in ("judge", "candidate", "session") if kind in kinds), None)


def count_roles(row: Sequence[Any], wanted: Collection[str] = ()) -> int:
    """Return how many roles a row of names would have: the header is the row with the most."""
    names = [cell.strip() for cell in row if isinstance(cell, str) and len(cell) < 60]
    folded = {name.casefold() for name in wanted}
    sure = sum(name.casefold() in folded for name in names)
    return 2 * sure + len({guess_role(name) for name in names} - {None})


def choose_columns(
    names: Sequence[str], given: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return the column of each role, and for roles that need an answer the columns to choose from.

    Args:
        names: of all columns.
        given: what the user said, by role; an empty name leaves the role out.

    Raises:
        InvalidInput: a column that the user named is missing.
    """
    chosen: dict[str, str] = {}
    for role, said in given.items():
        if not said.strip():
            continue
        fitting = [name for name in names if name.casefold() == said.strip().casefold()]
        if not fitting:
            rule = one_of([name for name in names if name], said, columns=True)
            raise InvalidInput(role.replace("_", "-"), rule, said)
        chosen[role] = fitting[0]
    unclear: dict[str, list[str]] = {}
    for role in ROLES:
        if role in chosen or (role in given and role not in NEEDED):
            continue
        free = [name for name in names if guess_role(name) == role and name not in chosen.values()]
        best = min((len(_split(name) - OFTEN_BESIDE) for name in free), default=0)
        # "score" beside "judge score", but not "score technical" beside "score of skills given".
        if role != "score" or best <= 1:
            free = [name for name in free if len(_split(name) - OFTEN_BESIDE) == best]
        if len(free) == 1 or (free and role in GUESSED_LEFTMOST):
            chosen[role] = free[0]
        elif free:
            unclear[role] = free
        elif role in NEEDED:
            unclear[role] = [name for name in names if name and name not in chosen.values()]
    return chosen, unclear


def _split(name: str) -> frozenset[str]:
    """Return the words of a name in lower case, except those in parentheses."""
    plain = (
        re.sub(r"\(.*?\)", " ", name)
        .replace("'s", " ")
        .replace("\N{RIGHT SINGLE QUOTATION MARK}s", " ")
    )
    plain = re.sub(r"([a-z])([A-Z])", r"\1 \2", plain)
    return frozenset(
        word.strip("0123456789") for word in re.findall(r"\w+", plain.replace("_", " ").casefold())
    )
