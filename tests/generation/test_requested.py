"""As many phrases as are asked for: worked examples, and a real decoder with beams."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from spacy_keyphrase.generation.requested import (  # noqa: E402
    ExactlyK,
    Marks,
    join_phrases,
)
from spacy_keyphrase.generation.sequences import Written, split_at  # noqa: E402

BEGIN, END, START, STOP = 10, 11, 0, 1
MARKS = Marks(BEGIN, END, START, STOP)


def allowed(ids, k):
    scores = ExactlyK(MARKS, k)(torch.tensor([ids]), torch.zeros(1, 14))[0]
    return set(torch.isfinite(scores).nonzero().flatten().tolist())


def test_target():
    """Worked example T4: labels "a" and "b c", no stop."""
    assert join_phrases([[3], [4, 5]], MARKS) == [10, 3, 11, 10, 4, 5, 11]


def test_what_may_come_next():
    """Worked example T2: the whole trace with k = 2."""
    inside = set(range(14)) - {STOP, BEGIN, START}
    expected = [{BEGIN}, inside - {END}, inside, {BEGIN}, inside - {END}, inside]
    written = [START, BEGIN, 5, END, BEGIN, 6, END]
    for n, right in enumerate([*expected, {STOP}], start=1):
        assert allowed(written[:n], 2) == right
    assert allowed([START], 0) == {STOP}


def test_phrases():
    """Empty ones are left out, and one that there was no room for to the end."""
    ids = [10, 3, 11, 10, 11, 10, 4, 5, 11, 10, 7]
    log_p = [-0.1 * i for i in range(len(ids))]
    found = list(split_at(Written(ids, log_p), MARKS))
    assert found == [([3], [log_p[1]]), ([4, 5], log_p[6:8])]
    assert list(split_at(Written([1], [0.0]), MARKS)) == []


# Written so far, and what may not follow.
DISTINCT = [
    ([START, BEGIN, 5, 6, END, BEGIN, 5], [6]),
    ([START, BEGIN, 5, 6, END, BEGIN], []),
    ([START, BEGIN, 5, END, BEGIN], [5]),
    ([START, BEGIN, 5, END, BEGIN, 7, END, BEGIN], [5, 7]),
    ([START, BEGIN, 5, END, BEGIN, 6], []),
    ([START, BEGIN, 5, 6, 7, END, BEGIN, 5], []),
    ([START, BEGIN, 5, 6], []),
]


def tire(input_ids, scores):
    """All but the end is less likely with every sub-token; else no phrase would end."""
    scores = scores - 3.0 * input_ids.shape[1]
    scores[:, END] += 3.0 * input_ids.shape[1]
    return scores


@pytest.mark.parametrize("ids, banned", DISTINCT)
def test_no_phrase_again(ids, banned):
    """What would complete a phrase that was written may not follow; longer ones and
    other ones may."""
    scores = torch.zeros((1, 14))
    ids = torch.tensor([ids])
    free = ExactlyK(MARKS, 4)(ids, scores)
    found = ExactlyK(MARKS, 4, distinct=True)(ids, scores)
    changed = (free != found)[0].nonzero().flatten().tolist()
    assert changed == banned and all(found[0, banned] == float("-inf"))


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("beams", [1, 3])
def test_a_decoder(beams, distinct):
    """A decoder that learned nothing writes just as many, whatever is asked of each."""
    torch.manual_seed(0)
    config = transformers.T5Config(
        vocab_size=14, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2
    )
    config.decoder_start_token_id = START
    model = transformers.T5ForConditionalGeneration(config).eval()
    with torch.inference_mode():
        found = model.generate(
            torch.tensor([[3, 4, 5]] * 3),
            logits_processor=[tire, ExactlyK(MARKS, [1, 2, 4], distinct)],
            max_new_tokens=100,
            num_beams=beams,
            do_sample=False,
            pad_token_id=START,
            eos_token_id=STOP,
        )
    for row, k in zip(found.tolist(), [1, 2, 4]):
        assert row[1] == BEGIN and row.count(BEGIN) == row.count(END) == k
        assert STOP in row
        phrases = list(split_at(Written(row, [0.0] * len(row)), MARKS))
        assert len(phrases) == k
        if distinct:
            assert len({tuple(phrase) for phrase, _ in phrases}) == k


def test_a_number_out_of_range():
    with pytest.raises(ValueError, match="0 or more"):
        ExactlyK(MARKS, -1)
