"""Workbooks as no spreadsheet program writes them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_PARTS = {
    "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="r" '
    f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
    '<sheet name="S" sheetId="1" r:id="s"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}"><Relationship Id="s" '
    f'Type="{_OFFICE}/worksheet" Target="worksheets/s.xml"/><Relationship Id="t" '
    f'Type="{_OFFICE}/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
}
HEAD = '<row r="1"><c r="A1" t="inlineStr"><is><t>group</t></is></c><c r="B1"><v>1</v></c></row>'


def workbook(rows: str, after: str = "", shared: Iterable[bytes] = ()) -> bytes:
    """A workbook with one sheet, whose rows and later parts are XML, and its shared strings."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _PARTS.items():
            archive.writestr(name, content)
        sheet = f'<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData>{after}</worksheet>'
        archive.writestr("xl/worksheets/s.xml", sheet)
        with archive.open("xl/sharedStrings.xml", "w") as part:
            part.write(f'<sst xmlns="{_MAIN}">'.encode())
            for piece in shared:
                part.write(piece)
            part.write(b"</sst>")
    return buffer.getvalue()


def merged(rows: int, ranges: Iterable[str]) -> bytes:
    """A workbook of two columns with merged cells."""
    cells = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="B{n}"><v>{n}</v></c></row>'
        for n in range(2, rows + 1)
    )
    listed = "".join(f'<mergeCell ref="{one}"/>' for one in ranges)
    return workbook(HEAD + cells, f"<mergeCells>{listed}</mergeCells>")


OVERLAPPING = merged(3000, ["A1:XFD1048576"] * 200_000)
"""40 kB that ask for a million columns to be filled 200,000 times in each of 3,000 rows."""
WITHOUT_PLACES = workbook(HEAD + '<row r="1048576">' + "<c><v>1</v></c>" * 16_384 + "</row>")
"""A far row whose cells do not say where they are."""
