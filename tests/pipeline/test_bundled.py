"""``keyphrase`` in English: the bundled network."""

import sys

import pytest
import spacy
from confection import ConfigValidationError

from spacy_keyphrase import keyphrases_to_json
from spacy_keyphrase.pipeline.keyphrase import BundledExtractor
from spacy_keyphrase.pipeline.ranker import KeyphraseRanker

TEXT = (
    "Learning graph neural networks for molecular property prediction. We present a "
    "graph neural network that predicts properties of molecules from their structure. "
    "Message passing between atoms is learned from quantum chemistry data. On three "
    "benchmarks molecular property prediction improves by a large margin."
)


def blank(**config):
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase", config=config)
    return nlp


def texts(doc):
    return [phrase.text.lower() for phrase in doc._.keyphrases]


@pytest.fixture(scope="module")
def nlp():
    return blank()


def test_what_a_paper_is_about(nlp):
    assert isinstance(nlp.get_pipe("keyphrase"), BundledExtractor)
    found = texts(nlp(TEXT))
    assert {"graph neural networks", "molecular property prediction"} <= set(found[:4])
    assert len(found) == 10


def test_scores_are_probabilities(nlp):
    scores = [phrase.score for phrase in nlp(TEXT)._.keyphrases]
    assert 0.2 < scores[0] < 1
    assert scores == sorted(scores, reverse=True)
    assert scores[-1] > 0
    # Of ten suggestions some are wrong.
    assert 1 < sum(scores) < 8


def test_styles():
    """A reader marks single words, others do not; no two agree on a whole."""
    lengths, found = {}, set()
    for style in ("author", "index", "tags", "crowd", "news"):
        doc = blank(style=style, top_n=5)(TEXT)
        lengths[style] = sum(len(text.split()) for text in texts(doc)) / 5
        found.add(tuple(texts(doc)))
    assert len(found) >= 4
    assert lengths["crowd"] < min(lengths["author"], lengths["index"], lengths["news"])


def test_settings():
    assert isinstance(
        blank(method="statistical").get_pipe("keyphrase"), KeyphraseRanker
    )
    with pytest.raises(ValueError, match="does not know the style 'novel'"):
        blank(style="novel")
    with pytest.raises(ValueError, match="which only a network follows"):
        blank(style="index", method="statistical")
    with pytest.raises(ValueError, match="which only a network computes in"):
        blank(mixed_precision=True, method="statistical")
    with pytest.raises(ConfigValidationError, match="'magic' is not"):
        blank(method="magic")
    german = spacy.blank("de")
    with pytest.raises(ValueError, match="none for the language 'de'"):
        german.add_pipe("keyphrase", config={"style": "index"})


def test_it_is_not_trained_with_the_pipeline(nlp, tmp_path):
    expected = keyphrases_to_json(nlp(TEXT))
    other = blank()
    other.initialize()
    assert keyphrases_to_json(other(TEXT)) == expected
    other.to_disk(tmp_path)
    assert keyphrases_to_json(spacy.load(tmp_path)(TEXT)) == expected


def test_processes(nlp):
    """The network is there in the processes of `nlp.pipe`."""
    docs = list(nlp.pipe([TEXT] * 4, n_process=2, batch_size=2))
    assert [texts(doc) for doc in docs] == [texts(nlp(TEXT))] * 4


def test_mixed_precision(nlp):
    """Products in 16 bits: other numbers, and the same keyphrases but for near ties.
    In forked processes too, where torch has lost its threads."""
    half = blank(mixed_precision=True, top_n=0)
    expected = {p.text: p.score for p in blank(top_n=0)(TEXT)._.keyphrases}
    found = {p.text: p.score for p in half(TEXT)._.keyphrases}
    assert found.keys() == expected.keys()
    differences = [abs(found[text] - expected[text]) for text in found]
    assert 0 < max(differences) < 0.01
    top = blank(mixed_precision=True)
    assert set(texts(top(TEXT))) == set(texts(nlp(TEXT)))
    for doc in half.pipe([TEXT] * 4, n_process=2, batch_size=2):
        assert {p.text: p.score for p in doc._.keyphrases} == pytest.approx(found)


def test_mixed_precision_without_torch(monkeypatch):
    monkeypatch.delitem(sys.modules, "spacy_keyphrase.models.half", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"mixed_precision needs torch: pip install"):
        blank(mixed_precision=True)


def test_batches_are_bounded(nlp, monkeypatch):
    """Docs of any lengths go through the network in batches of about equal size."""
    sizes = []
    pipe = nlp.get_pipe("keyphrase")
    score = pipe.score_mentions

    def count(docs, mentions):
        sizes.append(sum(map(len, docs)))
        return score(docs, mentions)

    monkeypatch.setattr(pipe, "score_mentions", count)
    short, long = nlp.make_doc(TEXT), nlp.make_doc(f"{TEXT} " * 450)
    pipe.predict([short] * 1000)
    assert len(sizes) == 4 and max(sizes) - min(sizes) <= len(short)
    sizes.clear()
    pipe.predict([short] * 100 + [long] + [short] * 100)
    assert sum(sizes) == 200 * len(short) + len(long)
    assert max(sizes) < len(long) + 2 * 12_000


def test_odd_texts(nlp):
    for text in ["", " ", "\n\n", "...", "the of and", "😀", "a" * 5000, "graph"]:
        found = texts(nlp(text))
        assert len(found) <= 10
    assert texts(nlp("graph")) == ["graph"]
