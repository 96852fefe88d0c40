"""The page is played by keys, in a browser without a network, and tells what the library finds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from affinity_bandits.base.errors import InvalidInput
from affinity_bandits.plots.explorable import ExplorableWorld, explorable_page
from affinity_bandits.plots.explorable.page import LIMITS
from tests.plots.explorable.library import World, library_log
from tests.support.browsers import SIZES, launched, violations, watched

PATIENCE = 60_000.0  # milliseconds: a busy machine is only slow
LARGEST = 60_000  # bytes
MOST_WORDS = 40
HIGHEST = 420  # pixels from the top to the first chart, on a phone
VISIBLE = """() => {
  const main = document.querySelector("main").innerText;
  return main.replace(document.getElementById("live").innerText, "");
}"""
REMEDIES = {
    "turns": "Equal turns",
    "panels": "Equal panels",
    "outsiders": "Outsiders",
    "head": "Head start",
    "none": "No bonus",
}
USUAL = ExplorableWorld()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("explorable") / "committee.html"
    path.write_text(explorable_page(), encoding="utf-8")
    return path.as_uri()


def look_at(page: Page, address: str) -> None:
    page.set_default_timeout(PATIENCE)
    page.goto(address)


def check_screen(page: Page, width: int) -> None:
    """Check words, width, the place of the first picture and what axe finds."""
    text: str = page.evaluate(VISIBLE)
    assert len(re.findall(r"[A-Za-z]\w+", text)) <= MOST_WORDS, text
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator(".seats, .area").first.bounding_box()["y"] < HIGHEST  # type: ignore[index]
    assert violations(page) == []


def play(page: Page) -> str:
    """Choose the higher score ten times, by keys; return the choices."""
    chosen = ""
    for number in range(10):
        expect(page.locator("#actions")).to_have_text(f"Round {number + 1} of 10")
        scores = [int(one) for one in page.locator(".candidate strong").all_inner_texts()]
        best = scores.index(max(scores))
        page.keyboard.press(str(best + 1))
        chosen += str(best)
    return chosen


def part_of_newcomers(way: str, chosen: str) -> str:
    """Return the part of the seats that newcomers hold after the library's run, in percent."""
    members = [own + chosen.count(str(arm)) for arm, own in enumerate(USUAL.members)]
    values = [value / 100 for value in USUAL.values]
    world = World(values, members, USUAL.bonus / 100, USUAL.choices, USUAL.seed)
    seats = np.array(members) + library_log(way, world).pulls
    return f"{seats[1] / seats.sum():.0%}"


def test_the_page_is_light() -> None:
    assert len(explorable_page().encode()) <= LARGEST


@pytest.mark.slow
@pytest.mark.parametrize(("size", "scheme"), [("wide", "dark"), ("narrow", "light")])
def test_a_committee_closes_and_remedies_open_it(
    browser: Browser, address: str, size: str, scheme: str
) -> None:
    width, height = SIZES[size]
    view: Any = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
    with watched(browser, address, offline=True, **view) as page:
        look_at(page, address)
        check_screen(page, width)
        chosen = play(page)
        expect(page.locator("#title")).to_contain_text(
            f"You chose founders {chosen.count('0')} of 10 times. Newcomers are better."
        )
        check_screen(page, width)
        page.keyboard.press("Space")
        remedy = page.get_by_role("button", name="Try a remedy")
        expect(remedy).to_be_visible(timeout=PATIENCE)
        ordinary = part_of_newcomers("ordinary", chosen)
        expect(page.locator("#title")).to_contain_text(f"better, hold {ordinary} of the seats")
        expect(page.locator(".mark")).to_have_text("here it closed")
        check_screen(page, width)
        page.keyboard.press("Space")
        expect(page.locator("#title")).to_have_text("What would have helped?")
        check_screen(page, width)
        for way, name in REMEDIES.items():
            page.get_by_role("button", name=name, exact=True).click()
            found = part_of_newcomers(way, chosen)
            assert int(found[:-1]) > 70
            expect(page.locator("#title")).to_have_text(
                f"{name}: newcomers get {found}, not {ordinary}."
            )
            check_screen(page, width)
        for fold in page.locator("summary").all():
            fold.click()
            assert violations(page) == []
        page.get_by_role("button", name="Copy link").click()
        link = page.locator("#link").input_value()
        assert f"p={chosen}" in link
        look_at(page, "about:blank")
        look_at(page, link)
        expect(page.locator("#title")).to_contain_text("No bonus: newcomers get")


@pytest.mark.slow
def test_a_visitor_who_chose_well_is_told_so(browser: Browser, address: str) -> None:
    """Nine of ten choices are newcomers, so nothing closes and there is nothing to remedy."""
    chosen = "1111011111"
    ordinary, head = (part_of_newcomers(way, chosen) for way in ("ordinary", "head"))
    assert int(head[:-1]) < int(ordinary[:-1])
    with watched(browser, address, reduced_motion="reduce") as page:
        look_at(page, f"{address}#p={chosen}&t=run")
        compare = page.get_by_role("button", name="Compare the remedies")
        for _ in range(2):
            page.get_by_role("button", name="Next").click()
        expect(page.locator("#title")).to_have_text("It found newcomers.")
        expect(page.locator("#lead")).to_have_text(
            "You gave them seats, so members like them scored them higher."
        )
        compare.click()
        expect(page.locator("#title")).to_have_text("It needed no remedy this time.")
        page.get_by_role("button", name="Head start").click()
        expect(page.locator("#title")).to_have_text(
            f"Head start: newcomers get {head}; without it {ordinary}."
        )


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_what_unfolds_moves_nothing_above_it(browser: Browser, address: str, size: str) -> None:
    width, height = SIZES[size]
    with watched(browser, address, viewport={"width": width, "height": height}) as page:
        look_at(page, f"{address}#p=0000010000&t=remedies&r=head")
        words = page.locator("#more summary")
        places = [one.bounding_box() for one in words.all()]
        first = page.locator(".area").first.bounding_box()
        for one in words.all():
            one.click()
            assert [other.bounding_box() for other in words.all()] == places
            assert page.locator(".area").first.bounding_box() == first
            assert page.evaluate("scrollY") == 0
        opened = page.locator("#take div").first.bounding_box()
        assert opened is not None
        assert opened["y"] > max(place["y"] for place in places if place)


@pytest.mark.slow
def test_without_motion_play_becomes_next(browser: Browser, address: str) -> None:
    with watched(browser, address, reduced_motion="reduce") as page:
        look_at(page, f"{address}#p=0000010000&t=reveal")
        page.get_by_role("button", name="Go on for 1,000 choices").click()
        shown = page.locator(".chart p")
        expect(shown).to_have_text("UCB1 10 choices")
        for least in (100, 1000):
            page.get_by_role("button", name="Next").click()
            if least < 1000:
                made = int(re.findall(r"\d+", shown.inner_text())[1])
                assert least <= made < 1.1 * least
        expect(shown).to_contain_text("locked in since choice")
        assert page.evaluate("document.getAnimations().length") == 0


@pytest.mark.slow
def test_the_world_can_be_changed_saved_and_embedded(
    browser: Browser, address: str, tmp_path: Path
) -> None:
    with watched(browser, address[: address.rindex("/")], accept_downloads=True) as page:
        look_at(page, f"{address}#p=0000010000&t=remedies&r=head")
        page.get_by_text("World").click()
        page.get_by_role("button", name="Add a group").click()
        expect(page.locator("#world input[type=text]")).to_have_count(3)
        page.locator("#world input[type=text]").last.fill('</script>"&')
        page.locator("#world input[type=range]").first.focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#title")).to_contain_text("Head start")
        page.get_by_text("100 runs").click()
        words = page.locator("#many p")
        expect(words).to_have_count(2)
        expect(page.locator("#many .runs span")).to_have_count(200, timeout=PATIENCE)
        for text in words.all_inner_texts():
            assert sum(map(int, re.findall(r"(\d+) (?:end|still)", text))) == 100
        page.get_by_text("Share").click()
        plan = page.get_by_role("link", name="Plan this").get_attribute("href")
        assert plan is not None
        assert "/plan?groups=founders%2C+newcomers%2C+" in plan
        assert "difference=20" in plan
        assert "committee=20%2C2%2C1" in plan
        with page.expect_download() as kept:
            page.get_by_role("button", name="Save as one HTML file").click()
        saved = tmp_path / "saved.html"
        kept.value.save_as(saved)
        assert json.loads(page.locator("#data").inner_text())["world"]["names"] == list(USUAL.names)
    with watched(browser, saved.as_uri()) as page:
        look_at(page, saved.as_uri())
        names = page.locator(".candidate .name")
        assert names.all_inner_texts() == ["founders", "newcomers", '</script>"&']
    frame = tmp_path / "frame.html"
    frame.write_text(f'<!doctype html><title>x</title><iframe src="{saved.as_uri()}"></iframe>')
    with watched(browser, tmp_path.as_uri()) as page:
        look_at(page, frame.as_uri())
        inside = page.frame_locator("iframe")
        inside.locator(".candidate").first.click()
        expect(inside.locator("#actions")).to_have_text("Round 2 of 10")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fragment", "said"),
    [
        ("v=60", "the number of groups must be a whole number from 2 to 4, not 1"),
        ("v=60,170", "v must be a whole number from 1 to 99, not 170"),
        ("n=500", "n must be one of 300, 1000, 3000, 10000, not 500"),
        ("p=0009", "p must be a whole number from 0 to 1, not 9"),
        ("r=nobody", "r must be one of turns, panels, outsiders, head, none, not nobody"),
    ],
)
def test_a_damaged_link_says_what_is_wrong(
    browser: Browser, address: str, fragment: str, said: str
) -> None:
    with watched(browser, address) as page:
        look_at(page, f"{address}#{fragment}")
        expect(page.locator("#notice")).to_have_text(
            f"This link cannot be read: {said}. The usual world is shown."
        )
        expect(page.locator(".candidate")).to_have_count(2)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"values": (60,)}, "values"),
        ({"values": (60, 100)}, "values"),
        ({"members": (11, 1, 1)}, "members"),
        ({"members": (31, 1)}, "members"),
        ({"names": ("a", " ")}, "names"),
        ({"bonus": 301}, "bonus"),
        ({"seed": LIMITS["seed"][1] + 1}, "seed"),
        ({"choices": 500}, "choices"),
    ],
)
def test_a_world_that_cannot_be_played_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        ExplorableWorld(**settings)
