"""The record, setting ``doc._.keyphrases``, and where phrases are found."""

import json

import numpy
import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

import spacy_keyphrase
from spacy_keyphrase import Keyphrase, keyphrases_to_json, register_extensions

TEXT = (
    "Neural networks learn graphs. A neural network, unlike other networks, "
    "needs graph-based neural-networks."
)


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture
def doc(nlp):
    return nlp(TEXT)


def texts(doc):
    return [phrase.text for phrase in doc._.keyphrases]


def found(nlp, text, phrase):
    """Where a phrase is found: the text of every mention."""
    doc = nlp(text)
    doc._.keyphrases = [phrase]
    (keyphrase,) = doc._.keyphrases
    assert keyphrase.offsets == [(s.start_char, s.end_char) for s in keyphrase.spans]
    return [text[start:end] for start, end in keyphrase.offsets]


# What can be set


def test_unset_keyphrases_are_an_empty_list(doc):
    assert doc._.keyphrases == []
    assert doc[:]._.keyphrases == []
    assert "keyphrases" not in doc.spans


def test_strings_keep_their_order(doc):
    doc._.keyphrases = ["graphs", "deep learning", "networks"]
    assert texts(doc) == ["graphs", "deep learning", "networks"]
    assert [phrase.score for phrase in doc._.keyphrases] == [0.0, 0.0, 0.0]


def test_pairs_are_ordered_by_score(doc):
    doc._.keyphrases = [("graphs", 0.25), ["deep learning", 3], ("networks", -1.5)]
    assert [(p.text, p.score) for p in doc._.keyphrases] == [
        ("deep learning", 3.0),
        ("graphs", 0.25),
        ("networks", -1.5),
    ]


def test_equal_scores_keep_their_order(doc):
    doc._.keyphrases = [("needs", 0.5), ("graphs", 0.5), ("networks", 0.75)]
    assert texts(doc) == ["networks", "needs", "graphs"]


def test_numpy_scores_become_floats(doc):
    doc._.keyphrases = [("graphs", numpy.float64(0.5))]
    assert type(doc._.keyphrases[0].score) is float
    assert Doc(doc.vocab).from_bytes(doc.to_bytes())._.keyphrases[0].score == 0.5


def test_spans_keep_their_own_mentions(doc):
    """A span is set as it stands: the other mention is not added."""
    doc._.keyphrases = [doc[0:2]]
    (phrase,) = doc._.keyphrases
    assert phrase.text == "Neural networks"
    assert phrase.spans == (Span(doc, 0, 2, label="KEYPHRASE"),)


def test_keyphrases_keep_all_they_say(doc):
    given = Keyphrase(
        "neural network",
        score=0.75,
        spans=(doc[0:2], doc[6:8]),
        source="reader",
        mention_scores=(0.5, 0.25),
    )
    doc._.keyphrases = [given, Keyphrase("deep learning", 0.5, source="writer")]
    first, second = doc._.keyphrases
    assert (first.text, first.score, first.source) == ("neural network", 0.75, "reader")
    assert first.normal_form == "neural network"
    assert first.mention_scores == (0.5, 0.25)
    assert first.offsets == [(0, 15), (32, 46)]
    assert (second.text, second.is_present) == ("deep learning", False)
    assert (second.source, second.mention_scores) == ("writer", None)


def test_keyphrases_can_be_edited_and_set_again(doc):
    doc._.keyphrases = [("neural networks", 0.9), ("absent", 0.8), ("graphs", 0.7)]
    before = doc._.keyphrases
    doc._.keyphrases = before
    assert doc._.keyphrases == before
    doc._.keyphrases = [phrase for phrase in before if phrase.is_present]
    assert texts(doc) == ["Neural networks", "graphs"]
    doc._.keyphrases = []
    assert doc._.keyphrases == []


def test_keyphrases_of_another_doc_are_aligned(nlp, doc):
    doc._.keyphrases = [("neural networks", 0.5), ("graphs", 0.25)]
    other = nlp("These are no graphs, but this is one graph.")
    other._.keyphrases = doc._.keyphrases
    assert [(p.text, p.score, len(p.spans)) for p in other._.keyphrases] == [
        ("Neural networks", 0.5, 0),
        ("graphs", 0.25, 2),
    ]
    assert all(span.doc is other for p in other._.keyphrases for span in p.spans)


def test_any_iterable_will_do(doc):
    doc._.keyphrases = (phrase for phrase in ["graphs", "networks"])
    assert texts(doc) == ["graphs", "networks"]


def test_phrases_of_one_normal_form_are_one(doc):
    doc._.keyphrases = [("graph", 0.1), ("Graphs", 0.4), ("GRAPH", 0.2)]
    assert [(p.normal_form, p.score) for p in doc._.keyphrases] == [("graph", 0.4)]


def test_nothing_but_white_space_is_no_keyphrase(doc):
    doc._.keyphrases = ["", "  \n", "graphs"]
    assert texts(doc) == ["graphs"]


@pytest.mark.parametrize("wrong", ["neural networks", b"neural networks", ""])
def test_a_bare_string_raises(doc, wrong):
    with pytest.raises(TypeError, match=r"takes a list .* not the single string"):
        doc._.keyphrases = wrong


@pytest.mark.parametrize(
    "wrong", [3, None, ("graphs",), ("graphs", "0.5"), (0.5, "graphs"), {"text": "a"}]
)
def test_what_is_no_keyphrase_raises(doc, wrong):
    with pytest.raises(TypeError, match="A keyphrase is a Keyphrase, a string, a Span"):
        doc._.keyphrases = ["graphs", wrong]
    assert doc._.keyphrases == []


@pytest.mark.parametrize("score", ["nan", "inf", "-inf"])
def test_scores_must_be_finite(doc, score):
    with pytest.raises(ValueError, match=f"'graphs' is {score}"):
        doc._.keyphrases = [("graphs", float(score))]
    with pytest.raises(ValueError, match=f"'graphs' is {score}"):
        doc._.keyphrases = [Keyphrase("graphs", float(score))]


# Where a phrase is found


@pytest.mark.parametrize(
    "text,phrase,mentions",
    [
        ("Neural network and NEURAL NETWORKS", "neural networks", 2),
        ("Neural-networks, neural–network", "neural networks", 2),
        ("Graph based or graph-based", "graph-based", 2),
        ("a state-of-the-art method", "state of the art", 1),
        ("the state of the art", "state-of-the-art", 1),
        ("neural\nnetworks and neural  networks", "neural networks", 2),
        # Not across a comma or the end of a sentence, nor inside a word.
        ("Neural, networks. Neural. Networks; neural (networks)", "neural network", 0),
        ("interneural networks", "neural network", 0),
        ("neural networks", "network neural", 0),
        # The tail of a word counts.
        ("C++ is not C, and no c", "c++", 1),
        ("C++ is not C, and no c", "C", 2),
        # Occurrences of one phrase do not overlap.
        ("data data data", "data data", 1),
        ("data data data data", "data data", 2),
        # Without a word, as it stands.
        ("I 🙂 you 🙂 !", "🙂", 2),
        ("I like you", "🙂", 0),
    ],
)
def test_mentions(nlp, text, phrase, mentions):
    assert len(found(nlp, text, phrase)) == mentions


def test_a_mention_is_what_the_text_says(nlp):
    assert found(nlp, TEXT, "neural networks") == [
        "Neural networks",
        "neural network",
        "neural-networks",
    ]
    assert found(nlp, TEXT, "graph") == ["graphs", "graph"]
    assert found(nlp, TEXT, "graph based") == ["graph-based"]


def test_the_language_decides():
    german = spacy.blank("de")
    assert len(found(german, "Netze, des Netzes und das Netz", "Netz")) == 3
    chinese = spacy.blank("zh")
    assert found(chinese, "机器学习是人工智能的分支。", "机器学习") == ["机器学习"]
    assert found(spacy.blank("xx"), "Сети и сеть", "СЕТИ") == ["Сети"]


def test_text_is_that_of_the_document(nlp):
    doc = nlp("Neural Networks, and neural networks.")
    doc._.keyphrases = ["NEURAL NETWORK"]
    assert texts(doc) == ["Neural Networks"]
    doc._.keyphrases = ["neural networks"]
    assert texts(doc) == ["neural networks"]
    doc._.keyphrases = ["Deep NETS"]
    assert texts(doc) == ["Deep NETS"]


def test_a_doc_without_language_or_words():
    empty = Doc(Vocab())
    empty._.keyphrases = ["graphs"]
    assert [p.is_present for p in empty._.keyphrases] == [False]
    plain = Doc(Vocab(), words=["Neural", "networks"])
    plain._.keyphrases = ["neural networks"]
    assert plain._.keyphrases[0].offsets == [(0, 15)]


# What the record says


def test_the_state_is_a_span_group(doc):
    doc._.keyphrases = [("neural networks", 0.5), ("absent", 0.25)]
    group = doc.spans["keyphrases"]
    assert {span.label_ for span in group} == {"KEYPHRASE"}
    assert [s.text for s in group] == [s.text for s in doc._.keyphrases[0].spans]
    assert "absent" in json.dumps(group.attrs)


def test_records_are_values(doc):
    doc._.keyphrases = [("graphs", 0.5)]
    (phrase,) = doc._.keyphrases
    assert str(phrase) == "graphs"
    assert phrase == doc._.keyphrases[0]
    with pytest.raises(AttributeError):
        phrase.score = 1.0
    assert Keyphrase("graphs") == Keyphrase("graphs", 0.0, ())
    assert not Keyphrase("graphs").is_present


def test_to_dict_is_json(doc):
    scored = Keyphrase("graphs", 0.5, (doc[3:4],), "graph", "reader", (0.25,))
    doc._.keyphrases = [scored, ("deep learning", 0.125)]
    data = json.loads(json.dumps(keyphrases_to_json(doc)))
    assert data == [phrase.to_dict() for phrase in doc._.keyphrases]
    assert data == [
        {
            "text": "graphs",
            "score": 0.5,
            "offsets": [[22, 28]],
            "is_present": True,
            "normal_form": "graph",
            "source": "reader",
            "mention_scores": [0.25],
        },
        {
            "text": "deep learning",
            "score": 0.125,
            "offsets": [],
            "is_present": False,
            "normal_form": "deep learn",
            "source": "",
        },
    ]


def test_keyphrases_of_a_span(doc):
    doc._.keyphrases = [
        Keyphrase("neural network", 0.5, (doc[0:2], doc[6:8]), "", "", (0.1, 0.2)),
        ("graphs", 0.25),
        ("absent", 0.125),
    ]
    inside = doc[4:10]._.keyphrases
    assert [(p.text, p.offsets) for p in inside] == [("neural network", [(32, 46)])]
    assert inside[0].mention_scores == (0.2,)
    # Half a mention is none.
    assert doc[1:3]._.keyphrases == []
    assert doc[1:4]._.keyphrases[0].text == "graphs"


def test_a_second_key(doc):
    register_extensions("other_phrases")
    register_extensions("other_phrases")
    doc._.keyphrases = ["graphs"]
    doc._.other_phrases = [("networks", 0.5)]
    assert texts(doc) == ["graphs"]
    assert [p.text for p in doc._.other_phrases] == ["networks"]
    assert [p.text for p in doc[:]._.other_phrases] == ["networks"]
    assert keyphrases_to_json(doc, "other_phrases")[0]["score"] == 0.5
    with pytest.raises(ValueError, match="'no name'"):
        register_extensions("no name")


def test_public_names():
    assert set(spacy_keyphrase.__all__) <= set(dir(spacy_keyphrase))
