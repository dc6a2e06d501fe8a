"""Generators by `spacy keyphrase train`: the same seed gives the same weights, a run
that was interrupted ends as if it had not been, and nothing good is lost."""

from io import StringIO
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.util import load_config

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("scipy")

from lessons import LESSONS, make_bert, make_model  # noqa: E402

from spacy_keyphrase.models.wrapped import get_module  # noqa: E402
from spacy_keyphrase.training.checkpoint import find_checkpoint  # noqa: E402
from spacy_keyphrase.training.loop import train  # noqa: E402

CONFIGS = Path(__file__).resolve().parent.parent.parent / "configs"
MODEL = "components.keyphrase_generator.model."
SMALL = {
    "width": 32,
    "heads": 2,
    "inner": 48,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "dropout": 0.2,
    "attention_dropout": 0.2,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, models_dir):
    folder = tmp_path_factory.mktemp("training")
    lines = [
        {"id": str(i), "title": "", "text": text, "keyphrases": phrases}
        for i, (text, phrases) in enumerate(LESSONS.items())
    ]
    srsly.write_jsonl(folder / "corpus.jsonl", lines)
    tokenizers = models_dir / "tokenizers"
    make_bert("bert", tokenizers, folder / "bert")
    make_model("t5", tokenizers, folder / "t5")
    return folder


def make_config(name, folder, **changes):
    overrides = {
        "paths.train": str(folder / "corpus.jsonl"),
        "paths.dev": str(folder / "corpus.jsonl"),
        "corpora.train.shuffle_buffer": 3,
        "training.batcher.size": 40,
        "training.max_steps": 7,
        "training.eval_frequency": 2,
        "training.accumulate_gradient": 2,
        "training.logger.progress_bar": None,
    }
    if name == "one2set":
        overrides.update({MODEL + key: value for key, value in SMALL.items()})
    elif name == "unikeyphrase":
        overrides["paths.encoder"] = str(folder / "bert")
    else:
        overrides["paths.model"] = str(folder / "t5")
        overrides[MODEL + "beams"] = 2
    overrides.update(changes)
    return load_config(CONFIGS / f"{name}.cfg", overrides=overrides, interpolate=False)


def run(config, output, **settings):
    return train(config, output, stdout=StringIO(), stderr=StringIO(), **settings)


def weights(folder):
    return (folder / "keyphrase_generator" / "model").read_bytes()


class Crash(Exception):
    pass


def crash_after(updates, config, output, monkeypatch):
    done = []
    update = spacy.Language.update

    def crash(nlp, *args, **kwargs):
        done.append(1)
        if len(done) > updates:
            raise Crash
        return update(nlp, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(spacy.Language, "update", crash)
        with pytest.raises(Crash):
            run(config, output)


@pytest.mark.parametrize("name", ["one2set", "unikeyphrase", "groov"])
def test_after_a_crash(name, folder, tmp_path, monkeypatch):
    """Dropout, masks and orders are drawn as if nothing had happened; the weight of the
    bag-of-words constraint goes on where it was."""
    config = make_config(name, folder)
    whole = run(config, tmp_path / "whole")
    crash_after(8, config, tmp_path / "parts", monkeypatch)
    parts = run(config, tmp_path / "parts", resume=True)
    assert weights(parts) == weights(whole)
    pipe = spacy.load(parts).get_pipe("keyphrase_generator")
    assert pipe.cfg["steps"] == 8


def test_a_longer_run(folder, tmp_path, monkeypatch):
    """A run may go on for longer than was planned; the bag-of-words constraint then
    has all its weight at the new end."""
    crash_after(8, make_config("unikeyphrase", folder), tmp_path, monkeypatch)
    longer = make_config("unikeyphrase", folder, **{"training.max_steps": 9})
    pipe = spacy.load(run(longer, tmp_path, resume=True)).get_pipe(
        "keyphrase_generator"
    )
    assert pipe.cfg["steps"] == 10
    assert get_module(pipe.model).settings.total_steps == 9


def test_the_seed_decides(folder, tmp_path):
    first = run(make_config("one2set", folder), tmp_path / "1")
    again = run(make_config("one2set", folder), tmp_path / "2")
    other = run(make_config("one2set", folder, **{"system.seed": 5}), tmp_path / "3")
    assert weights(first) == weights(again) != weights(other)


def test_a_loss_that_is_no_number(folder, tmp_path, monkeypatch):
    """The best model and the checkpoint stay, and the run can go on from there."""
    from spacy_keyphrase.generation.one2set import One2Set

    loss = One2Set.loss
    config = make_config("one2set", folder, **{"training.accumulate_gradient": 1})

    def sick(model, request):
        bad = request.step >= 5
        return loss(model, request) * (float("inf") if bad else 1.0)

    with monkeypatch.context() as patch:
        patch.setattr(One2Set, "loss", sick)
        with pytest.raises(ValueError, match=r"loss .* is inf after 5 updates"):
            run(config, tmp_path)
    assert find_checkpoint(tmp_path)
    for name in ("model-best", "model-last"):
        module = get_module(
            spacy.load(tmp_path / name).get_pipe("keyphrase_generator").model
        )
        assert all(torch.isfinite(values).all() for values in module.parameters())
    whole = run(config, tmp_path / "whole")
    assert weights(run(config, tmp_path, resume=True)) == weights(whole)
