"""The feedback loop as a page, a film and a picture."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from affinity_bandits import AffinityBandit, Power
from affinity_bandits.cli.app import app
from affinity_bandits.plots.loop import Course, course, draw_moment, write_film
from affinity_bandits.plots.loop.pages import page
from tests.support.browsers import launched

NAMES = ["founders", 'new</script><b>"comers']


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
        assert NAMES[1] in opened.inner_text("section.chosen")
        last = opened.inner_text("section.chosen")
        opened.locator("#moment").press("Home")
        assert opened.inner_text("#now") == "10 choices"
        assert opened.inner_text("section.chosen") != last
        assert opened.evaluate("document.documentElement.scrollWidth") == width
        assert failures == [path.as_uri()]


def test_a_page_of_equal_groups_calls_no_choice_wrong() -> None:
    equal = AffinityBandit([0.5, 0.5], bias=Power(1.0), initial_pulls=[100, 10])
    found = [course(equal, "ucb1", 500, name="ucb1")]
    assert found[0].best == [0, 1]
    text = page(found, ["a", "b"])
    assert "All groups are worth the same, so no choice is wrong." in text
    assert "should be chosen" not in text
    three = AffinityBandit([0.5, 0.2, 0.5], bias=Power(1.0), initial_pulls=[5, 5, 5])
    found = [course(three, "ucb1", 500, name="ucb1")]
    assert found[0].best == [0, 2]
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
