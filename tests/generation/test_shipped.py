"""The trained generator in models/: small, loaded without any hub, and of use."""

from pathlib import Path

import pytest
import spacy

from spacy_keyphrase import normal_form
from spacy_keyphrase.corpora import read_corpus
from spacy_keyphrase.evaluation import make_source, score

pytest.importorskip("torch")

NAME = "en_keyphrase_generator"
PACKAGE = Path(__file__).resolve().parents[2] / "models" / f"{NAME}-0.1.0"
PIPELINE = PACKAGE / NAME / f"{NAME}-0.1.0"


def test_it_is_small_and_has_a_card():
    sizes = [path.stat().st_size for path in PACKAGE.rglob("*") if path.is_file()]
    assert sum(sizes) < 25_000_000
    card = (PACKAGE / "README.md").read_text("utf8")
    assert "71,379 titles and abstracts" in card and "MIT" in card


@pytest.fixture(scope="module")
def nlp():
    return spacy.load(PIPELINE)


def test_it_writes_what_is_not_there(nlp):
    texts = [
        "We present a social search engine that ranks web pages by what friends of a "
        "user have read, and evaluate it with a large crowd of searchers.",
        "",
        "A compiler removes dead code from programs before they are run.",
    ]
    docs = list(nlp.pipe(texts))
    first, empty, last = docs
    assert any(not phrase.is_present for phrase in first._.keyphrases)
    assert any(phrase.is_present for phrase in first._.keyphrases)
    assert empty._.keyphrases == [] and last._.keyphrases
    for doc in docs:
        for phrase in doc._.keyphrases:
            assert 0 <= phrase.score <= 1
            for start, end in phrase.offsets:
                assert normal_form(doc.text[start:end]) == phrase.normal_form


@pytest.mark.slow
def test_it_is_as_good_as_it_was(nlp, data_dir):
    """Far from what was measured only where something broke."""
    path = data_dir / "acmdl" / "valid.jsonl.gz"
    documents = list(read_corpus(path))[:150]
    docs = nlp.pipe([document.text for document in documents])
    as_source = make_source("one2set")
    scores = score(
        [[str(phrase) for phrase in doc._.keyphrases] for doc in docs],
        [document.keyphrases for document in documents],
        [as_source(document.text) for document in documents],
        preset="one2set",
        k=["M"],
    )
    assert scores["present_f1@M"] > 0.3
    assert scores["absent_f1@M"] > 0.025
