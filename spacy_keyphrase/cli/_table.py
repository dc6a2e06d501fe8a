"""Plain text tables, readable by people and by cut."""

import unicodedata
from typing import List, Sequence

GAP = "  "


def width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    marks = sum(bool(unicodedata.combining(char)) for char in text)
    return len(text) + wide - marks


def format_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: str = ""
) -> str:
    """A table with its columns aligned.

    header (Sequence[str]): Names of the columns.
    rows (Sequence[Sequence[str]]): The cells.
    right (str): A letter a column, "r" to align it to the right, "l" to the left.
    RETURNS (str): The table, each line ended.
    """
    right = right.ljust(len(header), "l")
    table = [list(header), *map(list, rows)]
    table = [[clean(cell) for cell in row] for row in table]
    widths = [max(width(row[i]) for row in table) for i in range(len(header))]
    table.insert(1, ["-" * columns for columns in widths])
    lines: List[str] = []
    for row in table:
        cells = [
            " " * (columns - width(cell)) + cell
            if side == "r"
            else cell + " " * (columns - width(cell))
            for cell, columns, side in zip(row, widths, right, strict=True)
        ]
        lines.append(GAP.join(cells).rstrip() + "\n")
    return "".join(lines)


def clean(text: str) -> str:
    """On one line, and without what would drive a terminal."""
    text = " ".join(text.split())
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
