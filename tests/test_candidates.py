"""N-grams, phrase lists, filters and unions; suggesters by config."""

import json
import pickle

import pytest
import spacy
from fresh import run_python

from spacy_keyphrase.candidates import (
    collect_candidates,
    make_chunks,
    make_filter,
    make_ngrams,
    make_phrase_list,
    make_phrases,
    make_union,
)
from spacy_keyphrase.word_reader import read_words


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def suggested(suggester, doc):
    """The texts of the mentions in text order, the longer first."""
    mentions = set(suggester(doc))
    return [
        doc[start:end].text
        for start, end in sorted(mentions, key=lambda m: (m[0], -m[1]))
    ]


# All n-grams


NGRAM_TEXT = "The state of the art in graph-based ranking. New York, a city"


@pytest.mark.parametrize(
    "settings,phrases",
    [
        ({"max_words": 1}, "state|art|graph-based|ranking|New|York|city"),
        (
            {"max_words": 2},
            "state|art|graph-based ranking|graph-based|ranking|New York|New|York|city",
        ),
        (
            {},
            "state|art in graph-based|art|graph-based ranking|graph-based|ranking|"
            "New York|New|York|city",
        ),
        (
            {"max_words": 2, "stop_edges": True},
            "The state|The|state of|state|of the|of|the art|the|art in|art|"
            "in graph-based|in|graph-based ranking|graph-based|ranking|New York|New|"
            "York|a city|a|city",
        ),
        (
            {"max_words": 2, "cross_punctuation": True},
            "state|art|graph-based ranking|graph-based|ranking. New|ranking|New York|"
            "New|York|city",
        ),
    ],
)
def test_ngrams(nlp, settings, phrases):
    assert suggested(make_ngrams(**settings), nlp(NGRAM_TEXT)) == phrases.split("|")


def test_ngrams_of_a_batch(nlp):
    """Together, with their offsets counted on, they are those of the docs alone."""
    suggest = make_ngrams()
    docs = [nlp(text) for text in (NGRAM_TEXT, "", "New York", NGRAM_TEXT)]
    alone, first = [], 0
    for doc in docs:
        found = suggest(doc)
        # Plain numbers, that can be stored.
        assert json.loads(json.dumps(found)) == [list(span) for span in found]
        alone += [(first + start, first + end) for start, end in found]
        first += len(doc)
    together = suggest.batch(read_words(docs)).tolist()
    assert sorted(map(tuple, together)) == alone


def test_ngrams_have_at_least_one_word():
    with pytest.raises(ValueError, match="max_words must be at least 1, not 0"):
        make_ngrams(max_words=0)


# A phrase list


LIST_TEXT = "Neural networks, neural-network models, deep learning and 🙂 graphs."
LIST_FOUND = ["Neural networks", "neural-network", "🙂", "graphs"]


def test_phrase_list(nlp):
    suggester = make_phrase_list(["neural network", "GRAPH", "🙂", "absent thing"])
    assert suggested(suggester, nlp(LIST_TEXT)) == LIST_FOUND
    assert suggester(nlp("")) == []
    assert suggested(suggester, nlp("Nothing of the kind")) == []


def test_phrases_of_a_list_may_overlap(nlp):
    suggester = make_phrase_list(["deep neural network", "neural network", "network"])
    assert suggested(suggester, nlp("a deep neural network")) == [
        "deep neural network",
        "neural network",
        "network",
    ]


def test_phrase_list_from_a_file(nlp, tmp_path):
    path = tmp_path / "phrases.txt"
    path.write_text("neural network\n\ngraphs\r\n  🙂 \n", encoding="utf-8-sig")
    assert suggested(make_phrase_list(path=path), nlp(LIST_TEXT)) == LIST_FOUND
    both = make_phrase_list(["deep learning"], path)
    assert suggested(both, nlp(LIST_TEXT))[2] == "deep learning"


def test_one_list_serves_several_languages(nlp):
    suggester = make_phrase_list(["Netzen", "networks"])
    assert suggested(suggester, spacy.blank("de")("Das Netz, die Netze")) == [
        "Netz",
        "Netze",
    ]
    assert suggested(suggester, nlp("a network of Netz")) == ["network"]


def test_a_useless_phrase_list_raises(tmp_path):
    with pytest.raises(ValueError, match=r"There is no phrase list .*missing\.txt"):
        make_phrase_list(path=tmp_path / "missing.txt")
    with pytest.raises(ValueError, match="There is no phrase list"):
        make_phrase_list(["graphs"], tmp_path)
    empty = tmp_path / "empty.txt"
    empty.write_text("\n  \n", encoding="utf8")
    for settings in ({}, {"phrases": []}, {"phrases": [" "]}, {"path": empty}):
        with pytest.raises(ValueError, match="needs `phrases` or a `path`"):
            make_phrase_list(**settings)


# Filters and unions


FILTER_TEXT = "The graphs of trees. Big graphs and a tree of AI, the theory of graphs"


@pytest.mark.parametrize(
    "settings,phrases",
    [
        (
            {},
            "graphs of trees|graphs|trees|Big graphs|Big|graphs|tree|AI|theory|graphs",
        ),
        ({"min_words": 2}, "graphs of trees|Big graphs"),
        ({"max_words": 2}, "graphs|trees|Big graphs|Big|graphs|tree|AI|theory|graphs"),
        ({"min_words": 2, "max_words": 2}, "Big graphs"),
        (
            {"min_chars": 5},
            "graphs of trees|graphs|trees|Big graphs|graphs|theory|graphs",
        ),
        # By normal form: "trees" and "tree" are one phrase.
        ({"min_frequency": 2}, "graphs|trees|graphs|tree|graphs"),
        ({"min_frequency": 3}, "graphs|graphs|graphs"),
        ({"pattern": "[a-z]+"}, "graphs|trees|graphs|tree|theory|graphs"),
        ({"pattern": "(?i)B.*"}, "Big graphs|Big"),
        ({"pattern": "x"}, ""),
    ],
)
def test_filters(nlp, settings, phrases):
    whole = make_phrase_list(
        ["graphs of trees", "graphs", "trees", "big graphs", "big", "AI", "theory"]
    )
    found = suggested(make_filter(whole, **settings), nlp(FILTER_TEXT))
    assert found == (phrases.split("|") if phrases else [])


def test_filter_of_stop_words_at_the_edges(nlp):
    ngrams = make_ngrams(max_words=3, stop_edges=True)
    doc = nlp("the theory of graphs")
    assert "the theory" in suggested(ngrams, doc)
    assert suggested(make_filter(ngrams, stop_edges=False), doc) == [
        "theory of graphs",
        "theory",
        "graphs",
    ]


def test_filter_of_what_crosses_sentences():
    sentences = spacy.blank("en")
    sentences.add_pipe("sentencizer")
    text = "The theory. Graphs grow"
    ngrams = make_ngrams(max_words=2, cross_punctuation=True)
    within = make_filter(ngrams, cross_sentences=False)
    assert "theory. Graphs" in suggested(make_filter(ngrams), sentences(text))
    assert suggested(within, sentences(text)) == [
        "theory",
        "Graphs grow",
        "Graphs",
        "grow",
    ]


def test_a_bad_pattern_raises():
    with pytest.raises(ValueError, match=r"The pattern '\(' is not valid"):
        make_filter(make_ngrams(), pattern="(")


def test_union(nlp):
    parts = [make_phrase_list(["theory of graphs"]), make_ngrams(1), make_ngrams(1)]
    union = make_union(parts)
    doc = nlp("the theory of graphs")
    assert suggested(union, doc) == ["theory of graphs", "theory", "graphs"]
    assert len(union(doc)) == 3
    with pytest.raises(ValueError, match="at least one suggester"):
        make_union([])


def test_collect_candidates(nlp):
    doc = nlp("Deep neural networks and a neural network, or graphs. !")
    mentions = [(10, 11), (9, 10), (5, 7), (0, 3), (1, 3), (1, 3)]
    deep, neural, graph = collect_candidates(doc, mentions)
    assert (deep.form, deep.mentions) == ("deep neural network", [(0, 3)])
    assert (neural.form, neural.mentions) == ("neural network", [(1, 3), (5, 7)])
    assert (graph.form, graph.mentions) == ("graph", [(9, 10)])
    assert neural.stems == ("neural", "network")
    # One mention is inside the longer candidate, the other is on its own.
    assert neural.holders == {"deep neural network"}
    assert (deep.n_free, neural.n_free, graph.n_free) == (1, 1, 1)


# From a config


EVERY = {
    "Chunks": {"max_words": 3},
    "Filter": {
        "candidates": {"@keyphrase_candidates": "spacy_keyphrase.NGrams.v1"},
        "min_chars": 3,
    },
    "NGrams": {"max_words": 2},
    "NounPhrases": {},
    "PhraseList": {"phrases": ["neural networks"]},
    "Phrases": {"subphrases": True},
}


def configs():
    return {
        f"spacy_keyphrase.{name}.v1": {
            "@keyphrase_candidates": f"spacy_keyphrase.{name}.v1",
            **settings,
        }
        for name, settings in EVERY.items()
    }


def test_every_name_resolves_without_an_import():
    code = """
import json, sys
import spacy
from importlib.metadata import entry_points
from spacy.tokens import Doc
configs = json.loads(sys.argv[1])
names = {e.name for e in entry_points(group="spacy_keyphrase_candidates")}
assert "spacy_keyphrase" not in sys.modules
for name, candidates in configs.items():
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("keyphrase_ranker", config={"candidates": candidates})
    words = ["the", "neural", "networks", "ran"]
    doc = pipe(Doc(nlp.vocab, words=words, tags=["DT", "JJ", "NNS", "VBD"]))
    assert "neural networks" in [p.text for p in doc._.keyphrases], name
print(set(configs) <= names)
"""
    assert run_python(code, json.dumps(configs())).strip() == "True"


@pytest.mark.parametrize("name", configs())
def test_bad_settings_are_named(nlp, name):
    config = {"candidates": {**configs()[name], "max_wrds": 3}}
    with pytest.raises(ValueError, match="max_wrds"):
        spacy.blank("en").add_pipe("keyphrase_ranker", config=config)


def test_an_unknown_name_is_answered_with_the_known():
    config = {"candidates": {"@keyphrase_candidates": "spacy_keyphrase.Words.v1"}}
    with pytest.raises(ValueError) as error:
        spacy.blank("en").add_pipe("keyphrase_ranker", config=config)
    assert "spacy_keyphrase.Words.v1" in str(error.value)
    assert all(name in str(error.value) for name in configs())


@pytest.mark.parametrize(
    "suggester",
    [
        make_phrases(),
        make_ngrams(),
        make_phrase_list(["neural networks"]),
        make_union([make_filter(make_chunks(), pattern="n.*"), make_ngrams(1)]),
    ],
)
def test_suggesters_can_be_sent_to_other_processes(nlp, suggester):
    doc = nlp("the neural networks")
    assert pickle.loads(pickle.dumps(suggester))(doc) == suggester(doc) != []
