"""Each feature of the statistical ranker, with the others held still."""

import math

import pytest
import spacy

from spacy_keyphrase.candidates import collect_candidates, make_chunks
from spacy_keyphrase.lexicon import get_lexicon
from spacy_keyphrase.rankers import make_statistical
from spacy_keyphrase.rankers.statistical import HALF

NLP = spacy.blank("en")


def ranked(text, ranker=None, subphrases=False):
    doc = NLP.make_doc(text)
    candidates = collect_candidates(doc, make_chunks(subphrases=subphrases)(doc))
    (scores,) = (ranker or make_statistical())([doc], [candidates])
    return {c.form: s for c, s in zip(candidates, scores.phrases)}


def test_the_formula_by_hand():
    """Two mentions of one phrase, its words in the document twice each."""
    ranker = make_statistical(
        word_frequency=0.5,
        rarity=1.0,
        length=(1.0, 2.0),
        frequency=0.5,
        position=1.0,
        position_offset=4.0,
        casing=0.0,
        repeated=0.5,
    )
    scores = ranked("neural network, and then a neural network", ranker)
    idf = get_lexicon("en").idf
    words = (math.sqrt(2) * idf["neural"] + math.sqrt(2) * idf["network"]) / 2
    product = words * 2.0 * math.sqrt(2) / 4.0 * 1.5
    expected = {"neural network": product / (product + HALF)}
    assert scores == pytest.approx(expected)


def test_earlier_is_better():
    scores = ranked("zebrafish of it and of it and of it and of it and quokkas")
    assert scores["zebrafish"] > scores["quokka"]


def test_frequent_is_better():
    scores = ranked("zebrafish, quokkas, zebrafish", make_statistical(position=0))
    assert scores["zebrafish"] > scores["quokka"]


def test_rare_words_are_better():
    """ "paper" is in many documents, "zebrafish" in none of the background."""
    scores = ranked("paper, zebrafish", make_statistical(position=0))
    assert scores["zebrafish"] > scores["paper"]


def test_capitals_inside_a_sentence_are_better():
    scores = ranked("the Zebrafish and the quokka", make_statistical(position=0))
    assert scores["zebrafish"] > scores["quokka"]


def test_capitals_that_open_a_sentence_say_nothing():
    scores = ranked("Zebrafish swim. Quokkas jump.", make_statistical(position=0))
    assert scores["zebrafish"] == pytest.approx(scores["quokka"])


def test_mere_parts_come_last_and_shared_parts_before_them():
    text = "zebrafish embryo assay, quokka embryo"
    scores = ranked(text, make_statistical(position=0), subphrases=True)
    assert scores["embryo"] > scores["zebrafish"]
    assert scores["zebrafish embryo assay"] > scores["embryo"]


def test_other_languages_do_without_background():
    nlp = spacy.blank("de")
    doc = nlp.make_doc("Der Quastenflosser ist ein Fisch. Der Quastenflosser lebt.")
    candidates = collect_candidates(doc, make_chunks()(doc))
    (scores,) = make_statistical()([doc], [candidates])
    best = max(zip(scores.phrases, candidates), key=lambda pair: pair[0])[1]
    assert doc[slice(*best.mentions[0])].text == "Quastenflosser"


def test_a_lexicon_of_the_wrong_kind(tmp_path):
    path = tmp_path / "mine.gz"
    path.write_bytes(b"not gzip")
    with pytest.raises(ValueError, match=r"mine\.gz is not a usable lexicon"):
        ranked("some text", make_statistical(lexicon=str(path)))
    with pytest.raises(ValueError, match="length must hold positive numbers"):
        make_statistical(length=[])
