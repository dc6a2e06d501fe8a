"""`extract` and `render`."""

import gzip
import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
import spacy
from same import assert_same
from spacy.language import Language
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_keyphrase import keyphrases_to_json, normal_form
from spacy_keyphrase.cli import app
from spacy_keyphrase.corpora import read_corpus

TEXTS = [
    "Graph neural networks learn on graphs. Graph neural networks are deep models.",
    "Keyphrase extraction finds the phrases that sum up a document.",
    "The tokenizer splits a text. A tokenizer knows no grammar.",
]


# Since Python 3.12 forking with threads, as spaCy does, warns.
forks = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def run(*args: object, input: Any = None, code: int = 0) -> Any:
    result = CliRunner().invoke(app, [str(arg) for arg in args], input=input)
    assert result.exit_code == code, (result.output, result.exception)
    return result


def lines(text: str) -> List[Dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    records = [{"id": f"d{i}", "text": text} for i, text in enumerate(TEXTS)]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_the_records_are_those_of_the_library(corpus: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("keyphrase", config={"top_n": 4})
    result = run("extract", corpus, "--format", "jsonl", "--top-n", 4, "--with-text")
    records = lines(result.stdout)
    assert [record["id"] for record in records] == ["d0", "d1", "d2"]
    for record, text in zip(records, TEXTS, strict=True):
        assert record["text"] == text
        assert_same([record["keyphrases"]], [keyphrases_to_json(nlp(text))])
        assert 0 < len(record["keyphrases"]) <= 4
    assert result.stderr == ""


def test_min_score(corpus: Path) -> None:
    every = lines(run("extract", corpus, "--format", "jsonl").stdout)
    scores = [phrase["score"] for record in every for phrase in record["keyphrases"]]
    bound = sorted(scores)[len(scores) // 2]
    args = ("extract", corpus, "--format", "jsonl", "--min-score", bound)
    kept = [
        p["score"] for record in lines(run(*args).stdout) for p in record["keyphrases"]
    ]
    assert sorted(kept) == [score for score in sorted(scores) if score >= bound]


def test_files_folders_and_stdin_in_one_go(tmp_path: Path, corpus: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "b.txt").write_text(TEXTS[1])
    (folder / "a.txt").write_text(TEXTS[0])
    result = run(
        "extract", folder, "-", corpus, "--format", "jsonl", input=TEXTS[2].encode()
    )
    ids = [record["id"] for record in lines(result.stdout)]
    assert ids == ["a", "b", "<stdin>", "d0", "d1", "d2"]


def test_jsonl_on_stdin(corpus: Path) -> None:
    data = corpus.read_bytes()
    args = ("extract", "-", "--format", "jsonl", "--input-format", "jsonl")
    assert run(*args, input=data).stdout == run("extract", corpus, *args[2:4]).stdout
    bad = run(*args, input=data + b"{\n", code=1)
    assert "Error: <stdin>:4: not valid JSON" in bad.stderr
    assert [record["id"] for record in lines(bad.stdout)] == ["d0", "d1", "d2"]


def test_table(corpus: Path) -> None:
    table = run("extract", corpus, "--top-n", 1, "--limit", 2).stdout
    head, names, rule, row, blank = table.splitlines()[:5]
    assert head == "d0"
    assert names.split() == ["score", "keyphrase", "mentions"]
    assert set(rule) == {"-", " "}
    assert row.endswith("Graph neural networks         2")
    assert blank == ""
    assert "d2" not in table


def test_table_is_safe_on_a_terminal(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"id": "x\x1b[2J\ny", "text": ""}))
    assert run("extract", path).stdout == "x\ufffd[2J y\n(no keyphrases)\n\n"


def test_language_of_the_documents(tmp_path: Path) -> None:
    path = tmp_path / "de.jsonl"
    record = {"text": "Die Verarbeitung natürlicher Sprache.", "lang": "de"}
    path.write_text(json.dumps(record))
    for lang, args in (("de", []), ("en", ["--lang", "en"])):
        nlp = spacy.blank(lang)
        nlp.add_pipe("keyphrase")
        (found,) = lines(run("extract", path, "--format", "jsonl", *args).stdout)
        assert found["keyphrases"] == keyphrases_to_json(nlp(record["text"]))
        assert found["lang"] == "de"


def test_output_file(corpus: Path, tmp_path: Path) -> None:
    expected = run("extract", corpus, "--format", "jsonl").stdout
    plain, packed = tmp_path / "new" / "out.jsonl", tmp_path / "new" / "out.jsonl.gz"
    result = run("extract", corpus, "--format", "jsonl", "-o", plain)
    assert result.stdout == ""
    assert "keyphrases of 3 documents" in result.stderr
    run("extract", corpus, "--format", "jsonl", "--output", packed)
    assert plain.read_text() == expected
    assert gzip.decompress(packed.read_bytes()).decode() == expected
    assert sorted(path.name for path in plain.parent.iterdir()) == [
        "out.jsonl",
        "out.jsonl.gz",
    ]


def test_malformed_line(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "out" / "out.jsonl"
    records = corpus.read_text().splitlines()
    corpus.write_text("\n".join([records[0], "{bad", records[1], records[2]]))
    args = ("extract", corpus, "--format", "jsonl", "-o", output)
    result = run(*args, code=1)
    assert f"Error: {corpus}:2: not valid JSON" in result.stderr
    assert "Traceback" not in result.output
    # What was done before is kept, under a name that does not say it is all.
    assert [path.name for path in output.parent.iterdir()] == ["out.jsonl.partial"]
    partial = output.with_name("out.jsonl.partial").read_text()
    assert [record["id"] for record in lines(partial)] == ["d0"]
    result = run(*args, "--on-error", "skip")
    assert "Skipped 1 malformed records" in result.stderr
    assert [record["id"] for record in lines(output.read_text())] == ["d0", "d1", "d2"]
    assert [path.name for path in output.parent.iterdir()] == ["out.jsonl"]


@forks
def test_two_processes_give_the_same(corpus: Path) -> None:
    args = ("extract", corpus, "--format", "jsonl")
    expected = lines(run(*args).stdout)
    for batch_size in (1, 64):
        more = ("--n-process", 2, "--batch-size", batch_size)
        found = lines(run(*args, *more).stdout)
        assert [one["id"] for one in found] == [one["id"] for one in expected]
        assert_same(
            [one["keyphrases"] for one in found],
            [one["keyphrases"] for one in expected],
        )


@forks
def test_an_error_in_two_processes(corpus: Path) -> None:
    corpus.write_text(corpus.read_text() + "{bad\n")
    args = ("extract", corpus, "--format", "jsonl", "--n-process", 2)
    result = run(*args, code=1)
    assert [record["id"] for record in lines(result.stdout)] == ["d0", "d1", "d2"]
    assert f"Error: {corpus}:4: not valid JSON" in result.stderr


@Language.component("test_cli_fails")
def fail_on_splits(doc: Doc) -> Doc:
    if "splits" in doc.text:
        raise ValueError("this component takes no splits")
    return doc


@forks
@pytest.mark.parametrize("n_process", [1, 2])
def test_a_failing_component(corpus: Path, tmp_path: Path, n_process: int) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("test_cli_fails")
    nlp.to_disk(tmp_path / "fails")
    args = ("-p", tmp_path / "fails", "--batch-size", 1, "--n-process", n_process)
    result = run("extract", corpus, "--format", "jsonl", *args, code=1)
    assert "this component takes no splits" in result.stderr
    assert "Traceback" not in result.stderr
    assert [record["id"] for record in lines(result.stdout)] == ["d0", "d1"]


def test_pipelines(corpus: Path, tmp_path: Path) -> None:
    args = ("extract", corpus, "--format", "jsonl")
    expected = run(*args).stdout
    plain = spacy.blank("en")
    plain.to_disk(tmp_path / "plain")
    assert run(*args, "-p", tmp_path / "plain").stdout == expected
    plain.add_pipe("keyphrase", name="kp", config={"key": "terms", "top_n": 3})
    plain.to_disk(tmp_path / "own")
    own = lines(run(*args, "-p", tmp_path / "own").stdout)
    assert [len(record["keyphrases"]) for record in own] == [3, 3, 3]
    assert own[0]["keyphrases"][0]["source"] == "kp"
    more = lines(run(*args, "-p", tmp_path / "own", "-n", 5).stdout)
    assert len(more[0]["keyphrases"]) == 5
    config = tmp_path / "own" / "config.cfg"
    assert lines(run(*args, "--config", config).stdout) == own
    assert lines(run(*args, "--config", config, "-n", 5).stdout) == more


def test_tagged_pipeline(corpus: Path, models_dir: Path) -> None:
    model = models_dir / "en_core_web_sm_v2port"
    records = lines(run("extract", corpus, "--format", "jsonl", "-p", model).stdout)
    assert records[0]["keyphrases"][0]["text"] == "Graph neural networks"


def test_text_longer_than_the_pipeline_takes(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.to_disk(tmp_path / "plain")
    path = tmp_path / "long.txt"
    path.write_text("a " * 500_001)
    result = run("extract", path, "-p", tmp_path / "plain", code=1)
    assert "Error: Document 'long' has 1000002 characters, more than" in result.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nothing.txt"], "there is nothing at nothing.txt"),
        (["CORPUS", "--format", "xml"], "xml"),
        (["CORPUS", "--input-format", "csv"], "'csv' is not one of auto, text"),
        (["CORPUS", "--n-process", "0"], "0 is neither a number of processes nor -1"),
        (["CORPUS", "--top-n", "-1"], "--top-n"),
        (["CORPUS", "--pipeline", "a", "--config", "CORPUS"], "not both"),
        (["CORPUS", "--colour"], "--colour"),
    ],
)
def test_wrong_usage(corpus: Path, args: List[str], message: str) -> None:
    args = [str(corpus) if arg == "CORPUS" else arg for arg in args]
    result = run("extract", *args, code=2)
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--pipeline", "no_such_pipeline"], "Can't find model 'no_such_pipeline'"),
        (["--lang", "qqq"], "Can't import language qqq"),
        (["--input-format", "inspec"], "give the folder of the texts"),
    ],
)
def test_errors_say_what_is_wrong(corpus: Path, args: List[str], message: str) -> None:
    result = run("extract", corpus, *args, code=1)
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_a_bug_is_told_without_a_traceback(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("spacy_keyphrase.cli.extract.to_table", fail)
    result = run("extract", corpus, code=1)
    assert "Error: ZeroDivisionError: division by zero (set SPACY_KEY" in result.stderr
    monkeypatch.setenv("SPACY_KEYPHRASE_DEBUG", "1")
    result = CliRunner().invoke(app, ["extract", str(corpus)])
    assert isinstance(result.exception, ZeroDivisionError)


def test_empty_inputs(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    assert run("extract", path, "--format", "jsonl").stdout == ""
    assert lines(run("extract", "-", "--format", "jsonl", input=b"").stdout) == [
        {"id": "<stdin>", "lang": "en", "keyphrases": []}
    ]


def test_html(corpus: Path, tmp_path: Path) -> None:
    page = run("extract", corpus, "--format", "html", "--top-n", 2).stdout
    assert page.startswith("<!DOCTYPE html>")
    assert "Graph neural networks" in page
    rendered = tmp_path / "page.html"
    result = run("render", corpus, "--output", rendered, "--top-n", 2)
    assert rendered.read_text() == page
    assert "Wrote 3 documents" in result.stderr


def test_render_gold_and_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    record = {"id": "one", "text": "<script>alert(1)</script> deep models"}
    gold = {**record, "id": "two", "keyphrases": ["deep model", "absent <b>"]}
    path.write_text(json.dumps(gold) + "\n" + json.dumps(record) + "\n")
    page = tmp_path / "page.html"
    args = ("render", path, "--gold", "--output", page, "--limit", 1, "--title", "My &")
    result = run(*args)
    assert "There are more than 1: use --limit" in result.stderr
    html = page.read_text()
    assert "<title>My &amp;</title>" in html
    assert "deep models" in html
    assert "absent &lt;b&gt;" in html
    assert "<script>" not in html
    run("render", path, code=2)


def test_real_corpus(data_dir: Path, tmp_path: Path) -> None:
    path = data_dir / "inspec/test.jsonl.gz"
    output = tmp_path / "out.jsonl"
    run("extract", path, "--format", "jsonl", "-o", output, "--with-text")
    # The output is a corpus of its own.
    documents = list(read_corpus(output))
    assert [d.id for d in documents] == [d.id for d in read_corpus(path)]
    assert all(0 < len(d.keyphrases) <= 10 for d in documents)
    for record in lines(output.read_text())[:50]:
        for phrase in record["keyphrases"]:
            found = [record["text"][start:end] for start, end in phrase["offsets"]]
            assert phrase["text"] in [" ".join(text.split()) for text in found]
            assert {normal_form(text) for text in found} == {phrase["normal_form"]}
