"""UniKeyphrase: worked examples, and what is read once is read as if anew."""

import math
import re

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from lessons import make_bert  # noqa: E402

from spacy_keyphrase.generation.bag import bag_loss, bag_weight  # noqa: E402
from spacy_keyphrase.generation.losses import tag_losses  # noqa: E402
from spacy_keyphrase.generation.pretrained import load_masked  # noqa: E402
from spacy_keyphrase.generation.relation import RelationLayer  # noqa: E402
from spacy_keyphrase.generation.tags import (  # noqa: E402
    TAGS,
    read_tags,
    tag_phrases,
    whole_words,
)
from spacy_keyphrase.generation.unikeyphrase_network import (  # noqa: E402
    UniKeyphraseNetwork,
)
from spacy_keyphrase.generation.unilm import UniLM, unilm_mask  # noqa: E402
from spacy_keyphrase.generation.unilm_search import Marks, search  # noqa: E402
from spacy_keyphrase.models.unikeyphrase import build_unikeyphrase  # noqa: E402

MASK, END, PAD, STOP = 4, 2, 0, 5
MARKS = Marks(MASK, END, PAD, STOP)


def test_growing_weight():
    """Worked example T1."""
    steps = [0, 10, 25, 50, 75, 100]
    one = [bag_weight(step, 100) for step in steps]
    assert one == pytest.approx([0, 0.1586, 0.3574, 0.6201, 0.8280, 1.0], abs=5e-5)
    two = [bag_weight(step, 100, 2.0) for step in steps]
    assert two == pytest.approx([0, 0.4940, 0.9545, 1.4338, 1.7564, 2.0], abs=5e-5)
    assert bag_weight(200, 100) == one[-1]


def test_bag_of_words():
    """Worked example T2: words a to e; c is outside of keyphrases."""
    a, b, c = range(3)
    words = torch.tensor([a, c, b, a])
    p_words = torch.tensor([[0, 0.2, 0, 0.5, 0.3], [0, 0, 0, 0.1, 0.9], [1.0] * 5])
    loss = bag_loss(
        words,
        torch.tensor([0.9, 0.7, 0.6, 0.8]),
        torch.tensor([True, False, True, True]),
        p_words,
        torch.tensor([True, True, False]),
        torch.tensor([2.0, 1.0, 0.0, 1.0, 1.0]),
    )
    assert float(loss) == pytest.approx(0.0825, abs=1e-6)


def test_weighted_tags():
    """Worked example T3: each position, their sum, and the weighted mean."""
    p = torch.tensor(
        [
            [0.7, 0.2, 0.05, 0.05],
            [0.1, 0.6, 0.2, 0.1],
            [0.2, 0.1, 0.3, 0.4],
            [0.3, 0.1, 0.5, 0.1],
        ]
    )
    tags = torch.tensor([TAGS.index(tag) for tag in "OBXI"])
    losses = tag_losses(p.log(), tags, [1, 5, 5, 5])
    assert losses.tolist() == pytest.approx([0.3567, 2.5541, 4.5815, 3.4657], abs=5e-5)
    assert float(losses.sum()) == pytest.approx(10.9580, abs=5e-5)
    assert float(losses.sum() / 16) == pytest.approx(0.6849, abs=5e-5)


def test_phrases_of_tags():
    """Worked example T4."""
    pieces = "v ##oi con of graph the a b c ##d".split()
    tags = [TAGS.index(tag) for tag in "BXIOBOBIIX"]
    p = [0.9, 0.8, 0.7, 0.99, 0.6, 0.95, 0.5, 0.5, 0.8, 0.6]
    found = [
        (" ".join(pieces[start:end]).replace(" ##", ""), round(score, 4))
        for start, end, score in read_tags(tags, p)
    ]
    assert found == [("voi con", 0.8), ("graph", 0.6), ("a b cd", 0.6)]
    # What does not begin with B is no phrase.
    assert read_tags([TAGS.index(tag) for tag in "XIOI"], p[:4]) == []


def pieces_of(text, size=3):
    """Words and marks cut into pieces: their characters."""
    return [
        (word.start() + i, min(word.start() + i + size, word.end()))
        for word in re.finditer(r"\w+|[^\w\s]", text)
        for i in range(0, len(word.group()), size)
    ]


def tags_of(text, *phrases):
    offsets = pieces_of(text)
    mentions = [
        (i, i + len(phrase))
        for phrase in phrases
        for i in range(len(text))
        if text.startswith(phrase, i)
    ]
    return "".join(TAGS[tag] for tag in tag_phrases(text, offsets, mentions))


def test_tags_of_phrases():
    assert tags_of("voip conferencing system", "voip conferencing system") == (
        "BXIXXXIX"
    )
    # Worked example T7: no part of a word.
    assert tags_of("the party of art", "art") == "OOOOB"
    # Next to each other; the longer one where they overlap.
    assert tags_of("a b c d", "a b", "c d", "b") == "BIBI"
    # With marks beside it and within it.
    assert tags_of("(a well-known walk, then)", "well-known walk") == "OOBXIIXIXOOOO"


def test_phrases_at_the_end_of_a_window():
    """What is cut off there is not tagged; what is found is made whole."""
    text = "a b random walk"
    offsets = pieces_of(text)[:4]
    assert tag_phrases(text, offsets, [(4, 15)]) == [0] * 4
    assert tag_phrases(text, offsets, [(2, 3)]) == [0, 1, 0, 0]
    assert text[slice(*whole_words(text, 6, 13))] == "random walk"
    assert whole_words("ab, cd", 0, 2) == (0, 2)


WORDS = st.sampled_from(["graph", "of", "networks", "ab"])


@given(st.lists(WORDS, min_size=1), st.data())
def test_tags_there_and_back(words, data):
    text = " ".join(words)
    starts = [sum(len(word) + 1 for word in words[:i]) for i in range(len(words))]
    mentions, i = [], 0
    while i < len(words):
        n = data.draw(st.integers(0, min(3, len(words) - i)))
        if n:
            mentions.append((starts[i], starts[i + n - 1] + len(words[i + n - 1])))
        i += max(n, 1)
    offsets = pieces_of(text)
    tags = tag_phrases(text, offsets, mentions)
    found = read_tags(tags, [1.0] * len(tags))
    assert [(offsets[a][0], offsets[b - 1][1]) for a, b, _ in found] == mentions


def test_relation_without_scaling():
    """Worked example T5; scaled attention fails it."""
    P = torch.tensor([[[1.0, 0, 2, 0], [0, 1, 0, 1]]])
    A = torch.tensor([[[0.0, 1, 1, 0], [1, 0, 0, 1]]])
    layer = RelationLayer(4)
    present, absent = (x.detach()[0] for x in layer((P, A), (P, A)))
    expected = [[0.0205, -0.5608, 1.6004, -1.0601], [-1, 1, -1, 1]]
    numpy.testing.assert_allclose(present, expected, atol=1e-4)
    expected = [[-0.5515, 0.1052, 1.5620, -1.1157], [0.9045, -1.5076, -0.3015, 0.9045]]
    numpy.testing.assert_allclose(absent, expected, atol=1e-4)


def test_mask():
    """Worked example T6: a source of three, two that are written."""
    seen = unilm_mask(torch.ones(1, 3).bool(), torch.ones(1, 2).bool())
    assert seen[0].int().tolist() == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]


def make_network(leak_free=True, layers=2):
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=30,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=40,
        max_position_embeddings=40,
        type_vocab_size=6,
        initializer_range=0.3,
    )
    model = transformers.BertForMaskedLM(config)
    network = UniKeyphraseNetwork(model, layers, leak_free=leak_free)
    return network.eval()


def source_of(network, *lengths):
    torch.manual_seed(1)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    ids = torch.randint(6, 30, mask.shape) * mask
    with torch.inference_mode():
        return ids, network.read(ids, mask)


def test_source_and_target_apart():
    """States are those of transformers' own model over both in one row, with the mask
    and the positions of UNILM."""
    network = make_network()
    ids, source = source_of(network, 7, 5)
    target = torch.tensor([[9, 4, 11, 2], [12, 4, 2, 0]])
    real = target != 0
    encoder = network.encoder
    places = source.mask.sum(1)[:, None] + torch.arange(4)
    seen = unilm_mask(source.mask, real)
    with torch.inference_mode():
        states, _ = encoder(target, places, seen, past=source.keys_values, target=True)
        for doc, (n, m) in enumerate([(7, 4), (5, 3)]):
            row = torch.cat([ids[doc, :n], target[doc, :m]])[None]
            mask = torch.zeros(1, 1, n + m, n + m)
            mask[..., :n, n:] = -1e4
            mask[..., n:, n:] += torch.full((m, m), -1e4).triu(1)
            whole = encoder.model.base_model.encoder(
                encoder.model.base_model.embeddings(
                    input_ids=row,
                    token_type_ids=torch.tensor([[4] * n + [5] * m]),
                    position_ids=torch.arange(n + m)[None],
                ),
                attention_mask=mask,
            )[0][0]
            numpy.testing.assert_allclose(source.states[doc, :n], whole[:n], atol=1e-4)
            numpy.testing.assert_allclose(states[doc, :m], whole[n:], atol=1e-4)


@pytest.mark.parametrize("layers", [0, 2])
def test_nothing_leaks(layers):
    """Neither tags nor words depend on what is written behind them."""
    network = make_network(layers=layers)
    _, source = source_of(network, 7, 5)
    target = torch.tensor([[9, 10, 11, 2], [12, 8, 2, 0]])
    other = target.clone()
    other[:, 2:] = 7
    with torch.inference_mode():
        tags, words = network.teach(source, target, torch.ones(2, 4).bool())
        same, changed = network.teach(source, other, torch.ones(2, 4).bool())
    assert torch.equal(tags, same)
    numpy.testing.assert_allclose(words[:, :2], changed[:, :2], atol=1e-6)
    assert (words[:, 2:] - changed[:, 2:]).abs().max() > 1e-3


def test_as_printed_it_leaks():
    network = make_network(leak_free=False)
    _, source = source_of(network, 7, 5)
    target = torch.tensor([[9, 10, 11, 2], [12, 8, 2, 0]])
    other = target.clone()
    other[:, 3] = 7
    real = torch.ones(2, 4).bool()
    with torch.inference_mode():
        tags, words = network.teach(source, target, real)
        other_tags, other_words = network.teach(source, other, real)
    assert (tags - other_tags).abs().max() > 1e-4
    assert (words[:, 0] - other_words[:, 0]).abs().max() > 1e-4


def slow_search(network, ids, mask, beams, length):
    """The same search with everything read anew at each step, one document."""
    beams_now = [(0.0, [], False)]
    with torch.inference_mode():
        source = network.read(ids, mask)
        for _ in range(length):
            grown = []
            for score, words, done in beams_now:
                if done:
                    grown.append((score, words, True))
                    continue
                target = torch.tensor([[*words, MASK]])
                real = torch.ones_like(target).bool()
                _, logits = network.teach(source, target, real)
                log_p = logits[0, -1].log_softmax(-1)
                for word, value in enumerate(log_p.tolist()):
                    row = [*words, word]
                    triples = [tuple(row[i : i + 3]) for i in range(len(row) - 2)]
                    last = triples[-1:] if word != STOP else []
                    repeated = any(triples.count(t) > 1 for t in last)
                    if word not in (MASK, PAD) and not repeated:
                        grown.append((score + value, row, word == END))
            beams_now = sorted(grown, key=lambda beam: -beam[0])[:beams]
            if beams_now[0][2]:
                break
    return beams_now[0][1]


@pytest.mark.parametrize("beams", [1, 4])
def test_search(beams):
    """Beams with what was read kept find what a search without finds; documents in a
    batch find what they find alone."""
    network = make_network()
    ids, source = source_of(network, 7, 5, 3)
    found = search(network, source, MARKS, beams, length=8)
    assert len({tuple(doc.ids) for doc in found}) == 3
    for doc, (own, log_p, ended) in enumerate(found):
        n = int(source.mask[doc].sum())
        mask = torch.ones(1, n).bool()
        expected = slow_search(network, ids[doc : doc + 1, :n], mask, beams, 8)
        assert own + [END] * ended == expected
        assert len(log_p) == len(own) and max(log_p) <= 0


@pytest.mark.parametrize("beams", [1, 4])
def test_something_is_written_after_all(beams):
    """What says that there is nothing to write does not stand at the beginning where it
    is less likely than it must be."""
    network = make_network()
    _, source = source_of(network, 7, 5, 3)
    plain = search(network, source, MARKS, beams, 8)
    none = plain[0].ids[0]
    p = math.exp(plain[0].log_p[0])
    assert search(network, source, MARKS, beams, 8, none, 0.99 * p)[0] == plain[0]
    found = search(network, source, MARKS, beams, 8, none, 1.01 * p)
    assert found[0].ids and found[0].ids[0] != none


@pytest.mark.parametrize("kind", ["DistilBert", "T5"])
def test_other_models(kind):
    config = getattr(transformers, f"{kind}Config")
    if kind == "DistilBert":
        model = transformers.DistilBertForMaskedLM(
            config(vocab_size=30, dim=24, n_layers=1, n_heads=2, hidden_dim=30)
        )
    else:
        model = transformers.T5Model(
            config(vocab_size=30, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2)
        )
    with pytest.raises(ValueError, match="an encoder with the layers of BERT is need"):
        UniLM(model)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_dropout_of_the_encoder(kind, models_dir, tmp_path):
    """By default it is that of the encoder's config."""
    folder = make_bert(kind, models_dir / "tokenizers", tmp_path)
    for dropout, rates in ((None, {0.0}), (0.25, {0.25})):
        model, _ = load_masked(str(folder), dropout=dropout)
        layers = model.base_model.encoder.modules()
        assert {m.p for m in layers if isinstance(m, torch.nn.Dropout)} == rates
    with pytest.raises(ValueError, match="encoder_dropout"):
        build_unikeyphrase(str(folder), encoder_dropout=1.0)
