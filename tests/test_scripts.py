"""The scripts that make what is bundled."""

import subprocess
import sys
from pathlib import Path

import pytest
import spacy
import srsly

from spacy_keyphrase.keyphraseness import read_keyphraseness
from spacy_keyphrase.models.bundle import load_network

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"


def run(name, *arguments):
    command = [sys.executable, str(SCRIPTS / f"{name}.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, encoding="utf8", timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_keyphrase_counts(tmp_path):
    lines = [
        ("Neural networks rank graphs.", ["neural network", "deep learning"]),
        ("A neural network for graphs.", ["Neural Networks"]),
        ("Graphs without neural networks.", ["graphs"]),
    ]
    corpus = tmp_path / "corpus.jsonl"
    srsly.write_jsonl(corpus, [{"text": t, "keyphrases": k} for t, k in lines])
    out = run("make_keyphraseness", tmp_path / "table.npz", corpus)
    # "graph" is a keyphrase once only, and what is absent is nobody's candidate.
    assert "1 phrases" in out
    table = read_keyphraseness(tmp_path / "table.npz")
    assert (table.gold.tolist(), table.docs.tolist()) == ([2], [3])


@pytest.mark.slow
def test_a_trained_network_in_one_file(tmp_path):
    nlp = spacy.blank("en")
    extractor = nlp.add_pipe("keyphrase_extractor")
    text = "Graph neural networks rank the vertices of graphs."
    doc = nlp.make_doc(text)
    gold = nlp.make_doc(text)
    gold._.keyphrases = ["graph neural networks"]
    nlp.initialize(lambda: [spacy.training.Example(doc, gold)])
    nlp.to_disk(tmp_path / "pipeline")
    output = tmp_path / "network.safetensors"
    run("bundle", tmp_path / "pipeline", "keyphrase_extractor", output)
    model, settings = load_network(output)
    assert settings["calibration"] == extractor.cfg["calibration"]
    mentions = extractor.read([doc])
    before, after = (m.predict(([doc], mentions)) for m in (extractor.model, model))
    # 16 bits hold three digits.
    assert after == pytest.approx(before, abs=2e-2)


@pytest.mark.slow
def test_a_language_model(tmp_path):
    """Of a thousand documents, which are read a thousand at a time."""
    transformers = pytest.importorskip("transformers")
    text = "Graph neural networks rank the vertices of graphs. " * 5
    lines = [{"text": f"{i}. {text}", "keyphrases": ["graphs"]} for i in range(1000)]
    srsly.write_jsonl(tmp_path / "corpus.jsonl", lines)
    output = tmp_path / "lm"
    sizes = "--vocabulary 300 --width 16 --inner 16 --layers 1 --heads 1 --batch 1"
    run("pretrain_lm", tmp_path / "corpus.jsonl", output, *sizes.split(), "--steps", 1)
    model = transformers.AutoModelForCausalLM.from_pretrained(output / "model")
    assert model.config.hidden_size == 16
    log = list(srsly.read_jsonl(output / "log.jsonl"))
    assert log[-1]["step"] == 1
