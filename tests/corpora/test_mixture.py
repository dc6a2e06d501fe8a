"""Several corpora in one stream."""

from collections import Counter

import pytest
import spacy
import srsly
from spacy.training import Example
from spacy.util import registry
from thinc.api import Config

from spacy_keyphrase.corpora.mixture import create_mixture
from spacy_keyphrase.corpora.reader import create_corpus

NLP = spacy.blank("en")


def source(name, size):
    def read(nlp):
        for i in range(size):
            doc = nlp.make_doc(f"{name} {i}")
            yield Example(doc.copy(), doc)

    return read


def texts(examples):
    return [example.text for example in examples]


def test_weights_decide_how_often():
    sources = {"large": source("large", 5000), "small": source("small", 10)}
    mixture = create_mixture(sources, {"large": 3, "small": 1}, epoch_size=4000)
    counts = Counter(text.split()[0] for text in texts(mixture(NLP)))
    # The standard deviation of the draw is 27.
    assert counts["large"] == pytest.approx(3000, abs=110)
    assert sum(counts.values()) == 4000


def test_a_pass_goes_on_where_the_last_one_stopped():
    mixture = create_mixture({"a": source("a", 5)}, {"a": 1}, epoch_size=3)
    assert texts(mixture(NLP)) == ["a 0", "a 1", "a 2"]
    assert texts(mixture(NLP)) == ["a 3", "a 4", "a 0"]


def test_the_seed_decides():
    def first(seed):
        sources = {"a": source("a", 50), "b": source("b", 50)}
        mixture = create_mixture(sources, {"a": 1, "b": 1}, 40, seed)
        return texts(mixture(NLP))

    assert first(0) == first(0) != first(1)


@pytest.mark.parametrize(
    "sources,weights,size,message",
    [
        ({"a": 1}, {"b": 1}, 1, r"\['a'\] and weights for \['b'\]"),
        ({}, {}, 1, "above 0"),
        ({"a": 1}, {"a": 0}, 1, "above 0"),
        ({"a": 1}, {"a": 1}, 0, "epoch_size is 0"),
    ],
)
def test_bad_settings(sources, weights, size, message):
    sources = {name: source(name, n) for name, n in sources.items()}
    with pytest.raises(ValueError, match=message):
        create_mixture(sources, weights, size)


def test_an_empty_source_is_named():
    mixture = create_mixture({"none": source("none", 0)}, {"none": 1})
    with pytest.raises(ValueError, match="'none' of the mixture has no examples"):
        list(mixture(NLP))


def test_from_config(tmp_path):
    srsly.write_jsonl(
        tmp_path / "a.jsonl", [{"text": "a graph", "keyphrases": ["graph"]}]
    )
    reader = {"@readers": "spacy_keyphrase.Corpus.v1", "path": "${paths.a}"}
    corpora = {
        "train": {
            "@readers": "spacy_keyphrase.Mixture.v1",
            "epoch_size": 2,
            "weights": {"a": 0.5},
            "sources": {"a": {**reader, "style": "index"}},
        }
    }
    config = Config({"paths": {"a": str(tmp_path / "a.jsonl")}, "corpora": corpora})
    mixture = registry.resolve(config.interpolate()["corpora"])["train"]
    assert texts(mixture(NLP)) == ["a graph", "a graph"]


def test_the_style_is_on_the_gold(data_dir):
    read = create_corpus(data_dir / "inspec" / "test.jsonl.gz", limit=3, style="index")
    for example in read(NLP):
        assert example.reference.spans["keyphrases"].attrs["style"] == "index"
        assert "keyphrases" not in example.predicted.spans
