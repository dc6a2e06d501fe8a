"""Every config is complete, and trains."""

from pathlib import Path

import pytest
import spacy
from spacy import util
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from thinc.api import Config

CONFIGS = sorted((Path(__file__).resolve().parent.parent / "configs").glob("*.cfg"))
# Those that go on with trained pipelines are run by the project's tests.
SOURCED = ("pusl_post", "one2set_transport", "generate_select")
FILLED = [path for path in CONFIGS if path.stem not in SOURCED]
TRAINED = [path for path in CONFIGS if path.stem.endswith("_cnn")]


@pytest.mark.parametrize("path", FILLED, ids=lambda path: path.stem)
def test_a_config_is_filled(path):
    """`spacy init fill-config` has nothing to add."""
    config = util.load_config(path)
    if "transformer" in path.stem:
        pytest.importorskip("transformers")
    if "spacy_transformers" in path.stem:
        pytest.importorskip("spacy_transformers", exc_type=ImportError)
    nlp = util.load_model_from_config(config, auto_fill=True)
    filled = Config(nlp.config).interpolate()
    given = util.load_config(path).interpolate()
    for section in ("components", "training", "corpora"):
        if given.get(section):
            assert set(given[section]) == set(filled[section])


@pytest.mark.slow
@pytest.mark.parametrize("path", TRAINED, ids=lambda path: path.stem)
def test_a_config_trains(path, tmp_path, data_dir):
    """A few steps of `spacy train` on real documents, and the result is loaded."""
    overrides = {
        "paths.train": str(data_dir / "inspec" / "train.jsonl.gz"),
        "paths.dev": str(data_dir / "inspec" / "valid.jsonl.gz"),
        "corpora.train.limit": 60,
        "corpora.train.shuffle_buffer": 10,
        "corpora.dev.limit": 20,
        "training.max_steps": 6,
        "training.eval_frequency": 3,
        "training.logger.progress_bar": None,
    }
    config = util.load_config(path, overrides=overrides, interpolate=False)
    nlp = init_nlp(config)
    train(nlp, tmp_path)
    nlp = spacy.load(tmp_path / "model-best")
    assert "keyphrases_f1@10" in nlp.meta["performance"]
    assert nlp("Graph neural networks predict properties of molecules.")._.keyphrases


@pytest.mark.slow
def test_from_the_bundled_network(tmp_path, data_dir):
    """Fine-tuning begins with what the network knows, and does not unlearn it."""
    overrides = {
        "paths.train": str(data_dir / "krapivin" / "abstract_rest.jsonl.gz"),
        "paths.dev": str(data_dir / "krapivin" / "abstract_rest.jsonl.gz"),
        "corpora.train.limit": 40,
        "corpora.dev.limit": 40,
        "training.max_steps": 10,
        "training.eval_frequency": 5,
        "training.logger.progress_bar": None,
    }
    config = util.load_config(
        CONFIGS[0].parent / "jointkpe_bundled.cfg",
        overrides=overrides,
        interpolate=False,
    )
    nlp = init_nlp(config)
    before = nlp.evaluate(
        list(util.resolve_dot_names(nlp.config.interpolate(), ["corpora.dev"])[0](nlp))
    )
    assert before["keyphrases_f1@10"] > 0.15
    train(nlp, tmp_path)
    nlp = spacy.load(tmp_path / "model-best")
    assert nlp.meta["performance"]["keyphrases_f1@10"] > before["keyphrases_f1@10"]
