"""A T5 from scratch: what it learns from, and that training can be interrupted."""

import gzip
import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy
import pytest

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
sys.path.append(str(SCRIPTS))

from t5_denoising import (  # noqa: E402
    EOS,
    FIRST_GAP,
    Prompts,
    ask,
    corrupt,
    examples,
    make_windows,
)

PROMPTS = Prompts([101], [102], [103, 104], [105])


def fill(example):
    """The text, with the gaps filled from the target."""
    gaps, current = {}, None
    for number in example.target[:-1]:
        if number > FIRST_GAP - 100:
            current = gaps.setdefault(number, [])
        else:
            current.append(number)
    filled = []
    for number in example.source[:-1]:
        filled += gaps.get(number, [number])
    return filled


@pytest.mark.parametrize("n", [2, 3, 10, 200, 512])
def test_gaps(n):
    """Source and target are the text; 15 % of it is in gaps, of 3 on average."""
    ids = numpy.arange(1000, 1000 + n)
    for seed in range(20):
        example = corrupt(ids, numpy.random.default_rng(seed))
        assert fill(example) == ids.tolist()
        assert example.source[-1] == example.target[-1] == EOS
        n_gaps = sum(number > FIRST_GAP - 100 for number in example.target)
        lost = len(example.target) - 1 - n_gaps
        assert lost == max(round(0.15 * n), 1)
        assert n_gaps == max(round(lost / 3), 1)
        # <extra_id_0>, <extra_id_1>, ... in the order of the text.
        gaps = [i for i in example.source if i > FIRST_GAP - 100]
        assert gaps == list(range(FIRST_GAP, FIRST_GAP - n_gaps, -1))


def test_titles():
    found = ask([7, 8], [9, 10, 11], PROMPTS)
    assert found.source == [101, 9, 10, 11, 102, EOS]
    assert found.target == [103, 104, 7, 8, 105, EOS]


def test_windows():
    """Of a text of 1,100 sub-tokens three parts, of which the first has the title; what
    is too short is left out."""
    found = make_windows(numpy.array([[10, 1100], [2, 9], [0, 40]]), 512)
    assert found.tolist() == [
        [0, 512, 10],
        [512, 512, 0],
        [1024, 76, 0],
        [1109, 40, 0],
    ]


def test_examples_begin_anywhere():
    ids = numpy.arange(3000, dtype="u2")
    windows = make_windows(numpy.array([[10, 100]] * 30), 512)
    given = ids, windows, PROMPTS, 0.5, 0
    whole = list(islice(examples(*given), 70))
    assert list(islice(examples(*given, first=40), 30)) == whole[40:]
    # Every text once an epoch, in another order each time.
    titles = [e.target[2:12] for e in whole if e.target[0] == 103]
    assert 20 < len(titles) < 50
    assert whole[:30] != whole[30:60]


@pytest.mark.slow
def test_training_goes_on(tmp_path, models_dir):
    """Six steps at once, and four and then two, are the same model."""
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    records = [
        {"title": f"Number {i}", "text": f"Number {i}. " + f"graph {i} network " * 30}
        for i in range(300)
    ]
    for name in ("acmdl/train", "krapivin/full_rest", "paperlists/train", "taln/en"):
        _write(tmp_path / "data", name, records[:60])
    for name in ("inspec/train", "stackexchange/valid", "kpcrowd500n/train"):
        _write(tmp_path / "data", name, records[60:90])
    _write(tmp_path / "data", "pos/ewt/train", [{"text": "Too short."}])
    tokenizer = models_dir / "tokenizers" / "t5"
    run("t5_corpus", tmp_path / "data", tokenizer, tmp_path / "corpus.npz")
    small = ["--width", 16, "--inner", 16, "--heads", 2, "--encoder-layers", 1]
    small += ["--decoder-layers", 1, "--batch", 400, "--warmup", 2, "--asked", 0.5]
    small += ["--save-every", 2, "--fall", 0]
    for output, all_steps in (("once", [6]), ("twice", [4, 6])):
        for steps in all_steps:
            given = tmp_path / "corpus.npz", tokenizer, tmp_path / output, *small
            run("pretrain_t5", *given, "--steps", steps)
    log = (tmp_path / "twice" / "log.jsonl").read_text("utf8").splitlines()
    assert [json.loads(line)["step"] for line in log] == [2, 4, 6]
    once, twice = (
        transformers.T5ForConditionalGeneration.from_pretrained(
            tmp_path / name / "model"
        )
        for name in ("once", "twice")
    )
    for own, other in zip(once.parameters(), twice.parameters(), strict=True):
        # The same sums in the same order.
        assert (own - other).abs().max() < 1e-6


def _write(data, name, records):
    path = data / f"{name}.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)


def run(name, *arguments):
    command = [sys.executable, str(SCRIPTS / f"{name}.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, encoding="utf8", timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
