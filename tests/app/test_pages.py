"""The pages See and Plan in a real browser, with wrong and odd input."""

from __future__ import annotations

import json
import re
import time
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect
from starlette.datastructures import QueryParams

from affinity_bandits.app.see import World, read_world, run_world
from affinity_bandits.planning.files import plan_from_toml
from tests.app import example
from tests.support.browsers import SIZES, violations

# One worker: a browser and a server are enough once. Slow: `make quick` has no Chromium.
pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)> {{ 7 * 7 }}"
DECLARED = {
    "groups_are": "sources of candidates",
    "protected": "no",
    "responsible": "head of recruiting",
    "purpose": "a test",
}
PANELS = {
    "groups": f"referrals, {HOSTILE}",
    "unit": "interview",
    "scale": "1..5",
    "difference": "1",
    "budget": "40 a week for 20 weeks",
    "bonus": "20%",
    "favor_gap": "same",
    "judges": "panels",
}
HIGHEST = 420  # pixels from the top to the first picture, on a phone
SMALLEST = 12  # pixels of a letter
MOST_WORDS = 40
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
WIDER = "() => document.documentElement.scrollWidth - innerWidth"


def test_the_start_page_has_three_doors(page: Page, address: str) -> None:
    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        page.goto(address)
        assert page.evaluate(WIDER) == 0
    assert violations(page) == []
    for door, title in (("See the loop", "See"), ("Plan a comparison", "Plan")):
        page.goto(address)
        page.get_by_role("link", name=door).press("Enter")
        assert page.title() == f"{title} · Affinity"
    page.get_by_role("link", name="Why we ask").click()
    expect(page.locator("h1")).to_have_text("Responsible use")
    assert violations(page) == []


def test_every_change_is_a_new_run_and_part_of_the_address(page: Page, address: str) -> None:
    page.goto(f"{address}/see")
    why = page.locator("#why")
    expect(why).to_contain_text("UCB1 gave less than 1% of 300,000 choices to newcomers")
    expect(why.locator("p")).to_have_count(2)
    page.locator("#bonus").press("Home")
    expect(why).to_contain_text("UCB1 does not fail in this run")
    expect(page).to_have_url(re.compile("bonus=0&"))
    page.reload()
    assert page.locator("#bonus").input_value() == "0"
    expect(why).to_contain_text("does not fail")
    page.locator("#value-1").press("End")
    expect(why).to_contain_text("went to founders, who are worth most")
    page.locator("#value-2").press("End")
    expect(why).to_contain_text("All groups are worth the same here")
    page.get_by_role("button", name="Add a group").click()
    page.locator("#name-3").fill(HOSTILE)
    expect(page.locator("#courses section").first).to_contain_text(HOSTILE)
    expect(page.locator("#courses section")).to_have_count(3)
    page.get_by_role("button", name="Remove the last").click()
    expect(page.locator("#courses section").first).not_to_contain_text(HOSTILE)
    plan = page.get_by_role("link", name="Plan a comparison")
    assert parse_qs(urlsplit(plan.get_attribute("href") or "").query) == {
        "groups": ["founders, newcomers"],
        "bonus": ["0%"],
    }
    page.locator("#moment").press("Home")
    expect(page.locator("#now")).to_have_text("10 choices")
    page.locator("#ordinary").select_option("exp3")
    expect(page.locator("#courses h2").first).to_have_text("EXP3")
    expect(page.locator("#now")).to_have_text("10 choices")  # the moment stays
    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(WIDER) == 0
        assert violations(page) == []


def test_a_world_that_is_none_is_refused_in_words(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/see")
    page.locator("#name-1").fill(" ")
    expect(page.locator("#why [role=alert]")).to_contain_text("a text of 1 to 40 characters")
    page.locator("#name-1").fill("founders")
    expect(page.locator("#why")).to_contain_text("UCB1 gave")
    usual = "name=a&name=b&value=0&value=1&members=1&members=1&bonus=5&choices=1000&ordinary=ucb1"
    for change, said in (
        ("value=1", "value=x"),
        ("value=1", "value=nan"),
        ("value=1", "value=2"),
        ("members=1", "members=0"),
        ("members=1", "members=1e300"),
        ("bonus=5", "bonus=-1"),
        ("choices=1000", "choices=1e12"),
        ("ordinary=ucb1", "ordinary=os:system"),
        ("name=a", "name=a&name=c&name=d&name=e&name=f"),
    ):
        answer = page.goto(f"{address}/see?{usual.replace(change, said)}")
        assert answer is not None
        assert answer.status == 422, said
        assert "Please check" in page.locator("h1").inner_text()
    assert httpx.get(f"{address}/see/course?{usual}").json()["drawn"]["groups"] == ["a", "b"]
    page.close()


def test_an_address_without_some_settings_has_the_usual_ones(address: str) -> None:
    usual = World()
    for query, changed in (
        ("", {}),
        ("bonus=50", {"bonus": 50.0}),
        ("value=.2", {"values": (0.2, 0.9)}),
        ("name=a", {"names": ("a", "newcomers")}),
        ("members=7&members=8&choices=1000", {"members": (7, 8), "choices": 1000}),
        (
            "name=a&name=b&name=c",
            {"names": ("a", "b", "c"), "values": (0.6, 0.9, 0.9), "members": (300, 15, 15)},
        ),
        (
            "value=0&value=1&value=.5",
            {
                "names": ("founders", "newcomers", "group 3"),
                "values": (0.0, 1.0, 0.5),
                "members": (300, 15, 15),
            },
        ),
    ):
        assert read_world(QueryParams(query)) == replace(usual, **changed), query
        assert httpx.get(f"{address}/see?{query}").status_code == 200


def statuses(page: Page) -> list[str]:
    return page.locator("#courses .status").all_text_contents()


def test_the_usual_world_tells_the_story(page: Page, address: str) -> None:
    """The ordinary method ends with the worse group, the two others with the better one."""
    courses = run_world(World())["drawn"]["courses"]
    assert [one["shares"][-1][1] > 0.5 for one in courses] == [False, True, True]
    assert courses[0]["shares"][-1][1] < 0.01
    page.goto(f"{address}/see")
    expect(page.locator("#courses section")).to_have_count(3)
    assert statuses(page) == [one["status"] for one in courses]
    locked, *decided = statuses(page)
    assert locked.startswith("locked in since choice ")
    assert all(re.fullmatch(r"decided after [\d,]+ choices", one) for one in decided), decided
    page.locator("#moment").press("Home")
    assert statuses(page) == ["still comparing"] * 3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_phone_shows_the_picture_first_and_while_sliders_move(
    browser: Browser, address: str, scheme: Literal["light", "dark"]
) -> None:
    width, height = SIZES["narrow"]
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    page.goto(f"{address}/see")
    area = page.locator("#courses .area:visible")
    expect(area).to_have_count(1)
    assert area.bounding_box()["y"] < HIGHEST  # type: ignore[index]
    words = page.locator(".lead, .seen").all_inner_texts()
    assert len(re.findall(r"[A-Za-z]\w+", " ".join(words))) <= MOST_WORDS, words
    sizes = page.locator("#courses *").evaluate_all(
        "all => all.map(one => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(sizes) >= SMALLEST
    page.get_by_role("button", name="head start").click()
    expect(page.locator("#courses .status:visible")).to_contain_text("decided after")
    page.locator("#groups summary").first.click()
    slider = page.locator("#value-1")
    slider.focus()
    stuck, moved = area.bounding_box(), slider.bounding_box()
    assert stuck is not None
    assert moved is not None
    assert 0 <= stuck["y"] < stuck["y"] + stuck["height"] < moved["y"] < height
    slider.press("End")
    expect(page.locator("#courses .status:visible")).not_to_contain_text("decided after 1,")
    expect(page.get_by_role("button", name="head start")).to_have_attribute("aria-pressed", "true")
    page.locator("#moment").press("Home")
    page.get_by_role("button", name="Play").click()
    expect(page.locator("#now")).to_contain_text(re.compile("^1[0-9]{2} choices"))  # a step at once
    assert page.evaluate(WIDER) == 0
    assert violations(page) == []
    page.close()


def test_one_model_is_told_on_one_page(page: Page, address: str) -> None:
    page.goto(f"{address}/see")
    page.get_by_text("How to read the picture").click()
    text = page.locator("main").inner_text()
    assert "fewer seats, lower scores" in text
    assert "a group that holds all seats is scored at its true value" in text
    assert "raise" not in "".join(page.locator(".lead, details").all_inner_texts())
    course = run_world(World((*World().names,), (0.5, 0.5), (500, 1), choices=1000))["drawn"]
    scores = [one for one in course["courses"][0]["scores"][-1] if one is not None]
    # No score is raised above the true value, but for the noise of 500 Bernoulli scores.
    assert max(scores) <= 0.5 + 3 * 0.5 / 500**0.5


def test_the_example_is_what_the_page_would_show() -> None:
    """If a policy chooses otherwise now: python -m tests.app.example."""
    assert example.FILE.read_text(encoding="utf-8") == example.text()


def test_the_explorable_is_played_under_a_policy_of_its_own(page: Page, address: str) -> None:
    page.goto(f"{address}/see")
    page.get_by_role("link", name="Choose yourself").click()
    expect(page.get_by_role("link", name="See")).to_have_attribute("aria-current", "page")
    for name in ("Affinity", "Plan", "Audit"):
        expect(page.locator(".top").get_by_role("link", name=name)).to_be_visible()
    assert page.locator(".brand img").evaluate("one => one.naturalWidth") > 0
    page.keyboard.press("2")
    expect(page.locator("#actions")).to_have_text("Round 2 of 10")
    assert page.locator(".candidates").evaluate("one => getComputedStyle(one).display") == "grid"
    policy = httpx.get(f"{address}/see/play").headers["content-security-policy"]
    assert "unsafe" not in policy
    page.goto(f"{address}/see/play#p=0000010000&t=remedies")
    page.get_by_text("Share").click()
    with page.expect_download() as kept:
        page.get_by_role("button", name="Save as one HTML file").click()
    saved = kept.value.path().read_text(encoding="utf-8")
    assert 'id="world"' in saved
    assert '<header class="top"' not in saved  # it would lead nowhere
    plan = page.get_by_role("link", name="Plan this").get_attribute("href")
    answer = page.goto(f"{address}{plan}")
    assert answer is not None
    assert answer.status == 200
    for name, said in (("groups", "founders, newcomers"), ("bonus", "100%"), ("committee", "20,2")):
        expect(page.locator(f"#{name}")).to_have_value(said)


def test_a_world_is_run_once() -> None:
    before = run_world.cache_info().hits
    assert run_world(World(choices=1000)) is run_world(World(choices=1000))
    assert run_world.cache_info().hits > before


def fill(page: Page, said: dict[str, str]) -> None:
    for name, text in said.items():
        if name == "protected":
            page.get_by_role("radio", name=text, exact=True).check()
        elif name == "judges":
            page.locator(f"[name=judges][value={text}]").check()
        elif name in ("strictness", "outsiders"):
            page.locator(f"#{name}").select_option(text)
        else:
            page.locator(f"#{name}").fill(text)


def test_from_an_empty_form_to_a_plan_that_is_kept(
    browser: Browser, page: Page, address: str, tmp_path: Path
) -> None:
    page.goto(f"{address}/plan")
    fill(page, PANELS)
    understood = page.locator("#understood")
    expect(understood).to_contain_text("Scores from 1 to 5 with a spread of 1")
    expect(understood).to_contain_text("800 interviews in 20 weeks, 40 a week")
    expect(page.locator("[data-field=budget] label")).to_contain_text("How many interviews")
    expect(page.locator("#committee")).to_be_hidden()  # panels have as many seats for each group
    page.locator("#budget").press("Enter")
    verdict = page.locator("#verdict")
    expect(verdict).to_have_text("800 interviews are enough.")
    expect(verdict).to_be_focused()
    assert HOSTILE in understood.inner_text()
    expect(page.locator(".numbers").first.locator("tbody tr")).to_have_count(1)
    expect(page.locator(".ways tbody tr")).to_have_count(1)
    expect(page.locator(".ways td.enough")).to_have_text("enough")
    expect(page.locator(".ways tbody tr")).to_contain_text(
        re.compile(r"[\d,]+ interviews, done by 20")
    )
    most, usual = page.locator(".ways .range rect").evaluate_all(
        "all => all.map(one => one.getBBox().width)"
    )
    given = page.locator(".ways .range line").evaluate("one => one.getBBox().x")
    assert 0 < usual < most < given  # the average, 19 of 20 cases, the budget

    # The answer is read before the declaration, and kept after it.
    expect(page.locator("#answer")).to_contain_text(
        "Say what it is for, and you can keep this plan"
    )
    expect(page.get_by_role("link", name="As a page")).to_have_count(0)
    page.get_by_role("button", name="Keep this plan").click()
    expect(page.locator("#wrong-responsible")).to_contain_text("head of recruiting")
    fill(page, DECLARED)
    page.locator("#purpose").press("Enter")
    expect(page.locator("#keep-title")).to_be_focused()
    expect(page.locator(".hero")).to_contain_text("purpose: a test")

    difference = page.locator("[data-name=difference]")
    first = difference.inner_text()
    page.locator("#if-difference").press("Home")
    assert difference.inner_text() != first
    assert "a difference of 0.25" in difference.inner_text()
    page.locator("#if-budget").press("Home")
    assert "200 interviews" in page.locator("[data-name=budget]").inner_text()

    with page.expect_download() as kept:
        page.get_by_role("link", name="As a plan file").click()
    plan = plan_from_toml(kept.value.path().read_text(encoding="utf-8"))
    assert plan.assumptions.names == ("referrals", HOSTILE)
    assert plan.declaration is not None
    assert plan.declaration.purpose == "a test"
    with page.expect_download() as kept:
        page.get_by_role("link", name="As a page").click()
    saved = tmp_path / "plan.html"
    kept.value.save_as(saved)
    with browser.new_context(offline=True) as context:
        alone = context.new_page()
        alone.goto(saved.as_uri())
        expect(alone.locator("#verdict")).to_have_text("800 interviews are enough.")
        expect(alone.locator(".ways .range rect")).to_have_count(2)
        assert violations(alone) == []
        assert alone.pdf().startswith(b"%PDF")

    for width, height in SIZES.values():
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(WIDER) == 0
        assert violations(page) == []
    page.goto(page.url)  # as a link that somebody was sent
    expect(page.locator("#verdict")).to_have_text("800 interviews are enough.")


def test_mistakes_are_said_beside_their_questions(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.goto(f"{address}/plan")
    wrong = page.locator("[data-wrong]:not(:empty)")
    fill(page, {"groups": "only one", "budget": "2.000", "difference": "9"})
    expect(page.locator("#wrong-groups")).to_contain_text("names such as")
    expect(page.locator("#wrong-budget")).to_contain_text("'40 a week until 2027-06-30'")
    expect(wrong).to_have_count(3)  # a difference of 9 is too large; nothing is missing yet
    page.locator("#scale").fill("yes/no")
    expect(page.locator("#wrong-difference")).to_contain_text("a part of all answers")
    expect(page.locator("[data-field=spread]")).to_be_hidden()
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.locator("#groups")).to_be_focused()
    expect(page.locator("#wrong-responsible")).to_be_empty()  # the declaration comes last
    page.get_by_role("button", name="Keep this plan").click()
    expect(page.locator("#wrong-responsible")).to_contain_text("head of recruiting")
    assert page.locator("#responsible").get_attribute("aria-invalid") == "true"
    expect(page.locator("#groups")).to_be_focused()
    assert violations(page) == []
    page.goto(f"{address}/plan")
    page.get_by_role("radio", name="yes", exact=True).check()  # and nothing else is answered
    expect(page.locator("#wrong-protected")).to_contain_text("an audit drops nobody")
    expect(wrong).to_have_count(1)
    instead = page.get_by_role("link", name="Audit scores of these groups instead")
    assert instead.get_attribute("href") == "/audit?protected=yes&purpose=monitoring+equality"
    page.get_by_role("radio", name="no", exact=True).check()
    expect(instead).to_be_hidden()
    fill(page, DECLARED | PANELS | {"protected": "yes"})
    page.get_by_role("button", name="Plan", exact=True).click()
    expect(page.locator("#wrong-protected")).to_contain_text("discrimination")
    expect(page.locator("#verdict")).to_have_count(0)
    page.goto(f"{address}/plan?" + urlencode({"in_flight": "many"}))
    expect(page.locator("#wrong-in_flight")).to_be_visible()  # among the usual answers, opened
    page.close()


def test_the_answer_stands_where_one_looks_for_it(browser: Browser, address: str) -> None:
    """Beside the form where it is wide; on a phone between the button and the third step."""
    query = urlencode(PANELS | {"groups": "a, b", "judges": "all"})
    for (width, height), scheme in product(SIZES.values(), SCHEMES):
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(f"{address}/plan?{query}")
        verdict = page.locator("#verdict")
        expect(verdict).to_be_focused()
        assert 0 <= verdict.bounding_box()["y"] < height  # type: ignore[index]
        page.evaluate("scrollTo(0, 0)")
        place = {
            name: page.locator(name).bounding_box()
            for name in ("#situation", "#verdict", "#declare", "#situation [type=submit]")
        }
        form, answer, third, button = (one or {} for one in place.values())
        if width > 1000:
            assert answer["x"] > form["x"] + form["width"]
            assert answer["y"] < button["y"]
            assert 0 < third["y"] - form["y"] - form["height"] < 50  # not below the answer
        else:
            assert button["y"] < answer["y"] < third["y"]
            assert answer["y"] - button["y"] < height
        assert page.evaluate(WIDER) == 0
        assert page.locator(".ways").evaluate("one => one.scrollWidth - one.clientWidth") == 0
        assert violations(page) == []
        page.close()


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"groups": "x" * 3000}, "groups"),
        ({"groups": "1001"}, "groups"),
        ({"scale": "0..1e-300"}, None),
        ({"difference": "-1"}, "difference"),
        ({"budget": "1e400"}, "budget"),
        ({"budget": "40 a week until 2020-01-01"}, "budget"),
        ({"failure": "0"}, "failure"),
        ({"favor_gap": "much"}, "favor_gap"),
        ({"judges": "outsiders", "outsiders": "no"}, "judges"),
        ({"judges": "neutral"}, "judges"),
        ({"judges": "recused", "bonus": "no idea"}, "judges"),
        ({"purpose": "\0"}, "purpose"),
        ({"protected": "perhaps"}, "protected"),
    ],
)
def test_odd_answers_are_refused_and_nothing_fails(
    address: str, changes: dict[str, str], wrong: str | None
) -> None:
    query = DECLARED | PANELS | changes
    for path in ("/plan/check", "/plan/answer", "/plan/plan.toml", "/plan/page.html", "/plan"):
        answer = httpx.get(f"{address}{path}", params=query, timeout=60)
        assert answer.status_code == (200 if path in ("/plan/check", "/plan") else 422), path
        if path == "/plan/check":
            assert wrong is None or wrong in answer.json()["wrong"]


def test_the_names_of_the_groups_say_what_they_are(address: str) -> None:
    asked = {name: one for name, one in DECLARED.items() if name != "groups_are"}
    for groups, missing in (("referrals, agencies", False), ("2", True), ("a, " * 80 + "b", True)):
        query = asked | PANELS | {"groups": groups}
        wrong = httpx.get(f"{address}/plan/check", params=query).json()["wrong"]
        assert ("groups_are" in wrong) == missing


def test_single_answers_are_understood_before_the_others_are_given(address: str) -> None:
    """From the page See, for example."""
    for query, understood in (
        ({}, ""),
        ({"groups": "a, b", "bonus": "25%"}, "Groups: a, b. Own group rated higher by up to 25%."),
        ({"groups": "a, b", "bonus": "much"}, "Groups: a, b."),
    ):
        found = httpx.get(f"{address}/plan/check", params=query).json()
        assert found["understood"] == understood


def test_a_plan_is_read_before_it_is_declared_but_not_kept(address: str) -> None:
    said = httpx.get(f"{address}/plan/answer", params=PANELS, timeout=300)
    html = json.loads(said.text.splitlines()[-1])["html"]
    assert "800 interviews are enough." in html
    assert "/plan/plan.toml" not in html
    for path in ("/plan/page.html", "/plan/plan.toml"):
        refused = httpx.get(f"{address}{path}", params=PANELS, timeout=60)
        assert refused.status_code == 422, path
    refused = httpx.get(f"{address}/plan/answer", params=PANELS | {"protected": "yes"}, timeout=60)
    assert refused.status_code == 422


def test_each_way_is_told_once_while_others_are_planned(address: str) -> None:
    query = PANELS | {"groups": "a, b, c", "difference": "0.9", "judges": "all"}
    text = httpx.get(f"{address}/plan/answer", params=query, timeout=120.0).text
    *steps, last = map(json.loads, text.splitlines())
    found = [one for step in steps for one in step["found"]]
    ways = [one.partition(":")[0] for one in found]
    assert len(ways) == len(set(ways)) > 0
    assert all(ways)
    parts = [step["part"] for step in steps]
    assert parts == sorted(parts)
    for one in found:
        way, _, needs = one.partition(": enough; it takes ")
        number = needs.partition(" ")[0]
        assert re.search(f"{way.lower()}.*?{number} ", last["html"], flags=re.DOTALL), one


def test_two_groups_with_recusal_are_promised_nothing(address: str) -> None:
    query = DECLARED | PANELS | {"judges": "recused"}
    kept = httpx.get(f"{address}/plan/page.html", params=query, timeout=300).text
    assert "No number of interviews is enough.</h2>" in kept
    assert "no chance of a wrong group can be promised unless outsiders judge." in kept
    assert "<p>Nothing is promised.</p>" in kept
    assert "at most 5%" not in kept
    *_, last = httpx.get(f"{address}/plan/answer", params=query, timeout=300).text.splitlines()
    said = json.loads(last)["html"]
    assert "for a campaign or a simulation (nothing is promised)" in said
    # At each step of both sliders: differences end where the scale does.
    assert said.count("<li>recusal: no number is enough</li>") == said.count('class="step"')


def test_neutral_blocks_are_recommended_and_run_by_hand(address: str) -> None:
    """Three groups of whom nothing is known but the scale."""
    query = DECLARED | PANELS | {"groups": "a, b, c", "favor_gap": "", "judges": "neutral"}
    query["budget"] = "300"
    kept = httpx.get(f"{address}/plan/page.html", params=query, timeout=300).text
    assert "300 interviews are enough.</h2>" in kept
    assert "Recommended: neutral blocks." in kept
    assert '<h2 id="next-title">What next: neutral blocks</h2>' in kept
    assert "NeutralElimination(target=" in kept
    assert "one person of a third group scores a candidate of each of the others;" in kept
    assert kept.count('<th scope="row">equal, ') == 6
    file = httpx.get(f"{address}/plan/plan.toml", params=query, timeout=300).text
    assert 'judges = "neutral"' in file
    assert 'name = "neutral-elimination"' in file


def test_a_plan_from_an_audit_says_what_it_took_and_keeps_its_favor_gap(address: str) -> None:
    audited = {"audited": "groups,bonus,favor_gap", "favor_gap": "0.9"}
    query = DECLARED | PANELS | audited
    taken = (
        "Taken from the audit, unless changed since: the groups; the upper end of the favor of all"
        " judges together as the bonus, 20%; the largest difference between two groups&#39; favors"
        " that its interval allows, 0.9."
    )
    form = httpx.get(f"{address}/plan", params=query).text
    assert taken in form
    assert '<input type="hidden" name="audited" value="groups,bonus,favor_gap">' in form
    kept = httpx.get(f"{address}/plan/page.html", params=query, timeout=300).text
    assert taken in kept
    assert "favors that differ by up to 0.9." in kept
    assert "a group may win although it is worse by up to 0.45 (panels);" in kept
    wide = query | {"favor_gap": "2"}
    kept = httpx.get(f"{address}/plan/page.html", params=wide, timeout=300).text
    assert "No number of interviews is enough.</h2>" in kept


def test_a_plan_ends_with_its_reader_and_others_wait(app: FastAPI, address: str) -> None:
    plans = app.state.plans
    query = DECLARED | PANELS | {"judges": "committee", "budget": "3000", "difference": "0.11"}
    query |= {"strictness": "same"}
    with httpx.stream("GET", f"{address}/plan/answer", params=query, timeout=60) as first:
        own = first.iter_lines()
        assert "Trying it out" in next(own)
        with httpx.stream("GET", f"{address}/plan/answer", params=query, timeout=60) as second:
            other = second.iter_lines()
            assert "Waiting for another plan" in next(other)
        assert plans._turns.locked()
        made = len(plans._made)
    until = time.monotonic() + 60
    while plans._turns.locked():
        assert time.monotonic() < until, "the plan goes on for nobody"
        time.sleep(0.05)
    assert len(plans._made) == made
