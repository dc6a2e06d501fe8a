"""Labels in few passes are those of one pass for each."""

from types import SimpleNamespace
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from spacy_keyphrase.backends.in_turn import label_in_turn  # noqa: E402
from spacy_keyphrase.backends.prompting import Laid  # noqa: E402

TRUE, FALSE, PAD = 1, 2, 0
PROMPTER = SimpleNamespace(labels=(TRUE, FALSE), window=999)


class Reader:
    """A model whose odds depend on each sub-token that it sees, and on their order. It
    keeps what it read where a real one keeps its keys."""

    def __init__(self, bias):
        self.bias = bias
        self.model = SimpleNamespace(parameters=lambda: iter([torch.zeros(1)]))
        self.passes = 0

    def read(self, ids, mask, places, cache):
        self.passes += 1
        state = torch.stack([ids, places], dim=-1)[:, None].float()
        before = cache.get_seq_length()
        keys, values = cache.update(state, state, 0)
        assert keys.equal(values)
        assert keys.shape[2] == mask.shape[1] == before + ids.shape[1]
        return keys[:, 0].long(), mask, before

    def odds(self, read, wanted):
        keys, mask, before = read
        found = []
        for row, column in wanted:
            end = before + column + 1
            seen = keys[row, :end][mask[row, :end].bool()].tolist()
            assert [place for _, place in seen] == list(range(len(seen)))
            found.append(self.judge([token for token, _ in seen]))
        return torch.tensor(found)

    def judge(self, tokens):
        return crc32(bytes(tokens)) % 1000 / 1000 - self.bias


def step_by_step(laid, reader):
    tokens, odds = list(laid.prompt), []
    for i, lead in enumerate(laid.leads):
        if i:
            tokens.append(TRUE if odds[-1] >= 0 else FALSE)
        tokens += lead
        odds.append(reader.judge(tokens))
    return odds


token = st.integers(3, 255)
laid = st.builds(
    Laid,
    st.lists(token, min_size=1, max_size=9),
    st.lists(st.lists(token, max_size=4), min_size=1, max_size=12),
)


@settings(deadline=None)
@given(
    st.lists(laid, min_size=1, max_size=5),
    st.sampled_from([0, 0.1, 0.5, 0.9, 1]),
    st.booleans(),
)
def test_as_step_by_step(rows, bias, guess):
    reader = Reader(bias)
    odds = label_in_turn(rows, reader, PROMPTER, PAD, guess)
    for row, found in zip(rows, odds):
        assert found.tolist() == torch.tensor(step_by_step(row, reader)).tolist()
    assert reader.passes <= max(len(row.leads) for row in rows)


def test_passes():
    """Where no candidate is kept one pass does; where all are, the second guess is
    right, and the one after each pass reads four times as far."""
    row = Laid([3, 4], [[5]] * 30)
    counts = []
    for bias in (1, 0):
        reader = Reader(bias)
        label_in_turn([row], reader, PROMPTER, PAD)
        counts.append(reader.passes)
    # 1 + 4 + 16 + 9
    assert counts == [1, 4]
