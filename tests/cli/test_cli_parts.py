"""Tables, progress bars and output files, each alone."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from spacy_keyphrase.cli._output import open_output
from spacy_keyphrase.cli._progress import Progress
from spacy_keyphrase.cli._table import format_table, width


def test_table_alignment() -> None:
    table = format_table(
        ("word", "n"), [("ab", "1"), ("关键词", "100"), ("é́", "22")], "lr"
    )
    assert table == (
        "word      n\n------  ---\nab        1\n关键词  100\né́        22\n"
    )
    assert width("关键词") == 6
    assert format_table(("a", "b"), []) == "a  b\n-  -\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def count(progress: Progress, n: int) -> None:
    with progress:
        assert list(progress.over(range(n))) == list(range(n))


def test_progress_shows_on_a_terminal_when_it_takes_long(monkeypatch: Any) -> None:
    monkeypatch.setattr("spacy_keyphrase.cli._progress._PATIENCE", -1)
    monkeypatch.setattr(sys, "stderr", Terminal())
    count(Progress(), 5)
    assert "5 docs" in sys.stderr.getvalue()  # type: ignore[attr-defined]


def test_progress_is_silent_otherwise(monkeypatch: Any) -> None:
    # It did not take long.
    monkeypatch.setattr(sys, "stderr", Terminal())
    count(Progress(), 5)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
    monkeypatch.setattr("spacy_keyphrase.cli._progress._PATIENCE", -1)
    # The results are on the same terminal.
    monkeypatch.setattr(sys, "stdout", Terminal())
    count(Progress(to_file=False), 5)
    assert sys.stderr.getvalue() == ""  # type: ignore[attr-defined]
    # Nobody is looking.
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    count(Progress(), 5)
    assert sys.stderr.getvalue() == ""


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_output_is_whole_or_partial(tmp_path: Path, error: Any) -> None:
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(error), open_output(path) as write:
        raise error
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
    with pytest.raises(error), open_output(path) as write:
        write("one\n")
        raise error
    assert path.read_text() == "old"
    assert (tmp_path / "out.txt.partial").read_text() == "one\n"
    with open_output(path) as write:
        write("ä\n")
        write("b\n")
    assert path.read_bytes() == "ä\nb\n".encode()
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]
