"""The feedback loop as a page, a film and a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from affinity_bandits import AffinityBandit, InGroupBonus, Power
from affinity_bandits.cli.app import app
from affinity_bandits.plots.loop import Course, course, draw_moment, write_film
from affinity_bandits.plots.loop.courses import explain_failure
from affinity_bandits.plots.loop.pages import page, page_data
from affinity_bandits.simulation import simulate_log
from tests.support.browsers import launched

NAMES = ["founders", 'new</script><b>"comers']
BANDIT = AffinityBandit([0.4, 0.6], bias=Power(1.0), initial_pulls=[100, 10])


@pytest.fixture(scope="module")
def courses() -> list[Course]:
    return [
        course(BANDIT, policy, 2_000, name=policy, seed=3) for policy in ("ucb1", "elimination")
    ]


def test_a_course_is_what_its_log_says(courses: list[Course]) -> None:
    found = courses[0]
    log = simulate_log(BANDIT, "ucb1", 2_000, seed=3)
    for place in (0, 40, -1):
        choices = found.choices[place]
        so_far = log.arm[:choices]
        members = [100 + (so_far == 0).sum(), 10 + (so_far == 1).sum()]
        np.testing.assert_allclose(found.shares[place], np.array(members) / sum(members))
        assert found.right[place] == pytest.approx((so_far == 1).mean())
        late = slice(choices // 2, choices)
        for arm in (0, 1):
            own = log.score[late][log.arm[late] == arm]
            expected = own.mean() if len(own) else np.nan
            np.testing.assert_allclose(found.scores[place, arm], expected)
    assert found.choices[-1] == 2_000
    assert (np.diff(found.choices) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_moves_without_network(courses: list[Course], tmp_path: Path, width: int) -> None:
    path = tmp_path / "loop.html"
    text = page(courses, NAMES)
    assert text.count("</script>") == 2  # no name ends the script
    path.write_text(text, encoding="utf-8")
    with launched() as browser:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
        opened = context.new_page()
        failures: list[str] = []
        opened.on("pageerror", lambda error: failures.append(str(error)))
        opened.on("request", lambda request: failures.append(request.url))
        opened.goto(path.as_uri())
        assert opened.inner_text("#now") == "2,000 choices"
        assert NAMES[1] in opened.inner_text("#key")
        last = opened.inner_text("section p")
        for key in ("Tab", "Tab", "Home"):
            opened.keyboard.press(key)
        assert opened.inner_text("#now") == "10 choices"
        assert opened.inner_text("section p") != last
        assert opened.evaluate("document.documentElement.scrollWidth") == width
        assert failures == [path.as_uri()]


def test_a_page_of_equal_groups_calls_no_choice_wrong() -> None:
    equal = AffinityBandit([0.5, 0.5], bias=Power(1.0), initial_pulls=[100, 10])
    found = [course(equal, "ucb1", 500, name="ucb1")]
    assert page_data(found, NAMES)["best"] == [0, 1]
    text = page(found, ["a", "b"])
    assert "All groups are worth the same, so no choice is wrong." in text
    assert "should be chosen" not in text
    three = AffinityBandit([0.5, 0.2, 0.5], bias=Power(1.0), initial_pulls=[5, 5, 5])
    found = [course(three, "ucb1", 500, name="ucb1")]
    assert page_data(found, "abc")["best"] == [0, 2]
    assert "So a or c should be chosen." in page(found, ["a", "b", "c"])


@pytest.mark.slow
def test_a_film_ends_with_the_last_moment(courses: list[Course], tmp_path: Path) -> None:
    path = tmp_path / "loop.gif"
    few = [one._replace(choices=one.choices[-9:]) for one in courses]
    assert draw_moment(courses, NAMES).get_suptitle() == "after 2,000 choices"
    write_film(few, NAMES, path)
    with Image.open(path) as film:
        assert film.n_frames == 5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "loop.txt"], "out must be a file that ends in .html"),
        (["--out", "nowhere/loop.html"], "out must be in a directory"),
        (["--groups", "one"], "groups must be 2 names with commas between them"),
        (["--horizon", "1e12"], "horizon"),
    ],
)
def test_mistakes_are_named_before_any_work(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["show", *arguments])
    assert result.exit_code != 0
    assert said in str(result.exception) + result.output
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_a_page(tmp_path: Path) -> None:
    path = tmp_path / "loop.html"
    arguments = ["show", "--horizon", "1000", "--policy", "ucb1", "--out", str(path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "newcomers" in path.read_text(encoding="utf-8")


def taken(values: list[float], members: list[int], bonus: float, right: float) -> list[str]:
    """Explain a run of so many right choices, where those who are chosen keep their seats."""
    bandit = AffinityBandit(values, InGroupBonus(bonus), members)
    groups = ["a", "b", "c"][: len(values)]
    best = max(values)
    wrong = (1.0 - right) / max(1, sum(value < best for value in values))
    shares = [right if value == best else wrong for value in values]
    found = Course(
        "UCB1",
        np.array(values),
        np.array([10, 1000]),
        np.array([shares, shares]),
        np.full((2, len(values)), np.nan),
        np.array([0.5, right]),
    )
    return explain_failure(bandit, found, groups)


@pytest.mark.parametrize(
    ("values", "members", "bonus", "right", "first", "second"),
    [
        ([0.4, 0.6], [95, 5], 1.0, 0.004, "gave less than 1% of 1,000 choices to b, although "
         "they are worth 0.20 more than a", "The bias hides it: with 5% of the seats at the "
         "start, b score 0.32 on average and a 0.39"),
        ([0.4, 0.6], [50, 50], 1.0, 0.3, "gave 30% of 1,000", "They began well"),
        ([0.4, 0.6], [95, 5], 1.0, 0.9, "does not fail", "They look worse at first"),
        ([0.4, 0.6], [50, 50], 0.0, 0.9, "does not fail", "The best also look best"),
        ([0.5, 0.5], [90, 10], 1.0, 1.0, "worth the same", "who ends up on the committee"),
        ([0.6, 0.6, 0.2], [1, 1, 98], 1.0, 0.1, "choices to a and b, although they are worth "
         "0.40 more than c", "They began well"),
    ],
)  # fmt: skip
def test_two_sentences_say_why(
    values: list[float], members: list[int], bonus: float, right: float, first: str, second: str
) -> None:
    said = taken(values, members, bonus, right)
    assert len(said) == 2
    assert first in said[0]
    assert second in said[1]
