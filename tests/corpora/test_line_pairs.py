"""Pairs of line files: src and trg."""

import gzip
from pathlib import Path

import pytest

from spacy_keyphrase.corpora import CorpusError, ReadReport, read_corpus


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    source = tmp_path / "test_src.txt"
    source.write_text(
        "a title <eos> the body , with <digit> words .\n"
        "no title here\n"
        "title only <eos> \n",
        encoding="utf8",
    )
    (tmp_path / "test_trg.txt").write_text(
        "the body;digit words;<peos>;absent phrase; other\nx y;z\n<peos>;q\n",
        encoding="utf8",
    )
    return source


def test_reads_titles_and_both_halves(pair: Path) -> None:
    first, second, third = read_corpus(pair)
    assert first.id == "test_src:1"
    assert first.title == "a title"
    assert first.text == "a title . the body , with <digit> words ."
    assert first.keyphrases == ["the body", "digit words", "absent phrase", "other"]
    assert first.extra == {
        "present": ["the body", "digit words"],
        "absent": ["absent phrase", "other"],
    }
    assert (second.title, second.text) == ("", "no title here")
    assert second.keyphrases == ["x y", "z"]
    assert second.extra == {}
    assert (third.text, third.keyphrases) == ("title only", ["q"])
    assert third.extra == {"present": [], "absent": ["q"]}


def test_either_half_or_the_folder_will_do(pair: Path) -> None:
    expected = list(read_corpus(pair, "src_trg"))
    assert list(read_corpus(pair.with_name("test_trg.txt"))) == expected
    assert list(read_corpus(pair.parent)) == expected


def test_other_names_and_gzip(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "kp.src.gz", "wt") as source:
        source.write("one\ntwo\n")
    with gzip.open(tmp_path / "kp.trg.gz", "wt") as target:
        target.write("o\nt\n")
    documents = list(read_corpus(tmp_path / "kp.src.gz"))
    assert [(d.text, d.keyphrases) for d in documents] == [
        ("one", ["o"]),
        ("two", ["t"]),
    ]
    assert list(read_corpus(tmp_path)) == documents


def test_folder_in_which_src_is_in_the_folder_name(tmp_path: Path) -> None:
    folder = tmp_path / "src"
    folder.mkdir()
    (folder / "a.src").write_text("one\n")
    (folder / "a.trg").write_text("o\n")
    assert [d.text for d in read_corpus(folder)] == ["one"]


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [
        ("a\nb\nc\n", "x\ny\n", r"a_src\.txt:3: no line 3 in .*a_trg\.txt"),
        ("a\nb\n", "x\ny\nz\n", r"a_trg\.txt:3: no line 3 in .*a_src\.txt"),
    ],
)
def test_unpaired_lengths(
    tmp_path: Path, sources: str, targets: str, message: str
) -> None:
    path = tmp_path / "a_src.txt"
    path.write_text(sources)
    path.with_name("a_trg.txt").write_text(targets)
    with pytest.raises(CorpusError, match=message):
        list(read_corpus(path))
    report = ReadReport()
    assert len(list(read_corpus(path, on_error="skip", report=report))) == 2
    assert report.skipped == 1


def test_an_undecodable_line_keeps_the_files_in_step(tmp_path: Path) -> None:
    path = tmp_path / "a_src.txt"
    path.write_bytes(b"one\ntw\xff\nthree\n")
    path.with_name("a_trg.txt").write_text("1\n2\n3\n")
    report = ReadReport()
    documents = list(read_corpus(path, on_error="skip", report=report))
    assert [(d.text, d.keyphrases) for d in documents] == [
        ("one", ["1"]),
        ("three", ["3"]),
    ]
    assert report.skipped == 1
    with pytest.raises(CorpusError, match=r"a_src\.txt:2: not valid UTF-8"):
        list(read_corpus(path))


def test_a_source_without_target(tmp_path: Path) -> None:
    path = tmp_path / "a_src.txt"
    path.write_text("one\n")
    with pytest.raises(CorpusError, match="no pair of files"):
        list(read_corpus(path, "src_trg"))
