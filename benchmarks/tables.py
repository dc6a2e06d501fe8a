"""Markdown tables and their cells."""

from typing import Any, Dict, Iterable, List, Optional, Sequence

Row = Dict[str, Any]


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table; numbers are aligned right."""
    rows = [[_cell(value) for value in row] for row in rows]
    marks = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, marks, *rows])


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


def pair(row: Row, *names: str) -> str:
    """Several numbers of a row in one cell."""
    return " / ".join(f"{row[name]:.2f}" for name in names)


def unique(rows: Iterable[Row], key: str) -> List[str]:
    """The values that rows have, in their order."""
    return list(dict.fromkeys(row[key] for row in rows))


def times(ratio: Optional[float]) -> Optional[str]:
    """A ratio, if there is one."""
    return None if ratio is None else f"{ratio:.2f}"
