"""The bundled tagger."""

import gzip
import json

import pytest
import spacy
from spacy.tokens import Doc

TEXT = (
    "This paper describes a new method for the automatic extraction of keyphrases "
    "from scientific articles. Fast networks were trained on 3 GPUs."
)


@pytest.fixture(scope="module")
def nlp():
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_tagger")
    return nlp


def test_tags(nlp):
    tags = " ".join(token.tag_ for token in nlp(TEXT))
    assert tags == (
        "DT NN VBZ DT JJ NN IN DT JJ NN IN NNS IN JJ NNS . JJ NNS VBD VBN IN CD NNS ."
    )


def test_alone_or_in_a_batch(nlp):
    texts = [TEXT, "", "  ", "Yes", TEXT * 20]
    together = [[t.tag_ for t in doc] for doc in nlp.pipe(texts, batch_size=3)]
    assert together == [[t.tag_ for t in nlp(text)] for text in texts]


def test_tags_that_are_there(nlp):
    words = ["fast", "networks"]
    doc = Doc(nlp.vocab, words=words, tags=["X1", "X2"])
    assert [t.tag_ for t in nlp(doc)] == ["X1", "X2"]
    other = spacy.blank("en")
    other.add_pipe("keyphrase_tagger", config={"overwrite": True})
    doc = Doc(other.vocab, words=words, tags=["X1", "X2"])
    assert [t.tag_ for t in other(doc)] == ["JJ", "NNS"]


def test_noun_phrases_in_a_blank_pipeline(nlp):
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_tagger")
    candidates = {"@keyphrase_candidates": "spacy_keyphrase.NounPhrases.v1"}
    nlp.add_pipe("keyphrase_ranker", config={"candidates": candidates, "top_n": 0})
    found = {p.text for p in nlp(TEXT)._.keyphrases}
    expected = {"new method", "automatic extraction", "scientific articles"}
    assert expected <= found
    assert not any("describes" in text or "trained" in text for text in found)


def test_other_languages():
    with pytest.raises(ValueError, match="No tagger is bundled for the language 'de'"):
        spacy.blank("de").add_pipe("keyphrase_tagger")


def test_a_pipeline_that_is_trained(nlp, tmp_path):
    """It is not initialized anew, and is there again after a round trip."""
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase_tagger")
    before = [t.tag_ for t in nlp(TEXT)]
    nlp.initialize()
    nlp.to_disk(tmp_path)
    assert [t.tag_ for t in spacy.load(tmp_path)(TEXT)] == before


@pytest.mark.slow
def test_accuracy(nlp, data_dir):
    """On the test part of UD EWT, with its own tokens."""
    right = total = 0
    with gzip.open(data_dir / "pos" / "ewt" / "test.jsonl.gz", "rt") as lines:
        for line in map(json.loads, lines):
            doc = nlp(Doc(nlp.vocab, words=line["tokens"]))
            right += sum(
                t.tag_ == tag for t, tag in zip(doc, line["xpos"], strict=True)
            )
            total += len(doc)
    assert total == 25094
    assert right / total > 0.93
