"""The words that a page of HTML shows, to compare it with the page of which a picture was taken."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

HIDDEN = ("head", "script", "style", "svg")


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in HIDDEN

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in HIDDEN

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.texts.append(" ".join(data.split()))


def words_of(html: str) -> str:
    """Return the texts of a page, one per line."""
    found = _Texts()
    found.feed(html)
    return "\n".join(found.texts) + "\n"


def kept_words(picture: Path) -> Path:
    """Return the file of the words that a picture shows."""
    return picture.parent / "words" / f"{picture.stem}.txt"


def keep_words(picture: Path, html: str) -> None:
    """Write what the page showed when its picture was taken."""
    kept_words(picture).parent.mkdir(exist_ok=True)
    kept_words(picture).write_text(words_of(html), encoding="utf-8")
