"""The plot of a training run."""

import sys

import pytest
import srsly

from spacy_keyphrase.training.curve import plot_curves


def make_log(path, scale=1.0):
    path.parent.mkdir(exist_ok=True)
    lines = [
        {
            "step": step,
            "epoch": 0,
            "losses": {"keyphrase_extractor": 200 / (step + 1)},
            "scores": {"keyphrases_f1@5": 0, "keyphrases_f1@10": scale * step / 400},
        }
        for step in range(0, 201, 50)
    ]
    srsly.write_jsonl(path, lines)
    return path


def test_an_image(tmp_path):
    pytest.importorskip("matplotlib")
    logs = [make_log(tmp_path / name / "log.jsonl") for name in ("joint", "rank")]
    plot_curves(logs, tmp_path / "plots" / "curve.svg")
    svg = (tmp_path / "plots" / "curve.svg").read_text("utf8")
    for text in ("joint keyphrases_f1@10", "rank keyphrase_extractor", "50.0"):
        assert f"<!-- {text} -->" in svg


def test_a_log_of_spacy(tmp_path):
    """Its scores are in per cent."""
    pytest.importorskip("matplotlib")
    plot_curves([make_log(tmp_path / "spacy.jsonl", 100)], tmp_path / "curve.svg")
    assert "<!-- 50.0 -->" in (tmp_path / "curve.svg").read_text("utf8")


@pytest.mark.parametrize("content", ["", "no json", '{"step": 1}\n', "[]\n"])
def test_no_log(content, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "log.jsonl"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"is no log|is empty"):
        plot_curves([path], tmp_path / "curve.png")


def test_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"spacy-keyphrase\[plot\]"):
        plot_curves([make_log(tmp_path / "log.jsonl")], tmp_path / "curve.png")
