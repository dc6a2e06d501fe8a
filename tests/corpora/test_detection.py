"""Which format a corpus is in, and what is said when that cannot be told."""

from pathlib import Path
from typing import Dict, Iterator

import pytest

from spacy_keyphrase.corpora import (
    FORMATS,
    CorpusError,
    Format,
    KeyphraseDocument,
    ReadContext,
    read_corpus,
    register_format,
)
from spacy_keyphrase.corpora.formats import get_format


@pytest.mark.parametrize(
    ("expected", "files"),
    [
        ("jsonl", {"a.jsonl": '{"text": "x"}'}),
        ("jsonl", {"a.jsonl": ""}),
        ("jsonl", {"a.jsonl": '{broken\n{"text": "x"}'}),
        ("jsonl", {"a.jsonl": "{broken"}),
        ("jsonl", {"a.json": '{"text": "x", "abstract": "y"}'}),
        ("kp20k", {"a.json": '{"title": "x", "abstract": "y", "keyword": "z"}'}),
        ("openkp", {"a.jsonl": '{"url": "u", "text": "x", "KeyPhrases": []}'}),
        ("openkp", {"a.jsonl": '{"url": "u", "text": "x", "VDOM": ""}'}),
        ("src_trg", {"a_src.txt": "x", "a_trg.txt": "y"}),
        ("text", {"a_src.txt": "x"}),
        ("text", {"a.txt": "x", "b.txt": "y"}),
        ("inspec", {"a.abstr": "x", "a.uncontr": "y"}),
        ("inspec", {"a.txt": "x", "a.key": "y"}),
        ("semeval_ann", {"a.txt": "x", "a.ann": "y"}),
        ("spacy", {"a.spacy": ""}),
    ],
)
def test_auto(tmp_path: Path, expected: str, files: Dict[str, str]) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert get_format("auto", tmp_path).name == expected
    if len(files) == 1:
        assert get_format("auto", tmp_path / next(iter(files))).name == expected


def test_the_most_telling_format_wins(tmp_path: Path) -> None:
    for name in ("README.txt", "a.spacy", "b.jsonl"):
        (tmp_path / name).write_text("")
    assert get_format("auto", tmp_path).name == "spacy"


def test_unknown_content(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"question": "x", "tags": "y"}')
    with pytest.raises(CorpusError, match=r"first record \(question, tags\)"):
        read_corpus(path)
    (tmp_path / "a.pdf").write_text("%PDF")
    with pytest.raises(CorpusError, match=r"a\.pdf: cannot tell.*name it: .*text"):
        read_corpus(tmp_path / "a.pdf")


def test_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="cannot tell the corpus format"):
        read_corpus(tmp_path)


def test_wrong_arguments_raise_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="There is no corpus at"):
        read_corpus(tmp_path / "nothing.jsonl")
    path = tmp_path / "a.jsonl"
    path.write_text("")
    with pytest.raises(ValueError, match=r"'csv'; allowed are: auto, .*jsonl"):
        read_corpus(path, "csv")
    with pytest.raises(ValueError, match="allowed are: raise, skip"):
        read_corpus(path, on_error="ignore")  # type: ignore[arg-type]


def test_every_format_is_described() -> None:
    assert set(FORMATS) == {
        "text",
        "src_trg",
        "inspec",
        "semeval_ann",
        "jsonl",
        "kp20k",
        "openkp",
        "spacy",
    }
    assert all(format.description for format in FORMATS.values())


def read_tsv(path: Path, context: ReadContext) -> Iterator[KeyphraseDocument]:
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        id, tab, text = line.partition("\t")
        if tab:
            yield KeyphraseDocument(id, text, lang=context.lang)
        else:
            context.malformed(f"{path}:{number}", "no tab")


def test_third_party_format(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("1\tone\ntwo\n")
    register_format(Format("tsv", read_tsv, lambda p: ".tsv" in p.suffixes, "Tabs"))
    try:
        documents = list(read_corpus(path, on_error="skip", lang="fr"))
        assert documents == [KeyphraseDocument("1", "one", lang="fr")]
        with pytest.raises(CorpusError, match=r"a\.tsv:2: no tab"):
            list(read_corpus(path))
    finally:
        del FORMATS["tsv"]
