"""Scores as probabilities."""

import numpy
import pytest
import spacy
import srsly
from spacy.cli._util import app
from spacy.training import Example
from thinc.api import fix_random_seed
from typer.testing import CliRunner

import spacy_keyphrase.cli  # noqa: F401
from spacy_keyphrase.training.calibration import calibration_error, fit_logistic


def test_what_was_drawn_is_found():
    rng = numpy.random.default_rng(0)
    scores = rng.normal(3, 5, size=200_000)
    truth = 1 / (1 + numpy.exp(-(0.7 * scores - 4)))
    gold = rng.random(len(scores)) < truth
    scale, shift = fit_logistic(scores, gold)
    # Of 200,000 draws the standard errors are below 0.01 and 0.03.
    assert scale == pytest.approx(0.7, abs=0.03)
    assert shift == pytest.approx(-4, abs=0.1)
    assert calibration_error(truth, gold) < 0.005
    assert calibration_error(numpy.sqrt(truth), gold) > 0.05


def test_scores_that_part_the_classes():
    scores = numpy.array([-2.0, -1, 1, 2])
    scale, shift = fit_logistic(scores, scores > 0)
    assert 0 < scale < 100 and abs(shift) < 1e-6
    with pytest.raises(ValueError, match="0 of 4"):
        fit_logistic(scores, scores > 5)


def test_error_by_hand():
    """Two bins: 0.1 and 0.3 with one gold, 0.8 and 0.8 with two."""
    probabilities = numpy.array([0.8, 0.1, 0.3, 0.8])
    gold = numpy.array([True, True, False, True])
    error = calibration_error(probabilities, gold, bins=2)
    assert error == pytest.approx((abs(0.2 - 0.5) + abs(0.8 - 1)) / 2)


def test_the_command(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_extractor", config={"top_n": 0})
    lines = [
        {
            "id": str(i),
            "title": "",
            "text": f"We study {word}s with care.",
            "keyphrases": [f"{word}s"],
        }
        for i, word in enumerate(["graph", "network", "protein", "tax", "query"])
    ]
    srsly.write_jsonl(tmp_path / "dev.jsonl", lines)
    examples = []
    for line in lines:
        reference = nlp.make_doc(line["text"])
        reference._.keyphrases = line["keyphrases"]
        examples.append(Example(nlp.make_doc(line["text"]), reference))
    fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(10):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(tmp_path / "model")
    command = ["keyphrase", "calibrate", str(tmp_path / "model")]
    result = CliRunner().invoke(app, [*command, str(tmp_path / "dev.jsonl")])
    assert result.exit_code == 0, result.output
    loaded = spacy.load(tmp_path / "model")
    before, after = nlp(lines[0]["text"]), loaded(lines[0]["text"])
    assert [p.text for p in before._.keyphrases] == [p.text for p in after._.keyphrases]
    scale, shift = loaded.get_pipe("keyphrase_extractor").cfg["calibration"]
    compared = 0
    for old, new in zip(before._.keyphrases, after._.keyphrases, strict=True):
        # Near 1 a score in 32 bits has few digits of its logit.
        if old.score < 0.999:
            logit = numpy.log(old.score / (1 - old.score))
            expected = 1 / (1 + numpy.exp(-scale * logit - shift))
            assert new.score == pytest.approx(expected, abs=1e-3)
            compared += 1
    assert compared
    # In the training texts the probabilities add up to the number of gold phrases.
    total = sum(
        p.score
        for doc in loaded.pipe(line["text"] for line in lines)
        for p in doc._.keyphrases
    )
    assert total == pytest.approx(5, abs=1)
