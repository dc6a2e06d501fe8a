"""Parts of UniKeyphrase against the public code's outputs, with its weights."""

import json

import numpy
import pytest

torch = pytest.importorskip("torch")

from safetensors.torch import load_file  # noqa: E402

from spacy_keyphrase.generation.bag import bag_loss_as_released  # noqa: E402
from spacy_keyphrase.generation.losses import tag_losses, word_losses  # noqa: E402
from spacy_keyphrase.generation.relation import Relation  # noqa: E402


@pytest.fixture(scope="module")
def recorded(fixtures_dir):
    return json.loads((fixtures_dir / "unikeyphrase.json").read_text("utf8"))


@pytest.fixture(scope="module")
def losses(recorded):
    return {
        name: torch.tensor(value) if isinstance(value, list) else value
        for name, value in recorded["losses"].items()
    }


def test_relation_layers(recorded, fixtures_dir):
    weights = load_file(fixtures_dir / "unikeyphrase_srl_fp16.safetensors")
    relation = Relation(16, layers=2).eval()
    relation.load_state_dict({name: value.float() for name, value in weights.items()})
    states = torch.tensor(recorded["srl"]["input"])
    with torch.inference_mode():
        present, absent, _ = relation(states)
    expected = recorded["srl"]["layer_outputs"][-1]
    numpy.testing.assert_allclose(present, expected["present"], atol=1e-5)
    numpy.testing.assert_allclose(absent, expected["absent"], atol=1e-5)


def test_tags(losses):
    """The mean that the public code takes is weighted as well."""
    weights = losses["class_weights"].tolist()
    found = tag_losses(losses["label_logits"], losses["label_ids"], weights)
    mean = found.sum() / losses["class_weights"][losses["label_ids"]].sum()
    assert float(mean) == pytest.approx(losses["label_loss_before_mask"], abs=1e-5)


@pytest.mark.parametrize(
    "smoothing, name", [(0.0, "mlm_loss"), (0.1, "mlm_loss_smoothed_0_1")]
)
def test_words(losses, smoothing, name):
    weights = losses["mlm_weights"].float()
    found = word_losses(losses["mlm_logits"], losses["mlm_labels"], smoothing)
    mean = (found * weights).sum() / (weights.sum() + 1e-5)
    assert float(mean) == pytest.approx(losses[name], abs=1e-5)


def test_bag_of_words(losses):
    extracted, written = bag_loss_as_released(
        losses["input_ids"],
        losses["label_logits"],
        losses["label_ids"],
        losses["label_mask"] > 0,
        losses["mlm_logits"],
        losses["mlm_labels"],
        losses["mlm_weights"] > 0,
    )
    assert float(extracted) == pytest.approx(losses["bw_present"], abs=1e-5)
    assert float(written) == pytest.approx(losses["bw_absent"], abs=1e-5)
    assert float(extracted + written) / 2 == pytest.approx(losses["bw_loss"], abs=1e-5)
