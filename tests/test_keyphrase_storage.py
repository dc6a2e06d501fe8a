"""What keyphrases survive, and how they degrade where spaCy drops a part."""

import copy
import pickle
import warnings

import pytest
import spacy
from fresh import run_python
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_keyphrase import Keyphrase, keyphrases_to_json

TEXT = "Neural networks rank phrases of New York. We like neural networks."


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


@pytest.fixture
def doc(nlp):
    """Present, absent, an emoji, sources and scores of mentions."""
    doc = nlp(TEXT + " 🙂")
    mentions = (doc[0:2], doc[10:12])
    doc._.keyphrases = [
        Keyphrase("neural networks", 0.75, mentions, "", "reader", (0.5, 0.25)),
        Keyphrase("deep learning", 0.5, source="writer"),
        ("🙂", 0.25),
        ("New York", 0.125),
    ]
    assert len(doc.spans["keyphrases"]) == 4
    return doc


def texts(doc):
    return [phrase.text for phrase in doc._.keyphrases]


def through_bytes(doc):
    return Doc(Vocab()).from_bytes(doc.to_bytes())


def through_doc_bin(doc):
    """`DocBin` with its defaults, which leave out `user_data`."""
    data = DocBin(docs=[doc]).to_bytes()
    return next(DocBin().from_bytes(data).get_docs(Vocab()))


def through_pickle(doc):
    return pickle.loads(pickle.dumps(doc))


def through_file(doc, path):
    doc.to_disk(path)
    return Doc(Vocab()).from_disk(path)


@pytest.mark.parametrize(
    "through", [through_bytes, through_doc_bin, through_pickle, Doc.copy, copy.copy]
)
def test_everything_survives(doc, through):
    before = keyphrases_to_json(doc)
    other = through(doc)
    assert keyphrases_to_json(other) == before
    assert {span.label_ for span in other.spans["keyphrases"]} == {"KEYPHRASE"}
    for phrase in other._.keyphrases:
        assert all(span.doc is other for span in phrase.spans)
    # What came back can be sent on, and changed without a trace in the first.
    assert keyphrases_to_json(through(other)) == before
    other._.keyphrases = ["phrases"]
    assert keyphrases_to_json(doc) == before


def test_a_file_keeps_everything(doc, tmp_path):
    other = through_file(doc, tmp_path / "doc")
    assert keyphrases_to_json(other) == keyphrases_to_json(doc)


@pytest.mark.parametrize(
    "through", [through_bytes, through_doc_bin, through_pickle, Doc.copy]
)
@pytest.mark.parametrize("phrases", [[], ["absent"], [("absent", 0.5), "gone"]])
def test_no_mention_at_all_survives(nlp, through, phrases):
    doc = nlp(TEXT)
    doc._.keyphrases = phrases
    other = through(doc)
    assert keyphrases_to_json(other) == keyphrases_to_json(doc)
    assert "keyphrases" in other.spans


WORKERS = """
import multiprocessing
import sys
import spacy
from spacy_keyphrase import keyphrases_to_json

TEXTS = ["Neural networks rank words.", "", "Deep learning for graphs."] * 6

def main():
    if len(sys.argv) > 1:
        multiprocessing.set_start_method(sys.argv[1])
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase")
    nlp.add_pipe("keyphrase", name="second", config={"key": "other", "top_n": 1})
    def read(docs):
        # Which of a batch stand together changes the last bits of a score.
        return [[[(p["text"], p["offsets"], round(p["score"], 3))
                  for p in keyphrases_to_json(d, k)] for k in ("keyphrases", "other")]
                for d in docs]
    one = read(nlp.pipe(TEXTS))
    docs = list(nlp.pipe(TEXTS, n_process=2, batch_size=4))
    assert read(docs) == one
    assert docs[0]._.other[0].source == "second"
    assert one[0][0] and len(one[0][1]) == 1 and one[1] == [[], []]
    assert docs[0]._.other[0].spans[0].doc is docs[0]
    assert docs[0][:]._.other == docs[0]._.other
    print("same")

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("method", [None, "spawn"])
def test_other_processes(tmp_path, method):
    """Two components with two keys, under the platform's start method and spawn."""
    program = tmp_path / "workers.py"
    program.write_text(WORKERS, encoding="utf8")
    assert run_python(program, *([method] if method else [])).strip() == "same"


def test_other_processes_after_torch(tmp_path):
    """A fork after a multi-threaded product must not wait for threads it lacks."""
    pytest.importorskip("torch", reason="torch is not installed")
    code = """
import torch
torch.set_num_threads(2)
a = torch.rand(1200, 1200, requires_grad=True)
(a @ a).sum().backward()
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("keyphrase")
docs = list(nlp.pipe(["Graphs of neural networks."] * 20, n_process=2, batch_size=4))
assert (a @ a).shape == (1200, 1200)
print(len(docs), docs[-1]._.keyphrases[0])
"""
    assert run_python(code, cwd=tmp_path).strip() == "20 neural networks"


# Where spaCy drops a part of the state


def test_from_docs_keeps_the_mentions(nlp, doc):
    other = nlp("Graphs and New York.")
    other._.keyphrases = [("graphs", 0.9), ("New York", 0.8)]
    joined = Doc.from_docs([doc, other])
    with pytest.warns(UserWarning, match=r"without their keyphrase data"):
        phrases = joined._.keyphrases
    # One phrase for each form, in the order of the docs and their scores.
    assert [(p.text, len(p.spans)) for p in phrases] == [
        ("Neural networks", 2),
        ("🙂", 1),
        ("New York", 2),
        ("Graphs", 1),
    ]
    assert {p.score for p in phrases} == {0.0}
    joined._.keyphrases = phrases
    assert texts(joined) == ["Neural networks", "🙂", "New York", "Graphs"]


def test_spans_that_others_wrote_are_keyphrases(nlp):
    doc = nlp(TEXT)
    doc.spans["keyphrases"] = [doc[5:7], doc[10:12], doc[0:2]]
    with pytest.warns(UserWarning, match="scores, sources"):
        phrases = doc._.keyphrases
    assert [(p.text, len(p.spans)) for p in phrases] == [
        ("New York", 1),
        ("neural networks", 2),
    ]


def test_a_span_added_by_hand_is_kept(doc):
    doc.spans["keyphrases"].append(doc[3:4])
    with pytest.warns(UserWarning):
        assert [p.text for p in doc._.keyphrases][-1] == "phrases"


def test_an_empty_group_says_nothing(nlp):
    doc = nlp(TEXT)
    doc.spans["keyphrases"] = []
    assert doc._.keyphrases == []


def test_as_doc_leaves_keyphrases_behind(doc):
    span = doc[9:12]
    inside = span._.keyphrases
    assert [(p.text, p.score, p.source) for p in inside] == [
        ("neural networks", 0.75, "reader")
    ]
    other = span.as_doc()
    assert other._.keyphrases == []
    other._.keyphrases = inside
    (phrase,) = other._.keyphrases
    assert (phrase.text, phrase.score, phrase.source) == (
        "neural networks",
        0.75,
        "reader",
    )
    assert [span.text for span in phrase.spans] == ["neural networks"]
    assert phrase.spans[0].doc is other


def read_anew(doc):
    """The keyphrases after retokenising: a warning first, then none any more."""
    with pytest.warns(UserWarning, match="tokens changed"):
        phrases = doc._.keyphrases
    doc._.keyphrases = phrases
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return doc._.keyphrases


def test_merged_tokens(doc):
    before = keyphrases_to_json(doc)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])
        retokenizer.merge(doc[5:7])
    assert [doc[0].text, doc[4].text] == ["Neural networks", "New York"]
    phrases = read_anew(doc)
    assert [(p.text, p.score, p.source) for p in phrases] == [
        (p["text"], p["score"], p["source"]) for p in before
    ]
    assert [p.offsets for p in phrases] == [
        [tuple(offset) for offset in p["offsets"]] for p in before
    ]


def test_split_tokens(nlp):
    doc = nlp("mybicycle likes neural networks and bicycles")
    doc._.keyphrases = [("neural networks", 0.5), ("bicycle", 0.25)]
    with doc.retokenize() as retokenizer:
        retokenizer.split(doc[0], ["my", "bicycle"], [doc[1], doc[1]])
    phrases = read_anew(doc)
    assert [[s.text for s in p.spans] for p in phrases] == [
        ["neural networks"],
        ["bicycle", "bicycles"],
    ]


def test_a_phrase_swallowed_by_a_token_is_absent(nlp):
    doc = nlp("We like neural networks a lot")
    doc._.keyphrases = ["neural networks", "lot"]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[1:4])
    assert [p.is_present for p in read_anew(doc)] == [False, True]
