"""Corpora to .spacy files and back."""

from pathlib import Path
from typing import Iterator, List

import pytest
import spacy
from spacy.tokens import DocBin
from spacy.training import Corpus

from spacy_keyphrase import is_present
from spacy_keyphrase.corpora import (
    CorpusError,
    KeyphraseDocument,
    convert,
    make_gold_doc,
    read_corpus,
)


def documents(n: int, fail_at: int = -1) -> Iterator[KeyphraseDocument]:
    for i in range(n):
        if i == fail_at:
            raise CorpusError("corpus.jsonl:9: malformed")
        yield KeyphraseDocument(
            id=f"d{i}",
            title="Graph networks",
            text=f"Graph networks. Document {i} is on neural networks, deep ones.",
            keyphrases=["neural network", "graph network", "absent thing"],
        )


def names(folder: Path) -> List[str]:
    return sorted(path.name for path in folder.iterdir())


def test_gold_doc() -> None:
    nlp = spacy.blank("en")
    doc = make_gold_doc(next(documents(1)), nlp)
    assert [(k.text, k.is_present) for k in doc._.keyphrases] == [
        ("neural networks", True),
        ("Graph networks", True),
        ("absent thing", False),
    ]
    assert [span.text for span in doc.spans["keyphrases"]] == [
        "neural networks",
        "Graph networks",
    ]
    attrs = doc.spans["keyphrases"].attrs
    assert attrs["id"] == "d0"
    assert doc.text[: attrs["title_length"]] == "Graph networks"
    assert attrs["gold"] == ["neural network", "graph network", "absent thing"]
    assert doc.user_data == {}


def test_one_file(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    output = tmp_path / "new" / "train.spacy"
    counts: List[int] = []
    report = convert(documents(600), nlp, output, progress=counts.append)
    assert (report.documents, report.present, report.absent) == (600, 1200, 600)
    assert report.files == [output]
    assert names(output.parent) == ["train.spacy"]
    assert counts == sorted(counts) and counts[-1] == 600
    assert list(read_corpus(output)) == list(documents(600))
    docs = list(DocBin().from_disk(output).get_docs(nlp.vocab))
    assert [k.text for k in docs[599]._.keyphrases][1] == "Graph networks"


def test_many_documents_become_a_folder_that_spacy_reads(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    output = tmp_path / "train.spacy"
    report = convert(documents(25), nlp, output, max_docs_per_file=10)
    assert names(output) == ["00000.spacy", "00001.spacy", "00002.spacy"]
    assert report.files == [output / name for name in names(output)]
    assert names(tmp_path) == ["train.spacy"]
    assert list(read_corpus(output)) == list(documents(25))
    assert len(list(Corpus(output)(nlp))) == 25


def test_exactly_full_shards(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    assert (
        len(convert(documents(20), nlp, tmp_path / "a", max_docs_per_file=10).files)
        == 2
    )
    single = convert(documents(10), nlp, tmp_path / "b.spacy", max_docs_per_file=10)
    assert single.files == [tmp_path / "b.spacy"]
    assert (tmp_path / "b.spacy").is_file()


def test_empty_corpus(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    report = convert(iter(()), nlp, tmp_path / "empty.spacy")
    assert report.documents == 0
    assert list(read_corpus(tmp_path / "empty.spacy")) == []


def test_an_error_leaves_whole_shards_only(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    with pytest.raises(CorpusError, match=r"corpus\.jsonl:9"):
        convert(documents(600, 550), nlp, tmp_path / "out", max_docs_per_file=100)
    # Two batches of 256 came through, five shards of 100 were complete.
    assert names(tmp_path / "out") == [f"{i:05}.spacy" for i in range(5)]
    assert len(list(read_corpus(tmp_path / "out"))) == 500


def test_an_error_leaves_no_half_file(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    with pytest.raises(CorpusError):
        convert(documents(300, 299), nlp, tmp_path / "train.spacy")
    assert names(tmp_path) == []


def test_overwriting_is_asked_for(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    for output in (tmp_path / "a.spacy", tmp_path / "b"):
        convert(documents(30), nlp, output, max_docs_per_file=10)
        with pytest.raises(FileExistsError, match="is there already"):
            convert(documents(5), nlp, output)
        assert len(list(read_corpus(output))) == 30
        convert(documents(5), nlp, output, overwrite=True)
        assert len(list(read_corpus(output))) == 5
        convert(documents(7), nlp, output, overwrite=True, max_docs_per_file=4)
        assert len(list(read_corpus(output))) == 7
    assert names(tmp_path) == ["a.spacy", "b"]


def test_text_beyond_max_length(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.max_length = 10
    with pytest.raises(CorpusError, match=r"'d0' has \d+ characters.*nlp\.max"):
        convert(documents(1), nlp, tmp_path / "a.spacy")
    with pytest.raises(ValueError, match="max_docs_per_file is 0"):
        convert(documents(1), nlp, tmp_path / "a.spacy", max_docs_per_file=0)


def test_odd_documents(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    odd = [
        KeyphraseDocument("1", ""),
        KeyphraseDocument("2", " \n\t ", keyphrases=["  ", "x"]),
        KeyphraseDocument(
            "3", "😀 \x00 ّعربي 中文 A", keyphrases=["😀", "中文", "a", "A"]
        ),
        KeyphraseDocument("4", "Body", title="Other title"),
    ]
    convert(odd, nlp, tmp_path / "odd.spacy")
    read = list(read_corpus(tmp_path / "odd.spacy"))
    assert [d.text for d in read] == [d.text for d in odd]
    assert [d.keyphrases for d in read] == [d.keyphrases for d in odd]
    assert read[3].title == ""


def test_a_caller_may_have_a_memory_zone(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    with nlp.memory_zone():
        convert(documents(300), nlp, tmp_path / "a.spacy")
    assert len(list(read_corpus(tmp_path / "a.spacy"))) == 300


def test_the_vocabulary_stops_growing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spacy_keyphrase.vocabulary.MAX_WORDS", 2000)
    nlp = spacy.blank("en")
    stream = (KeyphraseDocument(str(i), f"new{i} words{i}x") for i in range(5000))
    convert(stream, nlp, tmp_path / "a.spacy")
    assert len(list(nlp.vocab)) < 3000
    assert len(nlp.vocab.strings) < 5000
    assert [d.text for d in read_corpus(tmp_path / "a.spacy")][
        4999
    ] == "new4999 words4999x"


def test_real_corpus(tmp_path: Path, data_dir: Path) -> None:
    nlp = spacy.blank("en")
    path = data_dir / "inspec/test.jsonl.gz"
    gold = list(read_corpus(path))
    report = convert(gold, nlp, tmp_path / "test.spacy", max_docs_per_file=200)
    read = list(read_corpus(tmp_path / "test.spacy"))
    assert [(d.id, d.title, d.text, d.keyphrases) for d in read] == [
        (d.id, d.title, d.text, d.keyphrases) for d in gold
    ]
    # Aligned at token boundaries, or absent: at most the misaligned are lost.
    present = sum(is_present(k, d.text) for d in gold for k in d.keyphrases)
    assert 0.95 * present < report.present <= present


def test_one_shard_at_most_is_in_memory(tmp_path: Path) -> None:
    """When a document is asked for, all but the last few hundred are on disk."""

    def watched() -> Iterator[KeyphraseDocument]:
        for i, document in enumerate(documents(1500)):
            written = len(list((tmp_path / "out").glob("*.spacy")))
            assert written * 100 >= i - 256 - 100
            yield document

    convert(watched(), spacy.blank("en"), tmp_path / "out", max_docs_per_file=100)
