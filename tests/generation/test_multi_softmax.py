"""GROOV's loss: the public code's outputs, a worked example, properties."""

import json

import numpy
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from spacy_keyphrase.generation.multi_softmax import (  # noqa: E402
    multi_softmax_loss,
    valid_next,
)

END, SEPARATOR, PAD = 1, 2, 0


def test_the_public_code(fixtures_dir):
    recorded = json.loads((fixtures_dir / "groov.json").read_text("utf8"))
    for case in recorded["cases"]:
        labels = [
            [recorded["vocab"][word] for word in label.split()]
            for label in case["labels"]
        ]
        valid = valid_next(labels, case["ids"], SEPARATOR, END, PAD)
        assert [sorted(right) for right in valid] == case["valid_next"]
        loss = multi_softmax_loss(torch.tensor(case["logits"]), valid)
        numpy.testing.assert_allclose(loss, case["loss_per_token"], atol=1e-5)
        assert float(loss.mean()) == pytest.approx(case["loss_mean"], abs=1e-5)


def test_two_are_right():
    """Worked example T6; with one right it is cross entropy."""
    logits = torch.tensor([[2.0, 1.0, 0.0, -1.0]] * 2)
    loss = multi_softmax_loss(logits, [{0, 2}, {0}])
    numpy.testing.assert_allclose(loss, [0.31326, 0.44019], atol=1e-5)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_any_order_is_right(data):
    """No order of the labels is refused, and the end comes after all of them."""
    label = st.lists(st.integers(3, 6), min_size=1, max_size=3).map(tuple)
    labels = data.draw(st.lists(label, min_size=1, max_size=5, unique=True))
    order = data.draw(st.permutations(labels))
    target = [*[t for one in order for t in (*one, SEPARATOR)][:-1], END, PAD]
    valid = valid_next(labels, target, SEPARATOR, END, PAD)
    assert len(valid) == len(target)
    ends = [i for i, right in enumerate(valid) if END in right]
    assert ends and target.index(END) == max(ends)
    assert valid[0] == {label[0] for label in labels}


def test_a_label_that_is_not_left():
    with pytest.raises(ValueError, match="where one of"):
        valid_next([(3, 4), (5,)], [3, 4, SEPARATOR, 3], SEPARATOR, END, PAD)
