"""Networks as files."""

import numpy
import pytest
import spacy
from numpy.testing import assert_allclose
from safetensors.numpy import load_file, save_file

from spacy_keyphrase.models.bundle import load_bundled, load_network, save_network
from spacy_keyphrase.models.heads import HEADS
from spacy_keyphrase.pipeline.network import NetworkAnnotator

TEXT = "Graph networks predict properties of molecules; graph networks are fast."


def make(**settings):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("keyphrase_extractor", config=settings)
    reference = nlp.make_doc(TEXT)
    reference._.keyphrases = ["graph networks"]
    example = spacy.training.Example(nlp.make_doc(TEXT), reference)
    nlp.initialize(lambda: [example])
    return nlp, pipe


def predict(nlp, pipe, model):
    doc = nlp.make_doc(TEXT)
    mentions = NetworkAnnotator.read(pipe, [doc])
    return HEADS["joint"]().scores(model.predict(([doc], mentions)), mentions)


def test_round_trip(tmp_path):
    nlp, pipe = make()
    config = nlp.config.interpolate()["components"]["keyphrase_extractor"]["model"]
    path = tmp_path / "x.safetensors"
    save_network(path, pipe.model, config, {"calibration": [2.0, 1.0]})
    model, settings = load_network(path)
    assert settings == {"calibration": [2.0, 1.0]}
    # The file has 16 bits of each weight: the scores are those of the rounded weights.
    # What the rounding does to them depends on the weights, which are drawn at random.
    for node in pipe.model.walk():
        for name in node.param_names:
            node.set_param(name, node.get_param(name).astype("f2").astype("f4"))
    expected = predict(nlp, pipe, pipe.model)
    # Sums in another order differ in the sixth digit.
    assert_allclose(predict(nlp, pipe, model), expected, atol=5e-5)
    # Rounding again changes nothing.
    save_network(tmp_path / "y.safetensors", model, config)
    first, second = load_file(path), load_file(tmp_path / "y.safetensors")
    assert first.keys() == second.keys()
    assert all((first[name] == second[name]).all() for name in first)
    assert {array.dtype for array in first.values()} == {numpy.dtype("f2")}


def test_no_network(tmp_path):
    path = tmp_path / "x.safetensors"
    with pytest.raises(ValueError, match="is not a network"):
        load_network(path)
    path.write_bytes(b"\0" * 20)
    with pytest.raises(ValueError, match="is not a network"):
        load_network(path)
    save_file({"a": numpy.zeros(2)}, path)
    with pytest.raises(ValueError, match="its format is None"):
        load_network(path)
    nlp, pipe = make()
    config = nlp.config.interpolate()["components"]["keyphrase_extractor"]["model"]
    deeper = {**config, "context": True}
    save_network(path, pipe.model, deeper)
    with pytest.raises(ValueError, match="does not fit its architecture"):
        load_network(path)
    assert load_bundled("tlh.extractor") is None
