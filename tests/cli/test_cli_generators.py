"""`words`, and what `convert`, `extract` and `evaluate` do for generators."""

import json

import pytest
import spacy
from spacy.tokens import DocBin
from thinc.util import has_gpu
from typer.testing import CliRunner

from spacy_keyphrase.cli import app


def run(*args, code=0):
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "corpus.jsonl"
    records = [
        {
            "id": str(i),
            "text": f"Text {i} is a text on rain.",
            "keyphrases": ["Weather"],
        }
        for i in range(6)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_words(corpus, tmp_path):
    """The most frequent ones first, those of keyphrases among them."""
    result = run("words", corpus, tmp_path / "new" / "words.txt", "--size", 8)
    assert "Wrote 8 words" in result.output
    words = (tmp_path / "new" / "words.txt").read_text().split()
    assert words == ["text", ".", "a", "is", "on", "rain", "weather", "0"]
    run("words", corpus, tmp_path / "all.txt")
    assert len((tmp_path / "all.txt").read_text().split()) == 13


def test_phrases(tmp_path):
    """Phrases of the same stems are one; those of most documents come first."""
    gold = [
        ["Neural  Networks", "neural network", "rain"],
        ["Rain"],
        ["neural network"],
    ]
    gold += [["Rain"], ["snow"]]
    path = tmp_path / "corpus.jsonl"
    path.write_text(
        "".join(json.dumps({"text": "A text.", "keyphrases": g}) + "\n" for g in gold)
    )
    result = run("phrases", path, tmp_path / "new" / "phrases.txt", "--least", 2)
    assert "Wrote 2 phrases" in result.output
    lines = (tmp_path / "new" / "phrases.txt").read_text("utf8").splitlines()
    assert lines == ["rain", "neural network"]


@pytest.mark.parametrize(
    "options, numbers",
    [
        (["--skip", 4], [4, 5]),
        (["--skip", 1, "--limit", 2], [1, 2]),
        (["--limit", 1], [0]),
        (["--skip", 9], []),
    ],
)
def test_parts_of_a_corpus(corpus, tmp_path, options, numbers):
    run("convert", corpus, tmp_path / "part.spacy", "--lang", "en", *options)
    docs = DocBin().from_disk(tmp_path / "part.spacy")
    texts = [doc.text for doc in docs.get_docs(spacy.blank("en").vocab)]
    assert texts == [f"Text {i} is a text on rain." for i in numbers]


@pytest.mark.parametrize("command", ["extract", "evaluate"])
def test_a_gpu_serves_one_process(corpus, command):
    result = run(command, corpus, "--gpu-id", 0, "--n-process", 2, code=2)
    assert "--gpu-id goes with one process" in " ".join(result.output.split())


@pytest.mark.skipif(has_gpu, reason="there is a GPU")
@pytest.mark.parametrize("command", ["extract", "evaluate"])
def test_no_gpu(corpus, command):
    result = run(command, corpus, "--gpu-id", 0, code=2)
    assert "--gpu-id 0: " in " ".join(result.output.split())
