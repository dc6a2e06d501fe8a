"""The README's examples do what it says they do."""

import contextlib
import importlib.util
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def test_examples_print_what_is_shown():
    namespace = {"__name__": "readme"}
    blocks = BLOCK.findall(README.read_text(encoding="utf8"))
    assert len(blocks) > 5
    for code, expected in blocks:
        if "haystack" in code and not importlib.util.find_spec("haystack"):
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(README), "exec"), namespace)
        if expected:
            assert printed.getvalue() == expected


def test_links_lead_somewhere():
    text = README.read_text(encoding="utf8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (README.parent / target).exists(), target


@pytest.mark.parametrize("name", ["configs/keyphrase_en.cfg"])
def test_configs_assemble(name, tmp_path):
    import spacy
    from spacy.util import load_config

    nlp = spacy.util.load_model_from_config(
        load_config(README.parent / name), auto_fill=True
    )
    doc = nlp("Graph neural networks predict molecular properties.")
    assert doc._.keyphrases
