"""Words that are computed once in the life of a network."""

import pickle
from threading import Thread

import numpy
import pytest
import spacy
from numpy.testing import assert_allclose, assert_array_equal
from thinc.api import Adam, fix_random_seed

from spacy_keyphrase.models.embed import build_vector_hash_embed
from spacy_keyphrase.models.remembered import WordMemory, fingerprint

NLP = spacy.blank("en")


class Squares:
    """Two numbers a word: its key and the square of it. Counts what it computed."""

    def __init__(self, max_words):
        self.memory = WordMemory(max_words)
        self.computed = []

    def __call__(self, keys, state=0):
        keys = numpy.array(keys, dtype="u8")

        def compute(places):
            self.computed += keys[places].tolist()
            return numpy.stack([keys[places], keys[places] ** 2], 1).astype("f4")

        table, rows = self.memory.recall(keys, state, compute)
        return table[rows].tolist()


def test_once_each():
    squares = Squares(max_words=6)
    assert squares([3, 1]) == [[3, 9], [1, 1]]
    assert squares([1, 2, 3]) == [[1, 1], [2, 4], [3, 9]]
    assert squares([3]) == [[3, 9]]
    assert squares([]) == []
    assert squares.computed == [3, 1, 2]


def test_too_many_words():
    """All are forgotten when there is no room; a batch that has more is not kept."""
    squares = Squares(max_words=3)
    squares([1, 2])
    assert squares([4, 1, 5]) == [[4, 16], [1, 1], [5, 25]]
    assert squares.computed == [1, 2, 4, 1, 5]
    squares([4, 5])
    assert len(squares.computed) == 5
    assert squares([6, 5, 4, 1]) == [[6, 36], [5, 25], [4, 16], [1, 1]]
    squares([5])
    assert squares.computed[5:] == [6, 5, 4, 1]


def test_another_state():
    squares = Squares(max_words=9)
    squares([1, 2])
    squares([2], state=1)
    squares([1, 2], state=1)
    squares([2], state=0)
    assert squares.computed == [1, 2, 2, 1, 2]


def test_nothing_kept_of_a_failure():
    memory = WordMemory()
    with pytest.raises(ZeroDivisionError):
        memory.recall(numpy.arange(3), 0, lambda places: 1 / 0)
    table, rows = memory.recall(numpy.arange(3), 0, lambda p: numpy.eye(3)[p])
    assert_array_equal(table[rows], numpy.eye(3))


def test_threads():
    """Rows that one thread was given stay as they are while others make room."""
    squares = Squares(max_words=40)
    wrong = []

    def read(seed):
        rng = numpy.random.default_rng(seed)
        for i in range(300):
            keys = rng.choice(100, size=30, replace=False)
            expected = [[k, k**2] for k in keys.tolist()]
            if squares(keys, state=i // 100) != expected:
                wrong.append(keys)

    threads = [Thread(target=read, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_nobody_waits():
    """Who finds it in use computes; as one does who is asked for by itself."""
    squares = Squares(max_words=9)
    inside = []

    def compute(places):
        inside.append(squares([1, 2]))
        return places[:, None] + 5.0

    table, rows = squares.memory.recall(numpy.array([7, 8], "u8"), 0, compute)
    assert table[rows].tolist() == [[5], [6]]
    assert inside == [[[1, 1], [2, 4]]]
    squares([1, 2])
    assert squares.computed == [1, 2, 1, 2]


def test_copy_is_empty():
    squares = Squares(max_words=7)
    squares([1, 2])
    copy = pickle.loads(pickle.dumps(squares.memory))
    assert copy.max_words == 7
    table, rows = copy.recall(numpy.array([1, 2]), 0, lambda p: p[:, None] + 10.0)
    assert table[rows].tolist() == [[10], [11]]


def build():
    fix_random_seed(0)
    return build_vector_hash_embed(8, ["NORM"], [50], vectors="en").initialize()


def test_any_changed_parameter_is_seen():
    """Also where it is changed in its array."""
    model = build()
    seen = {fingerprint(model)}
    changes = 0
    for node in model.walk():
        for name in node.param_names:
            node.get_param(name).flat[-1] += 1e-3
            seen.add(fingerprint(model))
            changes += 1
    assert changes == 7 and len(seen) == 8
    assert fingerprint(model.copy()) == fingerprint(model)


def test_learning_between():
    """A network that learns a word after having read it does not return what it was,
    wherever between the steps of learning it was read."""
    doc = NLP.make_doc("graph networks of graphs")
    model, optimizer = build(), Adam(0.1)
    before = model.predict([doc])[0]
    output, backprop = model.begin_update([doc])
    model.predict([doc])
    backprop([numpy.ones_like(output[0])])
    model.predict([doc])
    model.finish_update(optimizer)
    after = model.predict([doc])[0]
    assert abs(after - before).max() > 0.01
    fresh = build().from_bytes(model.to_bytes()).predict([doc])[0]
    assert_array_equal(after, fresh)


def test_averages():
    """Other parameters for a while, as evaluation with averages has them."""
    doc = NLP.make_doc("graph networks")
    model = build()
    before = model.predict([doc])[0]
    other = {
        (node.id, name): node.get_param(name) * 2
        for node in model.walk()
        for name in node.param_names
    }
    with model.use_params(other):
        assert abs(model.predict([doc])[0] - before).max() > 0.1
    assert_array_equal(model.predict([doc])[0], before)


def test_in_whatever_order_words_come():
    """The order of sums may be another; 1e-6 is a few units of the last place."""
    docs = [NLP.make_doc(t) for t in ("graph networks", "the graph of words", "of")]
    together = build().predict(docs)
    model = build()
    for doc, expected in reversed([*zip(docs, together)]):
        assert_allclose(model.predict([doc])[0], expected, atol=1e-6)
