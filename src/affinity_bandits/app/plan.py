"""The page Plan: the questions of `affinity plan` as a form, and its answer."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from affinity_bandits.app.forms import declaration_fields, read_declaration, tell_mistakes
from affinity_bandits.app.rendering import STYLE, render, show_page
from affinity_bandits.base.declaration import ASKS, DISCRIMINATION, EQUALITY, LONGEST, Declaration
from affinity_bandits.base.errors import CallerError, InvalidInput, NotSupported, shown
from affinity_bandits.base.progress import with_delay
from affinity_bandits.base.words import plural
from affinity_bandits.planning.assumptions import Assumptions
from affinity_bandits.planning.enough import round_up
from affinity_bandits.planning.files import plan_to_toml
from affinity_bandits.planning.from_audit import tell_audit
from affinity_bandits.planning.making import make_plan
from affinity_bandits.planning.plan import Plan
from affinity_bandits.planning.questions import QUESTIONS
from affinity_bandits.planning.rule import recommended
from affinity_bandits.planning.sentences import (
    DIFFER_NOTE,
    DIFFER_TITLE,
    NOTHING_TO_SEE,
    WAYS,
    cost_rows,
    differ_rows,
    difference_rows,
    format_day,
    otherwise_rows,
    tell_assumptions,
    tell_claim,
    tell_conditions,
    tell_count,
    tell_judges,
    tell_next,
    tell_obstacles,
    tell_recommendation,
    tell_situation,
    tell_verdict,
)
from affinity_bandits.planning.situation import Situation
from affinity_bandits.planning.what_if import choices_for, detectable_with

router = APIRouter()
log = logging.getLogger(__name__)
COMPARED = ("groups", "unit", "scale", "difference", "budget")
"""Questions of the first step."""
JUDGED = ("bonus", "favor_gap", "strictness", "outsiders", "committee", "joining")
"""Questions of the second step; those of neither have usual answers."""
CARDS = {
    "all": ("Compare all", "See what each way costs.", ("o", "o", "o", "o", "o", "o")),
    "outsiders": (
        "Outsiders",
        "People or models of no compared group.",
        ("n", "n", "n", "n", "n", "n"),
    ),
    "neutral": (
        "Neutral blocks",
        "One person of a third group scores a candidate of each of the others.",
        ("c", "c", "c"),
    ),
    "panels": ("Panels", "As many seats for each group.", ("a", "a", "b", "b", "c", "c")),
    "committee": (
        "The whole committee",
        "Everybody, whatever their group.",
        ("a", "a", "a", "a", "b", "c"),
    ),
    "recused": ("Recusal", "Nobody judges their own group.", ("o", "o", "b", "b", "c", "c")),
}
"""The ways to judge: name, words, and the judges of a candidate, o for an empty seat."""
ANSWERS = {
    "strictness": ("no idea", "same"),
    "outsiders": ("do not know", "yes", "no"),
}
"""Questions with few answers."""
HINTS = {
    "budget": "Or a number such as 2000, or 40 a week until 2027-06-30.",
    "scale": "Or 0..100, or yes/no.",
    "favor_gap": "Or: same. Where nobody knows, panels and the committee promise nothing.",
    "strictness": "Same: the judges of all groups are equally strict on average.",
    "outsiders": "People or models that no compared group can call their own.",
}
"""What stands below a question, besides its example."""
BRACKETS = re.compile(r" \([^()]*\)(?=\?)")
"""Examples in a question, which the page shows below it."""
EXAMPLE = {
    "groups_are": "sources of candidates",
    "protected": "no",
    "responsible": "head of recruiting",
    "purpose": "where to look for candidates next year",
    "groups": "referrals, agencies, open call",
    "unit": "interview",
    "scale": "1..5",
    "difference": "0.3",
    "budget": "2,000 a year",
    "bonus": "20%",
    "committee": "30,10,10",
    "joining": "1 in 10",
}
PARTLY = {
    "groups": "Groups: {}.",
    "scale": "Scores: {}.",
    "difference": "A difference of {} matters.",
    "budget": "Budget: {}.",
    "bonus": "Own group rated higher by up to {}.",
}
"""What is understood of single answers, until all are there."""
MOST_CHARACTERS = 2000  # of an answer: a thousand groups are given as a number
MOST_WAITING = 20
REMEMBERED = 60  # plans, about 50 kB each
AUDITED = "audited"
"""What only the link of an audit says: which answers it gave."""
POLL_SECONDS = 0.2
ROOM = 1.02  # of an axis, as a multiple of what it shows
STEPS = 8  # of a slider to each side, as many as double the number twice
NEVER_ENOUGH = "no number is enough"
FAULT = "This is a fault of the application. The window it was started in says more."


class GivenUp(Exception):  # noqa: N818 - not an error: nobody waits for the plan any more
    """The browser went away."""


@dataclass(frozen=True)
class Form:
    """The answers of a form.

    Attributes:
        said: the answers as they were given, without empty ones.
        situation: the answers as they were understood.
        wrong: what is wrong, by the name of the question.
        declaration: the declaration, unless something is wrong with it.
    """

    said: dict[str, str]
    situation: Situation
    wrong: dict[str, InvalidInput]
    declaration: Declaration | None

    @property
    def sources(self) -> list[str]:
        """What is and is not known from an audit, if the form began with one."""
        audited = self.said.get(AUDITED, "").split(",")
        answers = {name: self.said[name] for name in audited if name in self.said}
        return tell_audit(answers, {}, editable=True) if answers else []

    @property
    def mistakes(self) -> dict[str, InvalidInput]:
        """What is wrong with the answers that a plan needs: it is read before it is declared."""
        return _mistakes(self.wrong)

    def require_ways(self) -> list[Assumptions]:
        """Return the assumptions for each way to judge.

        Raises:
            InvalidInput: an answer that a plan needs is wrong.
        """
        for error in self.mistakes.values():
            raise error
        return self.situation.ways()


def _mistakes(wrong: Mapping[str, InvalidInput]) -> dict[str, InvalidInput]:
    return {
        name: error for name, error in wrong.items() if name not in ASKS or error.value is not None
    }


def read_form(query: Mapping[str, str]) -> Form:
    """Return the answers in an address."""
    names = [*ASKS, *(question.name for question in QUESTIONS), AUDITED]
    said = {name: query[name].strip() for name in names if query.get(name, "").strip()}
    situation = Situation()
    named = said.get("groups", "")
    usual = {"groups_are": named} if "," in named and len(named) <= LONGEST else {}
    declaration, wrong = read_declaration(usual | said, Declaration.check_comparison)
    for name, text in said.items():
        if len(text) > MOST_CHARACTERS:
            wrong[name] = InvalidInput(name, f"at most {MOST_CHARACTERS} characters", text)
            return Form(said, situation, wrong, declaration)
    wrong |= situation.answer_some(said)
    if not _mistakes(wrong):
        try:
            situation.ways()
        except InvalidInput as error:  # answers that contradict one another
            place = error.parameter if error.parameter in names else "groups"
            wrong[place] = error
    return Form(said, situation, wrong, declaration)


class Plans:
    """Makes plans, some at once, and remembers the latest.

    Args:
        most: plans that are made at once.
    """

    def __init__(self, most: int) -> None:
        self._turns = asyncio.Semaphore(most)
        self._waiting = 0
        self._made: OrderedDict[str, Plan] = OrderedDict()

    async def make(self, ways: Sequence[Assumptions]) -> AsyncIterator[tuple[float, str]]:
        """Make the plans that are not remembered; yield the part done and the current step.

        The work stops soon after nobody asks for the next part.

        Raises:
            NotSupported: too many wait.
        """
        known = [_key(one) for one in ways if _key(one) in self._made]
        for key in known:
            self._made.move_to_end(key)  # not to be forgotten before it is used
        if len(known) == len(ways):
            return
        if self._waiting >= MOST_WAITING:
            raise NotSupported("too many plans are being made; try again in a minute")
        self._waiting += 1
        try:
            while self._turns.locked():
                yield 0.0, "Waiting for another plan to be finished"
                await asyncio.sleep(POLL_SECONDS)
            await self._turns.acquire()
        finally:
            self._waiting -= 1
        todo = [one for one in ways if _key(one) not in self._made]
        if not todo:  # made meanwhile, for another reader
            self._turns.release()
            return
        state, gone = {"part": 0.0, "number": 0}, threading.Event()

        def advance(part: float) -> None:
            if gone.is_set():
                raise GivenUp
            state["part"] = part

        def work() -> None:
            for number, one in enumerate(todo):
                state.update(number=number, part=0.0)
                self._made[_key(one)] = make_plan(one, progress=advance)

        def end(done: asyncio.Future[None]) -> None:
            self._turns.release()
            done.exception()  # nobody else may ask for it

        future = asyncio.get_running_loop().run_in_executor(None, work)
        future.add_done_callback(end)
        try:
            while not future.done():
                number = int(state["number"])
                words = f"Trying it out: {WAYS[todo[number].judges][0]}"
                yield (number + state["part"]) / len(todo), with_delay(words)
                await asyncio.wait({future}, timeout=POLL_SECONDS)
        finally:
            gone.set()
        future.result()
        while len(self._made) > REMEMBERED:
            self._made.popitem(last=False)

    async def finish(self, form: Form) -> list[Plan]:
        """Return the plans of a form, made or remembered, with its declaration.

        Raises:
            InvalidInput: an answer or the declaration is wrong or missing.
        """
        for error in form.wrong.values():
            raise error
        ways = form.require_ways()
        async for _ in self.make(ways):
            pass
        return self.remembered(form, ways)

    def made(self, ways: Sequence[Assumptions]) -> list[Plan]:
        """Return the plans of these ways that are made already."""
        return [self._made[key] for key in map(_key, ways) if key in self._made]

    def remembered(self, form: Form, ways: Sequence[Assumptions]) -> list[Plan]:
        """Return plans that were made, with the declaration of a form."""
        return [replace(self._made[_key(one)], declaration=form.declaration) for one in ways]


def warm_up() -> None:
    """Load the compiled loops of plans; the first time on a machine, this compiles them."""
    for judges in WAYS:
        make_plan(Assumptions(3, 100, 0.5, bonus=0.1, judges=judges, spread=0.2), progress=False)


def _key(assumptions: Assumptions) -> str:
    return json.dumps(assumptions.to_json(), sort_keys=True)


@router.get("/plan")
async def show_plan(request: Request) -> Response:
    """Return the page, with the answers of its address."""
    form = read_form(request.query_params)
    return show_page(
        request,
        "plan.html",
        declaration=declaration_fields(form.said, {"groups_are": "the names of the groups"}),
        compared=[_field(form, name) for name in COMPARED],
        judged=[_field(form, name) for name in JUDGED],
        more=[
            _field(form, one.name)
            for one in QUESTIONS
            if one.name not in (*COMPARED, *JUDGED, "judges")
        ],
        answers=ANSWERS,
        cards=CARDS,
        chosen=form.said.get("judges", "all"),
        example=urlencode(EXAMPLE),
        audit_instead=f"/audit?{urlencode({'protected': 'yes', 'purpose': EQUALITY})}",
        carried=[(name, form.said[name]) for name in (AUDITED,) if name in form.said],
        sources=form.sources,
    )


def _field(form: Form, name: str) -> dict[str, Any]:
    (question,) = (one for one in QUESTIONS if one.name == name)
    return {
        "name": name,
        "asks": BRACKETS.sub("", question.asks.format(units="choices")),
        "example": question.example.strip("'"),
        "usual": question.usual,
        "said": form.said.get(name, ""),
        "hint": HINTS.get(name, ""),
    }


@router.get("/plan/check")
async def check_form(request: Request) -> Response:
    """Return the questions, the mistakes and the answers as understood, as JSON data."""
    return JSONResponse(_checked(read_form(request.query_params)))


def _checked(form: Form) -> dict[str, Any]:
    told = form.situation
    units = plural(str(told.said.get("unit", "choice")))
    wrong = tell_mistakes(form.wrong)
    if "protected" in wrong and form.said.get("protected") == "yes":
        wrong["protected"]["words"] = (
            f"No plan compares protected attributes: {DISCRIMINATION}. Use the page Audit, with a "
            f"purpose such as '{EQUALITY} of interviews'."
        )
    understood = " ".join(
        words.format(form.said[name])
        for name, words in PARTLY.items()
        if name in form.said and name not in wrong
    )
    if not wrong.keys() - ASKS.keys():
        understood = tell_situation(told.assumptions(), told.for_a_year)
    asked = {
        one.name: BRACKETS.sub("", one.asks.format(units=units))
        for one in QUESTIONS
        if one.name in told.said
    }
    return {"asked": asked, "wrong": wrong, "understood": understood}


@router.get("/plan/answer")
async def answer(request: Request) -> Response:
    """Return the plan line by line as JSON data: the progress, then the answer as HTML."""
    form = read_form(request.query_params)
    if form.mistakes:
        return JSONResponse(_checked(form), 422)
    plans: Plans = request.app.state.plans
    ways = form.require_ways()

    async def lines() -> AsyncIterator[str]:
        said: list[str] = []
        try:
            async for part, words in plans.make(ways):
                known = [_tell_made(plan, form.situation.today) for plan in plans.made(ways)]
                new = [one for one in known if one not in said]
                said += new
                step = {"part": round(part, 3), "words": words, "found": new}
                yield json.dumps(step) + "\n"
            made = plans.remembered(form, ways)
            text = await asyncio.to_thread(_render_answer, form, made, "plan_answer.html")
        except CallerError as error:
            text = render("problem.html", title="There is no plan", words=f"{error}.")
        except Exception:
            log.exception("a plan failed")
            text = render("problem.html", title="This did not work", words=FAULT)
        yield json.dumps({"html": text}) + "\n"

    unbuffered = {"x-accel-buffering": "no"}  # a proxy hands the progress on as it comes
    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=unbuffered)


@router.get("/plan/page.html")
async def send_page(request: Request) -> Response:
    """Return the plan as one page to keep, to send or to print."""
    form = read_form(request.query_params)
    made = await request.app.state.plans.finish(form)
    text = await asyncio.to_thread(_render_answer, form, made, "plan_page.html")
    return _attachment(text, "text/html", "plan.html")


@router.get("/plan/plan.toml")
async def send_file(request: Request) -> Response:
    """Return the plan file of one way to judge."""
    form = read_form(request.query_params)
    made = await request.app.state.plans.finish(form)
    chosen = request.query_params.get("way", made[-1].assumptions.judges)
    for plan in made:
        if plan.assumptions.judges == chosen:
            return _attachment(plan_to_toml(plan), "application/toml", f"plan-{chosen}.toml")
    raise InvalidInput("way", "a way to judge of this plan", shown(chosen))


def _attachment(text: str, kind: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=kind, headers=headers)


def _render_answer(form: Form, plans: Sequence[Plan], template: str) -> str:
    told, last = form.situation, plans[-1]
    head, more, *rows = cost_rows(plans, told.today)
    best = recommended(plans) or last
    apart_head, *apart = difference_rows(best)
    return render(
        template,
        style=STYLE,
        verdict=tell_verdict(plans),
        enough=[plan.enough for plan in plans],
        situation=tell_situation(plans[0].assumptions, told.for_a_year),
        units=plural(last.assumptions.unit),
        budget=f"{last.assumptions.horizon:,} {plural(last.assumptions.unit)}",
        ways=[_tell_way(plan, told.today) | _bar(plan, plans) for plan in plans],
        head=[" ".join(pair) for pair in zip(head, more, strict=True)],
        rows=rows,
        claim=tell_claim(plans),
        conditions=tell_conditions(plans),
        sources=form.sources,
        obstacles=tell_obstacles(plans),
        recommendation=tell_recommendation(plans),
        after=tell_next(best),
        way=WAYS[best.assumptions.judges][0],
        differ_title=DIFFER_TITLE,
        differ_note=DIFFER_NOTE,
        differ=differ_rows(plans),
        note=NOTHING_TO_SEE if told.judges is None and last.assumptions.bonus is None else "",
        otherwise=otherwise_rows(plans),
        judges=tell_judges([best.assumptions.judges]),
        assumptions=tell_assumptions(best.assumptions),
        apart_head=apart_head,
        apart=apart,
        declared=form.declaration.sentence if form.declaration else "",
        budgets=_budgets(plans),
        differences=_differences(plans),
        files=[
            (plan.assumptions.judges, WAYS[plan.assumptions.judges][1], _use(plan), _warn(plan))
            for plan in plans
        ],
        query=urlencode(form.said),
    )


def _tell_way(plan: Plan, today: date) -> dict[str, Any]:
    """Return the row of a way to judge: whether the budget is enough, the need, the date."""
    given, most = plan.assumptions, plan.enough_choices
    told: dict[str, Any] = {"way": WAYS[given.judges][0], "enough": plan.enough}
    if plan.needed is None or most is None:
        return told | {"word": NEVER_ENOUGH, "needs": "", "average": ""}
    needs = f"{tell_count(most)} {plural(given.unit)}"
    if given.pace is not None:
        needs += f", done by {format_day(today, most / given.pace)}"
    average = tell_count(plan.needed.choices)
    word = "enough" if plan.enough else "too few"
    return told | {"word": word, "needs": needs, "average": average}


def _tell_made(plan: Plan, today: date) -> str:
    """Return the verdict of one way to judge, to read while others are planned."""
    row = _tell_way(plan, today)
    name = f"{row['way'][0].upper()}{row['way'][1:]}"
    takes = f"; it takes {row['needs']}" if row["needs"] else ""
    return f"{name}: {row['word']}{takes}."


def _bar(plan: Plan, plans: Sequence[Plan]) -> dict[str, str]:
    """Return the lengths of the row's bar and the place of the budget, in percent of the axis."""
    horizon = plan.assumptions.horizon
    longest = ROOM * max([one.enough_choices or 0.0 for one in plans] + [horizon])
    average = 0.0 if plan.needed is None else plan.needed.choices
    lengths = {"most": plan.enough_choices or 0.0, "usual": average, "given": horizon}
    return {name: f"{100.0 * length / longest:.1f}%" for name, length in lengths.items()}


def _use(plan: Plan) -> str:
    if plan.assumptions.judges == "neutral":
        return "for a campaign, or to run by hand"
    return "for a campaign or a simulation"


def _warn(plan: Plan) -> str:
    if not plan.assumptions.identified:
        return "nothing is promised"
    return "" if plan.enough else f"too few {plural(plan.assumptions.unit)}"


def _budgets(plans: Sequence[Plan]) -> list[dict[str, Any]]:
    """Return the steps of the slider of budgets: the words of each, and the answer to plan with."""
    given, steps = plans[0].assumptions, []
    for step in range(-STEPS, STEPS + 1):
        choices = round(given.horizon * 4.0 ** (step / STEPS))
        choices = choices if step == 0 else max(given.groups, round_up(choices))
        lines = []
        for plan in plans:
            seen, most = detectable_with(plan, choices), plan.enough_choices
            verdict = "enough" if most is not None and most <= choices else "too few"
            apart = "no difference is seen" if seen is None else f"sees from {seen:.2g}"
            said = f"{verdict}, {apart}" if plan.assumptions.identified else NEVER_ENOUGH
            lines.append(f"{WAYS[plan.assumptions.judges][0]}: {said}")
        said = f"{choices}"
        if given.pace is not None:
            said = f"{given.pace:.6g} a week for {choices / given.pace:.6g} weeks"
        steps.append({"title": f"{choices:,} {plural(given.unit)}", "lines": lines, "said": said})
    return steps


def _differences(plans: Sequence[Plan]) -> list[dict[str, Any]]:
    """Return the steps of the slider of differences, as `_budgets` does."""
    given, steps = plans[0].assumptions, []
    for step in range(-STEPS, STEPS + 1):
        difference = float(f"{given.smallest_difference * 4.0 ** (step / STEPS):.2g}")
        if step == 0:
            difference = given.smallest_difference
        if difference > given.best_mean - given.lowest:
            break
        lines = []
        for plan in plans:
            needed = plan.enough_choices if step == 0 else choices_for(plan, difference)
            took = "more than the plan looked at" if plan.assumptions.identified else NEVER_ENOUGH
            if needed is not None:
                near = tell_count(needed) if step == 0 else f"about {round_up(math.ceil(needed)):,}"
                took = f"{near} {plural(given.unit)}"
            lines.append(f"{WAYS[plan.assumptions.judges][0]}: {took}")
        said = f"{difference:g}"
        steps.append({"title": f"a difference of {said}", "lines": lines, "said": said})
    return steps
