"""SetTrans against the public code's outputs, with its weights."""

import json
from itertools import pairwise

import numpy
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("scipy")

from safetensors.torch import load_file  # noqa: E402

from spacy_keyphrase.generation.set_model import Past, Specials  # noqa: E402
from spacy_keyphrase.generation.settrans import SetTrans  # noqa: E402
from spacy_keyphrase.generation.settrans_layers import SetTransSettings  # noqa: E402
from spacy_keyphrase.generation.slot_decoding import (  # noqa: E402
    Decoding,
    read_slots,
    write,
)
from spacy_keyphrase.generation.slots import (  # noqa: E402
    SlotSettings,
    assign_targets,
    pack,
    read,
    weighted_loss,
    word_weights,
)
from spacy_keyphrase.training.assignment import make_hungarian  # noqa: E402

SETTINGS = SetTransSettings(44, 32, 4, 64, 2, 2)
SPECIALS = Specials(pad=0, begin=2, end=3, null=6, unknown=1)
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
        words, slots = torch.full((2, 20), 2), torch.arange(20)
        past, found = Past(), []
        for step in range(6):
            steps = torch.full_like(slots, step)
            after = model.next(memory, words, slots, steps, past)
            p = after.whole()
            top, ids = (best[..., 0] for best in after.top(1))
            found.append((ids, top))
            most, likeliest = after.top(5)
            numpy.testing.assert_allclose(most, p.topk(5).values, atol=1e-6)
            numpy.testing.assert_allclose(p.gather(-1, likeliest), most, atol=1e-6)
            some = torch.tensor([[7, 44, 45], [8, 1, 44]])
            numpy.testing.assert_allclose(
                after.probabilities(some),
                p.gather(-1, some[:, None].expand(-1, 20, -1)),
                atol=1e-6,
            )
            key = str(step + 1)
            if key in recorded["step_distributions"]["data"]:
                expected = recorded["step_distributions"]["data"][key]
                n = len(expected[0][0])
                numpy.testing.assert_allclose(
                    p[:, [0, 3, 10, 19], :n], expected, atol=1e-5
                )
            words = ids.where(ids < 44, 1)
    for doc, expected in enumerate(recorded["decoded"]):
        ids = torch.stack([ids[doc] for ids, _ in found], dim=1).flatten()
        assert ids.tolist() == expected["tokens"]
        top = torch.stack([top[doc] for _, top in found], dim=1).flatten()
        numpy.testing.assert_allclose(top, expected["step_max_prob"], atol=1e-5)


def _loss(model, words, log_p):
    weights = word_weights(
        words.target, words.slot >= 10, model.specials, SETTINGS_OF_SLOTS
    )
    return float(weighted_loss(log_p, weights))


def test_teacher_forced(model, memory, recorded):
    """All words at once; probabilities of targets are those of the distributions."""
    targets = torch.tensor(recorded["batch"]["trg_copy"])
    words = pack(targets, model)
    with torch.inference_mode():
        after = read(model, memory, words)
        p, log_p = after.whole(), after.log_probabilities(words.target)
    expected = recorded["teacher_forced"]["distribution_first3_steps"]
    slots = recorded["teacher_forced"]["slots"]
    n = len(expected[0][0][0])
    compared = 0
    for doc, row in numpy.ndindex(*words.target.shape):
        slot, step = int(words.slot[doc, row]), int(words.step[doc, row])
        if words.target[doc, row] and slot in slots and step < 3:
            here = expected[doc][slots.index(slot)][step]
            numpy.testing.assert_allclose(p[doc, row, :n], here, atol=1e-5)
            compared += 1
    assert compared > 2 * len(slots)
    picked = p.gather(-1, words.target[..., None])[..., 0]
    numpy.testing.assert_allclose(log_p, (picked + 1e-8).log(), atol=1e-4)
    n = recorded["n_tokens"]
    assert int((targets != 0).sum()) == n
    loss = n * _loss(model, words, log_p)
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
    words = pack(targets, model)
    with torch.inference_mode():
        log_p = read(model, memory, words).log_probabilities(words.target)
    loss = recorded["n_tokens"] * _loss(model, words, log_p)
    assert loss == pytest.approx(recorded["loss_after_hungarian_sum"], abs=1e-3)


def test_phrases(model, memory, recorded):
    for doc, expected in zip(range(2), recorded["decoded"]):
        found = write(model, memory, Decoding(), [0, 0])[doc]
        numpy.testing.assert_allclose(
            [phrase.confidence for phrase in found], expected["confidences"], atol=1e-5
        )
        words = recorded["vocab"] + recorded["batch"]["oov_lists"][doc]
        texts = [" ".join(words[word] for word in phrase.words) for phrase in found]
        assert texts == expected["ordered_phrases"]


def test_slots_to_phrases():
    """Worked example T7: deep learning, nothing, graph."""
    found = read_slots(
        range(3),
        [[7, 8, 3], [6, 7, 3], [9, 3, 3]],
        [[0.9, 0.8, 0.7], [0.6, 0.5, 0.5], [0.5, 0.9, 0.1]],
        SPECIALS,
    )
    assert [phrase.words for phrase in found] == [[7, 8], [9]]
    assert [phrase.confidence for phrase in found] == pytest.approx([0.85, 0.5])


def test_loss_by_hand():
    """Worked example T8: three words, and null at a fifth."""
    targets = torch.tensor([[[7, 8, 3], [6, 0, 0]]])
    p = torch.tensor([[[0.6, 0.7, 0.8], [0.5, 0.9, 0.9]]])
    settings = SlotSettings(make_hungarian(), null_present=0.2, null_absent=0.2)
    absent = torch.zeros_like(targets, dtype=torch.bool)
    weights = word_weights(targets, absent, SPECIALS, settings)
    loss = weighted_loss(p.log(), weights)
    assert float(loss) == pytest.approx(0.30732, abs=1e-5)


def test_slots_do_not_see_each_other(model, memory):
    """Worked example T11."""
    torch.manual_seed(0)
    targets = torch.randint(7, 44, (2, 20, 4))
    other = targets.clone()
    other[:, 2] = other[:, 2].flip(-1)
    with torch.inference_mode():
        first = read(model, memory, pack(targets, model)).whole()
        second = read(model, memory, pack(other, model)).whole()
    kept = pack(targets, model).slot[0] != 2
    numpy.testing.assert_allclose(first[:, kept], second[:, kept], atol=1e-6)
    assert (first[:, ~kept] - second[:, ~kept]).abs().max() > 1e-3


def _score(model, memory, doc, words, slot):
    """The logarithm of the probability of all words and the end, read from scratch."""
    targets = torch.zeros(2, 20, 7, dtype=torch.long)
    targets[:, :, 0] = 6
    targets[doc, slot, : len(words) + 1] = torch.tensor([*words, 3])
    packed = pack(targets, model)
    with torch.inference_mode():
        log_p = read(model, memory, packed).log_probabilities(packed.target)
    own = (packed.slot[doc] == slot) & (packed.target[doc] != 0)
    return float(log_p[doc][own].sum())


def test_beams(model, memory):
    """Of each slot the likeliest phrases: the best is no less likely than the greedy
    one, and all are different."""
    greedy = write(model, memory, Decoding(), [0, 0])
    found = write(model, memory, Decoding(beams=4), [0, 0])
    for doc in range(2):
        assert len(found[doc]) > len(greedy[doc])
        assert len({(p.slot, *p.words) for p in found[doc]}) == len(found[doc])
        for phrase in greedy[doc]:
            if len(phrase.words) == 6:
                continue  # without an end
            own = [p.words for p in found[doc] if p.slot == phrase.slot]
            best = max(
                _score(model, memory, doc, words, phrase.slot)
                for words in own
                if len(words) < 6
            )
            assert best >= _score(model, memory, doc, phrase.words, phrase.slot) - 1e-4


def test_samples(model, memory):
    """More candidates than the greedy ones, the same for a seed, and for each document
    whatever the others are."""
    greedy = write(model, memory, Decoding(), [0, 0])
    drawn = Decoding(samples=5, temperature=1.5)
    found = write(model, memory, drawn, [1, 2])
    assert found == write(model, memory, drawn, [1, 2])
    other = write(model, memory, drawn, [3, 2])
    assert [p.words for p in found[0]] != [p.words for p in other[0]]
    for one, same in zip(found[1], other[1], strict=True):
        assert (one.words, one.slot) == (same.words, same.slot)
        # Rows of a product are added up in an order that depends on their number.
        assert one.confidence == pytest.approx(same.confidence, rel=1e-5)
    for doc in range(2):
        texts = {tuple(p.words) for p in found[doc]}
        assert texts > {tuple(p.words) for p in greedy[doc]}


@pytest.mark.parametrize(
    "settings", [{}, {"beams": 4}, {"samples": 6, "temperature": 2.0}]
)
def test_no_word_follows_itself(settings, model, memory):
    def written(repeats):
        decoding = Decoding(repeats=repeats, **settings)
        return [p.words for doc in write(model, memory, decoding, [1, 2]) for p in doc]

    def repeats(words):
        return any(a == b for a, b in pairwise(words))

    assert any(map(repeats, written(True)))
    phrases = written(False)
    assert phrases and not any(map(repeats, phrases))
