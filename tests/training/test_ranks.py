"""Two processes train as one does that adds up the gradients of two batches."""

import json
import signal
import subprocess
import sys
import time

import numpy
import pytest
import spacy
from thinc.api import Config

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.slow

WORDS = ["graph", "dense", "neural", "social", "quantum", "robot", "search", "speech"]


def make_corpora(folder):
    """Texts of one length. One process has the documents of two, batch by batch."""
    rows = []
    for i in range(64):
        a, b, c = (WORDS[(i * k) % 8] for k in (1, 3, 5))
        text = f"The {a} network has {b} data ."
        rows.append({"text": text, "keyphrases": [f"{a} network", c]})
    alone = []
    for start in range(0, 64, 8):
        eight = rows[start : start + 8]
        alone += eight[::2] + eight[1::2]
    words = [*WORDS, "the", "network", "has", "data", "."]
    (folder / "words.txt").write_text("\n".join(words))
    for name, own in (("two", rows), ("one", alone), ("dev", rows[:8])):
        lines = "".join(json.dumps(row) + "\n" for row in own)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf8")


GENERATOR = {
    "factory": "keyphrase_generator",
    "model": {
        "@architectures": "spacy_keyphrase.SetTrans.v1",
        "assignment": {"@keyphrase_assignments": "spacy_keyphrase.Hungarian.v1"},
        "width": 32,
        "heads": 2,
        "inner": 64,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "dropout": 0.0,
        "attention_dropout": 0.0,
        "slots": 4,
    },
}
EXTRACTOR = {
    "factory": "keyphrase_extractor",
    "model": {
        "@architectures": "spacy_keyphrase.JointKPE.v1",
        "tok2vec": {
            "@architectures": "spacy.HashEmbedCNN.v2",
            "width": 16,
            "depth": 1,
            "embed_size": 50,
            "pretrained_vectors": None,
            "window_size": 1,
            "maxout_pieces": 2,
            "subword_features": False,
        },
    },
}


def make_config(folder, component, corpus, batch, accumulate, steps=24):
    reader = {"@readers": "spacy_keyphrase.Corpus.v1"}
    batcher = {"@batchers": "spacy.batch_by_sequence.v1", "get_length": None}
    # Or its order would be that of the corpus.
    words = {"words": str(folder / "words.txt")} if component is GENERATOR else {}
    config = {
        "nlp": {"lang": "en", "pipeline": ["it"]},
        "components": {"it": component},
        "corpora": {
            "train": {**reader, "path": str(folder / f"{corpus}.jsonl")},
            "dev": {**reader, "path": str(folder / "dev.jsonl")},
        },
        "initialize": {"components": {"it": words} if words else {}},
        "training": {
            "seed": 0,
            "max_steps": steps,
            "max_epochs": -1,
            "patience": 0,
            "eval_frequency": 6,
            "accumulate_gradient": accumulate,
            "dropout": 0.0,
            "train_corpus": "corpora.train",
            "dev_corpus": "corpora.dev",
            "batcher": {**batcher, "size": batch},
            "score_weights": {"keyphrases_present_f1@5": 1.0},
            "optimizer": {"@optimizers": "Adam.v1", "learn_rate": 0.01},
        },
    }
    path = folder / f"{corpus}.cfg"
    spacy.util.load_model_from_config(Config(config), auto_fill=True).config.to_disk(
        path
    )
    return path


def command(config, output, processes=1, *more):
    start = [sys.executable]
    if processes > 1:
        start += ["-m", "torch.distributed.run", "--standalone", "--nnodes", "1"]
        start += ["--nproc-per-node", str(processes), "--no-python", sys.executable]
    start += ["-m", "spacy", "keyphrase", "train", str(config), "--output", str(output)]
    return [*start, *more]


def run(*arguments):
    done = subprocess.run(command(*arguments), capture_output=True, encoding="utf8")
    assert done.returncode == 0, done.stderr
    return done


def read_log(output):
    return [
        json.loads(line) for line in (output / "log.jsonl").read_text().splitlines()
    ]


def weights(output):
    nlp = spacy.load(output / "model-last")
    model = nlp.get_pipe("it").model
    arrays = [
        node.get_param(name)
        for node in model.walk()
        for name in node.param_names
        if node.has_param(name)
    ]
    for node in model.walk():
        for shim in node.shims:
            arrays += [p.detach().numpy() for p in shim._model.parameters()]
    return numpy.concatenate([numpy.asarray(array).ravel() for array in arrays])


@pytest.mark.parametrize("component", [GENERATOR, EXTRACTOR], ids=["torch", "thinc"])
def test_the_same_curve_and_weights(component, tmp_path):
    make_corpora(tmp_path)
    one = make_config(tmp_path, component, "one", 8, 2)
    two = make_config(tmp_path, component, "two", 4, 1)
    run(one, tmp_path / "a")
    done = run(two, tmp_path / "b", 2)
    # One table, of the first process.
    assert done.stdout.count("LOSS") == 1
    alone, together = read_log(tmp_path / "a"), read_log(tmp_path / "b")
    assert [line["step"] for line in together] == [0, 6, 12, 18, 24]
    assert together[-1]["losses"]["it"] < together[1]["losses"]["it"]
    for a, b in zip(alone, together, strict=True):
        # Sums of 32 bits in another order.
        assert b["losses"]["it"] == pytest.approx(a["losses"]["it"], rel=1e-5)
        assert b["words"] == a["words"]
        assert b["scores"] == pytest.approx(a["scores"], abs=1e-6)
    difference = abs(weights(tmp_path / "a") - weights(tmp_path / "b"))
    assert difference.mean() < 1e-5


def test_stopped_and_resumed(tmp_path):
    """With one set of checkpoints; and not with another number of processes."""
    make_corpora(tmp_path)
    config = make_config(tmp_path, GENERATOR, "two", 4, 1, steps=400)
    more = ("--checkpoint-every", "1", "--training.dropout", "0.1")
    process = subprocess.Popen(command(config, tmp_path / "a", 2, *more))
    state = tmp_path / "a" / "checkpoint" / "state.json"
    for _ in range(1200):
        if state.exists():
            break
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) != 0
    steps = ("--training.max_steps", "30")
    wrong = subprocess.run(
        command(config, tmp_path / "a", 1, "--resume", *steps, *more),
        capture_output=True,
        encoding="utf8",
    )
    assert wrong.returncode == 1 and "2 processes" in wrong.stderr
    run(config, tmp_path / "a", 2, "--resume", *steps, *more)
    run(config, tmp_path / "b", 2, *steps, *more)
    assert not state.exists()
    assert weights(tmp_path / "a") == pytest.approx(weights(tmp_path / "b"), abs=1e-6)
