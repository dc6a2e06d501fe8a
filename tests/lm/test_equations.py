"""Numbers worked out by hand from the equations of the papers."""

import numpy
import pytest
from numpy.testing import assert_allclose

torch = pytest.importorskip("torch")

from spacy_keyphrase.evaluation import score  # noqa: E402
from spacy_keyphrase.lm.document import Document, Occurrence  # noqa: E402
from spacy_keyphrase.lm.granular import (  # noqa: E402
    Granular,
    attention_scores,
    attention_within,
    combine,
)
from spacy_keyphrase.lm.pieces import Pieces  # noqa: E402
from spacy_keyphrase.lm.prompt import normalise  # noqa: E402
from spacy_keyphrase.lm.self_attention import samrank, seek  # noqa: E402
from spacy_keyphrase.lm.similarity import (  # noqa: E402
    joint_global_local,
    maximal_marginal_relevance,
)
from spacy_keyphrase.lm.weighting import (  # noqa: E402
    Occurrences,
    Weighting,
    gaussian,
    mixture,
    reweight,
    similar,
)
from spacy_keyphrase.lm.windows import make_windows  # noqa: E402
from spacy_keyphrase.rankers.prompt_ranker import position_factors  # noqa: E402

MAP = torch.tensor(
    [[0.7, 0.1, 0.1, 0.1], [0.2, 0.5, 0.2, 0.1], [0.1, 0.3, 0.4, 0.2], [0.25] * 4]
)


def at(start, end, neighbours=()):
    return Occurrences(
        torch.tensor([start]),
        torch.tensor([end]),
        torch.tensor([True]),
        torch.tensor([list(neighbours)], dtype=torch.long),
        torch.ones((1, len(neighbours)), dtype=torch.bool),
    )


def test_prompt_score():
    """Eq. 1."""
    of_candidate = numpy.log([0.2, 0.5, 0.1]).sum()
    assert of_candidate == pytest.approx(-4.60517, abs=1e-5)
    assert normalise(of_candidate, 3, 0.6) == pytest.approx(-2.38217, abs=1e-5)
    assert normalise(of_candidate, 3, 1.0) == pytest.approx(-1.53506, abs=1e-5)
    of_window = numpy.log([0.9, 0.2, 0.5, 0.1, 0.8]).sum()
    assert normalise(of_window, 5, 0.6) == pytest.approx(-1.87840, abs=1e-5)


def test_position_factor():
    """In units of the factor at the beginning: 1.875; at word 100 of 400 2.125."""

    def document(n_words):
        occurrences = [Occurrence(0, 1, "a", frozenset(), place) for place in (0, 100)]
        return Document("a " * n_words, [], occurrences)

    assert_allclose(position_factors(document(400), 1.2e8), [1, 2.125 / 1.875])
    first, _ = position_factors(document(150), 1.2e8)
    assert first * 1.2e8 / 150**3 == pytest.approx(35.556, abs=1e-3)


def test_gaussian():
    """Eq. 2."""
    found = gaussian(at(100, 100), 201, 0.3, 50)[0]
    expected = [1, 0.8007, 0.6065, 0.2494, 0.0039]
    assert_allclose(found[[100, 110, 115, 125, 150]], expected, atol=5e-5)
    found = gaussian(at(100, 100), 201, 1.4, 50)[0]
    expected = [1, 0.9898, 0.9773, 0.9382, 0.7748, 0.3604]
    assert_allclose(found[[100, 110, 115, 125, 150, 200]], expected, atol=5e-5)


def test_mixture():
    """Eq. 4: neighbours vanish unless they are near."""
    where = at(20, 20, [80, 150, 300])
    plain = gaussian(where, 301, 0.3, 50)
    places = [20, 30, 35, 40, 45, 80, 150]
    others = similar(where, plain.shape[1], Weighting())
    found = mixture(plain, others, Weighting(threshold=0.0))[0, places]
    raw = [0.7000, 0.5605, 0.4246, 0.2878, 0.1745, 0.1002, 0.1000]
    assert_allclose(found * 0.7, raw, atol=1e-4)
    assert_allclose(
        found, [1, 0.8007, 0.6065, 0.4111, 0.2494, 0.1432, 0.1429], atol=1e-4
    )
    found = mixture(plain, others, Weighting())[0, places]
    assert_allclose(found, [1, 0.8007, 0.6065, 0.4111, 0, 0, 0], atol=1e-4)


def test_sign_stabilised_weights():
    """Eq. 8; a weight of 1 is no bypass."""
    scores = torch.tensor([2.0, -1.0, -4.0, 1.0])[None, None, None]
    weights = torch.tensor([1, 0.25, 0.9, 0])[None, None]
    found = reweight(scores, weights)[0, 0, 0]
    assert_allclose(found, [2, -0.75, -0.4, 0], atol=1e-6)
    assert_allclose(found.softmax(0), [0.7752, 0.0496, 0.0703, 0.1049], atol=5e-5)
    ones = reweight(scores, torch.ones(1, 1, 4))[0, 0, 0]
    assert_allclose(ones, [2, 0, 0, 1], atol=1e-6)
    assert_allclose(ones.softmax(0), [0.6103, 0.0826, 0.0826, 0.2245], atol=5e-5)


def test_more_weight_is_never_less_attention():
    torch.manual_seed(0)
    scores = torch.randn(1, 1, 50, 8)
    weights = torch.rand(1, 1, 8)
    more = weights.clone()
    more[..., 3] += (1 - more[..., 3]) / 2
    low, high = reweight(scores, weights), reweight(scores, more)
    assert (high[..., 3] >= low[..., 3]).all()
    assert (low.abs() <= scores.abs()).all()


def piece_sums(values):
    """Sub-tokens of one character each, with what they receive."""
    n = len(values)
    pieces = Pieces(
        list(range(n)), numpy.arange(n), numpy.arange(n) + 1, numpy.zeros(n, dtype=bool)
    )
    return pieces, numpy.array(values)


def test_global_and_local_attention():
    """Eq. 9 to 11, of one sentence, of which the block is the whole document."""
    assert_allclose(MAP.sum(0), [1.25, 1.15, 0.95, 0.65], atol=1e-6)
    document = Document("abcd", [(0, 4)], [Occurrence(1, 3, "bc", frozenset())])

    def sums(texts, closing):
        return [piece_sums(MAP.sum(0).tolist()) for _ in texts]

    for mean, expected in ((True, 1.05), (False, 2.10)):
        settings = Granular(window=0, mean=mean, limit=99)
        (found,) = attention_scores([document], sums, settings)
        # The block's scores have the mean 1.
        assert_allclose(found, [expected], atol=1e-6)


def test_local_scores_have_mean_one():
    """Raw .9, .6 and .3 in one block become 1.5, 1 and .5."""
    document = Document(
        "abc", [(0, 3)], [Occurrence(i, i + 1, "x", frozenset()) for i in range(3)]
    )

    def sums(texts, closing):
        return [piece_sums([0.9, 0.6, 0.3]) for _ in texts]

    settings = Granular(window=0, part="local", limit=99)
    assert_allclose(attention_scores([document], sums, settings)[0], [1.5, 1.0, 0.5])


def one_window(text, occurrences, sentences):
    """A text of one sub-token a character, behind one of the prompt and before a
    special one."""
    n = len(text) + 2
    starts = numpy.arange(n)
    ends = starts + 1
    ends[-1] = starts[-1]
    pieces = Pieces(list(range(n)), starts, ends, numpy.zeros(n, dtype=bool))
    own = [Occurrence(s, e, text[s:e], frozenset()) for s, e in occurrences]
    document = Document(text, sentences, own)
    (window,) = make_windows([document], [pieces], 1, 100, True)
    return document, window


def test_attention_within_a_part():
    """What is not of the part is as if it were not there: its columns are left out, and
    the rest of a row adds up to 1."""
    document, window = one_window("abcd", [(1, 3)], [(0, 4)])
    attention = numpy.full((6, 6), 0.5)
    attention[1:5, 1:5] = 0.4 * MAP.numpy()
    for mean, expected in ((True, 1.05), (False, 2.10)):
        settings = Granular(window=0, mean=mean, limit=99)
        found = attention_within(attention, document, window, 1, settings)
        assert_allclose(found, [expected], atol=1e-6)


def test_attention_within_sentences():
    """Three sentences of two sub-tokens; blocks of one, of two with window 1 at the
    ends: against loops."""
    sentences = [(0, 2), (2, 4), (4, 6)]
    spans = [(0, 1), (1, 2), (2, 4), (4, 5), (5, 6)]
    document, window = one_window("abcdef", spans, sentences)
    attention = numpy.random.default_rng(0).random((8, 8))

    def received(first, last, start, end):
        """Of the sub-tokens from first to last, what those from start to end get."""
        total = 0.0
        for row in range(first, last):
            whole = sum(attention[row, column] for column in range(first, last))
            total += sum(attention[row, column] for column in range(start, end)) / whole
        return total / (end - start)

    settings = Granular(window=0, limit=99)
    found = attention_within(attention, document, window, 1, settings)
    overall = [received(1, 7, s + 1, e + 1) for s, e in spans]
    local = [
        received(s + 1, e + 1, spans[i][0] + 1, spans[i][1] + 1)
        for i, (s, e) in zip(range(5), [(0, 2), (0, 2), (2, 4), (4, 6), (4, 6)])
    ]
    for group in ([0, 1], [2], [3, 4]):
        share = sum(local[i] for i in group) / len(group)
        for i in group:
            local[i] /= share
    assert_allclose(found, numpy.multiply(overall, local), rtol=1e-6)


def test_combined_score():
    """Eq. 12; the product is at most 2.5."""
    four = numpy.array([-4.0])
    for attention, weight, expected in (
        (1.8, 0.9, -2.07613),
        (0.4, 0.9, -3.07025),
        (2.5, 0.9, -1.88015),
        (1.8, 0.1, -3.62660),
    ):
        found = combine(four, numpy.array([attention]), weight)
        assert_allclose(found, [expected], atol=1e-5)
    document = Document("a", [(0, 1)], [Occurrence(0, 1, "a", frozenset())])
    (found,) = attention_scores(
        [document],
        lambda texts, _: [piece_sums([6.0])] * len(texts),
        Granular(window=0),
    )
    assert_allclose(found, [2.5])


def test_samrank():
    found = samrank(MAP, "proportional")
    assert_allclose(found, [0.9061, 0.9592, 1.0696, 1.0652], atol=5e-5)
    found = samrank(MAP, "proportional", [3])
    assert_allclose(found, [0.7522, 0.8053, 0.7619, 0.6805], atol=5e-5)
    found = samrank(MAP, "both", [3])
    assert_allclose(found, [2.0022, 1.9553, 1.7119, 0.6805], atol=5e-5)


def test_attention_seeker():
    candidates = torch.tensor([False, True, True, False])
    found = seek(MAP[None, None], candidates, candidates.float(), 0)
    assert_allclose(found, [0.0735, 0.196, 0.147, 0.0735], atol=1e-6)


def test_maximal_marginal_relevance():
    """The second best is too like the best."""
    vectors = torch.tensor([[1.0, 0.0], [0.99, 0.141], [0.6, 0.8]])
    relevance = torch.tensor([0.9, 0.8, 0.7])
    assert_allclose(maximal_marginal_relevance(relevance, vectors, 0.0), relevance)
    scores = maximal_marginal_relevance(relevance, vectors, 0.5)
    assert scores.argsort(descending=True).tolist() == [0, 2, 1]
    # Scores are in the order of choice.
    assert scores[0] == pytest.approx(0.45)
    assert scores[2] == pytest.approx(0.5 * 0.7 - 0.5 * 0.6)


def test_joint_global_local():
    """Two phrases, worked by hand."""
    phrases = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    document = torch.tensor([1.0, 1.0])
    found = joint_global_local(phrases, document, [1, 2])
    # Edges 1 (with itself) and 0 (with the other), threshold .1; both are as far from
    # an end (0 and min(1, 1.2)): the first has its own .9 * .9, the second the same.
    position = numpy.exp([1.0, 0.5]) / numpy.exp([1.0, 0.5]).sum()
    assert_allclose(found, 0.9 * 0.9 * 1.0 * position, rtol=1e-5)


def test_micro_and_mean_are_not_the_same():
    """Two hits of 5 gold and one of 20, among five: .1714 over all, as PromptRank and
    MUDY count, .24 as a mean over documents, as SAMRank and JointGL do."""
    predictions = [["a1", "a2", "x", "y", "z"], ["b1", "u", "v", "w", "x"]]
    gold = [[f"a{i}" for i in range(1, 6)], [f"b{i}" for i in range(1, 21)]]
    for preset, expected in (("promptrank_micro", 0.1714), ("samrank", 0.24)):
        found = score(predictions, gold, preset=preset, k=[5])["all_f1@5"]
        assert found == pytest.approx(expected, abs=5e-5)
