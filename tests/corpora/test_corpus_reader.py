"""The corpus reader of training configs."""

import gzip
import json
import os
import random
import shutil
from pathlib import Path
from typing import List

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.util import registry

from spacy_keyphrase.corpora import (
    CorpusError,
    KeyphraseCorpus,
    convert,
    read_corpus,
)
from spacy_keyphrase.corpora.reader import shuffled

TEXT = "Graph neural networks. Paper {} is about learning {} with deep models of text."


def write_jsonl(path: Path, n: int) -> Path:
    with gzip.open(path, "wt", encoding="utf8") as file:
        for i in range(n):
            record = {
                "id": str(i),
                "title": "Graph neural networks",
                "text": TEXT.format(i % 1000, i % 7),
                "keyphrases": ["graph neural network", "deep model", "absent one"],
            }
            file.write(json.dumps(record) + "\n")
    return path


@pytest.fixture
def jsonl(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "train.jsonl.gz", 20)


def check(examples: List[Example], n: int) -> None:
    assert len(examples) == n
    for i, example in enumerate(examples):
        assert example.reference.text == TEXT.format(i, i % 7)
        assert [k.text for k in example.reference._.keyphrases] == [
            "Graph neural networks",
            "deep models",
            "absent one",
        ]
        assert example.predicted is not example.reference
        assert example.predicted.text == example.reference.text
        assert example.predicted._.keyphrases == []
        assert list(example.predicted.spans) == []


def test_text_format_and_spacy_files_give_the_same(jsonl: Path, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    check(list(KeyphraseCorpus(jsonl)(nlp)), 20)
    convert(read_corpus(jsonl), nlp, tmp_path / "one.spacy")
    check(list(KeyphraseCorpus(tmp_path / "one.spacy")(nlp)), 20)
    convert(read_corpus(jsonl), nlp, tmp_path / "many", max_docs_per_file=6)
    check(list(KeyphraseCorpus(tmp_path / "many")(nlp)), 20)


def test_from_a_config(jsonl: Path) -> None:
    config = {
        "train": {
            "@readers": "spacy_keyphrase.Corpus.v1",
            "path": str(jsonl),
            "limit": 3,
        }
    }
    corpus = registry.resolve(config)["train"]
    check(list(corpus(spacy.blank("en"))), 3)
    with pytest.raises(Exception, match="on_error"):
        config["train"]["on_error"] = "ignore"
        registry.resolve(config)
    with pytest.raises(ValueError, match=r"has no path.*--paths\.train"):
        registry.resolve({"a": {"@readers": "spacy_keyphrase.Corpus.v1", "path": None}})


def test_initialize_and_update_a_pipe_from_the_corpus(jsonl: Path) -> None:
    """The examples are what a trainable span pipe of spaCy takes."""
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("spancat", config={"spans_key": "keyphrases"})
    corpus = KeyphraseCorpus(jsonl)
    nlp.initialize(lambda: corpus(nlp))
    assert pipe.labels == ("KEYPHRASE",)
    losses: dict = {}
    nlp.update(list(corpus(nlp)), losses=losses)
    assert losses["spancat"] > 0


def test_limits(jsonl: Path) -> None:
    nlp = spacy.blank("en")
    assert len(list(KeyphraseCorpus(jsonl, limit=7)(nlp))) == 7
    n_tokens = len(nlp.make_doc(TEXT.format(0, 0)))
    assert len(list(KeyphraseCorpus(jsonl, max_length=n_tokens)(nlp))) == 20
    with pytest.warns(UserWarning, match="20 documents of .*left out"):
        assert list(KeyphraseCorpus(jsonl, max_length=n_tokens - 1)(nlp)) == []
    with pytest.raises(ValueError, match="limit is -1"):
        KeyphraseCorpus(jsonl, limit=-1)


def test_malformed_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a b", "keyphrases": ["b"]}\n{"tex": 1}\n{\n')
    nlp = spacy.blank("en")
    with pytest.raises(CorpusError, match=r"a\.jsonl:2: no field 'text'"):
        list(KeyphraseCorpus(path)(nlp))
    with pytest.warns(UserWarning, match=r"2 malformed records .*a\.jsonl:2"):
        assert len(list(KeyphraseCorpus(path, on_error="skip")(nlp))) == 1
    with pytest.raises(FileNotFoundError):
        list(KeyphraseCorpus(tmp_path / "nothing")(nlp))


def test_damaged_shard(tmp_path: Path) -> None:
    path = tmp_path / "a.spacy"
    path.write_bytes(b"not a DocBin")
    nlp = spacy.blank("en")
    with pytest.raises(CorpusError, match=r"a\.spacy: not a file that spaCy's DocBin"):
        list(KeyphraseCorpus(path)(nlp))
    DocBin(docs=[nlp("whole")]).to_disk(path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CorpusError, match=r"a\.spacy"):
        list(read_corpus(path))


def test_corpus_without_gold_warns(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("plain text")
    nlp = spacy.blank("en")
    with pytest.warns(UserWarning, match="nothing to learn from"):
        assert len(list(KeyphraseCorpus(tmp_path)(nlp))) == 1


def test_gold_under_another_key(jsonl: Path) -> None:
    nlp = spacy.blank("en")
    example = next(KeyphraseCorpus(jsonl, key="terms")(nlp))
    assert list(example.reference.spans) == ["terms"]


def test_spans_of_other_tools_are_gold(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    doc = nlp("deep models of text")
    doc.spans["keyphrases"] = [doc[0:2]]
    empty = nlp("")
    unspaced = Doc(nlp.vocab, words=["a", "b"])
    unspaced.has_unknown_spaces = True
    unspaced.spans["keyphrases"] = [unspaced[1:2]]
    DocBin(docs=[doc, empty, unspaced]).to_disk(tmp_path / "a.spacy")
    examples = list(KeyphraseCorpus(tmp_path)(nlp))
    assert len(examples) == 2
    assert [s.text for s in examples[0].reference.spans["keyphrases"]] == [
        "deep models"
    ]
    assert [t.text for t in examples[1].predicted] == ["a", "b"]
    with pytest.warns(UserWarning, match="without their keyphrase data"):
        assert next(read_corpus(tmp_path)).keyphrases == ["deep models"]


def test_shuffling(jsonl: Path) -> None:
    nlp = spacy.blank("en")

    def order(corpus: KeyphraseCorpus) -> List[str]:
        return [eg.reference.spans["keyphrases"].attrs["id"] for eg in corpus(nlp)]

    corpus = KeyphraseCorpus(jsonl, shuffle_buffer=8, seed=1)
    first, second = order(corpus), order(corpus)
    assert sorted(first) == sorted(second) == sorted(str(i) for i in range(20))
    assert first != second
    assert first == order(KeyphraseCorpus(jsonl, shuffle_buffer=8, seed=1))
    assert first != order(KeyphraseCorpus(jsonl, shuffle_buffer=8, seed=2))


@pytest.mark.parametrize("size", [1, 3, 50])
def test_shuffled_keeps_every_item(size: int) -> None:
    items = list(range(30))
    assert sorted(shuffled(items, size, random.Random(0))) == items


def resident_mb() -> float:
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's statm")
@pytest.mark.parametrize("form", ["text", "shards"])
def test_memory_stays_flat_over_20000_documents(tmp_path: Path, form: str) -> None:
    nlp = spacy.blank("en")
    path = write_jsonl(tmp_path / "corpus.jsonl.gz", 20000 if form == "text" else 1000)
    if form == "shards":
        shard, path = tmp_path / "shard.spacy", tmp_path / "corpus"
        convert(read_corpus(tmp_path / "corpus.jsonl.gz"), nlp, shard)
        path.mkdir()
        for i in range(20):
            shutil.copy(shard, path / f"{i:05}.spacy")
    sizes = [
        resident_mb()
        for i, _ in enumerate(KeyphraseCorpus(path, shuffle_buffer=100)(nlp), start=1)
        if i % 2000 == 0
    ]
    assert len(sizes) == 10
    # Held in memory, the examples would take some 200 MB.
    assert max(sizes) - sizes[0] < 10
