"""What a plan takes from an audit, and what it does not know from it."""

from __future__ import annotations

from affinity_bandits.planning.from_audit import tell_audit


def test_a_plan_says_what_it_took_from_an_audit_and_what_it_does_not_know() -> None:
    answers = {"groups": ["a", "b"], "scale": "1..5", "bonus": "25%", "spread": "0.9"}
    answers |= {"strictness": "no idea", "favor_gap": "no idea", "judges_per_group": "8"}
    taken, unknown = tell_audit(answers | {"favor_gap": "0.41"}, {})
    assert taken == (
        "Taken from the audit: the groups; the scale; the spread of scores within a group, 0.9; the"
        " upper end of the favor of all judges together as the bonus, 25%; the largest difference"
        " between two groups' favors that its interval allows, 0.41; the number of judges per"
        " group, 8."
    )
    assert unknown == (
        "Not known from it: whether all groups' judges will be equally strict (needed for"
        " recusal); whether there are people who belong to no group."
    )
    taken, unknown = tell_audit(answers | {"bonus": "no idea"}, {"spread": "1"})
    assert taken == (
        "Taken from the audit: the groups; the scale; the number of judges per group, 8."
    )
    assert unknown.startswith(
        "Not known from it: how large the favor is; how much more one group's judges favor their"
        " own than another's do theirs (needed if panels or the committee judge); whether all"
    )
    said = {"favor_gap": "0.2", "strictness": "same", "outsiders": "no"}
    (taken,) = tell_audit(answers, said, editable=True)
    assert taken.startswith("Taken from the audit, unless changed since: the groups;")
