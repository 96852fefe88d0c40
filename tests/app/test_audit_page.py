"""The page Audit: a messy workbook becomes a report, and no file ends the application."""

from __future__ import annotations

import base64
import io
import json
import multiprocessing
import re
import socket
import tempfile
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pyarrow
import pytest
from fastapi import FastAPI
from openpyxl import Workbook
from playwright.sync_api import Browser, expect
from pyarrow import parquet

from affinity_bandits.app.application import Settings, create_local_app
from affinity_bandits.audit.tables import MOST_UNPACKED
from tests.app.conftest import PATIENCE
from tests.cli.inside import inside
from tests.support.browsers import SIZES, violations
from tests.support.workbooks import OVERLAPPING, WITHOUT_PLACES

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[2] / "docs" / "data"
DECLARED = {
    "groups_are": "sources of candidates",
    "responsible": "head of recruiting",
    "purpose": "a first look",
    "protected": "no",
}
PLAIN = "candidate,group,judge,judge group,score\n" + "".join(
    f"c{n},{'ab'[n % 2]},{judge},{group},{1 + (n + len(judge)) % 5}\n"
    for n in range(20)
    for judge, group in (("Ann", "a"), ("Jürgen", "b"))
)
LARGEST = 20 * 2**20


@pytest.fixture(scope="module")
def app() -> FastAPI:
    return create_local_app(Settings(largest_body=LARGEST, warm=False))


def post(
    address: str, content: bytes, name: str = "log.csv", step: str = "look", **form: Any
) -> Any:
    return httpx.post(
        f"{address}/audit/{step}",
        content=packed(content, name, **form),
        headers={"origin": address, "sec-fetch-dest": "empty"},
        timeout=120.0,
    )


def packed(content: bytes, name: str = "log.csv", **said: str) -> bytes:
    """A request as the page sends it."""
    head = {"said": said, "files": [["log", name, len(content)]]}
    return json.dumps(head).encode() + b"\n" + content


def test_from_a_messy_workbook_to_a_report(address: str, browser: Browser, tmp_path: Path) -> None:
    complaints: list[str] = []
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "request",
            lambda one: one.url.startswith((address, "data:")) or complaints.append(one.url),
        )
        page.goto(f"{address}/audit")
        large = {"name": "l.csv", "mimeType": "text/csv", "buffer": b" " * (LARGEST + 1)}
        page.set_input_files("#log", large)
        page.get_by_text("The file has 20 MB; at most 20 MB are accepted.").wait_for()
        page.set_input_files("#log", DATA / "interviews.xlsx")
        page.get_by_text("Without it, the audit cannot tell.").wait_for()
        page.get_by_text("judges' groups are in another file").press("Enter")
        page.set_input_files("#people", DATA / "people.csv")
        page.get_by_text("in people.csv").wait_for(state="attached")
        assert page.locator("#sheet").input_value() == "Interviews"
        assert page.locator("#group").input_value() == "Source"
        assert page.locator("#scale").input_value() == "1..5"
        assert not page.locator("#scale").is_visible()  # a clean file is folded
        page.get_by_text("How it is read").press("Enter")
        rows = page.locator(".remarks tbody tr").all_inner_texts()
        assert "\t".join(["no score", "20 rows", "42, 58, 132, 222, 266, …", "skipped"]) in rows
        assert any("'2,5'" in row and "232 scores" in row and "converted" in row for row in rows)

        page.select_option("#sheet", "Read me")  # no log: nothing can be audited
        page.locator("#group[aria-invalid]").wait_for()
        assert not page.locator("#declare").is_visible()
        page.select_option("#sheet", "Interviews")
        page.locator("#declare").wait_for()
        page.fill("#scale", "2..5")
        page.press("#scale", "Tab")
        page.get_by_text("1 problem keeps the file from being audited").wait_for()
        assert not page.locator("#declare").is_visible()
        page.fill("#scale", "1..5")
        page.press("#scale", "Tab")
        page.locator("#declare").wait_for()

        page.locator("[name=protected][value=yes]").check()  # refused before anything else is said
        page.locator("#wrong-purpose").get_by_text("'monitoring equality', or begin so").wait_for()
        assert page.locator("#wrong-groups_are").inner_text() == ""
        page.locator("[name=protected][value=no]").check()
        page.locator("#wrong-purpose:empty").wait_for(state="attached")
        page.get_by_role("button", name="Audit").press("Enter")
        page.locator("#wrong-groups_are").get_by_text("sources of candidates").wait_for()
        assert page.locator("#auditing").inner_text() == "3 answers are missing."
        assert page.evaluate("document.activeElement.id") == "groups_are"
        assert page.locator("#responsible").get_attribute("aria-invalid") == "true"
        assert page.locator("#conclusion").inner_text() == ""
        for name in ("groups_are", "responsible", "purpose"):
            page.fill(f"#{name}", DECLARED[name])
        page.locator("[name=protected][value=yes]").check()
        page.get_by_role("button", name="Audit").press("Enter")
        page.locator("#wrong-purpose").get_by_text("'a first look' is not").wait_for()
        page.locator("[name=protected][value=no]").check()
        page.get_by_role("button", name="Audit").press("Enter")
        page.locator("#concluded").wait_for()
        answer = page.locator(".verdict strong").inner_text()
        assert answer == "Yes: judges give their own group 0.43 points more."
        assert page.evaluate("document.activeElement.id") == "concluded"
        got = {}
        for words in ("Download the report", "Download the numbers"):
            with page.expect_download() as download:
                page.get_by_text(words).click()
            got[words] = Path(download.value.path()).read_text(encoding="utf-8")
        link = page.get_by_text("Plan a comparison from it").get_attribute("href")
        answers = parse_qs(urlsplit(link or "").query)
        gap = float(answers.pop("favor_gap")[0])
        assert 0.2 < gap < 0.6  # the three favors differ by chance only
        assert {name: one[0] for name, one in answers.items()} == {
            "groups": "Agency, Open call, Referral",
            "scale": "1..5",
            "bonus": "26%",
            "spread": "0.812",
            "strictness": "no idea",
            "judges_per_group": "8",
            "audited": "groups,scale,bonus,spread,favor_gap,strictness,judges_per_group",
            **DECLARED,
        }
        see = page.get_by_text("See what such a favor does").get_attribute("href")
        assert see == "/see?bonus=18"
        for width, height in SIZES.values():
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert violations(page) == []
        assert page.evaluate("[...document.images].every(one => one.naturalWidth > 0)")
    assert not complaints

    report, result = tmp_path / "report.html", tmp_path / "audit.json"
    flags = (f"--{name.replace('_', '-')}={DECLARED[name]}" for name in list(DECLARED)[:3])
    words = ("--people", DATA / "people.csv", "--scale", "1..5", "--report", report)
    done = inside(("audit", DATA / "interviews.xlsx", *words, "--json", result, *flags), {})
    assert done.returncode == 0, done.stderr
    assert json.loads(got["Download the numbers"]) == json.loads(result.read_text(encoding="utf-8"))
    assert without_marks(got["Download the report"]) == without_marks(report.read_text("utf-8"))


def without_marks(page: str) -> str:
    """Return a page without the random names that matplotlib gives to parts of pictures."""
    return re.sub(r"\b[mp][0-9a-f]{10}\b", "", page)


def workbook(*rows: list[Any], merge: str | None = None) -> bytes:
    book, out = Workbook(), io.BytesIO()
    for row in rows:
        book.active.append(row)
    if merge is not None:
        book.active.merge_cells(merge)
    book.save(out)
    return out.getvalue()


def as_parquet() -> bytes:
    names, *rows = (line.split(",") for line in PLAIN.splitlines())
    columns = zip(*rows, strict=True)
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(dict(zip(names, map(list, columns), strict=True))), out)
    return out.getvalue()


TABLE = [line.split(",") for line in PLAIN.splitlines()]
ODD: dict[str, tuple[str, bytes, str]] = {
    "plain": ("log.csv", PLAIN.encode(), "40 rows, 5 columns"),
    "Parquet": ("log.parquet", as_parquet(), "40 rows, 5 columns"),
    "a workbook called .csv": ("log.csv", workbook(*TABLE), "40 rows, 5 columns"),
    "text called .xlsx": ("log.xlsx", PLAIN.encode("cp1252"), "Jürgen"),
    "UTF-16, semicolons": ("log.csv", PLAIN.replace(",", ";").encode("utf-16"), "Jürgen"),
    "a path for a name": ("../../etc/passwd", PLAIN.encode(), "<strong>passwd</strong>"),
    "markup for a name": ("<b>.csv", PLAIN.encode(), "&lt;b&gt;.csv"),
    "a merged header": (
        "log.xlsx",
        workbook(["group", "score", ""], ["a", 1, 2], ["b", 3, 4], merge="B1:C1"),
        'value="score (2)"',
    ),
    "formulas without values": (
        "log.xlsx", workbook(["group", "score"], ["a", "=1+1"], ["b", "=1+2"]), "has formulas"
    ),
    "several problems": (
        "log.csv", (PLAIN + "c1,a,Ann,b,9,9\nc90,a,Ann,a,good\nc0,b,Jürgen,b,2\n").encode(),
        "3 problems keep",
    ),
    "empty": ("log.csv", b"", "an empty file"),
    "a header alone": ("log.csv", b"group,score\n", "no rows below the header"),
    "binary": ("log.csv", bytes(range(256)) * 9, "a binary file"),
    "a web page": ("log.xls", b"\n<html><table>", "a web page or XML"),
    "a document": ("log.xlsx", b"PK\x03\x04 nothing", "a table that can be read"),
    "20,000 columns": ("log.csv", b"a," * 20_000 + b"\n1", "16,384 columns"),
    "no columns known": ("log.csv", b"x,y\n1,2\n", "Please choose"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_an_odd_file_is_shown_or_refused_in_words(address: str, name: str) -> None:
    file, content, says = ODD[name]
    answer = post(address, content, file)
    assert says in answer.text
    assert answer.status_code in (200, 422)
    assert "Traceback" not in answer.text
    concluded = post(address, content, file, "conclusion", **DECLARED)
    assert concluded.status_code in (200, 422)
    assert ("data-ready" in answer.text) == (concluded.status_code == 200)


def test_mistakes_in_the_declaration_belong_to_their_fields(address: str) -> None:
    said = {"groups_are": "teams", "protected": "yes"}
    answer = post(address, PLAIN.encode(), step="conclusion", **said)
    assert answer.status_code == 422
    wrong = answer.json()
    assert set(wrong) == {"responsible", "purpose"}
    assert wrong["responsible"]["missing"]
    assert not wrong["purpose"]["missing"]  # protected attributes are refused at once
    answer = post(address, PLAIN.encode(), step="conclusion", **DECLARED | said)
    assert answer.json() == {
        "purpose": {
            "words": "It must be 'monitoring equality', or begin so: groups that are protected "
            "attributes may be audited only to check that people are treated equally. 'a first "
            "look' is not.",
            "missing": False,
        }
    }
    asked = httpx.get(f"{address}/audit/check", params={"protected": "yes"}).json()
    assert asked["purpose"]["words"].startswith("It must be 'monitoring equality', or begin so")
    asked = httpx.get(f"{address}/audit/check", params={"protected": "no"}).json()
    assert all(one["missing"] for one in asked.values())


def chosen(look: str, name: str) -> str:
    """Return the chosen option of a field, or the first."""
    (field,) = re.findall(rf'<select id="{name}".*?</select>', look, re.DOTALL)
    options = re.findall(r'<option value="([^"]*)"( selected)?>', field)
    return next((value for value, selected in options if selected), options[0][0])


def test_the_best_score_is_asked_and_told(address: str) -> None:
    content = PLAIN.replace(",score", ",Note").encode()
    columns = {"score": "Note"}
    look = post(address, content, **columns).text
    assert chosen(look, "best") == "?"
    assert "data-ready" not in look
    assert "1 is often the best score in a column called Note" in look
    refused = post(address, content, step="conclusion", **DECLARED, **columns)
    assert (refused.status_code, "chosen: 1 is often" in refused.text) == (422, True)
    for said, direction in (
        ({"best": "lowest"}, "The best score is 1, the worst 5."),
        ({"best": "highest"}, "The best score is 5, the worst 1."),
        ({"scale": "5..1"}, "The best score is 1, the worst 5."),
    ):
        look = post(address, content, **columns, **said).text
        assert "data-ready" in look
        found = post(address, content, step="conclusion", **DECLARED, **columns, **said).text
        assert direction in found
    ordinary = post(address, PLAIN.encode()).text
    assert chosen(ordinary, "best") == "highest"
    assert "data-ready" in ordinary


@pytest.mark.parametrize(
    ("said", "field", "says"),
    [
        ({"scale": "from a to b"}, "scale", "&#39;from a to b&#39; is not"),
        ({"scale": "5..5"}, "scale", "two different scores"),
        ({"scale": "5..1", "best": "highest"}, "best", "ends with the best score"),
        ({"best": "middle"}, "best", "highest or lowest"),
        ({"matters": "9"}, "matters", "at most 4"),
        ({"matters": "much"}, "matters", "a number of points such as 0.3"),
    ],
)
def test_a_wrong_answer_is_told_at_its_field(
    address: str, said: dict[str, str], field: str, says: str
) -> None:
    answer = post(address, PLAIN.encode(), **said)
    assert answer.status_code == 200
    (words,) = re.findall(rf'id="{field}-wrong">([^<]*)<', answer.text)
    assert says in words
    assert "data-ready" not in answer.text
    concluded = post(address, PLAIN.encode(), step="conclusion", **DECLARED, **said)
    assert (concluded.status_code, "Please check" in concluded.text) == (422, True)


def test_what_matters_decides_between_not_seen_and_cannot_tell(address: str) -> None:
    for said, matters in (({}, 0.4), ({"matters": "1.5"}, 1.5)):
        found = post(address, PLAIN.encode(), step="conclusion", **DECLARED, **said).text
        (coded,) = re.findall(r"application/json;base64,([^\"]*)", found)
        assert json.loads(base64.b64decode(coded))["matters"] == matters


def test_the_button_says_that_it_is_at_work(address: str, browser: Browser) -> None:
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}/audit")
        page.set_input_files(
            "#log", {"name": "l.csv", "mimeType": "text/csv", "buffer": PLAIN.encode()}
        )
        page.locator("#declare").wait_for()
        for name in ("groups_are", "responsible", "purpose"):
            page.fill(f"#{name}", DECLARED[name])
        page.locator("[name=protected][value=no]").check()
        held: list[Any] = []
        page.route("**/audit/conclusion", lambda route: held.append(route))  # noqa: PLW0108
        button = page.get_by_role("button", name="Audit")
        button.click()
        words = page.get_by_text("Auditing 40 rows …")
        words.wait_for()
        assert page.get_by_role("progressbar", name="Auditing").is_visible()
        button.click(force=True)  # while it is at work, this starts nothing
        assert button.get_attribute("aria-disabled") == "true"
        box, beside = words.bounding_box(), button.bounding_box()
        assert box is not None
        assert beside is not None
        assert abs(box["y"] - beside["y"]) < 80
        assert 0 <= box["y"] < 844
        held[0].continue_()
        page.locator("#concluded").wait_for()
        assert page.locator("#auditing").inner_text() == ""
        assert not page.locator("#busy").is_visible()
        assert button.get_attribute("aria-disabled") is None
        assert len(held) == 1


def test_an_example_is_one_click_away(address: str, browser: Browser) -> None:
    """On a telephone the answer is in sight, and has the focus, without scrolling."""
    for name in ("interviews.xlsx", "people.csv"):
        shipped = httpx.get(f"{address}/static/example/{name}").content
        assert shipped == (DATA / name).read_bytes()
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}/audit")
        sample = page.locator(".sample")
        room = sample.evaluate("one => one.closest('.scroll').clientWidth - one.scrollWidth")
        assert room >= 0  # no column is cut, the last one neither
        page.get_by_role("button", name="Try it with an example").click()
        page.locator("#concluded").wait_for()
        answer = page.locator(".verdict strong")
        assert answer.inner_text() == "Yes: judges give their own group 0.43 points more."
        height = 844
        box, button = answer.bounding_box(), page.locator("#start").bounding_box()
        assert box is not None
        assert button is not None
        assert 0 <= box["y"] < height
        assert box["y"] - button["y"] < 2 * height
        # What was read without a problem is folded, so that the next step follows at once.
        assert page.locator("#reading").get_attribute("open") is None
        read, asked = (
            page.locator("#step-look").bounding_box(),
            page.locator("#declare").bounding_box(),
        )
        assert read is not None
        assert asked is not None
        assert asked["y"] - read["y"] < height / 3
        assert page.locator("#purpose").input_value() == "where to look for candidates next year"
        assert violations(page) == []


def test_a_missing_group_of_the_judges_is_asked_for_where_it_is_noticed(
    address: str, browser: Browser
) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}/audit?purpose=monitoring+equality&protected=yes")
        assert page.locator("#purpose").input_value() == "monitoring equality"
        page.set_input_files("#log", DATA / "interviews.xlsx")
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Add a file of judges").click()
        chooser.value.set_files(DATA / "people.csv")
        page.get_by_text("in people.csv").wait_for(state="attached")
        expect(page.locator("#add-people")).to_have_count(0)


def test_the_page_shows_no_flags_and_no_codes_of_dates(address: str) -> None:
    content = PLAIN.replace("judge group", "remark").encode()
    look = post(address, content).text
    assert "<option>31.12.2026</option>" in look
    concluded = post(address, content, step="conclusion", **DECLARED)
    assert concluded.status_code == 200
    assert "not which group the judges belong to" in concluded.text
    assert '<a href="/responsible-use">' in concluded.text
    shown = httpx.get(f"{address}/audit").text + look + re.sub('="[^"]*"', "", concluded.text)
    assert not re.search(r"[ (>]--\w|%[dmY]|\.md\b", shown)


def repacked(path: str, content: bytes, *, size: int | None = None) -> bytes:
    """Return a workbook with another content of one part, and a wrong size in its directory."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(workbook(["group", "score"], ["a", 1]))) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for name in old.namelist():
            if name != path:
                new.writestr(name, old.read(name))
        new.writestr(path, content)
        if size is not None:
            new.getinfo(path).file_size = size
    return out.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
XML = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    "%s</sheetData></worksheet>"
)
FAR = '<row r="1"><c r="A1"><v>1</v></c></row><row r="9"><c r="XFD1048576"><v>1</v></c></row>'
ENTITY = '<row r="1"><c r="A1" t="inlineStr"><is><t>&a;</t></is></c></row>'
DOCTYPE = '<!DOCTYPE w [<!ENTITY a SYSTEM "/etc/passwd">]>'
REPEATED = (
    '<office:document-content><office:body><office:spreadsheet><table:table table:name="a">'
    '<table:table-row table:number-rows-repeated="1000000">'
    '<table:table-cell table:number-columns-repeated="16000" office:value-type="float"'
    ' office:value="1"/></table:table-row></table:table></office:spreadsheet></office:body>'
    "</office:document-content>"
)


def open_document() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as new:
        new.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        new.writestr("META-INF/manifest.xml", "<manifest:manifest/>")
        new.writestr("content.xml", REPEATED)
    return out.getvalue()


def peak(pid: int) -> int:
    """Return the largest memory in use of a process so far, in MB."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+(\d+)", text)
    assert found is not None
    return int(found[1]) >> 10


def test_bombs_are_refused_in_little_memory(address: str) -> None:
    zeros = bytes(MOST_UNPACKED + 1)
    bombs = {
        "1,024 MB after unpacking": repacked("xl/media/image1.png", zeros),
        "Bad CRC-32": repacked(SHEET, bytes(300 << 20), size=2000),
        "20,000,000 cells": repacked(SHEET, (XML % FAR).encode()),
        "entity": repacked(SHEET, (DOCTYPE + XML % ENTITY).encode()),
        "a table that can be read": open_document(),
    }  # fmt: skip
    del zeros
    post(address, PLAIN.encode())
    workers = multiprocessing.active_children()
    before = peak(workers[0].pid or 0)
    for says, bomb in bombs.items():
        assert len(bomb) < LARGEST / 2
        answer = post(address, bomb, "bomb.xlsx")
        assert (answer.status_code, says in answer.text) == (422, True), answer.text
        assert "root:" not in answer.text
    assert multiprocessing.active_children() == workers
    assert peak(workers[0].pid or 0) < before + 200
    # Cells that do not say where they are escape the check: the limit of the process holds.
    answer = post(address, WITHOUT_PLACES, "bomb.xlsx")
    assert (answer.status_code, "2,048 MB of memory" in answer.text) == (422, True), answer.text
    assert "40 rows, 5 columns" in post(address, PLAIN.encode()).text


def test_only_the_page_itself_may_send_files(address: str) -> None:
    def send(**headers: str) -> tuple[int, str]:
        content = packed(PLAIN.encode())
        answer = httpx.post(f"{address}/audit/look", content=content, headers=headers)
        return answer.status_code, answer.text

    assert send(origin=address)[0] == 200
    assert send()[0] == 403
    assert send(origin="http://evil.example")[0] == 403
    assert send(origin=address, **{"sec-fetch-site": "cross-site"})[0] == 403
    assert send(origin="http://evil.example:80", host="evil.example:80")[0] == 421
    with socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2]))) as raw:
        head = f"POST /audit/look HTTP/1.1\r\nHost: {address[7:]}\r\nOrigin: {address}\r\n"
        raw.sendall(f"{head}Content-Length: {LARGEST + 1}\r\n\r\n".encode())  # and no body
        assert b"413" in raw.recv(4096)
    assert httpx.get(f"{address}/static/../audit.py").status_code == 404
    broken = httpx.post(f"{address}/audit/look", content=b"x", headers={"origin": address})
    assert broken.status_code == 422


def test_a_large_file_stays_in_memory(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda *_, **__: made.append(1) or io.BytesIO())
    large = PLAIN.encode() + b"\n" * (2 << 20)
    assert post(address, large).status_code == 200
    assert not made
    with tempfile.SpooledTemporaryFile(max_size=1 << 20) as control:
        control.write(large)
    assert made


def test_a_good_file_is_read_beside_two_bad_ones(address: str) -> None:
    with ThreadPoolExecutor(2) as senders:
        bad = [senders.submit(post, address, OVERLAPPING, "bad.xlsx") for _ in range(2)]
        time.sleep(0.2)
        began = time.monotonic()
        assert "40 rows, 5 columns" in post(address, PLAIN.encode()).text
        assert time.monotonic() - began < 60.0  # a few seconds; it was 299
        for answer in bad:
            assert "merged cells that overlap" in answer.result().text
