"""Whatever is said to the questions of a plan, in a form or by flags, is checked alike."""

from __future__ import annotations

from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from affinity_bandits.planning.questions import QUESTIONS
from affinity_bandits.planning.situation import Situation

TODAY = date(2027, 1, 1)


@settings(max_examples=60)
@given(
    said=st.dictionaries(
        st.sampled_from([question.name for question in QUESTIONS]),
        st.one_of(
            st.text(max_size=12),
            st.sampled_from(
                ["no idea", "do not know", "yes/no", "1..5", "0..0.1", "recused", "panels", "9"]
            ),
        ),
    )
)
def test_whatever_is_said_in_a_form_the_rest_is_checked(said: dict[str, str]) -> None:
    told = Situation(TODAY)
    wrong = told.answer_some(said)
    for name, error in wrong.items():
        assert error.parameter == name
    missing = {name for name in ("groups", "scale", "difference", "budget") if not said.get(name)}
    assert missing - set(told.said) == set()  # an example stands for it
    assert missing <= set(wrong)
    alone = Situation(TODAY)
    if not wrong:  # the command line takes the same answers
        alone.answer_all({name: said[name] for name in told.said if said.get(name, "").strip()})
        assert alone.said == told.said
