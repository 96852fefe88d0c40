"""Pictures of pages show the words that the pages have today."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from affinity_bandits.app.application import Settings, create_local_app
from affinity_bandits_service.http.app import create_app
from affinity_bandits_service.store.migrate import migrate
from checks.pictures import app as app_pictures
from checks.pictures import audit as audit_picture
from checks.pictures import service as service_pictures
from tests.support.databases import made_database
from tests.support.in_process import serve_here
from tests.support.page_words import keep_words, kept_words, words_of

pytestmark = pytest.mark.slow
IMAGES = service_pictures.IMAGES
AGAIN = "make pictures: the page of {} has other words than its picture"


@pytest.fixture(scope="module")
def service(worker: str) -> dict[str, str]:
    """The HTML of each page of the service by its picture's name."""
    with made_database(f"affinity_pictures_{worker}_{os.getpid()}") as dsn:
        migrate(dsn)
        made = asyncio.run(service_pictures.seed(dsn))
        with serve_here(create_app(dsn)) as address:
            found = service_pictures.pages(*made)
            html = {name: service_pictures.read(address, *page) for name, page in found.items()}
    return {f"service-{name}": text for name, text in html.items()}


@pytest.mark.parametrize("name", ["list", "open", "open-narrow", "health"])
def test_the_pictures_of_the_service_are_of_todays_pages(
    service: dict[str, str], name: str
) -> None:
    picture = IMAGES / f"service-{name}.png"
    assert picture.exists()
    shown = service[f"service-{name.removesuffix('-narrow')}"]
    assert words_of(shown) == kept_words(picture).read_text("utf-8"), AGAIN.format(picture.name)


def test_the_pictures_of_the_application_are_of_todays_pages() -> None:
    with serve_here(create_local_app(Settings(warm=False))) as address:
        for name, (path, _) in app_pictures.PAGES.items():
            if name in app_pictures.COMPUTED:
                continue
            picture = IMAGES / f"app-{name}.png"
            shown = words_of(app_pictures.read(address, path))
            assert shown == kept_words(picture).read_text("utf-8"), AGAIN.format(picture.name)


def test_the_picture_of_a_report_is_of_todays_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The figures of the verdict, too: they are words of the page."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    _, shown = audit_picture.write_report(tmp_path)
    assert "points (95% interval)" in words_of(shown)
    assert words_of(shown) == kept_words(IMAGES / "audit.png").read_text("utf-8"), AGAIN.format(
        "audit.png"
    )


def test_one_other_word_is_seen(service: dict[str, str], tmp_path: Path) -> None:
    html = service["service-open"]
    keep_words(tmp_path / "one.png", html.replace("biased feedback", "feedback"))
    assert kept_words(tmp_path / "one.png").read_text("utf-8") != words_of(html)
    keep_words(tmp_path / "one.png", html.replace("<main", "<main class='other'"))
    assert kept_words(tmp_path / "one.png").read_text("utf-8") == words_of(html)
