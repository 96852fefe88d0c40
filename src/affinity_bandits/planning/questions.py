"""The questions of `affinity plan`, their order, and what their answers must be."""

from __future__ import annotations

from dataclasses import dataclass

from affinity_bandits.base.amounts import PART_RULE
from affinity_bandits.base.scales import SCALE_RULE
from affinity_bandits.planning.assumptions import (
    USUAL_INITIAL_LEAD,
    USUAL_JUDGES,
)

MAX_GROUPS = 1000


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        name: the name of its flag and of its key in a file.
        asks: its words.
        example: an answer.
        rule: the accepted answers.
        usual: the default.
    """

    name: str
    asks: str
    example: str
    rule: str
    usual: str | None = None


# All questions, in this order; some are skipped, depending on earlier answers.
QUESTIONS = (
    Question(
        "groups",
        "Which groups are compared (names, or how many)?",
        "referrals,agencies",
        "names such as 'referrals, agencies, open call', or how many groups, from 2 to 1,000",
    ),
    Question(
        "unit",
        "What is one choice called (interview, review, match)?",
        "interview",
        "a noun in the singular such as interview",
        "choice",
    ),
    Question(
        "scale",
        "Which scores are given (1..5, 0..100, yes/no)?",
        "1..5",
        SCALE_RULE,
    ),
    Question(
        "spread",
        "How much do scores spread (standard deviation, in points)?",
        "1",
        "a standard deviation in points of the scale such as 1, or 'largest'",
        "usual",
    ),
    Question(
        "bonus",
        "How much higher do people rate their own group, at most (20%, no idea)?",
        "20%",
        "how much more at most such as 20% or 0.2, 'none' or 'no idea'",
        "no idea",
    ),
    Question(
        "favor_gap",
        "By how many points may favors differ between groups' judges (same, 0.3, no idea)?",
        "0.3",
        "a number of points such as 0.3, 'same' if no group's judges favor their own more than"
        " another's, or 'no idea'",
        "no idea",
    ),
    Question(
        "strictness",
        "Are all groups' judges equally strict on average (same, no idea)?",
        "same",
        "'same' if no group's judges are stricter on average than another's, or 'no idea'",
        "no idea",
    ),
    Question(
        "judges_per_group",
        "How many judges does each group have, about?",
        "8",
        "a whole number such as 8",
        str(USUAL_JUDGES),
    ),
    Question(
        "outsiders",
        "Can people or models judge who belong to no group (yes, no, do not know)?",
        "yes",
        "yes, no or 'do not know'",
        "do not know",
    ),
    Question(
        "judges",
        "Who may judge: outsiders, neutral (blocks), panels, committee, recused?",
        "neutral",
        "outsiders, neutral, panels, committee or recused, or 'all' to see all that apply",
        "all",
    ),
    Question(
        "committee",
        "How many members of each group are on the committee (or: do not know)?",
        "30,10,10",
        "a number of members for each group such as 30,10,10, or 'do not know'",
        "do not know",
    ),
    Question(
        "initial_lead",
        "By how many members may one group outnumber another?",
        "100",
        "how many members one group may have more than another, such as 100",
        str(USUAL_INITIAL_LEAD),
    ),
    Question(
        "joining",
        "How many of those chosen join the committee?",
        "'1 in 10'",
        f"{PART_RULE}; if you do not know, the fewest you would expect",
        "all",
    ),
    Question(
        "difference",
        "Which difference in mean scores would matter, at equal shares?",
        "0.3",
        "a difference in points of the scale such as 0.3, with a decimal point",
    ),
    Question(
        "budget",
        "How many {units} (2000; 40 a week until 2027-06-30; 2,000 a year)?",
        "'2,000 a year'",
        "a number such as 2000, or so many a week, month or year until a date or for a"
        " time: '40 a week until 2027-06-30', '2,000 a year for 2 years'",
    ),
    Question(
        "begins",
        "When do those chosen begin to judge (at once; after 100 {units}; after 3 months)?",
        "'after 3 months'",
        "'at once', after a number of choices such as 100, or after a time such as '3 months' if"
        " the budget says how fast choices come",
        "at once",
    ),
    Question(
        "in_flight",
        "How many may be under way at once, not scored yet?",
        "10",
        "a whole number such as 1 or 10",
        "1",
    ),
    Question(
        "failure",
        "How often may the wrong group be chosen, at most?",
        "5%",
        PART_RULE,
        "5%",
    ),
)
# Settings that only flags and files have.
UNASKED = ("noise", "largest_mean", "steepness", "lipschitz")
NAMES = (*(question.name for question in QUESTIONS), *UNASKED)
RULES = {question.name: question.rule for question in QUESTIONS}
# Not asked where panels or people from other groups judge, but accepted.
OF_THE_COMMITTEE = ("committee", "joining", "begins")
LEFT_OUT = {
    "scale": "Gaussian scores have no ends",
    "spread": "yes and no spread as they must, and Gaussian scores by their sigma",
    "initial_lead": "the committee is known, or does not judge",
}
