"""The embedding layer: that of spaCy, each word once, and with word vectors."""

import numpy
import pytest
import spacy
from numpy.testing import assert_allclose, assert_array_equal
from spacy.ml.models.tok2vec import MultiHashEmbed
from thinc.api import fix_random_seed

from spacy_keyphrase.models.embed import build_vector_hash_embed
from spacy_keyphrase.vectors import get_vectors

ATTRS = ("NORM", "PREFIX", "SUFFIX", "SHAPE")
ROWS = (50, 20, 30, 10)
NLP = spacy.blank("en")
DOCS = list(
    map(
        NLP.make_doc,
        [
            "Graph networks, graph by graph: networks of GRAPHS.",
            "",
            "Quorbl networks!",
            "the",
        ],
    )
)


def build(**settings):
    fix_random_seed(0)
    return build_vector_hash_embed(8, ATTRS, ROWS, **settings).initialize()


def test_that_of_spacy():
    ours = build()
    theirs = MultiHashEmbed(8, list(ATTRS), list(ROWS), False)
    theirs.initialize(X=DOCS[:1])
    tables = [n for n in theirs.walk() if n.name == "hashembed"]
    mix = [n for n in theirs.walk() if n.has_param("W")]
    own = [n for n in ours.walk() if n.has_param("E") or n.has_param("W")]
    copied = 0
    for source in [n for n in theirs.walk() if n.param_names]:
        target = [
            n
            for n in ours.walk()
            if n.name == source.name
            and n.param_names == source.param_names
            and n.attrs.get("seed") == source.attrs.get("seed")
        ]
        assert len(target) == 1
        for name in source.param_names:
            target[0].set_param(name, source.get_param(name))
        copied += 1
    assert copied == len(tables) + len(mix) + 1 and own  # + layer norm
    for mine, reference in zip(ours.predict(DOCS), theirs.predict(DOCS)):
        assert mine.shape == reference.shape
        assert_allclose(mine, reference, atol=1e-6)


@pytest.mark.parametrize("is_train", [False, True])
def test_no_words(is_train):
    assert build()([NLP.make_doc("")] * 2, is_train)[0][1].shape == (0, 8)


@pytest.mark.parametrize("vectors", [None, "en"])
def test_gradient(vectors):
    """Against differences of a loss with random weights."""
    model = build(vectors=vectors)
    rng = numpy.random.default_rng(0)
    output, backprop = model.begin_update(DOCS)
    weights = [rng.normal(size=y.shape).astype("f4") for y in output]
    backprop(weights)
    checked = 0
    for node in model.walk():
        for name in node.param_names:
            values, gradient = node.get_param(name), node.get_grad(name)
            for place in rng.choice(values.size, size=3, replace=False):
                slopes = []
                for step in (1e-2, -1e-2):
                    changed = values.copy()
                    changed.flat[place] += step
                    node.set_param(name, changed)
                    new = model.predict(DOCS)
                    slopes.append(sum((a * b).sum() for a, b in zip(new, weights)))
                node.set_param(name, values)
                slope = (slopes[0] - slopes[1]) / 2e-2
                # 32 bits, and maxout has corners.
                assert slope == pytest.approx(gradient.flat[place], abs=0.02, rel=0.05)
                checked += gradient.flat[place] != 0
    assert checked > 5


def test_vectors_reach_words_of_one_hash():
    """Words that share all hashed attributes but differ in their vectors."""
    fix_random_seed(0)
    model = build_vector_hash_embed(8, ["SHAPE"], [5], vectors="en").initialize()
    doc = NLP.make_doc("graph paper graph quorbl fnord")
    graph, paper, again, *unknown = model.predict([doc])[0]
    assert_array_equal(graph, again)
    assert (graph != paper).any()
    assert_array_equal(*unknown)
    rows = get_vectors("en").rows([doc])
    assert (rows[:3] >= 0).all() and (rows[3:] == -1).all()


def test_words_withheld():
    """In training only; a word that comes again is the same unknown."""
    model = build(vectors="en", word_dropout=1.0)
    doc = NLP.make_doc("graph " * 30 + "network " * 30)
    assert_array_equal(model.predict([doc])[0], build(vectors="en").predict([doc])[0])
    fix_random_seed(1)
    known = model.predict([doc])[0]
    seen = {True: 0, False: 0}
    for _ in range(40):
        output, _ = model([doc], is_train=True)
        for start in (0, 30):
            same = (output[0][start : start + 30] == output[0][start]).all()
            assert same
            seen[bool((output[0][start] == known[start]).all())] += 1
    assert min(seen.values()) > 20


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"attrs": ["NORM"], "rows": [5, 5]}, "1 attrs and 2 rows"),
        ({"vectors": "tlh"}, "'tlh' are bundled"),
        ({"word_dropout": 2}, "between 0 and 1"),
    ],
)
def test_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        build_vector_hash_embed(8, **settings)


def test_from_config():
    nlp = spacy.blank("en")
    embed = {
        "@architectures": "spacy_keyphrase.VectorHashEmbed.v1",
        "width": 96,
        "rows": [50, 20, 30, 10],
        "vectors": "en",
    }
    config = {"model": {"tok2vec": {"embed": embed}}}
    pipe = nlp.add_pipe("keyphrase_extractor", config=config)
    assert [n for n in pipe.model.walk() if n.name == "vector_hash_embed"]
