"""The networks: their gradients, and that a doc's output is its own."""

import tracemalloc

import numpy
import pytest
import spacy
from numpy.testing import assert_allclose
from spacy.ml.featureextractor import FeatureExtractor
from spacy.ml.models.tok2vec import build_hash_embed_cnn_tok2vec
from thinc.api import (
    LSTM,
    HashEmbed,
    chain,
    fix_random_seed,
    list2ragged,
    ragged2list,
    with_array,
    with_padded,
)

from spacy_keyphrase.candidates import make_ngrams
from spacy_keyphrase.models.features import (
    FEATURES,
    build_phrase_features,
    phrase_features,
)
from spacy_keyphrase.models.mentions import read_mentions
from spacy_keyphrase.models.ngram import build_chunk, build_joint, build_rank
from spacy_keyphrase.models.predict import predict_by_layer
from spacy_keyphrase.models.slices import represent
from spacy_keyphrase.models.token import build_span, build_tag
from spacy_keyphrase.word_reader import read_words

TEXTS = [
    "Graph neural networks pass messages. Messages travel on a graph.",
    "",
    "Keyphrases!",
    "A long-range dependency is learned by attention over the whole document.",
]
NLP = spacy.blank("en")


def tok2vec(depth=1):
    return build_hash_embed_cnn_tok2vec(
        width=8,
        depth=depth,
        embed_size=50,
        window_size=1,
        maxout_pieces=2,
        subword_features=True,
        pretrained_vectors=None,
    )


BUILDERS = {
    "joint": lambda: build_joint(
        tok2vec(), 4, 6, features=build_phrase_features(5), context=True
    ),
    "rank": lambda: build_rank(tok2vec(), 4, 6),
    "chunk": lambda: build_chunk(tok2vec(), 4, 6, features=build_phrase_features(5)),
    "tag": lambda: build_tag(tok2vec(), 4),
    "span": lambda: build_span(tok2vec(), 4),
}


def read(texts):
    docs = list(map(NLP.make_doc, texts))
    words = read_words(docs)
    return docs, read_mentions(words, make_ngrams(max_words=2).batch(words))


@pytest.fixture(params=BUILDERS)
def model(request):
    fix_random_seed(0)
    model = BUILDERS[request.param]()
    model.initialize(X=read(TEXTS))
    return model


def test_gradients(model):
    """Along a random direction of each weight the output moves as the gradient says.

    In 32 bits, and with corners (ReLU, maxout) near the path, 2 % is near.
    """
    inputs = read(TEXTS)
    rng = numpy.random.default_rng(0)
    output, backprop = model.begin_update(inputs)
    toward = rng.normal(size=output.shape).astype("f4")
    backprop(toward)
    checked = 0
    for node in model.walk():
        for name in node.param_names:
            if not node.has_grad(name):
                continue
            weights, gradient = node.get_param(name), node.get_grad(name)
            direction = rng.normal(size=weights.shape).astype("f4")
            direction *= gradient != 0
            values = []
            for step in (2e-4, -2e-4):
                node.set_param(name, weights + step * direction)
                values.append(float((model.predict(inputs) * toward).sum(dtype="f8")))
            node.set_param(name, weights)
            slope = (values[0] - values[1]) / 4e-4
            expected = float((gradient * direction).sum(dtype="f8"))
            scale = float(numpy.abs(gradient * direction).sum())
            assert slope == pytest.approx(expected, abs=0.02 * scale + 1e-2)
            checked += 1
    assert checked >= 8


def test_a_doc_alone_or_in_a_batch(model):
    together = model.predict(read(TEXTS))
    alone = [model.predict(read([text])) for text in TEXTS if text]
    assert_allclose(numpy.concatenate(alone), together, atol=1e-5)


def test_what_is_saved_is_what_was_trained(model):
    other = BUILDERS[model.attrs["head"]]()
    other.from_bytes(model.to_bytes())
    inputs = read(TEXTS)
    assert_allclose(other.predict(inputs), model.predict(inputs), atol=0)


def test_a_mention_too_long_is_named():
    model = build_rank(tok2vec(), max_length=1, hidden_size=4)
    with pytest.raises(ValueError, match="has 4 tokens, the model takes 1"):
        model.initialize()
        model.predict(read(TEXTS))


def feature_of(features, mentions, docs, phrase):
    tokens = [token.text for doc in docs for token in doc]
    for i, first in enumerate(mentions.firsts):
        if " ".join(tokens[mentions.starts[first] : mentions.ends[first]]) == phrase:
            return dict(zip(FEATURES, features[i], strict=True))
    raise AssertionError(f"no phrase {phrase}")


def test_features():
    docs, mentions = read(TEXTS)
    features = phrase_features(docs, mentions)
    assert features.shape == (mentions.n_phrases, len(FEATURES))
    graph = feature_of(features, mentions, docs, "Graph")
    messages = feature_of(features, mentions, docs, "messages")
    assert graph["words_1"] == 1
    assert graph["first"] == 0
    assert graph["mentions"] == pytest.approx(numpy.log(2) / 3)
    assert graph["opening"] == 1
    assert graph["last_share"] == pytest.approx(0.9)  # the last of ten words
    assert graph["spread"] == pytest.approx(0.9)
    assert messages["first_share"] == pytest.approx(0.4)
    # "Messages" opens a sentence: its capital says nothing.
    assert messages["capitals"] == 0
    compound = feature_of(features, mentions, docs, "long - range dependency")
    assert compound["words_3"] == 1
    assert compound["other_inside"] == 0
    assert compound["left_edge"] == 1


def test_the_prior_ranks_the_phrases_of_each_doc():
    docs, mentions = read(TEXTS)
    columns = dict(zip(FEATURES, phrase_features(docs, mentions).T, strict=True))
    for i in range(len(docs)):
        rows = numpy.flatnonzero(mentions.phrase_docs == i)
        best = rows[numpy.argsort(columns["prior_rank"][rows])]
        assert (numpy.diff(columns["prior"][best]) <= 0).all()
        expected = numpy.log1p(numpy.arange(len(rows))) / 5
        assert_allclose(columns["prior_rank"][best], expected, rtol=1e-6)
    # Free of its neighbours, a noun at its end, and from the first sentence.
    graph = feature_of(phrase_features(docs, mentions), mentions, docs, "Graph")
    broken = feature_of(
        phrase_features(docs, mentions), mentions, docs, "pass messages"
    )
    assert graph["prior"] > broken["prior"]


def test_features_stay_small():
    """In long documents too: a network must not be driven out of its range."""
    text = "The graph of a network is a graph. " * 3000
    docs, mentions = read([text])
    features = phrase_features(docs, mentions)
    assert numpy.isfinite(features).all()
    assert numpy.abs(features).max() < 4


def test_long_docs_in_slices(monkeypatch):
    """A slice knows all that its tokens depend on, norms of the tokenizer included."""
    monkeypatch.setattr("spacy_keyphrase.models.slices.SLICE", 7)
    network = tok2vec(depth=3)
    docs = [NLP(" ".join(TEXTS) + " We don't, can't and won't stop."), NLP("Short.")]
    fix_random_seed(0)
    network.initialize(X=docs)
    # Entities and sentences may be cut anywhere.
    docs[0].ents = [docs[0][i : i + 5] for i in range(0, len(docs[0]) - 5, 5)]
    for i, token in enumerate(docs[0]):
        token.is_sent_start = i % 4 == 0
    # The tokenizer gives some a norm that is not their text.
    assert any(token.norm_ != token.lower_ for token in docs[0])
    for found, expected in zip(represent(network, docs), network.predict(docs)):
        assert_allclose(found, expected, atol=1e-5)
    lengths = []

    def spy(model, inputs):
        if model is network:
            lengths.extend(map(len, inputs))
        return predict_by_layer(model, inputs)

    monkeypatch.setattr("spacy_keyphrase.models.slices.predict_by_layer", spy)
    represent(network, docs)
    assert max(lengths) == 7 + 2 * 3


@pytest.mark.parametrize("name", ["cnn", "bilstm", "bundled"])
def test_layer_by_layer(name):
    """The same numbers but for rounding."""
    docs = list(map(NLP.make_doc, [*TEXTS, " ".join(TEXTS) * 40]))
    if name == "bundled":
        network = spacy.blank("en").add_pipe("keyphrase").model.get_ref("tok2vec")
    elif name == "cnn":
        network = tok2vec(depth=3)
    else:
        embed = chain(FeatureExtractor(["NORM"]), list2ragged())
        hashed = chain(embed, with_array(HashEmbed(8, 50, column=0)), ragged2list())
        network = chain(hashed, with_padded(LSTM(8, 8)))
    if name != "bundled":
        network.initialize(X=docs)
    expected = network.predict(docs)
    found = predict_by_layer(network, docs)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected):
        # Numbers of up to 6, of sums and differences of rows (convolution.py), each
        # rounded: 7e-6 at most in 57,000 tokens.
        assert_allclose(ours, theirs, rtol=0, atol=1e-5)


def test_layer_by_layer_in_less_memory():
    network = tok2vec(depth=6)
    docs = [NLP.make_doc(" ".join(TEXTS) * 100)]
    network.initialize(X=docs)
    peaks = []
    for predict in (network.predict, lambda X: predict_by_layer(network, X)):
        tracemalloc.start()
        predict(docs)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] / 2
