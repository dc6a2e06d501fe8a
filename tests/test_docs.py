"""The examples of the other pages do what it says they do."""

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


@pytest.mark.parametrize("name", ["generation.md"])
def test_examples(name):
    pytest.importorskip("torch")
    pytest.importorskip("scipy")
    namespace = {"__name__": "docs"}
    blocks = BLOCK.findall((DOCS / name).read_text(encoding="utf8"))
    assert blocks
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), namespace)
        if expected:
            assert printed.getvalue() == expected


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (DOCS / target).exists(), target
