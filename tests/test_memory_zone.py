"""Frequent words are remembered, others are forgotten: reading is fast and memory does
not grow."""

import pytest
import spacy

from spacy_keyphrase.jobs.worker import find
from spacy_keyphrase.vocabulary import vocabulary_zone

LIMIT = 2000


@pytest.fixture
def nlp(monkeypatch):
    monkeypatch.setattr("spacy_keyphrase.vocabulary.MAX_WORDS", LIMIT)
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase", config={"method": "statistical"})
    return nlp


def texts_of_new_words(n, start=0):
    return [
        " ".join(f"neural{i}x graph{i}y ranks words." for i in range(k, k + 20))
        for k in range(start, start + 20 * n, 20)
    ]


def test_words_are_remembered_until_there_are_many(nlp):
    with vocabulary_zone(nlp):
        nlp("Zyxwvut qwertzuiop.")
    assert "Zyxwvut" in nlp.vocab
    for text in texts_of_new_words(100):
        nlp.make_doc(text)
    with vocabulary_zone(nlp):
        nlp("Asdfghjkl zyxwvut.")
    assert "Asdfghjkl" not in nlp.vocab and "Zyxwvut" in nlp.vocab


def test_within_a_zone_there_is_no_other(nlp):
    with nlp.memory_zone(), vocabulary_zone(nlp):
        assert nlp("Zyxwvutish neural qwertzuiops.")._.keyphrases


def test_jobs_forget(nlp):
    texts = texts_of_new_words(1000)
    found = list(find(nlp, texts))
    assert len(found) == 1000 and all(isinstance(own, list) for own in found)
    assert len(nlp.vocab.strings) < 10_000 < 20 * 1000
    assert list(find(nlp, texts[:5])) == found[:5]


def test_haystack_forgets(nlp, monkeypatch):
    haystack = pytest.importorskip("haystack")
    from haystack_kp import KeyphraseExtractor, pipelines

    monkeypatch.setattr(pipelines, "load_pipeline", lambda model, settings: nlp)
    monkeypatch.setattr(pipelines, "ZONE", 100)
    documents = [haystack.Document(content=t) for t in texts_of_new_words(1000)]
    extractor = KeyphraseExtractor()
    found = extractor.run(documents=documents)["documents"]
    assert len(found) == 1000 and all(d.meta["keyphrases"] for d in found)
    assert len(nlp.vocab.strings) < 10_000
