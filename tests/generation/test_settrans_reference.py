"""SetTrans against the public code's outputs, with its weights."""

import json

import numpy
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from safetensors.torch import load_file  # noqa: E402

from spacy_keyphrase.generation.settrans import Past, SetTrans, SetTransSettings  # noqa: E402
from spacy_keyphrase.generation.slots import (  # noqa: E402
    SlotSettings,
    assign_targets,
    begin,
    read_slots,
    weighted_loss,
    write,
)
from spacy_keyphrase.training.assignment import make_hungarian  # noqa: E402

SETTINGS = SetTransSettings(44, 32, 4, 64, 2, 2)
SETTINGS_OF_SLOTS = SlotSettings(make_hungarian())


@pytest.fixture(scope="module")
def recorded(fixtures_dir):
    return json.loads((fixtures_dir / "settrans.json").read_text("utf8"))


@pytest.fixture(scope="module")
def model(fixtures_dir):
    weights = load_file(fixtures_dir / "settrans_tiny_fp16.safetensors")
    weights = {name: values.float() for name, values in weights.items()}
    assert torch.equal(weights["encoder.embed.weight"], weights["decoder.embed.weight"])
    weights["embed.weight"] = weights.pop("encoder.embed.weight")
    del weights["decoder.embed.weight"]
    model = SetTrans(SETTINGS)
    model.load_state_dict(weights)
    return model.eval()


@pytest.fixture(scope="module")
def memory(model, recorded):
    batch = recorded["batch"]
    length = max(map(len, batch["src"]))

    def pad(rows):
        return torch.tensor([row + [0] * (length - len(row)) for row in rows])

    with torch.inference_mode():
        return model.encode(
            pad(batch["src"]), pad(batch["src_oov"]), pad(batch["src_mask"]) > 0
        )


def test_memory(model, recorded):
    batch = recorded["batch"]
    ids, mask = torch.tensor(batch["src"]), torch.tensor(batch["src_mask"]) > 0
    with torch.inference_mode():
        states = model.encoder(model.embed(ids), mask)
    for row, first, last in zip(
        range(2), recorded["memory_first_token"], recorded["memory_last_token"]
    ):
        n = int(mask[row].sum())
        numpy.testing.assert_allclose(states[row, 0], first, atol=1e-5)
        numpy.testing.assert_allclose(states[row, n - 1], last, atol=1e-5)


def test_steps(model, memory, recorded):
    """Word after word, with what was read before kept."""
    with torch.inference_mode():
        words = torch.full((2, 20, 1), 2)
        past, found = Past(), []
        for step in range(6):
            p = model.distributions(memory, words, past)[:, :, 0]
            top, ids = p.max(-1)
            found.append((ids, top))
            key = str(step + 1)
            if key in recorded["step_distributions"]["data"]:
                expected = recorded["step_distributions"]["data"][key]
                n = len(expected[0][0])
                numpy.testing.assert_allclose(
                    p[:, [0, 3, 10, 19], :n], expected, atol=1e-5
                )
            words = ids.where(ids < 44, 1)[..., None]
    for doc, expected in enumerate(recorded["decoded"]):
        ids = torch.stack([ids[doc] for ids, _ in found], dim=1).flatten()
        assert ids.tolist() == expected["tokens"]
        top = torch.stack([top[doc] for _, top in found], dim=1).flatten()
        numpy.testing.assert_allclose(top, expected["step_max_prob"], atol=1e-5)


def test_teacher_forced(model, memory, recorded):
    """All words at once; probabilities of targets are those of the distributions."""
    targets = torch.tensor(recorded["batch"]["trg_copy"])
    inputs = begin(targets, 44)
    with torch.inference_mode():
        p = model.distributions(memory, inputs)
        log_p = model.log_probabilities(memory, inputs, targets)
    expected = recorded["teacher_forced"]["distribution_first3_steps"]
    slots = recorded["teacher_forced"]["slots"]
    n = len(expected[0][0][0])
    numpy.testing.assert_allclose(p[:, slots, :3, :n], expected, atol=1e-5)
    picked = p.gather(-1, targets[..., None])[..., 0]
    numpy.testing.assert_allclose(log_p, (picked + 1e-8).log(), atol=1e-4)
    n = recorded["n_tokens"]
    assert int((targets != 0).sum()) == n
    loss = n * float(weighted_loss(log_p, targets, SETTINGS_OF_SLOTS))
    assert loss == pytest.approx(recorded["loss_identity_assignment_sum"], abs=1e-3)


def test_assigned(model, memory, recorded):
    """Each half of the slots is taught what the public code teaches it."""
    given = recorded["batch"]["trg_copy"]
    halves = [
        [[[w for w in row if w] for row in rows if row[0] != 6] for rows in half]
        for half in ([doc[:10] for doc in given], [doc[10:] for doc in given])
    ]
    targets = assign_targets(model, memory, halves, SETTINGS_OF_SLOTS)
    for doc in range(2):
        expected = [
            given[doc][first + row]
            for first, half in ((0, "present"), (10, "absent"))
            for row in recorded["hungarian"][half][doc]
        ]
        assert targets[doc].tolist() == expected
    with torch.inference_mode():
        log_p = model.log_probabilities(memory, begin(targets, 44), targets)
    loss = recorded["n_tokens"] * float(
        weighted_loss(log_p, targets, SETTINGS_OF_SLOTS)
    )
    assert loss == pytest.approx(recorded["loss_after_hungarian_sum"], abs=1e-3)


def test_phrases(model, memory, recorded):
    for doc, expected in zip(range(2), recorded["decoded"]):
        found = write(model, memory)[doc]
        numpy.testing.assert_allclose(
            [phrase.confidence for phrase in found], expected["confidences"], atol=1e-5
        )
        words = recorded["vocab"] + recorded["batch"]["oov_lists"][doc]
        texts = [" ".join(words[word] for word in phrase.words) for phrase in found]
        assert texts == expected["ordered_phrases"]


def test_slots_to_phrases():
    """Worked example T7: deep learning, nothing, graph."""
    found = read_slots(
        [[7, 8, 3], [6, 7, 3], [9, 3, 3]],
        [[0.9, 0.8, 0.7], [0.6, 0.5, 0.5], [0.5, 0.9, 0.1]],
    )
    assert [phrase.words for phrase in found] == [[7, 8], [9]]
    assert [phrase.confidence for phrase in found] == pytest.approx([0.85, 0.5])


def test_loss_by_hand():
    """Worked example T8: three words, and null at a fifth."""
    targets = torch.tensor([[[7, 8, 3], [6, 0, 0]]])
    p = torch.tensor([[[0.6, 0.7, 0.8], [0.5, 0.9, 0.9]]])
    settings = SlotSettings(make_hungarian(), null_present=0.2, null_absent=0.2)
    loss = weighted_loss(p.log(), targets, settings)
    assert float(loss) == pytest.approx(0.30732, abs=1e-5)


def test_slots_do_not_see_each_other(model, memory):
    """Worked example T11."""
    torch.manual_seed(0)
    inputs = torch.randint(7, 44, (2, 20, 4))
    other = inputs.clone()
    other[:, 2] = other[:, 2].flip(-1)
    with torch.inference_mode():
        first = model.distributions(memory, inputs)
        second = model.distributions(memory, other)
    kept = [i for i in range(20) if i != 2]
    numpy.testing.assert_allclose(first[:, kept], second[:, kept], atol=1e-6)
    assert (first[:, 2] - second[:, 2]).abs().max() > 1e-3
