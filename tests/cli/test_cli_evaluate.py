"""`evaluate`, `compare`, `convert` and `debug-data`."""

import json
from pathlib import Path
from typing import Any, Dict, List

import pytest
import spacy
from typer.testing import CliRunner

from spacy_keyphrase.cli import app
from spacy_keyphrase.corpora import KeyphraseCorpus, read_corpus

GOLD = [
    {
        "id": "a",
        "text": "Graph neural networks. We study deep models.",
        "keyphrases": ["graph neural network", "deep models", "absent phrase"],
    },
    {
        "id": "b",
        "text": "A tokenizer splits (noisy) text, sometimes.",
        "keyphrases": ["tokenizers", "noisy text"],
    },
]
# a: 2 of 2 right, of 3 gold; b: 1 of 3 right, of 2 gold.
PREDICTED = [
    {"id": "a", "keyphrases": [{"text": "Graph neural networks"}, "deep model"]},
    {"id": "b", "keyphrases": ["text", "tokenizer", "noisy"]},
]


def run(*args: object, code: int = 0) -> Any:
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def write(path: Path, records: List[Dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "data" / "hand" / "test.jsonl", GOLD)


@pytest.fixture
def predicted(tmp_path: Path) -> Path:
    return write(tmp_path / "predicted.jsonl", PREDICTED)


def cells(table: str) -> List[List[str]]:
    rows = [line.split() for line in table.splitlines()]
    return [row for row in rows if row and row[0] == "hand/test"]


def test_predictions_by_hand(gold: Path, predicted: Path) -> None:
    result = run("evaluate", gold, "--predictions", predicted, "--k", "2,M")
    # @2: P 1, .5; R 2/3, .5; F1 .8, .5. @M: P 1, 1/3; R 2/3, .5; F1 .8, .4.
    assert [row[:8] for row in cells(result.stdout)] == [
        ["hand/test", "2", "2.50", "all", "2", "75.00", "58.33", "65.00"],
        ["hand/test", "2", "2.50", "all", "M", "66.67", "58.33", "60.00"],
    ]
    assert cells(result.stdout)[0][8] == "50.00-80.00"
    assert f"preset default, macro_f1; system {predicted}" in result.stdout


def test_present_and_absent(gold: Path, predicted: Path) -> None:
    args = ("evaluate", gold, "--predictions", predicted, "--k", "M")
    table = cells(run(*args, "--kind", "present,absent").stdout)
    assert [row[2:8] for row in table] == [
        ["2.00", "present", "M", "66.67", "75.00", "70.00"],
        ["0.50", "absent", "M", "0.00", "0.00", "0.00"],
    ]


def test_presets_that_split_at_white_space(gold: Path, predicted: Path) -> None:
    """They take tokenised text for granted: "(noisy) text," is "( noisy ) text ,"."""
    args = ("evaluate", gold, "--predictions", predicted, "--preset", "one2set")
    record = json.loads(run(*args, "--k", "M", "--format", "jsonl").stdout)
    assert record["preset"] == "one2set"
    assert record["values"]["present_gold"] == 1.5  # not "noisy text", not "absent"
    assert record["values"]["present_count"] == 2.5
    assert record["values"]["absent_count"] == 0


def test_jsonl(gold: Path, predicted: Path, tmp_path: Path) -> None:
    output = tmp_path / "scores.jsonl"
    args = ("evaluate", gold, "--predictions", predicted, "--format", "jsonl")
    run(*args, "-o", output, "--k", "2")
    (record,) = map(json.loads, output.read_text().splitlines())
    assert record["corpus"] == "hand/test"
    assert record["n_docs"] == 2
    assert record["values"]["all_f1@2"] == pytest.approx(0.65)
    low, high = record["intervals"]["all_f1@2"]
    assert (low, high) == (pytest.approx(0.5), pytest.approx(0.8))


def test_predictions_in_another_order(gold: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", PREDICTED[::-1])
    table = cells(run("evaluate", gold, "--predictions", path, "--k", "2").stdout)
    assert table[0][7] == "65.00"


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (PREDICTED[:1], r'no prediction for 1 of 2 gold documents, such as "b"'),
        ([PREDICTED[1], PREDICTED[1]], "1 identifiers of"),
        ([{"id": "a"}], "p.jsonl:1: no field 'keyphrases'; the fields are: id"),
        ([{"id": "a", "keyphrases": "x"}], "p.jsonl:1: field 'keyphrases' must be"),
    ],
)
def test_predictions_that_do_not_fit(
    gold: Path, tmp_path: Path, records: List[Dict[str, Any]], message: str
) -> None:
    path = write(tmp_path / "p.jsonl", records)
    result = run("evaluate", gold, "--predictions", path, code=1)
    assert message in result.stderr


def test_limit_takes_the_first_documents(gold: Path, predicted: Path) -> None:
    args = ("evaluate", gold, "--predictions", predicted, "--limit", 1, "--k", "2")
    assert cells(run(*args).stdout)[0][1:8] == [
        *("1", "3.00", "all", "2", "100.00", "66.67", "80.00")
    ]


def test_many_corpora(gold: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    french = {**GOLD[0], "lang": "fr"}
    write(data / "other" / "test.jsonl", [french])
    write(data / "other" / "train.jsonl", [french])
    write(data / "ir" / "test.jsonl", [{"id": "q", "text": "a query"}])
    result = run("evaluate", data, "--split", "test", "--k", "5")
    names = [line.split()[0] for line in result.stdout.splitlines()[2:-1]]
    assert names == ["hand/test", "other/test"]
    assert "system blank:en + keyphrase, blank:fr + keyphrase" in result.stdout
    assert "Left out, as they have no keyphrases: ir/test" in result.stderr
    result = run("evaluate", data / "other", data / "hand", "--k", "5")
    names = [line.split()[0] for line in result.stdout.splitlines()[2:-1]]
    assert names == ["other/test", "other/train", "hand/test"]


def test_top_n_reaches_the_largest_k(data_dir: Path) -> None:
    args = ("evaluate", data_dir / "inspec/test.jsonl.gz", "--limit", 3)
    args += ("--format", "jsonl", "--k", "5,20")
    assert json.loads(run(*args).stdout)["values"]["all_count@20"] > 10
    capped = json.loads(run(*args, "--top-n", 4).stdout)
    assert capped["values"]["all_count@20"] == 4


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--preset", "none"], "'none' is not one of default, openkp"),
        (["--k", "5,x"], "not 'x'"),
        (["--kind", "all,some"], "'some' is not one of all, present, absent"),
        (["--split", "dev"], "no corpus is called dev; there are: test"),
        (["--predictions", "GOLD", "--pipeline", "x"], "--predictions goes with one"),
    ],
)
def test_wrong_usage(gold: Path, args: List[str], message: str) -> None:
    args = [str(gold) if arg == "GOLD" else arg for arg in args]
    result = run("evaluate", gold, *args, code=2)
    assert message in " ".join(result.stderr.split())


def test_corpus_without_gold(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"text": "no gold"}])
    result = run("evaluate", path, code=1)
    assert "a.jsonl: no document has gold keyphrases" in result.stderr


def test_finished_rows_are_shown_before_an_error(gold: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps(GOLD[0]) + "\n{\n")
    result = run("evaluate", gold, bad, "--k", "5", code=1)
    assert len(cells(result.stdout)) == 1
    assert "bad.jsonl:2: not valid JSON" in result.stderr


def test_real_corpora(data_dir: Path) -> None:
    """Above what YAKE, RAKE and multi-rake reach on the first documents."""
    result = run("evaluate", data_dir, "--split", "test", "--limit", 100, "--k", "10")
    rows = {row.split()[0]: row.split() for row in result.stdout.splitlines()[2:-1]}
    assert set(rows) == {"duc2001/test", "inspec/test", "www/test"}
    for row in rows.values():
        low, high = map(float, row[8].split("-"))
        assert 5 < low < float(row[7]) < high < 60


def test_compare(gold: Path, predicted: Path, tmp_path: Path) -> None:
    worse = write(
        tmp_path / "worse.jsonl",
        [{"id": "a", "keyphrases": ["x"]}, {"id": "b", "keyphrases": ["tokenizer"]}],
    )
    args = ("compare", gold, predicted, worse, "--metric", "all_f1@2,present_r@M")
    table = run(*args).stdout.splitlines()
    assert table[2].split()[:4] == ["all_f1@2", "65.00", "25.00", "-40.00"]
    assert table[3].split()[:4] == ["present_r@M", "75.00", "25.00", "-50.00"]
    assert table[4] == "preset default, macro_f1; 2 documents"
    assert table[5:] == [f"A: {predicted}", f"B: {worse}"]
    result = run("compare", gold, predicted, worse, "--metric", "f1", code=2)
    assert "there is no score 'f1'" in " ".join(result.stderr.split())


def test_compare_finds_a_difference(data_dir: Path, tmp_path: Path) -> None:
    gold = data_dir / "inspec/test.jsonl.gz"
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    documents = list(read_corpus(gold))[:200]
    write(a, [{"id": d.id, "keyphrases": d.keyphrases[1:]} for d in documents])
    write(b, [{"id": d.id, "keyphrases": d.keyphrases[2:]} for d in documents])
    table = run("compare", gold, a, b, "--limit", 200).stdout.splitlines()
    assert table[2].endswith("< 0.001")
    same = run("compare", gold, a, a, "--limit", 200).stdout.splitlines()
    assert same[2].split()[3] == "+0.00" and same[2].endswith("1.000")


def test_convert(gold: Path, tmp_path: Path) -> None:
    output = tmp_path / "train.spacy"
    result = run("convert", gold, output)
    assert "2 documents with 3 present and 2 absent keyphrases" in result.stderr
    examples = list(KeyphraseCorpus(output)(spacy.blank("en")))
    assert [k.text for k in examples[0].reference._.keyphrases] == [
        "Graph neural networks",
        "deep models",
        "absent phrase",
    ]
    assert "is there already" in run("convert", gold, output, code=1).stderr
    run("convert", gold, output, "--overwrite", "--max-docs-per-file", 1)
    assert sorted(path.name for path in output.iterdir()) == [
        "00000.spacy",
        "00001.spacy",
    ]
    assert len(cells(run("evaluate", output, gold, "--k", "5").stdout)) == 1


def test_convert_shuffled(tmp_path: Path) -> None:
    ids = [f"{year}-{n}" for year in range(2000, 2010) for n in range(5)]
    records = [{"id": i, "text": f"About {i}.", "keyphrases": ["about"]} for i in ids]
    gold = write(tmp_path / "by_year.jsonl", records)

    def written(*options: object) -> List[str]:
        output = tmp_path / "train"
        run("convert", gold, output, "--max-docs-per-file", 10, "--overwrite", *options)
        examples = KeyphraseCorpus(output)(spacy.blank("en"))
        return [e.reference.spans["keyphrases"].attrs["id"] for e in examples]

    assert written() == ids
    drawn = written("--shuffle", 1)
    assert sorted(drawn) == ids and len({i[:4] for i in drawn[:10]}) > 4
    assert drawn == written("--shuffle", 1) != written("--shuffle", 2)


def test_convert_malformed(gold: Path, tmp_path: Path) -> None:
    gold.write_text(gold.read_text() + "{\n")
    result = run("convert", gold, tmp_path / "a.spacy", code=1)
    assert "test.jsonl:3: not valid JSON" in result.stderr
    assert not (tmp_path / "a.spacy").exists()
    result = run("convert", gold, tmp_path / "a.spacy", "--on-error", "skip")
    assert "Skipped 1 malformed records" in result.stderr
    assert "Wrote 2 documents" in result.stderr


def test_debug_data(tmp_path: Path) -> None:
    records = [
        *GOLD,
        {**GOLD[0], "keyphrases": ["Deep model", "deep models", "neural"]},
        {"id": "c", "text": " "},
        {"id": "d", "text": "A graph-based,neural/network.", "keyphrases": ["based"]},
    ]
    path = write(tmp_path / "a.jsonl", records)
    path.write_text(path.read_text() + "{\n")
    data = json.loads(run("debug-data", path, "--format", "jsonl").stdout)
    figures = {
        "documents": 5,
        "malformed": 1,
        "empty_documents": 1,
        "documents_without_gold": 1,
        "repeated_ids": 1,
        "repeated_texts": 1,
        "keyphrases": 9,
        "repeated_keyphrases": 1,
        "absent": 1,
    }
    assert {name: data[name] for name in figures} == figures
    assert data["present"] + data["misaligned"] == 7
    # The text has "(noisy) text": the words in a row, but a bracket between them.
    assert "b: noisy text" in data["misaligned_examples"]
    assert data["words_per_keyphrase"] == {"1": 3, "2": 4, "3": 1}
    table = run("debug-data", path).stdout
    assert "documents without gold       1  20.0 %" in table
    assert "words in a keyphrase: 1: 37.5 %, 2: 50.0 %, 3: 12.5 %" in table
    assert "  b: noisy text" in table
    assert "a.jsonl:6: not valid JSON" in table


def test_debug_data_recall(data_dir: Path, models_dir: Path) -> None:
    args = ("debug-data", data_dir / "inspec/test.jsonl.gz", "--format", "jsonl")
    args += ("--limit", 60, "--recall-docs", 50)
    data = json.loads(run(*args).stdout)
    assert data["documents"] == 60
    by_name = {item["suggester"]: item for item in data["suggesters"]}
    ngrams = by_name["spacy_keyphrase.NGrams.v1"]
    chunks = by_name["spacy_keyphrase.Chunks.v1"]
    assert ngrams["documents"] == chunks["documents"] == 50
    assert 0.5 < chunks["recall"]["all"] < ngrams["recall"]["all"] < 1
    assert chunks["candidates"] < ngrams["candidates"]
    values = list(ngrams["recall"].values())
    assert values == sorted(values)
    assert (
        "needs part-of-speech tags"
        in by_name["spacy_keyphrase.NounPhrases.v1"]["error"]
    )
    tagged = json.loads(
        run(*args, "--pipeline", models_dir / "en_core_web_sm_v2port").stdout
    )
    by_name = {item["suggester"]: item for item in tagged["suggesters"]}
    assert by_name["spacy_keyphrase.NounPhrases.v1"]["recall"]["all"] > 0.5
    table = run(*args[:2], "--limit", 5).stdout
    assert "(5 documents)" in table


def test_debug_data_of_an_empty_corpus(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [])
    result = run("debug-data", path)
    assert "Warning: the corpus is empty" in result.stderr
