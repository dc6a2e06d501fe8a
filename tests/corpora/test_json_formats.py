"""JSON lines: the unified form, KP20k and OpenKP, good and malformed."""

import gzip
import io
import json
from pathlib import Path
from typing import Any, List

import pytest

from spacy_keyphrase.corpora import (
    CorpusError,
    KeyphraseDocument,
    ReadReport,
    read_corpus,
    read_stream,
)


def write(path: Path, *lines: Any) -> Path:
    rows = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(rows) + "\n", encoding="utf8")
    return path


def read(path: Path, format: str = "auto") -> List[KeyphraseDocument]:
    return list(read_corpus(path, format))


def test_unified_form(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        {
            "id": "7",
            "title": "Graph neural networks",
            "text": "Graph neural networks. We study deep models.",
            "keyphrases": ["graph  neural\nnetworks", "", "deep learning"],
            "lang": "de",
            "source": "hand",
        },
        "",
        {"text": "No gold, no title, no id."},
    )
    first, second = read(path)
    assert first == KeyphraseDocument(
        id="7",
        title="Graph neural networks",
        text="Graph neural networks. We study deep models.",
        keyphrases=["graph neural networks", "deep learning"],
        lang="de",
        extra={"source": "hand"},
    )
    assert first.sections == ["Graph neural networks", ". We study deep models."]
    assert second.id == "a:3"
    assert (second.keyphrases, second.lang, second.sections) == (
        [],
        "en",
        ["No gold, no title, no id."],
    )


def test_written_keyphrases_are_read_back(tmp_path: Path) -> None:
    """The records of `Keyphrase.to_dict` can serve as gold."""
    record = {"text": "A b.", "keyphrases": [{"text": "b", "score": 0.5}]}
    assert read(write(tmp_path / "a.jsonl", record))[0].keyphrases == ["b"]


def test_lines_end_at_newlines_only(tmp_path: Path) -> None:
    """Abstracts hold Unicode's other line separators."""
    text = "one\u2028two\x85three\x0cfour"
    path = tmp_path / "a.jsonl"
    line = json.dumps({"text": text}, ensure_ascii=False)
    path.write_bytes(("\ufeff" + line + "\r\n" + line).encode("utf8"))
    assert [document.text for document in read(path)] == [text, text]


def test_kp20k(tmp_path: Path) -> None:
    path = write(
        tmp_path / "kp20k_testing.json",
        {"title": "A title", "abstract": "The abstract.", "keyword": "a b;c ; d"},
        {"title": "Why?", "abstract": "So.", "keywords": ["e", "f g"], "year": 1999},
        {"title": "", "abstract": "Alone.", "keywords": None},
    )
    first, second, third = read(path)
    assert first.text == "A title. The abstract."
    assert first.title == "A title"
    assert first.keyphrases == ["a b", "c", "d"]
    assert second.text == "Why? So."
    assert second.keyphrases == ["e", "f g"]
    assert second.extra == {"year": 1999}
    assert (third.text, third.title, third.keyphrases) == ("Alone.", "", [])


def test_openkp(tmp_path: Path) -> None:
    path = write(
        tmp_path / "OpenKPDev.jsonl",
        {
            "url": "http://a.example/1",
            "VDOM": "[{}]",
            "text": "Cheap flights to Rome",
            "KeyPhrases": [["cheap", "flights"], ["Rome"]],
        },
        {"url": "http://a.example/2", "VDOM": "[]", "text": "The test part"},
    )
    first, second = read(path)
    assert first.id == "http://a.example/1"
    assert first.keyphrases == ["cheap flights", "Rome"]
    assert first.extra == {}
    assert second.keyphrases == []


def test_gzip_is_read_through(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf8") as file:
        file.write('{"text": "A"}\n{"text": "B"}\n')
    assert [document.text for document in read(path)] == ["A", "B"]
    assert [document.id for document in read(path)] == ["train:1", "train:2"]


def test_folder_of_files_is_one_corpus(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".cache").mkdir()
    write(tmp_path / "b.jsonl", {"text": "2"})
    write(tmp_path / "a.jsonl", {"text": "1"})
    write(tmp_path / "sub" / "c.jsonl", {"text": "3"})
    write(tmp_path / ".cache" / "d.jsonl", {"text": "4"})
    assert [document.text for document in read(tmp_path)] == ["1", "2", "3"]


MALFORMED = [
    ("jsonl", "{not json", "not valid JSON"),
    ("jsonl", "[" * 100_000, "not valid JSON"),
    ("jsonl", '["a"]', "expected a JSON object, found a list"),
    ("jsonl", "12", "expected a JSON object, found a number"),
    ("jsonl", '{"abstract": "x"}', "no field 'text'; the fields are: abstract"),
    ("jsonl", '{"text": null}', "no field 'text'"),
    ("jsonl", '{"text": 3}', "field 'text' must be a string, not a number"),
    ("jsonl", '{"text": "a", "title": []}', "'title' must be a string, not a list"),
    ("jsonl", '{"text": "a", "id": [1]}', "'id' must be a string or an integer"),
    ("jsonl", '{"text": "a", "keyphrases": "b;c"}', "a list of strings, not a string"),
    ("jsonl", '{"text": "a", "keyphrases": ["b", 3]}', "item 2 is a number"),
    ("jsonl", '{"text": "a", "keyphrases": [["b"]]}', "item 1 is a list"),
    ("jsonl", '{"text": "a\\ud800"}', "'text' is not valid Unicode"),
    ("kp20k", '{"keywords": ["a"]}', "no field 'title' and no field 'abstract'"),
    ("kp20k", '{"title": "a", "keyword": {"a": 1}}', "not an object"),
    ("openkp", '{"url": "u", "VDOM": ""}', "no field 'text'"),
    (
        "openkp",
        '{"text": "a", "KeyPhrases": ["b"]}',
        "must be a list of lists of words",
    ),
]


@pytest.mark.parametrize(("format", "line", "message"), MALFORMED)
def test_malformed_line_names_file_and_line(
    tmp_path: Path, format: str, line: str, message: str
) -> None:
    good = {
        "jsonl": {"text": "good"},
        "kp20k": {"title": "good", "abstract": ""},
        "openkp": {"url": "u", "text": "good", "KeyPhrases": []},
    }[format]
    path = write(tmp_path / "corpus.jsonl", good, "", line, good)
    documents = read_corpus(path, format)
    assert next(documents).text == "good"
    with pytest.raises(CorpusError) as error:
        next(documents)
    assert str(error.value).startswith(f"{path}:3: ")
    assert message in str(error.value)

    report = ReadReport()
    kept = list(read_corpus(path, format, on_error="skip", report=report))
    assert [document.text for document in kept] == ["good", "good"]
    assert (report.documents, report.skipped) == (2, 1)
    assert report.messages == [str(error.value)]


def test_bad_encoding(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": "caf\xe9"}\n{"text": "b"}\n')
    with pytest.raises(CorpusError, match=r"latin\.jsonl:2: not valid UTF-8"):
        read(path)
    report = ReadReport()
    kept = list(read_corpus(path, on_error="skip", report=report))
    assert [document.text for document in kept] == ["a", "b"]
    assert report.skipped == 1


def test_truncated_gzip(tmp_path: Path) -> None:
    lines = [json.dumps({"text": f"{i} {i**7}"}) for i in range(1000)]
    data = gzip.compress("\n".join(lines).encode("utf8"))
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(CorpusError, match=r"cut\.jsonl\.gz:\d+: damaged or truncated"):
        read(path)
    report = ReadReport()
    kept = list(read_corpus(path, on_error="skip", report=report))
    assert 0 < len(kept) < 1000
    assert report.skipped == 1


def test_report_keeps_the_first_messages(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *["{"] * 50)
    report = ReadReport(max_messages=3)
    assert list(read_corpus(path, "jsonl", on_error="skip", report=report)) == []
    assert report.skipped == 50
    assert len(report.messages) == 3
    assert report.messages[2].startswith(f"{path}:3: ")


def test_real_corpora(data_dir: Path) -> None:
    counts = {
        "inspec/test": (500, 9.83),
        "semeval2017/all": (493, 17.21),
        "taln/fr": (1247, 4.11),
        "duc2001/test": (308, 8.06),
    }
    for name, (n_documents, gold) in counts.items():
        documents = read(data_dir / f"{name}.jsonl.gz")
        assert len(documents) == n_documents
        phrases = sum(len(document.keyphrases) for document in documents)
        assert phrases / n_documents == pytest.approx(gold, abs=0.05)
        assert len({document.id for document in documents}) == n_documents
        assert all(document.text.strip() for document in documents)
        assert {document.lang for document in documents} == {
            "fr" if name == "taln/fr" else "en"
        }
    inspec = read(data_dir / "inspec/test.jsonl.gz")
    assert all(len(document.sections) == 2 for document in inspec)
    assert inspec[0].extra["keyphrases_controlled"]


def test_stream() -> None:
    lines = io.BytesIO(b'{"text": "a"}\n{"tex": 1}\n{"text": "b", "lang": "fr"}\n')
    report = ReadReport()
    documents = read_stream(lines, "jsonl", on_error="skip", report=report, lang="de")
    assert [(d.id, d.text, d.lang) for d in documents] == [
        ("<stdin>:1", "a", "de"),
        ("<stdin>:3", "b", "fr"),
    ]
    assert report.messages == ["<stdin>:2: no field 'text'; the fields are: tex"]
    (document,) = read_stream(io.BytesIO("Zwei\nZeilen ä\n".encode()))
    assert (document.id, document.text) == ("<stdin>", "Zwei\nZeilen ä")
    with pytest.raises(CorpusError, match="<stdin>:1: not valid UTF-8"):
        list(read_stream(io.BytesIO(b"\xff")))
    with pytest.raises(ValueError, match="allowed are: text, jsonl, kp20k, openkp"):
        read_stream(io.BytesIO(b""), "inspec")
