"""Worked examples of the five heads, and properties that hold of all of them."""

import math

import numpy
import pytest
import spacy
from numpy.testing import assert_allclose
from spacy.tokens import Doc

from spacy_keyphrase.candidates import make_ngrams
from spacy_keyphrase.models.heads import HEADS, Gold, make_head
from spacy_keyphrase.models.heads.base import cross_entropy
from spacy_keyphrase.models.heads.rank import hinge, softmax_loss
from spacy_keyphrase.models.heads.tag import tag_labels
from spacy_keyphrase.models.mentions import (
    Mentions,
    best_mentions,
    phrase_max,
    read_mentions,
    split_mentions,
)
from spacy_keyphrase.word_reader import read_words

EVERY_NGRAM = make_ngrams(max_words=5, stop_edges=True, cross_punctuation=True)


def read(*texts, vocab=None):
    docs = [Doc(vocab or spacy.blank("en").vocab, words=text.split()) for text in texts]
    words = read_words(docs)
    return docs, read_mentions(words, EVERY_NGRAM.batch(words))


def ints(*values):
    return numpy.array(values, dtype="i4")


def test_mentions_are_grouped():
    docs, mentions = read("Deep learning beats deep Learning")
    assert len(mentions) == 15
    assert mentions.n_phrases == 12
    (own,) = split_mentions(mentions)
    found = {
        docs[0][start:end].text.lower(): places
        for places in [
            own.places[a:b].tolist()
            for a, b in zip(own.bounds, own.bounds[1:], strict=False)
        ]
        for start, end in places[:1]
    }
    assert found["deep"] == [[0, 1], [3, 4]]
    assert found["learning"] == [[1, 2], [4, 5]]
    assert found["deep learning"] == [[0, 2], [3, 5]]
    assert found["deep learning beats deep learning"] == [[0, 5]]


def test_mentions_of_a_batch():
    """Counted through the batch, they are those of the docs alone."""
    texts = ["graph networks", "", "networks of graph networks", ", ."]
    _, together = read(*texts)
    parts = list(split_mentions(together))
    for text, part, n in zip(texts, parts, together.doc_phrases, strict=True):
        _, alone = read(text)
        (own,) = split_mentions(alone)
        assert own.places.tolist() == part.places.tolist()
        assert own.bounds == part.bounds
        assert alone.n_phrases == n


def test_rank_loss():
    scores = numpy.array([0.2, 0.5, -0.3, 0.8, 0.1, -1, 1, 0.5, -0.5])
    docs = ints(0, 0, 0, 0, 0, 0, 1, 1, 1)
    gold = numpy.isin(numpy.arange(9), [1, 3, 6])
    first = hinge(scores[:6], docs[:6], gold[:6])[0]
    assert first == pytest.approx(2.2 / 8)
    assert hinge(scores[6:], docs[6:], gold[6:])[0] == pytest.approx(0.25)
    # The mean of the documents, not of all pairs (which were 0.27).
    assert hinge(scores, docs, gold)[0] == pytest.approx(0.2625)


def test_softmax_loss():
    # Odds of 1 and 4, against others of 2 and 3; then 1 against 1.
    scores = numpy.log([1.0, 2, 4, 3, 1, 1])
    docs, gold = ints(0, 0, 0, 0, 1, 1), numpy.array([1, 0, 1, 0, 0, 1], dtype=bool)
    loss, gradient = softmax_loss(scores, docs, gold)
    first = (math.log(6) + math.log(9 / 4)) / 2
    assert loss == pytest.approx((first + math.log(2)) / 2)
    assert_allclose(gradient[[0, 2]], [-5 / 6 / 4, -5 / 9 / 4])
    assert_allclose(gradient[[1, 3]], numpy.array([0.4, 0.6]) * (5 / 6 + 5 / 9) / 4)
    assert_allclose(gradient[4:], [0.25, -0.25])


def test_softmax_loss_cares_for_the_top():
    """A gold phrase below all others weighs no more than one below the best; for the
    hinge it is all that counts."""
    scores = numpy.array([10.0, *numpy.linspace(9, 0, 50), -10.0])
    gold = numpy.zeros(52, dtype=bool)
    gold[[1, -1]] = True  # one in the second place, one in the last
    docs = numpy.zeros(52, dtype="i4")
    _, softmax = softmax_loss(scores, docs, gold)
    assert softmax[1] / softmax[-1] > 0.5
    assert softmax[0] > 10 * softmax[25]
    _, hinged = hinge(scores, docs, gold)
    assert hinged[1] / hinged[-1] < 0.2
    # Scores far apart are no reason for infinities.
    loss, gradient = softmax_loss(1000 * scores, docs, gold)
    assert numpy.isfinite(loss) and numpy.isfinite(gradient).all()


@pytest.mark.parametrize("rank_loss", [hinge, softmax_loss])
def test_rank_loss_needs_both_kinds(rank_loss):
    scores, docs = numpy.ones(3), ints(0, 0, 1)
    for gold in ([True] * 3, [False] * 3, [False, False, True]):
        loss, gradient = rank_loss(scores, docs, numpy.array(gold))
        assert loss == 0
        assert not gradient.any()


def test_an_unknown_rank_loss():
    with pytest.raises(ValueError, match=r"no ranking loss 'hing'.*'hinge', 'softmax'"):
        HEADS["joint"]("hing")


def test_chunk_loss():
    logits = numpy.array([[1, 0], [0, 1], [2, 0], [0, 2], [1, 0], [3, 0]], dtype="f4")
    assert cross_entropy(logits, ints(0, 1, 0, 1, 0, 0))[0] == pytest.approx(
        0.20704, abs=1e-5
    )


def test_only_the_best_mention_is_taught():
    mentions = Mentions(ints(0, 1, 2), ints(1, 2, 3), ints(0, 0, 1), ints(3), ints(2))
    output = numpy.array([[0.4], [0.9], [0.1]], dtype="f4")
    assert_allclose(phrase_max(output[:, 0], mentions), [0.9, 0.1])
    assert best_mentions(output[:, 0], mentions).tolist() == [1, 2]
    gold = Gold(numpy.array([True, False]), numpy.zeros(3, dtype=bool), [[]])
    gradient = HEADS["rank"]().loss(output, mentions, gold).gradient
    assert gradient[:, 0].tolist() == [0, -1, 1]


def test_tag_scores():
    tags = numpy.array(
        [
            [0.10, 0.50, 0.05, 0.05, 0.30],
            [0.20, 0.10, 0.45, 0.20, 0.05],
            [0.10, 0.05, 0.05, 0.70, 0.10],
            [0.60, 0.05, 0.05, 0.10, 0.20],
        ]
    )
    _, mentions = read("w0 w1 w2 w3")
    scores = HEADS["tag"]().scores(numpy.log(tags), mentions)
    found = dict(
        zip(zip(mentions.starts, mentions.ends, strict=True), scores, strict=True)
    )
    expected = {(0, 3): 0.45, (0, 1): 0.3, (3, 4): 0.2, (0, 2): 0.2}
    expected |= {(2, 3): 0.1, (1, 3): 0.1}
    for span, score in found.items():
        assert score == pytest.approx(expected.get(span, 0.05))


def test_tag_labels():
    assert tag_labels([(0, 3), (2, 4), (4, 5)], 5).tolist() == [1, 2, 3, 0, 4]


def test_span_scores():
    """Keys and queries are made to give the raw end scores of the example."""
    starts = numpy.array([0.6, 0.3, 0.1])
    raw = numpy.array([[1, 2, 0], [0, 1, 1], [0, 0, 3]], dtype="f4")
    output = numpy.zeros((3, 8), dtype="f4")
    output[:, 1] = numpy.log(starts / (1 - starts))
    output[:, 2:5] = raw * numpy.sqrt(3)
    output[:, 5:] = numpy.eye(3)
    _, mentions = read("a1 b1 c1")
    scores = HEADS["span"]().scores(output, mentions)
    found = dict(
        zip(zip(mentions.starts, mentions.ends, strict=True), scores, strict=True)
    )
    expected = {(0, 2): 0.3991, (1, 2): 0.15, (1, 3): 0.15, (0, 1): 0.1468}
    expected |= {(2, 3): 0.1, (0, 3): 0.054}
    assert found == pytest.approx(expected, abs=1e-4)


def random_case(head, seed):
    """A batch of three docs, random outputs of the network and a random gold."""
    rng = numpy.random.default_rng(seed)
    texts = [" ".join(rng.choice(list("abcdef"), n)) for n in (7, 1, 4)]
    _, mentions = read(*texts)
    rows = len(mentions) if head in ("joint", "rank", "chunk") else 12
    widths = {"joint": 3, "rank": 1, "chunk": 2, "tag": 5, "span": 10}
    output = rng.normal(size=(rows, widths[head])).astype("f4")
    gold = Gold(
        rng.random(mentions.n_phrases) < 0.2,
        rng.random(len(mentions)) < 0.2,
        [[(0, 2), (1, 3), (1, 2)], [(0, 1)], []],
    )
    return output, mentions, gold


@pytest.mark.parametrize(
    "attrs",
    [*({"head": head} for head in HEADS), {"head": "joint", "loss": "softmax"}],
    ids=str,
)
@pytest.mark.parametrize("seed", range(3))
def test_gradients(attrs, seed):
    """Every gradient is what a small step makes of the loss."""
    head = make_head(attrs)
    output, mentions, gold = random_case(attrs["head"], seed)
    output = output.astype("f8")
    found = head.loss(output, mentions, gold).gradient
    step = 1e-5
    for index in numpy.ndindex(*output.shape):
        values = []
        for sign in (1, -1):
            moved = output.copy()
            moved[index] += sign * step
            values.append(head.loss(moved, mentions, gold).value)
        # Hinges have corners, but a random point is at none.
        slope = (values[0] - values[1]) / (2 * step)
        assert found[index] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("head", HEADS)
def test_a_score_does_not_depend_on_the_batch(head):
    output, mentions, _ = random_case(head, 7)
    together = HEADS[head]().scores(output, mentions)
    tokens = 0
    for i, own in enumerate(split_mentions(mentions)):
        n = int(mentions.doc_tokens[i])
        alone = Mentions(
            mentions.starts[own.mentions] - tokens,
            mentions.ends[own.mentions] - tokens,
            mentions.phrases[own.mentions] - own.phrases.start,
            mentions.doc_tokens[i : i + 1],
            mentions.doc_phrases[i : i + 1],
        )
        of_tokens = head in ("tag", "span")
        rows = slice(tokens, tokens + n) if of_tokens else own.mentions
        scores = HEADS[head]().scores(output[rows], alone)
        assert_allclose(scores, together[own.mentions], atol=1e-6)
        tokens += n


def test_the_segment_maximum_is_the_masked_maximum():
    rng = numpy.random.default_rng(0)
    _, mentions = read("a b a b c a", "b b")
    scores = rng.normal(size=len(mentions))
    masked = numpy.where(
        mentions.phrases == numpy.arange(mentions.n_phrases)[:, None],
        scores,
        -numpy.inf,
    )
    assert phrase_max(scores, mentions).tolist() == masked.max(axis=1).tolist()
    assert best_mentions(scores, mentions).tolist() == masked.argmax(axis=1).tolist()


def test_span_ends_stay_in_the_window():
    head = HEADS["span"]()
    head.window = 2
    rng = numpy.random.default_rng(0)
    _, mentions = read("a b c d e")
    output = rng.normal(size=(5, 10)).astype("f4")
    scores = head.scores(output, mentions)
    assert (scores[mentions.ends - mentions.starts > 2] == 0).all()
    # From each start the ends share the start's probability.
    starts = numpy.exp(output[:, :2])
    starts = (starts / starts.sum(axis=1, keepdims=True))[:, 1]
    sums = numpy.bincount(mentions.starts, weights=scores)
    assert_allclose(sums, starts, atol=1e-6)
