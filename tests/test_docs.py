"""The examples of the other pages do what it says they do."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
BLOCK = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


NEEDS = {
    "generation.md": ("torch", "scipy"),
    "haystack.md": ("haystack",),
    "scale.md": (),
}


@pytest.mark.parametrize("name", sorted(NEEDS))
def test_examples(name):
    for module in NEEDS[name]:
        pytest.importorskip(module)
    namespace = {"__name__": "docs"}
    blocks = BLOCK.findall((DOCS / name).read_text(encoding="utf8"))
    assert blocks
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), namespace)
        if expected:
            assert printed.getvalue() == expected


def test_haystack_pipelines(tmp_path):
    """The pipelines of examples/haystack, in a fresh process."""
    pytest.importorskip("haystack")
    texts = {
        "retrieval": "Dense retrieval finds passages by their embeddings. " * 50,
        "weather": "Rain fell on the old town for a week. " * 50,
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf8")
    files = [str(tmp_path / f"{name}.txt") for name in texts]
    script = DOCS.parent / "examples" / "haystack" / "run.py"
    command = [sys.executable, str(script), "How does retrieval work?", *files]
    done = subprocess.run(command, capture_output=True, encoding="utf8")
    assert done.returncode == 0, done.stderr
    count, first, *_ = done.stdout.splitlines()
    assert int(count.split()[0]) > 2 and count.endswith(" chunks")
    assert "Dense retrieval" in first and "(Dense retrieval" in first


def test_selection(models_dir, tmp_path, monkeypatch):
    """With a small model in the place of a large one, and a server on this machine."""
    pytest.importorskip("torch")
    pytest.importorskip("openai")
    from tiny_models import make_causal

    from benchmarks.chat_server import ChatServer

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    folder = make_causal("llama", models_dir / "tokenizers", tmp_path / "model")
    printed = io.StringIO()
    namespace = {"__name__": "docs"}
    with ChatServer() as server, contextlib.redirect_stdout(printed):
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        for code, _ in BLOCK.findall((DOCS / "selection.md").read_text("utf8")):
            code = code.replace("Qwen/Qwen2.5-0.5B-Instruct", str(folder))
            exec(compile(code, "selection.md", "exec"), namespace)
        namespace["selector"].model.attrs["chat"].client.close()
    lines = printed.getvalue().splitlines()
    # The rule of the server likes none of these.
    assert lines[-3:-1] == ["[] None", "[] None"]
    assert "'calls': 2" in lines[-1]
    assert (tmp_path / "answers").is_dir()


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert (DOCS / target).exists(), target
