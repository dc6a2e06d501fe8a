"""Keyphrases judged by a language model."""

import json

import pytest
from typer.testing import CliRunner

from spacy_keyphrase.cli import app
from spacy_keyphrase.evaluation import judge
from spacy_keyphrase.selectors import Failed, Labelled

TEXTS = ["First text.", "Second text."]
PHRASES = [["good a", "b", "good c"], ["good d"]]


def ask(questions):
    """T is what is good; a text that says so has no answer."""
    return [
        Failed("no")
        if "Fail" in question.text
        else Labelled(["good" in candidate for candidate in question.candidates])
        for question in questions
    ]


def test_relevant_and_known():
    """Equation 5 of PUSL: of four keyphrases three are relevant, two known labels, one
    is both."""
    found = judge(TEXTS, PHRASES, ask, universe=["GOOD A", "b", "e"])
    assert found.values == {"relevant": 0.75, "universe": 0.5, "rel": 0.25}
    assert (found.n_docs, found.n_phrases, found.failed) == (2, 4, [])
    assert found.verdicts == [[True, False, True], [True]]
    low, high = found.intervals["relevant"]
    # Two documents, of which one has two of three, the other one of one.
    assert low == pytest.approx(2 / 3) and high == 1


def test_agreement_with_gold():
    """Of four keyphrases the model and gold agree on one; by chance on half."""
    found = judge(TEXTS, PHRASES, ask, references=[["good a", "b"], ["x"]])
    assert found.values == {
        "relevant": 0.75,
        "gold": 0.5,
        "agreement": 0.25,
        "kappa": -0.5,
    }
    same = judge(TEXTS, PHRASES, ask, references=[["good a", "good c"], ["good d"]])
    assert same.values["agreement"] == same.values["kappa"] == 1


def test_failed_documents_count_in_nothing():
    found = judge([*TEXTS, "Fail."], [*PHRASES, ["good", "bad"]], ask)
    assert found.values == {"relevant": 0.75} and found.failed == [2]
    assert found.n_docs == 2 and found.verdicts[2] is None
    assert found.to_dict()["failed"] == 1


def test_nothing_to_judge():
    """Documents without keyphrases are asked nothing; equal keyphrases once."""
    asked = []

    def note(questions):
        asked.extend(questions)
        return ask(questions)

    found = judge(["A.", "B."], [[], ["good", "Goods", " "]], note)
    assert [list(question.candidates) for question in asked] == [["good"]]
    assert found.values == {"relevant": 1.0} and found.n_phrases == 1
    assert judge([], [], ask).values == {"relevant": None}
    with pytest.raises(ValueError, match="2 texts, predictions for 1"):
        judge(TEXTS, [[]], ask)
    with pytest.raises(ValueError, match=r"predictions for 2, gold for 1\."):
        judge(TEXTS, PHRASES, ask, references=[[]])


@pytest.fixture
def folder(tmp_path):
    gold = [["good a", "b"], []]
    records = [
        {"id": str(i), "text": text, "keyphrases": own}
        for i, (text, own) in enumerate(zip(TEXTS, gold))
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "corpus.jsonl").write_text(lines)
    records = [
        {"id": str(i), "keyphrases": [{"text": p} for p in own]}
        for i, own in enumerate(PHRASES)
    ]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (tmp_path / "predicted.jsonl").write_text(lines)
    (tmp_path / "labels.txt").write_text("good a\nb\ne\n")
    return tmp_path


def run(*args, code=0):
    result = CliRunner().invoke(app, ["judge", *map(str, args)])
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def test_command(folder):
    pytest.importorskip("openai")
    from benchmarks.chat_server import ChatServer

    with ChatServer() as server:
        (folder / "judge.cfg").write_text(
            '[model]\n@architectures = "spacy_keyphrase.ChatLM.v1"\nname = "rule"\n'
            f'base_url = "{server.url}"\n'
        )
        options = ["--model", folder / "judge.cfg", "--universe", folder / "labels.txt"]
        corpus, predicted = folder / "corpus.jsonl", folder / "predicted.jsonl"
        table = run(corpus, "--predictions", predicted, *options)
        assert "both (Rel)" in table and "25.00" in table and "kappa" in table
        line = run(corpus, "--predictions", predicted, "--format", "jsonl", *options)
        record = json.loads(line)
        assert record["values"]["relevant"] == 0.75 and record["n_docs"] == 2
        # A pipeline's.
        table = run(corpus, *options, "--top-n", 1)
        assert "relevant" in table


def test_wrong_use(folder):
    (folder / "judge.cfg").write_text("[nlp]\nlang = 'en'\n")
    output = run(folder / "corpus.jsonl", "--model", folder / "judge.cfg", code=2)
    assert "has no section [model]" in " ".join(output.split())
    (folder / "judge.cfg").write_text(
        '[model]\n@architectures = "spacy.HashEmbedCNN.v2"\nwidth = 8\ndepth = 1\n'
        "embed_size = 10\npretrained_vectors = null\nwindow_size = 1\n"
        "maxout_pieces = 2\nsubword_features = true\n"
    )
    output = run(folder / "corpus.jsonl", "--model", folder / "judge.cfg", code=2)
    assert "answers no questions" in " ".join(output.split())
