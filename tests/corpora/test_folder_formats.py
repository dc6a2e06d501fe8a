"""Folders of one file a document: Inspec, SemEval-2017, plain text."""

from pathlib import Path

import pytest

from spacy_keyphrase.corpora import CorpusError, ReadReport, read_corpus

ABSTRACT = (
    "Waves in a long\r\nchannel [review]\r\n\tWavelength services are many.\r\n"
    "\tTheir reasons\r\nare few.\r\n"
)


@pytest.fixture
def hulth(tmp_path: Path) -> Path:
    for name in ("2", "10"):
        (tmp_path / f"{name}.abstr").write_bytes(ABSTRACT.encode())
        (tmp_path / f"{name}.contr").write_text("optical networks;\n\twaves")
    (tmp_path / "2.uncontr").write_text("wavelength services; long\r\n\tchannel;")
    return tmp_path


def test_inspec(hulth: Path) -> None:
    tenth, second = read_corpus(hulth)
    assert (tenth.id, second.id) == ("10", "2")
    assert second.title == "Waves in a long channel [review]"
    assert second.text == (
        "Waves in a long channel [review]. "
        "Wavelength services are many. Their reasons are few."
    )
    assert second.keyphrases == ["wavelength services", "long channel"]
    assert second.extra == {"keyphrases_controlled": ["optical networks", "waves"]}
    assert tenth.keyphrases == ["optical networks", "waves"]
    assert tenth.extra == {}


def test_abstract_without_keyphrases_is_named(hulth: Path) -> None:
    (hulth / "3.abstr").write_text("Title\n\tBody")
    with pytest.raises(CorpusError, match=r"3\.abstr: no keyphrases beside it"):
        list(read_corpus(hulth))
    report = ReadReport()
    assert len(list(read_corpus(hulth, on_error="skip", report=report))) == 2
    assert report.skipped == 1


@pytest.mark.parametrize("keys", [".", "keys"])
def test_texts_with_keys(tmp_path: Path, keys: str) -> None:
    texts = tmp_path / ("docsutf8" if keys == "keys" else ".")
    (tmp_path / keys).mkdir(exist_ok=True)
    texts.mkdir(exist_ok=True)
    (texts / "C-1.txt").write_text("Grid services.\n\nMany of them.\n")
    (tmp_path / keys / "C-1.key").write_text("grid service; old\nmany\n\n")
    (document,) = read_corpus(tmp_path)
    assert document.text == "Grid services.\n\nMany of them."
    assert document.keyphrases == ["grid service; old", "many"]


ANN = (
    "T1\tProcess 0 9\toxidation\n"
    "T2\tMaterial 13 17;22 27\tiron atoms\n"
    "*\tSynonym-of T1 T2\n"
    "R1\tHyponym-of Arg1:T1 Arg2:T2\n"
    "#1\tAnnotatorNotes T1\ta note\n"
    "T3\tProcess 0 9\toxidation\n"
)


@pytest.fixture
def semeval(tmp_path: Path) -> Path:
    (tmp_path / "S1.txt").write_text("oxidation of iron and atoms\n")
    (tmp_path / "S1.ann").write_text(ANN)
    return tmp_path


def test_semeval(semeval: Path) -> None:
    (document,) = read_corpus(semeval)
    assert document.id == "S1"
    assert document.keyphrases == ["oxidation", "iron atoms"]
    annotations = document.extra["annotations"]
    assert [a["label"] for a in annotations] == ["Process", "Material", "Process"]
    assert annotations[1]["offsets"] == [[13, 17], [22, 27]]


@pytest.mark.parametrize(
    "line",
    [
        "T4\tProcess 5\toxid",
        "T4\tProcess a b\toxid",
        "T4\tProcess 5 900\toxid",
        "T4\tProcess 9 9\t",
        "T4",
    ],
)
def test_semeval_malformed_annotation(semeval: Path, line: str) -> None:
    (semeval / "S2.txt").write_text("another text")
    (semeval / "S2.ann").write_text(f"T1\tTask 0 7\tanother\n{line}\n")
    with pytest.raises(CorpusError, match=r"S2\.ann:2: expected 'T1<tab>Label"):
        list(read_corpus(semeval))
    report = ReadReport()
    documents = list(read_corpus(semeval, on_error="skip", report=report))
    assert [document.id for document in documents] == ["S1"]
    assert report.skipped == 1


def test_semeval_text_without_annotation(semeval: Path) -> None:
    (semeval / "S2.txt").write_text("another text")
    with pytest.raises(CorpusError, match=r"S2\.txt: no S2\.ann beside it"):
        list(read_corpus(semeval))


def test_plain_text(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.txt").write_text("Second.\n")
    (tmp_path / "sub" / "c.md").write_bytes("Dritte — Datei\r\n".encode())
    (tmp_path / "ignored.pdf").write_bytes(b"%PDF")
    documents = list(read_corpus(tmp_path, lang="de"))
    assert [(d.id, d.text) for d in documents] == [
        ("b", "Second.\n"),
        ("sub/c", "Dritte — Datei\r\n"),
    ]
    assert {d.lang for d in documents} == {"de"}
    (single,) = read_corpus(tmp_path / "b.txt")
    assert (single.id, single.text, single.keyphrases) == ("b", "Second.\n", [])
    (other,) = read_corpus(tmp_path / "ignored.pdf", "text")
    assert other.text == "%PDF"


def test_plain_text_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "b.txt").write_text("fine")
    with pytest.raises(CorpusError, match=r"a\.txt: not valid UTF-8"):
        list(read_corpus(tmp_path))
    assert [d.text for d in read_corpus(tmp_path, on_error="skip")] == ["fine"]


@pytest.mark.parametrize("format", ["inspec", "semeval_ann"])
def test_a_file_where_a_folder_is_wanted(hulth: Path, format: str) -> None:
    with pytest.raises(CorpusError, match="give the folder"):
        list(read_corpus(hulth / "2.abstr", format))
