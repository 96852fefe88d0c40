"""Make docs/data/interviews.xlsx and people.csv: invented interviews, as messy as real ones.

python checks/scripts/make_interviews.py
"""

from __future__ import annotations

import csv
import random
from datetime import datetime, timedelta
from pathlib import Path

from openpyxl import Workbook

FOLDER = Path(__file__).parents[2] / "docs" / "data"
SOURCES = ("Referral", "Open call", "Agency")
FAVOR = 0.4
"""Points that interviewers add for candidates who came as they did: the truth to be found."""


def main() -> None:
    """Write both files."""
    draw = random.Random(2026)
    first = (
        "Ana",
        "Ben",
        "Cem",
        "Dörte",
        "Eva",
        "Finn",
        "Gül",
        "Hugo",
        "Ines",
        "Jörg",
        "Kim",
        "Lea",
    )
    judges = [(f"{name} {initial}.", SOURCES[n % 3]) for n, (name, initial) in
              enumerate((name, initial) for initial in "KS" for name in first)]  # fmt: skip
    book = Workbook()
    notes = book.active
    notes.title = "Read me"
    notes.append(["Export of 3 April, please do not edit"])
    sheet = book.create_sheet("Interviews")
    sheet.append(["Interviews, first quarter"])
    sheet.append([])
    header = ["Date", "Candidate", "Source ", "Interviewer", "Stars (1-5)", "Hired?"]
    sheet.append(header)
    for number in range(420):
        source = draw.choice(SOURCES)
        quality = draw.gauss(3.2, 0.5)
        day = datetime(2026, 1, 5) + timedelta(days=number // 6)
        top = sheet.max_row + 1
        for judge, own in draw.sample(judges, 3):
            stars = quality + FAVOR * (own == source) + draw.gauss(0.0, 0.6)
            score: object = min(5.0, max(1.0, round(2.0 * stars) / 2.0))
            if draw.random() < 0.2:
                score = str(score).replace(".", ",")  # typed with a decimal comma
            if draw.random() < 0.02:
                score = "n/a"
            date = day.strftime("%d.%m.%Y") if draw.random() < 0.3 else day
            label = draw.choice([source, source, f"{source} ", source.lower()])
            name = f"C{number:03}"
            sheet.append([date, name, label, judge, score, "ja" if number % 9 == 0 else "nein"])
        sheet.merge_cells(start_row=top, end_row=top + 2, start_column=2, end_column=2)
        if number == 200:
            sheet.append(header)  # two exports, pasted one below the other
    sheet.append(["", "Mean", "", "", 3.3])
    book.save(FOLDER / "interviews.xlsx")
    with (FOLDER / "people.csv").open("w", newline="", encoding="cp1252") as file:
        rows = csv.writer(file, delimiter=";")
        rows.writerow(["Name", "Came by"])
        rows.writerows(judges)


if __name__ == "__main__":
    main()
